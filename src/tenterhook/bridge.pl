# What the launcher runs while the daemon runs: `perl -C0 -f bridge.pl python -I -S bridge.py --host …`.
#
# It hands the event over to the daemon, as dispatch/start.py does, and has done so before an interpreter of Python
# has begun. If there is no answer, it becomes that interpreter, which goes on alone with what was on stdin.
# It needs no module: loading one takes longer than all of this. Numbers are those of Linux.

my ($package) = $0 =~ m{(.*)/};
my $record = $ARGV[-1];
my $sent = '';

alarm 595;    # seconds, a little before the patience of any agent is over; bridge.py counts on from there
binmode $_ for *STDIN, *STDOUT, *STDERR;    # a variable may have made text of them
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

# A connection to the daemon of this account; nothing if there is none.
sub connected {
    my ($state) = $record =~ m{(.*)/installed/}s or return;
    socket my $daemon, 1, 1, 0 or return;    # AF_UNIX, SOCK_STREAM
    binmode $daemon;
    wait_at_most($daemon, 0, 20_000) or return;
    connect $daemon, pack 'S Z*', 1, reachable($state) or return;
    my (undef, $user) = unpack 'i I', getsockopt $daemon, 1, 17;    # SOL_SOCKET, SO_PEERCRED
    return $user == $< ? $daemon : undef;
}

# Its answer: an exit status and two outputs; nothing if it does not answer for us.
sub ask_daemon {
    local $SIG{PIPE} = 'IGNORE';
    my $version = join ' ', (stat "$package/dispatch/start.py")[1, 7, 9];
    my $said = join "\0", $version, @ARGV[4 .. $#ARGV], '', map {"$_=$ENV{$_}"} keys %ENV;
    put($daemon, length($said) . ' ' . length($sent) . "\n$said$sent") or return;
    sysread $daemon, my $heard, 65536 or return;
    $heard =~ /\0end\n\z/ or put($daemon, '+') or return;    # we wait: without this it runs nothing, since we would, too
    wait_at_most($daemon, 1, 0) or return;    # from now on it sends a heartbeat twice a second
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

# The socket, however long its path is: at most 107 bytes can be named.
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

# Have on stdin what was read from it.
sub send_again {
    pipe my $read, my $write or die "pipe: $!";
    defined(my $writer = fork) or die "fork: $!";
    if (!$writer) {
        close $_ for *STDIN, *STDOUT, *STDERR, $read;    # an agent waits until nobody holds them
        binmode $write;
        put($write, $sent);
        exit;
    }
    open STDIN, '<&', $read or die "stdin: $!";
}

# Become the interpreter. One that cannot be started has the shell's status, and another may have the event, unless it
# was read.
sub go_on {
    exec {$ARGV[0]} @ARGV, '--daemon', 'none' or exit(length $sent ? 70 : 127);
}
