#!/bin/sh
# Tenterhook's launcher. Coding agents run it at each event:
#     /bin/sh launcher.sh AGENT EVENT open|closed|closed-everywhere
# It starts the first Tenterhook of this account that works. `tenterhook install` writes this file and renews it,
# `tenterhook doctor` runs it, and `tenterhook uninstall` removes it.

state=@state@
machine=@machine@  # as in /etc/machine-id
agent=${1%%@*} event=$2 mode=$3  # AGENT may be followed by @ and the project that it is installed in
record=$state/installed/$1.json
check=
[ "$mode" != check ] || check='--check yes'  # load all that an answer could need, and answer nothing
status=127

# Say that there is no answer, write it down, and do what was chosen for that case. WHAT REMEDY
fail() {
    consequence='hooks did not run'
    case $mode in closed*) consequence='this is refused' ;; esac
    message="Tenterhook $1: $consequence. $2"
    { echo "$(PATH=/usr/bin:/bin date +%s) $agent $event $status" >>"$state/bridge.log"; } 2>/dev/null
    case $mode:$agent:$event in
        closed*:copilot:preToolUse)
            echo "{\"permissionDecision\": \"deny\", \"permissionDecisionReason\": \"$message\"}"
            exit 0 ;;
        closed*:copilot:permissionRequest)
            echo "{\"behavior\": \"deny\", \"message\": \"$message\"}"
            exit 0 ;;
    esac
    echo "$message" >&2
    case $mode:$agent in
        closed*) exit 2 ;;
        passing:* | open:copilot) exit 0 ;;  # Copilot takes any other status for a refusal
    esac
    exit 1
}

# Have the event answered, and exit. It returns if this Tenterhook cannot start, so that no hook has run.
answer_with() {
    # shellcheck disable=SC2086
    "$@" --host "$agent" --event "$event" $check --record "$record"
    status=$?
    case $status in
        0) exit 0 ;;
        10) exit 2 ;;  # a block; an interpreter that cannot start exits with 2 itself
        1 | 2 | 126 | 127) ;;
        *) fail "could not answer (status $status)" "Look into it with: tenterhook doctor $agent" ;;
    esac
}

# Whether a directory belongs to this account or to root.
is_safe() {
    [ -O "$1" ] || [ "$(PATH=/usr/bin:/bin find "$1" -maxdepth 0 -user 0 2>/dev/null)" ]
}

python=@python@
bridge=@bridge@
if [ -S "$state/hub.sock" ] && [ -x /usr/bin/perl ] && [ -r "${bridge%.py}.pl" ]; then
    # The hub has everything loaded, and Perl starts in a quarter of the time that Python takes.
    PERL5OPT='' PERLIO='' PERL_BADLANG=0
    export PERL5OPT PERLIO PERL_BADLANG
    answer_with /usr/bin/perl -C0 -f "${bridge%.py}.pl" "$python" -I -S "$bridge"
elif [ -x "$python" ] && [ -r "$bridge" ]; then
    answer_with "$python" -I -S "$bridge"
fi

# It was moved, or its interpreter was replaced: any other Tenterhook of this account answers.
for other in "$python" @others@; do
    if [ -x "$other" ] && is_safe "${other%/*}" && "$other" -I -c 'import tenterhook.bridge' </dev/null >/dev/null 2>&1; then
        if [ ! -e "$state/fallback" ]; then
            echo "Tenterhook is not where it was installed; that of $other answers. Renew it with: tenterhook doctor --fix" >&2
            { echo "$other" >"$state/fallback"; } 2>/dev/null
        fi
        answer_with "$other" -I -m tenterhook.bridge
    fi
done

here=
[ ! -r /etc/machine-id ] || read -r here </etc/machine-id
if [ "$here" != "$machine" ] && [ "$mode" != closed-everywhere ]; then
    [ "$mode" != closed ] || mode=passing  # the entry takes any status but 0 for a refusal
    fail 'was never installed on this machine' "Install it here, then: tenterhook install $agent"
fi
fail "is gone (status $status)" "Install it again, then: tenterhook install $agent; or remove the entries with launcher.sh from the settings"
