#!/bin/sh
# Tenterhook's launcher. Coding agents run it at each event:
#     /bin/sh launcher.sh AGENT EVENT open|closed|closed-everywhere
# It starts the first Tenterhook of this account that works. `tenterhook install` and `tenterhook doctor --fix` write
# this file, `tenterhook doctor` runs it (with `check` or `check-alone` as its last word), and `tenterhook uninstall`
# removes it.

# What would act on the programs below before they do anything; the values that were in force at the installation.
unset @unset@
@exports@
state=@state@
machine=@machine@  # where `install` ran, as `here` below
agent=${1%%@*} event=$2 mode=$3  # AGENT may be followed by @ and the project that it is installed in
record=$state/installed/$1.json
ended=127  # how the Tenterhook ended that was started last
check='' alone=''
case $mode in check*) check='--check yes' ;; esac  # load all that an answer could need, and answer nothing
[ "$mode" != check-alone ] || alone='--daemon none'

# Say that there is no answer, write it down, and do what was chosen for that case. WHAT REMEDY
fail() {
    consequence='hooks did not run'
    case $mode in closed*) consequence='this is refused' ;; esac
    message="Tenterhook $1: $consequence. $2"
    { echo "$(PATH=/usr/bin:/bin date +%s) $agent $event $ended" >>"$state/bridge.log"; } 2>/dev/null
    case $mode:$agent:$event in
@refusals@
    esac
    echo "$message" >&2
    case $mode:$agent in
        closed*) exit 2 ;;
@passes@
    esac
    exit 1
}

# Have the event answered, and exit. It returns if this Tenterhook could not start. If that one has read the event all
# the same, the next one finds none and cannot answer: no hook runs twice.
answer_with() {
    # shellcheck disable=SC2086
    "$@" --host "$agent" --event "$event" $check --record "$record" $alone
    ended=$?
    case $ended in
        0) exit 0 ;;
        10) exit 2 ;;  # a block; an interpreter that cannot start exits with 2 itself
        1 | 2 | 126 | 127) ;;
        *) fail "could not answer (status $ended)" "Look into it with: tenterhook doctor $agent" ;;
    esac
}

# Whether a directory belongs to this account or to root.
is_safe() {
    [ -O "$1" ] || [ "$(PATH=/usr/bin:/bin find "$1" -prune -user 0 2>/dev/null)" ]
}

python=@python@
bridge=@bridge@
if [ -x "$python" ] && [ -r "$bridge" ]; then
    if [ -S "$state/daemon.sock" ] && [ ! "$alone" ] && [ -x /usr/bin/perl ] && [ -r "${bridge%.py}.pl" ]; then
        # The daemon has everything loaded, and Perl starts in a quarter of the time that Python takes.
        PERL_BADLANG=0
        export PERL_BADLANG
        answer_with /usr/bin/perl -C0 -f "${bridge%.py}.pl" "$python" -I -S "$bridge"
    else
        answer_with "$python" -I -S "$bridge"
    fi
fi

# It was moved, or its interpreter was replaced: any other Tenterhook of this account answers.
for other in "$python" @others@; do
    if [ -x "$other" ] && is_safe "${other%/*}" &&
        "$other" -I -c 'import tenterhook.dispatch.dispatch' </dev/null >/dev/null 2>&1; then
        if [ ! -e "$state/fallback" ]; then
            printf '%s\n' "Tenterhook is not where it was installed; that of $other answers. Renew it with: tenterhook doctor --fix" >&2
            { printf '%s\n' "$other" >"$state/fallback"; } 2>/dev/null
        fi
        answer_with "$other" -I -m tenterhook.bridge
    fi
done

# Another machine may share the home, a container above all: it has its own id, or none, or that of its host.
here=
[ ! -r /etc/machine-id ] || read -r here </etc/machine-id
[ ! -e /.dockerenv ] && [ ! -e /run/.containerenv ] || here="$here in a container"
if [ "$here" != "$machine" ]; then
    case $mode:$event in
        closed-everywhere:* | check*:* | *:[Ss]essionStart | *:*session_start | *:session.created | *:TaskStart) ;;
        *) exit 0 ;;  # it was said when the session began
    esac
    fail 'was never installed on this machine' "Install it here, then: tenterhook install $agent"
fi
fail "is gone (status $ended)" "Install it again, then: tenterhook install $agent; or remove the entries with launcher.sh from the settings"
