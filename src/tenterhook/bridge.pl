# The launcher runs this if there is a daemon: `perl -C0 -f bridge.pl python -I -S bridge.py --host …`.
#
# It sends the event to the daemon, as dispatch/start.py does, but before a Python interpreter would have started. If
# there is no answer, it executes that interpreter, which answers the event with the same stdin. It uses no modules,
# since loading one takes longer than everything else here. Constants are those of Linux.

my ($package) = $0 =~ m{(.*)/};
my $record = $ARGV[-1];
my $sent = '';

alarm 595;    # seconds, slightly less than any agent's timeout; bridge.py continues with the time that is left
binmode $_ for *STDIN, *STDOUT, *STDERR;    # a variable may have set encodings for them
my $daemon = eval { connected() } or go_on();
1 while sysread STDIN, $sent, 1 << 20, length $sent;
if (my ($status, $output, $trouble) = eval { ask_daemon() }) {
    put(\*STDOUT, $output);
    put(\*STDERR, $trouble);
    exit $status;
}
close $daemon;
send_again();
go_on();

# Return a connection to this account's daemon; nothing if there is none.
sub connected {
    my ($state) = $record =~ m{(.*)/installed/}s or return;
    socket my $daemon, 1, 1, 0 or return;    # AF_UNIX, SOCK_STREAM
    binmode $daemon;
    wait_at_most($daemon, 0, 20_000) or return;
    connect $daemon, pack 'S Z*', 1, reachable($state) or return;
    my (undef, $user) = unpack 'i I', getsockopt $daemon, 1, 17;    # SOL_SOCKET, SO_PEERCRED
    return $user == $< ? $daemon : undef;
}

# Return the daemon's answer: exit status, stdout and stderr; nothing if there is none.
sub ask_daemon {
    local $SIG{PIPE} = 'IGNORE';
    my $version = join ' ', (stat "$package/dispatch/start.py")[1, 7, 9];
    my $said = join "\0", $version, @ARGV[4 .. $#ARGV], '', map {"$_=$ENV{$_}"} keys %ENV;
    put($daemon, length($said) . ' ' . length($sent) . "\n$said$sent") or return;
    sysread $daemon, my $heard, 65536 or return;
    $heard =~ /\0end\n\z/ or put($daemon, '+') or return;    # we still wait; else it must not run hooks
    wait_at_most($daemon, 1, 0) or return;    # it sends a heartbeat twice a second
    until ($heard =~ /\0end\n\z/) {
        sysread $daemon, $heard, 65536, length $heard or return;
    }
    $heard =~ s/\A\.+//;
    my @answer = split /\0/, $heard, -1;
    return @answer == 4 && $answer[0] =~ /\A(?:0|10)\z/ ? @answer[0 .. 2] : ();
}

sub wait_at_most {
    my ($socket, $seconds, $microseconds) = @_;
    my $long = pack 'l! l!', $seconds, $microseconds;
    return setsockopt($socket, 1, 20, $long) && setsockopt $socket, 1, 21, $long;    # SO_RCVTIMEO, SO_SNDTIMEO
}

# Return a path of the socket that is not too long: 107 bytes are allowed.
sub reachable {
    my ($state) = @_;
    return "$state/daemon.sock" if length $state < 90;
    sysopen our $place, $state, 0 or return '';
    return '/proc/self/fd/' . fileno($place) . '/daemon.sock';
}

sub put {
    my ($where, $left) = @_;
    while (length $left) {
        my $written = syswrite $where, $left or return;
        substr $left, 0, $written, '';
    }
    return 1;
}

# Replace stdin with a pipe from which what was read can be read again.
sub send_again {
    pipe my $read, my $write or die "pipe: $!";
    defined(my $writer = fork) or die "fork: $!";
    if (!$writer) {
        close $_ for *STDIN, *STDOUT, *STDERR, $read;    # an agent waits until all are closed
        binmode $write;
        put($write, $sent);
        exit;
    }
    open STDIN, '<&', $read or die "stdin: $!";
}

# Execute the interpreter. If it cannot be started, exit with the shell's status, so that the launcher tries another one,
# unless the event was already read.
sub go_on {
    exec {$ARGV[0]} @ARGV, '--daemon', 'none' or exit(length $sent ? 70 : 127);
}
