"""Programs that run another program or a shell line, each with its synopsis.

A synopsis is written as in a manual page, without the options that have no value. Its parts are, in this order:

    exec          the subcommand, in lower case
    -ab --name    options with a value: letters, names
    -c=LINE       an option whose value is a shell line
    -C=DIRECTORY  an option whose value is the directory in which the command runs
    -x=COMMAND    an option that is followed by a program with its arguments
    IF=-u         it runs something only with one of these options; UNLESS=-v: only without
    HOST          an operand before the command, in capitals; options may follow it
    NAME=VALUE    any number of assignments
    --            the command begins after the first `--`
    COMMAND       a program with its arguments; LINE: words that are joined to a shell line; INPUT: the same, or the
                  input if there are none; SHELL: arguments of a shell
    @~            the directory in which it runs, unless an option gives it
    REMOTE        it runs on another machine, or in an existing container

If nothing follows the options, they may be anywhere. Of several synopses, the first that fits counts.
"""

from __future__ import annotations

from ..basics.named_tuples import NamedTuple, cached

_NODE = "--package --workspace --filter --dir=DIRECTORY --cwd=DIRECTORY --prefix"
_CONDA = "run -np --name --prefix --cwd=DIRECTORY COMMAND"
_SANDBOX = "--cwd --env --user --bind --pwd --container --name"
_KUBERNETES = "--container --namespace --context --cluster --kubeconfig --user --image --filename"
_MISE = "--cd=DIRECTORY --env -- COMMAND"
_TAR = (
    "--to-command=LINE -I=LINE --use-compress-program=LINE --info-script=LINE --new-volume-script=LINE -F=LINE "
    "--rsh-command=LINE --rmt-command=LINE"
)
_FLY = "-C=LINE --command=LINE REMOTE"
_SU = "-c=LINE --command=LINE --session-command=LINE -gGsTw --shell --group USER SHELL @~"
_SUDO = (
    "-ughpCcRrtTU --user --group --host --prompt --chroot --role --type --other-user --close-from --command-timeout "
    "-D=DIRECTORY --chdir=DIRECTORY UNLESS=-l UNLESS=--list UNLESS=-e UNLESS=--edit"
)
_KUBECTL = (
    f"exec -cnf {_KUBERNETES} POD COMMAND @/ REMOTE",
    f"run -n {_KUBERNETES} -- COMMAND @/ REMOTE",
    f"debug -n {_KUBERNETES} -- COMMAND @/ REMOTE",
)

WRAPPERS: dict[str, str | tuple[str, ...]] = {
    # with other rights, limits, priorities or surroundings
    "sudo": (
        f"{_SUDO} UNLESS=-s UNLESS=--shell UNLESS=-i UNLESS=--login NAME=VALUE COMMAND",
        f"{_SUDO} UNLESS=-i UNLESS=--login NAME=VALUE INPUT",
        f"{_SUDO} NAME=VALUE INPUT @~",
    ),
    "doas": "-uC COMMAND",
    "pkexec": "--user COMMAND",
    "run0": "-uDg --user --group --chdir=DIRECTORY --nice --unit --property --description --setenv COMMAND",
    "newgrp": "-c=LINE",
    "su": _SU,
    "runuser": ("-cgGsTwu --command --shell --user --group IF=-u IF=--user COMMAND", _SU),
    "sg": "-c=LINE GROUP LINE",
    **dict.fromkeys(("gosu", "su-exec", "setuidgid", "s6-setuidgid", "envuidgid"), "USER COMMAND"),
    "setpriv": "--reuid --regid --groups COMMAND",
    "chroot": "--userspec --groups ROOT COMMAND",
    "unshare": "-SGRwl --setuid --setgid --root --wd --propagation COMMAND",
    "nsenter": "-tSG --target --setuid --setgid COMMAND",
    "fakeroot": "-lfsib COMMAND",
    "proot": "-rbRSwqk --rootfs --bind --cwd --qemu COMMAND",
    "firejail": "COMMAND",
    "nice": "-n --adjustment COMMAND",
    "ionice": "-cnpPu --class --classdata COMMAND",
    "chrt": "-TPD --sched-runtime --sched-period --sched-deadline PRIORITY COMMAND",
    "taskset": "MASK COMMAND",
    "numactl": "-NmCip COMMAND",
    "prlimit": "COMMAND",
    "cgexec": "-g COMMAND",
    "cpulimit": "-lpe COMMAND",
    "chpst": "-uUbemdofcrtlsp/ COMMAND",
    "setarch": "ARCHITECTURE COMMAND",
    **dict.fromkeys(("linux32", "linux64", "i386", "x86_64", "uname26", "arch"), "COMMAND"),
    "envdir": "DIRECTORY COMMAND",
    "dotenv": ("run -fe --file --env COMMAND", "-fe --file --env COMMAND"),
    "dotenvx": "run -fe --env-file --env COMMAND",
    "op": "run --env-file COMMAND",
    "doppler": "run -pc --project --config --command=LINE COMMAND",
    "infisical": "run --env --path --command=LINE -c=LINE COMMAND",
    "aws-vault": "exec -d --duration PROFILE COMMAND",
    "chamber": "exec -- COMMAND",
    "faketime": "-p --date-prog TIME COMMAND",
    "torsocks": "-aPup COMMAND",
    **dict.fromkeys(("torify", "tsocks"), "COMMAND"),
    **dict.fromkeys(("proxychains", "proxychains4"), "-f COMMAND"),
    "xvfb-run": "-efnpsw --server-args --server-num --error-file --auth-file COMMAND",
    "dbus-run-session": "--config-file --dbus-daemon COMMAND",
    "systemd-run": "-EHMptu --unit --property --slice --uid --gid --setenv --description --on-active --machine COMMAND",
    "systemd-inhibit": "--what --who --why --mode COMMAND",
    **dict.fromkeys(("wine", "catchsegv", "steam-run", "flatpak-spawn", "microk8s", "k3s"), "COMMAND"),
    "ssh-agent": "-aEtOP COMMAND",
    "wsl": "-duC --distribution --user --cd --shell-type COMMAND",
    **dict.fromkeys(("busybox", "toybox"), "COMMAND"),
    # of the shell
    "builtin": "COMMAND",
    "command": "UNLESS=-v UNLESS=-V COMMAND",
    "exec": "-a COMMAND",
    "coproc": "COMMAND",
    **dict.fromkeys(("noglob", "nocorrect"), "COMMAND"),
    "compgen": "-C=LINE",
    # with its time, its output or its input changed; later, again, or with others
    "nohup": "COMMAND",
    "setsid": "COMMAND",
    "time": "-fo --format --output COMMAND",
    "timeout": "-sk --signal --kill-after DURATION COMMAND",
    "stdbuf": "-ioe --input --output --error COMMAND",
    "unbuffer": "COMMAND",
    # a terminal
    **dict.fromkeys(("xterm", "konsole", "alacritty", "urxvt", "st"), "-e=COMMAND"),
    **dict.fromkeys(("gnome-terminal", "ptyxis", "kgx"), "--title --working-directory=DIRECTORY -- COMMAND"),
    **dict.fromkeys(("kitty", "foot"), "-dDTo --directory=DIRECTORY --title --override COMMAND"),
    "wezterm": "start --cwd=DIRECTORY -- COMMAND",
    "zellij": "run --cwd=DIRECTORY --name -- COMMAND",
    "daemonize": "-aceopulE COMMAND",
    "script": "-c=LINE --command=LINE -EIOBTt FILE COMMAND",
    "rlwrap": "-abcCDefHIlmMopPqrStwz COMMAND",
    **dict.fromkeys(("ifne", "zrun", "chronic", "eatmydata", "entr"), "COMMAND"),
    "caffeinate": "-tw COMMAND",
    "flock": "-c=LINE --command=LINE -Ew --timeout --wait --conflict-exit-code FILE COMMAND",
    "lckdo": "FILE COMMAND",
    "lockf": "-t FILE COMMAND",
    **dict.fromkeys(("run-one", "ccache", "sccache"), "COMMAND"),
    "sem": "-j COMMAND",
    "tsp": "-LNDWO COMMAND",
    "retry": "-tdm --times --delay --min --max COMMAND",
    "watch": "-nq --interval --equexit LINE",
    "watchexec": "-ewidsfEo --exts --watch --ignore --delay-run --signal --filter --shell COMMAND",
    "shx": "COMMAND",
    "just": "--command=COMMAND",
    "cmake": "-E=COMMAND",
    "nodemon": "-x=LINE --exec=LINE",
    "tini": "-pe COMMAND",
    "dumb-init": "-r COMMAND",
    # watched by a debugger
    "strace": "-abeEIoOpPsSuUX COMMAND",
    "ltrace": "-aADeFlnopsuxX COMMAND",
    "valgrind": "COMMAND",
    "gdb": "--args=COMMAND -args=COMMAND",
    "lldb": "--=COMMAND",
    "perf": ("stat -eorp COMMAND", "record -eoFcp COMMAND", "trace -eop COMMAND"),
    # of a package manager or a version manager
    "uv": (
        "tool run -p --from --with --python COMMAND",
        "run -ep --extra --python --with --env-file --project --directory=DIRECTORY --group COMMAND",
    ),
    "uvx": "-pwci --from --with --python --index --index-url --env-file --constraints COMMAND",
    "pipx": "run --spec --python --pip-args --index-url COMMAND",
    **dict.fromkeys(("poetry", "pipenv", "rye", "snap"), "run COMMAND"),
    "pdm": "run -p COMMAND",
    "hatch": "run -e COMMAND",
    **dict.fromkeys(("conda", "mamba", "micromamba"), _CONDA),
    "npx": f"-c=LINE --call=LINE -pw {_NODE} COMMAND",
    "npm": (
        f"exec -c=LINE --call=LINE -pw {_NODE} COMMAND",
        f"x -c=LINE --call=LINE -pw {_NODE} COMMAND",
        f"explore {_NODE} PACKAGE COMMAND",
    ),
    "pnpm": (f"exec -FC {_NODE} COMMAND", f"dlx -FC {_NODE} COMMAND", f"x -FC {_NODE} COMMAND"),
    "yarn": (f"exec -p {_NODE} COMMAND", f"dlx -p {_NODE} COMMAND", f"run {_NODE} COMMAND"),
    "bun": ("x --package COMMAND", f"run {_NODE} COMMAND"),
    "bunx": "-p --package COMMAND",
    "bundle": "exec --gemfile COMMAND",
    **dict.fromkeys(("asdf", "rbenv", "pyenv", "nodenv"), "exec COMMAND"),
    "repo": "forall -c=LINE",
    "meta": "exec LINE",
    "lerna": "exec --scope --ignore --concurrency COMMAND",
    "nx": "exec --projects --exclude COMMAND",
    "tox": "exec -ec COMMAND",
    "pixi": ("run -e --environment --manifest-path COMMAND", "exec -sc --spec --channel COMMAND"),
    "corepack": "COMMAND",
    "cargo": "watch -s=LINE --shell=LINE",
    "guix": ("shell -- COMMAND", "environment -- COMMAND"),
    "mise": (f"exec {_MISE}", f"x {_MISE}"),
    "direnv": "exec DIRECTORY COMMAND",
    "flatpak": "run --command COMMAND",
    **dict.fromkeys(("nix", "nix-shell"), "-c=COMMAND --command=COMMAND --run=LINE"),
    # on another machine, in a container
    **dict.fromkeys(
        ("pssh", "parallel-ssh"), "-hHlpotOeA --hosts --host --user --par --timeout --options LINE @~ REMOTE"
    ),
    "ansible": "-a=LINE --args=LINE REMOTE",
    **dict.fromkeys(("pdsh", "dsh", "clush"), "-wxlfgGtuR LINE @~ REMOTE"),
    "mosh": "HOST COMMAND @~ REMOTE",
    "sshpass": "-fdpP COMMAND",
    "devcontainer": "exec --workspace-folder --container-id --config --remote-env COMMAND",
    "machinectl": "shell -M --uid --setenv --machine HOST COMMAND REMOTE",
    "vagrant": "-c=LINE --command=LINE REMOTE",
    "gcloud": "--command=LINE REMOTE",
    **dict.fromkeys(("fly", "flyctl"), _FLY),
    "heroku": "run -a --app --size --type COMMAND REMOTE",
    "adb": "shell LINE @/ REMOTE",
    "kubectl": _KUBECTL,
    "oc": (*_KUBECTL, "rsh -cn --container --namespace --shell POD COMMAND REMOTE"),
    **dict.fromkeys(("lxc", "incus"), f"exec {_SANDBOX} CONTAINER COMMAND REMOTE"),
    **dict.fromkeys(("apptainer", "singularity"), f"exec -BW {_SANDBOX} IMAGE COMMAND"),
    "distrobox": f"enter -n {_SANDBOX} CONTAINER COMMAND",
    "toolbox": f"run -c {_SANDBOX} COMMAND",
    # shell lines of programs that do something else
    **dict.fromkeys(("tar", "bsdtar"), _TAR),
    "rsync": "-e=LINE --rsh=LINE --rsync-path=LINE",
    "split": "--filter=LINE",
    "sort": "--compress-program=LINE",
    "man": "-P=LINE --pager=LINE -H=LINE --html=LINE",
    **dict.fromkeys(("bat", "batcat", "delta"), "--pager=LINE"),
    "rg": "--pre=LINE --hostname-bin=LINE",
    "pandoc": "--filter=LINE -F=LINE",
    **dict.fromkeys(("nc", "netcat"), "-e=LINE -c=LINE"),
    "ncat": "-e=LINE --exec=LINE -c=LINE --sh-exec=LINE",
    "ip": "netns exec NAME COMMAND",
    "zip": "-TT=LINE --unzip-command=LINE",
    "go": "-exec=LINE --exec=LINE -toolexec=LINE",
}
LOADER = "--library-path --preload --argv0 COMMAND"  # the dynamic linker, which can start a program


class Synopsis(NamedTuple):
    """The parts of a synopsis."""

    subcommand: list[str]
    options: dict[str, str]  # the kind of value, by name; empty for any value
    operands: list[str]  # what follows them
    needed: list[str]  # options of which one is needed
    excluded: list[str]
    directory: str | None
    is_remote: bool

    def fits(self, options: list[tuple[str, str]]) -> bool:
        given = [name for name, _ in options]
        is_given = any(name in given for name in self.needed) or not self.needed
        return is_given and not any(name in given for name in self.excluded)

    @property
    def short(self) -> str:
        """The letters of options with a value."""
        return "".join(name[1] for name in self.options if len(name) == 2)


@cached(1024)
def synopsis(text: str) -> Synopsis:
    """Return the parts of a synopsis."""
    parts = text.split()
    directory = next((part[1:] for part in parts if part[0] == "@"), None)
    found = Synopsis([], {}, [], [], [], directory, is_remote="REMOTE" in parts)
    for part in parts:
        name, _, kind = part.partition("=")
        if name in ("IF", "UNLESS"):
            (found.needed if name == "IF" else found.excluded).append(kind)
        elif part[0] == "-" and part != "--":
            names = [name] if kind or name.startswith("--") else ["-" + letter for letter in name[1:]]
            found.options.update(dict.fromkeys(names, kind))
        elif part.islower():
            found.subcommand.append(part)
        elif part[0] != "@" and part != "REMOTE":
            found.operands.append(part)
    return found
