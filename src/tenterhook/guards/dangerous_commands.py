"""What is dangerous about a shell line: what cannot be taken back, or reaches far beyond the project.

`judge` reads the line and applies the rules below to each command that it would run. A rule is a function on a command
that yields dangers; `RULES` has what each means, and the table in docs/built-in-hooks.md is made of it.
"""

from __future__ import annotations

import os
import re

from ..shell import reader
from ..shell.effects import effects, effects_of_words
from ..shell.programs import SHELLS, Find, arguments, has, program, resolved, split_options, value_of
from ..shell.syntax import PATTERNS, STAR, UNKNOWN, UNKNOWNS, decoded
from ..shell.words import pattern_matches
from . import danger_table
from .calls import ASK, DENY, Finding, objection

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..shell.effects import Effect
    from ..shell.reader import Command, Note
    from .calls import GuardedCall, Objection

    Found = Iterator[tuple[str, str, str]]  # rule, decision, why
    Hit = tuple["Place", bool]
    Rule = Callable[[Command, "Places"], Found]


# Each rule by name: what it is about, and what to do instead.
RULES = {
    "delete-system": (
        "deletes the file system, a home, or a directory that the system or its owner needs",
        "list what is to go first (ls), and remove it by its full name inside the project",
    ),
    "delete-outside": (
        "deletes or overwrites something outside the project",
        "work inside the project or in a temporary directory; ask the person to remove what is elsewhere",
    ),
    "delete-files": (
        "deletes files of the project that no build makes again",
        "name the files one by one, or use git rm, so that git can bring them back",
    ),
    "delete-project": (
        "deletes the project itself, the directories around it, or its .git",
        "remove build products by name (rm -rf build dist), or use git to go back",
    ),
    "disk": (
        "writes to a disk, formats it, or erases what is on it",
        "work on an image file (disk.img), or let the person do this themselves",
    ),
    "fork-bomb": (
        "starts processes without end",
        "start a fixed number of processes, and wait for them",
    ),
    "permissions": (
        "changes owners or permissions of the system, of a home, or so that anybody may become root",
        "change the one file that needs it",
    ),
    "system-files": (
        "changes files that accounts, logins, the boot or scheduled jobs depend on",
        "write the new content to a file of the project, and let the person put it in place",
    ),
    "kill": (
        "ends processes that the person or the system needs",
        "end the one process you started, by its number",
    ),
    "shut-down": (
        "shuts the machine down, restarts it, or takes its services away",
        "tell the person that a restart is needed",
    ),
    "run-download": (
        "runs what comes over the network, unseen",
        "download it to a file, read it, and then run that file with a command of its own",
    ),
    "run-decoded": (
        "runs text that cannot be read because it is encoded or made up on the way",
        "write the commands as they are",
    ),
    "remote-shell": (
        "gives somebody else a shell on this machine",
        "connect to a machine of your own with ssh",
    ),
    "security": (
        "switches off a firewall or another protection",
        "open the one port, or add the one exception that is needed",
    ),
    "database": (
        "drops or empties a database",
        "make a backup first, or work on a database whose name says that it is a test's",
    ),
    "cloud": (
        "deletes resources of a cluster, a cloud, a container host or a code host",
        "name the one resource, and look at it first (plan, get, --dry-run)",
    ),
    "publish": (
        "overwrites or deletes what others have: a shared branch, a repository, a published package",
        "push to a branch of your own, with --force-with-lease if it must be",
    ),
    "discard-work": (
        "throws away work that git cannot bring back",
        "git stash keeps it; name the files that are to go",
    ),
    "traces": (
        "deletes logs or the shell's history",
        "leave them; move a large log away instead",
    ),
    "services": (
        "stops a service of this machine",
        "restart it instead, or ask the person to stop it",
    ),
    "persistence": (
        "makes something run by itself later on, at a login, a start or a time",
        "say what should run when, and let the person set it up",
    ),
    "packages": (
        "removes packages that the system cannot do without",
        "remove the one package that you installed",
    ),
    "unreadable": (
        "cannot be read to its end, so nobody can say what it does",
        "write it as several plain commands, or put it into a script file",
    ),
}


def judge(call: GuardedCall) -> Objection | None:
    """Return the dangers of a call's shell line, or None."""
    line = call.line()
    return None if line is None else objection(call, dangers(call, line), RULES)


def dangers(call: GuardedCall, line: str | list[str]) -> Iterator[Finding]:
    """Yield every danger of a line, or of a program with its arguments, whatever the settings are."""
    directory, environment = call.directory(), {"TMPDIR": "/tmp", **call.environment}  # noqa: S108  # as programs take it
    reading = reader.read_any(line, directory, environment)
    places = Places(directory, environment, call.directories())
    places.finds_generated = any(_finds_generated(each.words) for each in reading.commands if each.name == "find")
    for command in reading.commands:
        for rule, decision, why in _of_command(command, places):
            yield Finding(rule, decision, command.shown, why + _if_unset(command), command.span)
    yield from _notes(reading.notes, line if isinstance(line, str) else " ".join(line))


def _if_unset(command: Command) -> str:
    if not command.unset:
        return ""
    names = ", ".join(f"${name}" for name in command.unset)
    return f", if {names} is not set; ${{{command.unset[0]}:?}} would stop there"


# Words of programs that destroy: a line that cannot be read is a danger only if one of them is in it.
_DESTRUCTIVE = re.compile(
    r"(?:^|[^\w./-])(?:\S*/)?(?:rm|srm|shred|unlink|dd|mkfs\S*|wipefs|mkswap|fdisk|parted|truncate|chmod|chown|chattr|eval"
    r"|shutdown|reboot|kill(?:all)?|git\s+(?:push|reset|clean)|base64|curl|wget|nc|ncat|iex|invoke-expression)(?=[\s;|&)'\"]|$)"
    r"|-delete\b|>\s*/(?:dev/[a-z]d|etc)|\$\(|\$\{!|`[^`]*`",
    re.IGNORECASE,
)


def _notes(notes: Iterable[Note], line: str) -> Iterator[Finding]:
    for note in notes:
        if note.kind == "unreadable" and not _DESTRUCTIVE.search(line):
            continue
        directly = note.kind.endswith("-directly")
        rule = note.kind[: -len("-directly")] if directly else note.kind
        yield Finding(rule, ASK if directly or rule == "unreadable" else DENY, note.shown, RULES[rule][0])


def _of_command(command: Command, places: Places) -> Found:
    if not command.words:
        yield from _written(command, places)
        return
    name = command.name
    if any(mark in name for mark in PATTERNS) and re.search(r"[a-z]", name):  # /bin/r?
        for known in (known for known in (*_BY_PROGRAM, *danger_table.programs()) if pattern_matches(name, known)):
            command.words[0] = known
            yield from _of_command(command, places)
        return
    for rule in _BY_PROGRAM.get(name, ()):
        yield from rule(command, places)
    yield from danger_table.dangers(command)
    if any(mark in name for mark in UNKNOWNS):
        yield from _unknown_program(command, places)
    yield from _written(command, places)


_BY_PROGRAM: dict[str, list[Rule]] = {}


def _for(*names: str) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        for name in names:
            _BY_PROGRAM.setdefault(name, []).append(rule)
        return rule

    return add


# -- places -------------------------------------------------------------------------------------------------------

_SYSTEM = (
    "/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var "
    "/home /usr/bin /usr/include /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/local /usr/local/bin "
    "/usr/local/lib /usr/sbin /usr/share /usr/src /var/lib /var/log /var/mail /var/spool /var/spool/cron /var/db "
    "/var/cache /var/www /var/lib/docker /var/lib/containerd /var/lib/dpkg /var/lib/rpm /var/lib/mysql "
    "/var/lib/postgresql /var/lib/mongodb /var/lib/redis /var/lib/kubelet /var/lib/etcd /var/lib/apt "
    "/var/lib/pacman /var/lib/systemd /var/lib/libvirt /var/lib/pgsql /etc/ssh /etc/ssl /etc/systemd /etc/pam.d "
    "/etc/sudoers.d /etc/cron.d /etc/network /etc/apt /etc/nginx /etc/kubernetes /etc/NetworkManager /etc/security "
    "/etc/init.d /etc/default /etc/sysconfig /etc/letsencrypt /lib/modules /usr/lib/systemd "
    "/usr/lib/x86_64-linux-gnu /lib/x86_64-linux-gnu /boot/efi /boot/grub /System /Library /Applications /Users "
    "/Volumes /private /private/etc /private/var /cores /nix /nix/store /snap /mnt/c /mnt/c/Users /mnt/c/Windows /c "
    "/c/Users /c/Windows /data/data /system /vendor"
).split()
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp")  # noqa: S108  # they go, what is in them may go
_OF_HOME = (
    ".ssh .gnupg .aws .kube .config .local .local/share .local/bin .local/state .password-store .mozilla .thunderbird "
    ".docker .azure .gcloud .config/gcloud Documents Desktop Pictures Music Videos Movies Downloads Library Dropbox "
    "OneDrive .vim .emacs.d .oh-my-zsh .pyenv .nvm .rustup .cargo go .m2 .ssh/keys .claude .codex .gemini .kimi"
).split()
_OF_GIT = (".git", ".git/objects", ".git/refs", ".git/objects/pack", ".git/refs/heads")
_PROBES = ("src", "docs", "README.md", "package.json", ".git", ".github")
_RELAXED = (
    "/usr/local",
    "/usr/local/bin",
    "/usr/local/lib",
    "/opt",
    "/srv",
    "/mnt",
    "/media",
    "/var/www",
    "/data/data",
)


# Names that builds, package managers and tests make: of directories, and of files.
_GENERATED = (
    r"(?i)build|builds|dist|out|output|target|node_modules|bower_components|vendor|\.?cache|caches|__pycache__|\.?venv|env"
    r"|\.tox|\.nox|\.eggs|[\w.-]+\.egg-info|\.(?:pytest|mypy|ruff)_cache|htmlcov|coverage|\.coverage(?:\.\S+)?|\.next|\.nuxt"
    r"|\.svelte-kit|\.turbo|\.parcel-cache|\.gradle|\.terraform|\.dart_tool|\.stack-work|_build|site|public|storybook-static"
    r"|bin|obj|debug|release|deps|pods|deriveddata|cmake-build-\w+|CMakeFiles|tmp|temp|\.tmp|logs?|results?|reports?|artifacts"
    r"|__temp__\S*|core|a\.out|\.DS_Store|Thumbs\.db|nohup\.out|node-compile-cache|\.?sass-cache|generated|gen"
    r"|.*\.(?:o|a|so|dylib|obj|pyc|pyo|class|jar|war|log|tmp|temp|bak|swp|swo|orig|rej|old|pid|lock|out|err|map|min\.js|gcda|gcno"
    r"|cache|lcov|prof|core|part|crdownload|tsbuildinfo)|.*~|#.*#"
)


class Place:
    """A directory that should not go."""

    __slots__ = ("path", "rule", "what")

    def __init__(self, path: str, rule: str, what: str) -> None:
        self.path = path
        self.rule = rule
        self.what = what


class Places:
    """The directories that should not go, of this machine, this person and this project."""

    def __init__(self, directory: str, environment: Mapping[str, str], further: Iterable[str] = ()) -> None:
        self.home = os.path.normpath(environment.get("HOME") or "/root")
        self.agents_home = os.path.normpath(reader.agents_home(environment))
        self.directory = os.path.normpath(directory)
        self.finds_generated = False  # what `xargs rm` is given is what a build makes
        self.root = _root(self.directory, self.home)
        self.roots = tuple(dict.fromkeys((self.root, self.directory, *further)))
        self.all = [Place("/", "delete-system", "the root of the file system")]
        self.all += [Place(path, "delete-system", f"{path}, a directory of the system") for path in _SYSTEM]
        self.all += [Place(path, "delete-system", f"{path}, which every program uses") for path in _TEMPORARY]
        self.all += [Place(home, "delete-system", "the home directory") for home in (self.home, self.agents_home)]
        self.all += [Place(f"{self.home}/{name}", "delete-system", f"~/{name}") for name in _OF_HOME]
        for path in dict.fromkeys((self.directory, self.root)):
            self.all += [Place(f"{path}/{name}", "delete-project", f"{name} of the project") for name in _OF_GIT]
            self.all.append(Place(path, "delete-project", "the project itself"))
            parent = os.path.dirname(path)
            while parent != "/":
                self.all.append(Place(parent, "delete-project", f"{parent}, which the project is in"))
                parent = os.path.dirname(parent)
        self.by_path: dict[str, Place] = {}
        for place in self.all:
            self.by_path.setdefault(place.path, place)

    def resolve(self, command: Command, word: str) -> str | None:
        """A word as an absolute path of this machine; None if it is a path inside a container."""
        path = resolved(word, command.directory, self.agents_home)
        if not command.contained:
            return path
        mounts = [(there.rstrip("/"), here) for there, here in command.mounts]
        for there, here in sorted(mounts, key=lambda mount: -len(mount[0])):
            if path == there or path.startswith(there + "/") or not there:
                return resolved(here + path[len(there) :], "/", self.agents_home)
        return None

    def hit(self, path: str | None) -> Hit | None:
        """The place that goes if a path goes with all that is in it: (place, whether only its contents go)."""
        if path is None:
            return None
        found = self._hit(path)
        if found is None and not any(mark in path for mark in (*UNKNOWNS, *PATTERNS)):
            real = os.path.realpath(path)
            return self._hit(real) if real != path else None
        if found is None and any(mark in path for mark in PATTERNS):
            directory, _, name = path.rpartition("/")
            if directory and not any(mark in directory for mark in (*UNKNOWNS, *PATTERNS)):
                real = os.path.realpath(directory)
                return self._hit(f"{real}/{name}") if real != directory else None
        return found

    def _hit(self, path: str) -> Hit | None:
        names = [name for name in path.split("/") if name]
        contents = False
        while names and _is_catch_all(names[-1]):
            contents = True
            names.pop()
        if any(mark in name for name in names for mark in UNKNOWNS):
            return None
        if not any(mark in name for name in names for mark in PATTERNS):
            place = self.by_path.get("/" + "/".join(names))
            if place is None and len(names) == 2 and names[0] in ("home", "Users"):
                place = Place(path, "delete-system", f"the home of {names[1]}")
            if place is None or (contents and place.path in _TEMPORARY and not self._holds_project(place.path)):
                return None
            return place, contents
        for place in self.all:
            known = [name for name in place.path.split("/") if name]
            if len(known) == len(names) and all(map(pattern_matches, names, known)):
                return place, contents
        return None

    def is_temporary(self, path: str) -> bool:
        """Whether a path is below a directory for temporary files."""
        return any(path.startswith(each + "/") for each in (*_TEMPORARY, "/var/folders", "/private/var/folders"))

    def is_outside(self, path: str) -> bool:
        """Whether a path is surely outside the project, and not temporary."""
        names = [name for name in path.split("/") if name]
        known = []
        for name in names:
            if any(mark in name for mark in (*UNKNOWNS, *PATTERNS)):
                break
            known.append(name)
        start = "/" + "/".join(known)
        if len(known) < len(names) and (self.root + "/").startswith(start.rstrip("/") + "/"):
            return False  # a pattern, or what is not known, may lead into the project
        return not (any(self._is_in(start, root) for root in self.roots) or self.is_temporary(path))

    def _is_in(self, path: str, directory: str) -> bool:
        return path == directory or path.startswith(directory.rstrip("/") + "/")

    def is_generated(self, path: str) -> bool:
        """Whether a path of the project is one that builds and tools make anew, by the usual names."""
        names = [decoded(name) for name in path[len(self.root) :].split("/") if name]
        return any(re.fullmatch(_GENERATED, name) for name in names)

    def _holds_project(self, path: str) -> bool:
        return self.directory == path or self.directory.startswith(path + "/")

    def is_ours(self, directory: str) -> bool:
        """Whether a directory is the project, or cannot be told to be another."""
        if UNKNOWN in directory:
            return True
        return directory == self.root or directory.startswith(self.root.rstrip("/") + "/")


def _root(directory: str, home: str) -> str:
    """The project: the nearest directory above with a `.git`, short of the home."""
    current = directory
    while current != home and os.path.dirname(current) != current:
        if os.path.exists(current + "/.git"):
            return current
        current = os.path.dirname(current)
    return directory


def _is_catch_all(name: str) -> bool:
    """Whether a pattern stands for nearly everything in a directory: `*`, `.*`, `[a-z]*`."""
    if not any(mark in name for mark in PATTERNS):
        return False
    return sum(pattern_matches(name, probe) for probe in _PROBES) > 1


def _said(hit: Hit) -> str:
    place, contents = hit
    return f"everything in {place.what}" if contents else place.what


# -- deleting and moving ------------------------------------------------------------------------------------------


@_for("rm", "srm", "wipe", "trash", "trash-put", "rmdir", "unlink", "shred")
def _remove(command: Command, places: Places) -> Found:
    if "--no-preserve-root" in command.words:
        yield "delete-system", DENY, "--no-preserve-root is there to delete the root of the file system"
    for effect in effects_of_words(command):
        if effect.kind != "delete":
            continue
        path = places.resolve(command, effect.path)
        device = path and _device(path)
        if device:
            yield "disk", DENY, f"it destroys {device}"
            continue
        hit = places.hit(path)
        if hit is None:
            if path is not None and command.name != "rmdir":
                yield from _deleted(command, effect, path, places)
            continue
        place, contents = hit
        if effect.recursive:
            yield place.rule, DENY, f"it deletes {_said(hit)}"
        elif contents and command.name != "rmdir" and place.path not in _TEMPORARY:
            decision = ASK if place.rule == "delete-project" else DENY
            yield place.rule, decision, f"it deletes every file in {place.what}"
    if command.name == "rm" and "xargs" in command.through and any(UNKNOWN in word for word in command.words[1:]):
        if not places.finds_generated:
            yield "delete-files", ASK, "it deletes what another command names"


def _deleted(command: Command, effect: Effect, path: str, places: Places) -> Found:
    """A path that is no place of its own: judged by where it is, and by whether a build would make it again."""
    shown = decoded(effect.path)
    if UNKNOWN in path and not path.startswith("/"):
        return
    if places.is_outside(path):
        if effect.recursive or re.match(r"/(?:etc|usr|boot|opt|srv|lib|bin|sbin|var/(?!tmp/))", path):
            yield "delete-outside", DENY, f"it deletes {shown}, outside the project"
        else:
            yield "delete-outside", ASK, f"it deletes {shown}, outside the project"
    elif effect.recursive and not places.is_temporary(path) and not places.is_generated(path) and UNKNOWN not in path:
        yield "delete-files", ASK, f"it deletes {shown} and all that is in it"


def _finds_generated(words: list[str]) -> bool:
    """Whether a `find` finds nothing but what builds make."""
    if all(re.fullmatch(_GENERATED, start.strip("./")) for start in Find(words).starts):
        return True
    names = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-name", "-iname", "-path")]
    return bool(names) and all(
        re.fullmatch(_GENERATED, decoded(name).strip("*/") or "*")
        or re.fullmatch(_GENERATED, decoded(name).replace("*", "x"))
        for name in names
    )


@_for("find")
def _find(command: Command, places: Places) -> Found:
    find = Find(command.words)
    deleting = find.deletes
    for words in find.commands:
        name = program(words[0]) if words else ""
        deleting = deleting or name in ("rm", "unlink", "shred", "srm", "truncate")
        deleting = deleting or (name in SHELLS and any(re.search(r"\b(?:rm|shred|unlink)\b", word) for word in words))
        deleting = deleting or (name == "mv" and "/dev/null" in words)
    asks_itself = bool(find.commands) and all("-i" in words for words in find.commands)
    if not deleting or asks_itself or set(command.words) & {"-empty", "-inum", "-ok", "-okdir"}:
        return
    for start in find.starts:
        path = places.resolve(command, start)
        hit = places.hit(path)
        if hit is not None and not find.restricted:
            yield hit[0].rule, DENY, f"it deletes everything found in {_said(hit)}"
        elif hit is not None and hit[0].rule == "delete-system" and hit[0].path not in _TEMPORARY:
            yield hit[0].rule, DENY, f"it deletes files all over {hit[0].what}"
        elif path is not None and places.is_outside(path):
            yield "delete-outside", DENY, f"it deletes files in {decoded(start)}, outside the project"
        elif path is not None and not places.is_temporary(path) and not places.is_generated(path):
            if not _finds_generated(command.words):
                yield "delete-files", ASK, "it deletes every file that it finds"


@_for("rsync")
def _sync(command: Command, places: Places) -> Found:
    for effect in effects_of_words(command):
        if effect.kind == "delete":
            hit = places.hit(places.resolve(command, effect.path))
            if hit:
                yield hit[0].rule, DENY, f"--delete removes what is in {hit[0].what}"


@_for("mv")
def _moved(command: Command, places: Places) -> Found:
    for effect in effects_of_words(command):
        path = places.resolve(command, effect.path)
        if effect.kind == "write" and path == "/dev/null":
            yield "delete-system", DENY, "it replaces /dev/null, and what was moved there is gone"
        if effect.kind != "move":
            continue
        hit = places.hit(path)
        if hit and not (hit[1] and hit[0].rule == "delete-project") and hit[0].path not in _TEMPORARY:
            decision = ASK if hit[0].rule == "delete-project" or hit[0].path.startswith(places.home + "/") else DENY
            yield hit[0].rule, decision, f"it moves {_said(hit)} away"


# -- disks --------------------------------------------------------------------------------------------------------


def _device(path: str) -> str | None:
    """A disk, a part of one, or the memory; patterns count if they could be one."""
    if re.fullmatch(danger_table.DEVICE, path):
        return path
    if path.startswith("/dev/") and any(mark in path for mark in PATTERNS):
        return next(
            (each for each in ("/dev/sda", "/dev/sda1", "/dev/nvme0n1", "/dev/vda") if pattern_matches(path, each)),
            None,
        )
    return None


# -- writing ------------------------------------------------------------------------------------------------------

_PASSWORDS = (
    r"/etc/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d/.*|pam\.d/.*|ld\.so\.preload|crontab|cron\.[a-z]+/.*|anacrontab"
    r"|fstab|crypttab|inittab|securetty|default/grub|ssh/ssh_host_.*|ssh/sshd_config)-?"
    r"|/private/etc/(?:sudoers|master\.passwd|passwd)|/var/spool/cron/.*|/boot/.*|/proc/sysrq-trigger|/proc/\d+/mem"
    r"|/sys/block/.*/device/delete|/sys/power/state|/etc/selinux/config"
)
_SSH = r"(?:/root|/home/[^/]+|/Users/[^/]+)/\.ssh/(?:authorized_keys2?|id_[a-z0-9_]+|identity|rc|environment)"
# Files that run, or decide what runs, at a start, a login or a time.
_PERSISTENT = (
    r"/etc/(?:profile(?:\.d/.*)?|bash\.bashrc|zsh/.*|environment|rc\.local|init\.d/.*|systemd/.*|xdg/autostart/.*|apt/.*|yum\S*/.*"
    r"|rsyslog\S*|syslog\S*|logrotate\.d/.*|hosts|resolv\.conf|modules-load\.d/.*|udev/.*|launchd\.conf|update-motd\.d/.*)"
    r"|(?:/root|/home/[^/]+|/Users/[^/]+)/(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin"
    r"|xinitrc|xprofile|xsession|config/(?:autostart|systemd/user|fish)/.*|local/share/systemd/.*)|Library/LaunchAgents/.*)"
    r"|/Library/Launch(?:Agents|Daemons)/.*|/usr/lib/systemd/.*|/lib/systemd/.*|/usr/local/share/ca-certificates(?:/.*)?"
)
_HISTORY = r".*/\.(?:bash|zsh|sh|python|mysql|psql|node_repl|fish)_?history|.*/fish_history"
# What a pattern is held against.
_TELLING = "/etc/passwd /etc/shadow /etc/sudoers /boot/vmlinuz /var/log/auth.log ~/.ssh/id_rsa ~/.bash_history".split()
_LOGS = (
    r"/var/(?:spool/)?mail/.*|/var/log/(?:auth\.log|syslog|secure|messages|kern\.log|audit/.*|wtmp|btmp|lastlog|faillog|journal/.*|dpkg\.log|sudo\.log"
    r"|utmp)"
)


_OTHER_DEVICES = (
    r"/dev/(?!(?:null|zero|full|u?random|std(?:in|out|err)|tty\S*|console|ptmx|fd|shm|pts|tcp|udp|log|kmsg)(?:/|$)).+"
)


def _written(command: Command, places: Places) -> Found:
    """What a command writes, deletes or changes the mode of, wherever that stands."""
    for effect in effects(command):
        path = places.resolve(command, effect.path)
        if path is None:
            continue
        shown = decoded(effect.path)
        device = _device(path)
        if effect.kind == "write" and (device or re.fullmatch(_OTHER_DEVICES, path)):
            yield "disk", DENY, f"it writes to {device or shown}"
            continue
        if effect.kind == "write" and command.name in ("truncate", "dd") and places.is_outside(path):
            yield "delete-outside", DENY, f"it overwrites {shown}, outside the project"
            continue
        candidates = [path]
        if any(mark in path for mark in PATTERNS) and effect.kind == "write" and _is_catch_all(path.rpartition("/")[2]):
            continue  # something is copied into a directory, under names that are not known
        if any(mark in path for mark in PATTERNS):
            known = [each.replace("~", places.home) for each in _TELLING]
            candidates = [each for each in known if pattern_matches(path, each)]
        for candidate in candidates:
            own = (
                candidate.replace(places.home + "/", "/home/me/", 1) if candidate.startswith(places.home) else candidate
            )
            if re.fullmatch(_PASSWORDS, candidate) or re.fullmatch(_SSH, own):
                if effect.kind == "mode" and not _opens(command.words):
                    continue
                what = {"delete": "deletes", "move": "moves away", "mode": "opens"}.get(effect.kind, "writes to")
                yield "system-files", DENY, f"it {what} {shown}"
            elif re.fullmatch(_HISTORY, candidate) and effect.kind != "mode" and not _appends(command, effect.path):
                yield "traces", DENY, f"it wipes the shell's history, {shown}"
            elif re.fullmatch(_PERSISTENT, own) and effect.kind != "mode":
                yield "persistence", ASK, f"it changes {shown}, which runs by itself"
            elif command.name in ("touch", "mkdir"):
                continue
            elif re.fullmatch(_LOGS, candidate) and effect.kind != "mode" and not _appends(command, effect.path):
                yield "traces", DENY, f"it wipes {shown}"


def _appends(command: Command, path: str) -> bool:
    return any(target == path and ">>" in operator for operator, target in command.redirects) or (
        command.name == "tee" and any(word in ("-a", "--append") for word in command.words)
    )


def _opens(words: list[str]) -> bool:
    """Whether a mode lets others write, or read what only root may."""
    return any(
        re.fullmatch(r"[0-7]?[0-7]*[2367][0-7]?|[0-7]?[0-7]+[4-7]|(?:[ago]*|)\+[rwxst]+|777|666", word)
        for word in words[1:]
    )


@_for("chmod", "chown", "chgrp", "setfacl", "chattr", "chflags")
def _permissions(command: Command, places: Places) -> Found:
    words = command.words
    drastic = any(
        re.fullmatch(r"0*[0-7]?00|0+|[ugoa]*-[rwx]+|[0-7]*[0-7][2367]|[ao]*\+[rx]*w[rx]*", word) for word in words
    )
    for effect in effects_of_words(command):
        path = places.resolve(command, effect.path)
        hit = places.hit(path)
        if (
            hit is None
            and path is not None
            and places.is_outside(path)
            and (command.name == "chown" or effect.recursive)
        ):
            yield "permissions", ASK, f"it changes {decoded(effect.path)}, outside the project"
        if hit is None or hit[0].rule == "delete-project":
            if hit is not None and command.name == "chown" and hit[0].path != places.directory:
                yield "permissions", ASK, f"it changes the owner of {hit[0].what}"
            continue
        place, contents = hit
        if place.path in _RELAXED or place.path in _TEMPORARY or place.path.startswith(places.home + "/"):
            continue
        if effect.recursive or (contents and place.path != places.home):
            yield "permissions", DENY, f"it changes {_said(hit)} and all that is in it"
        elif command.name == "chown" and place.path not in _TEMPORARY:
            yield "permissions", ASK, f"it changes the owner of {place.what}"
        elif place.path != places.home and command.name == "chmod" and drastic:
            yield "permissions", DENY, f"it changes the permissions of {place.what}"
    if command.name == "chmod":
        bits = [word for word in words[1:] if re.fullmatch(r"[ugoa]*\+[rwx]*s[rwx]*|[2467][0-7]{3}", word)]
        targets = [effect.path for effect in effects_of_words(command)]
        if any("s" in word or word[0] in "46" for word in bits) and targets:
            yield "permissions", DENY, "who starts this gets its owner's rights"


# -- accounts, processes, services --------------------------------------------------------------------------------


@_for("crontab")
def _crontab(command: Command, places: Places) -> Found:
    options, operands = arguments(command.words, "u")
    if has(options, "-r"):
        yield "system-files", DENY, "it deletes every scheduled job"
    elif has(options, "-e"):
        yield "persistence", ASK, "it edits scheduled jobs"
    elif operands or "-" in command.words[1:]:
        whose = value_of(options, "-u")
        root = whose == "root" or "sudo" in command.through or "doas" in command.through
        yield "system-files", DENY if root else ASK, "it replaces every scheduled job"


_NEEDED = frozenset(
    "init systemd launchd sshd dbus-daemon kernel_task loginwindow windowserver gdm xorg networkmanager".split()
)


@_for("kill")
def _kill(command: Command, places: Places) -> Found:
    words = command.words[1:]
    signals = [word for word in words[:1] if re.fullmatch(r"-(?:\d+|[A-Za-z]+\d*)", word)]
    rest = words[1:] if signals else words
    if rest[:1] in (["-s"], ["-n"], ["--signal"]):
        rest = rest[2:]
    if "-l" in words or "-L" in words or signals in (["-0"], ["-l"]):
        return
    rest = [word for word in rest if word != "--"]
    if "-1" in rest or (signals == ["-1"] and not rest):
        yield "kill", DENY, "-1 stands for every process there is"
    elif "1" in rest:
        yield "kill", DENY, "process 1 is the system itself"


@_for("pkill", "killall", "killall5", "skill", "slay")
def _kill_by_name(command: Command, places: Places) -> Found:
    options, operands = arguments(
        command.words, "uUGgPstFZy", ("--signal", "--user", "--euid", "--uid", "--older-than")
    )
    names = [re.sub(r"^-(?:9|KILL|SIGKILL)$", "", word) for word in operands]
    if command.name == "killall5":
        yield "kill", DENY, "it ends every process there is"
    elif not names and has(options, "-u", "-U", "--user", "--euid", "--uid"):
        yield "kill", DENY, "it ends every process of an account"
    for name in names:
        if program(name.strip("^$")) in _NEEDED:
            yield "kill", DENY, f"the machine needs {decoded(name)}"
        elif command.name == "pkill" and re.fullmatch(r"[.*^$]+", decoded(name)):
            yield "kill", DENY, "it ends every process there is"


# -- the network --------------------------------------------------------------------------------------------------


@_for(*SHELLS, "exec")
def _reverse_shell(command: Command, places: Places) -> Found:
    targets = [target for _, target in command.redirects]
    if any(target.startswith(("/dev/tcp/", "/dev/udp/")) for target in targets) and command.name != "exec":
        yield "remote-shell", DENY, "its input and output go over the network"


@_for("nc", "ncat", "netcat", "socat")
def _listening_shell(command: Command, places: Places) -> Found:
    joined = " ".join(command.words[1:])
    if command.name == "socat":
        if re.search(r"(?i)\b(?:exec|system):", joined) and re.search(r"(?i)\b(?:tcp|udp|openssl|ssl)[\w-]*:", joined):
            yield "remote-shell", DENY, "it connects a program to the network"
        return
    options, _ = arguments(command.words, "ecpswiIoOqXxmgGbTV", ("--exec", "--sh-exec"))
    ran = value_of(options, "-e", "--exec", "--sh-exec") or value_of(options, "-c")
    if ran and (program(ran.split()[0]) in SHELLS or "sh" in ran):
        yield "remote-shell", DENY, "it gives a shell to whoever connects"
    elif any(program(words[0]) in SHELLS for words in command.upstream):
        yield "remote-shell", DENY, "what a shell prints goes over the network"


# -- git and other people's copies --------------------------------------------------------------------------------

_SHARED = r"(?:refs/heads/)?(?:main|master|trunk|develop|production|prod|stable|release(?:[/-]\S*)?)"
_ALL = rf"(?:\.|\./|:/|\*|{STAR}|\.\.)(?=\s|$)"
_GONE = "what is not committed is gone"
# Subcommands and their arguments that throw away what git cannot bring back.
_DISCARDING = (
    (r"^reset\b.*\s--(?:hard|merge)\b", _GONE),
    (r"^clean(?!.*\s(?:-\w*n|--dry-run))(?=.*\s(?:-\w*f|--force))", "files that git does not know are gone"),
    (rf"^checkout(?=\s).*\s(?:-\w*f(?=\s|$)|--force\b|{_ALL}|--\s|--pathspec-from-file|--ours\b|--theirs\b)", _GONE),
    (r"^switch\b(?!\s--\s).*\s(?:-f|--force|--discard-changes)(?=\s|$)", _GONE),
    (r"^restore\b(?!.*\s(?:-S|--staged)\b(?!.*\s(?:-W|--worktree)\b))(?=.*\s[^-\s])", _GONE),
    (r"^stash (?:clear|drop)\b", "what was stashed is gone"),
    (r"^reflog (?:expire|delete)\b|^gc\b.*--prune[= ](?:now|all)", "it takes away what lost commits are found with"),
    (r"^update-ref\b.*\s-d\b", "it deletes a branch or tag behind git's back"),
    (rf"^rm\b(?!.*\s(?:--cached|-n|--dry-run))(?=.*\s-\w*r).*\s{_ALL}", "every file of the project is deleted"),
    (r"^worktree remove\b.*\s(?:-f|--force)\b", "what is not committed there is gone"),
    (r"^branch\b(?=.*\s(?:-D|-\w*f\w*d|-d\w*f|--delete\s--force|--force\s--delete|-d\s-f|-f\s-d)(?=\s|$))",
     "it deletes a branch, merged or not"),
    (r"^checkout-index\b(?=.*\s(?:-\w*f|--force))(?!.*\s(?:-n|--no-create)\b)", _GONE),
    (r"^filter-(?:branch|repo)\b", "it rewrites the whole history"),
)  # fmt: skip


@_for("git")
def _git(command: Command, places: Places) -> Found:
    options, at = split_options(command.words, "cC", ("--git-dir", "--work-tree", "--namespace", "--exec-path"))
    directory = command.directory
    for name, value in options:
        if name in ("-C", "--work-tree"):
            directory = resolved(value, directory, places.home)
    rest = command.words[at:]
    if not rest or "--help" in rest:
        return
    sub = rest[0]
    if sub == "push":
        yield from _push(rest)
    elif places.is_ours(directory):
        said = danger_table.joined(rest)
        why = next((why for expression, why in _DISCARDING if re.search(expression, said)), None)
        if why is None and sub == "checkout" and _checks_out_files(rest):
            why = _GONE
        if why:
            yield "discard-work", ASK, why


def _checks_out_files(words: list[str]) -> bool:
    """Whether `git checkout` is given paths besides a branch or commit: it overwrites them."""
    options, operands = arguments(words, "bBU", ("--conflict", "--unified", "--inter-hunk-context", "--orphan"))
    makes_branch = has(options, "-b", "-B", "--orphan", "-t", "--track", "-d", "--detach", "-l")
    return len(operands) > 1 and not makes_branch


def _push(words: list[str]) -> Found:
    options, operands = arguments(words, "o", ("--push-option", "--receive-pack", "--repo"))
    refs = operands[1:]
    targets = [ref.rpartition(":")[2].lstrip("+") for ref in refs]
    forced = has(options, "-f", "--force") or any(ref.startswith("+") for ref in refs)
    leased = has(options, "--force-with-lease", "--force-if-includes")
    if has(options, "--mirror", "--prune"):
        yield "publish", DENY, "it makes the remote repository a copy of this one and deletes what it has besides"
    elif has(options, "-d", "--delete") or any(ref.startswith(":") for ref in refs):
        if any(re.fullmatch(_SHARED, target) for target in targets):
            yield "publish", DENY, "it deletes a branch that others work on"
    elif forced and (has(options, "--all", "--tags") or any(STAR in ref for ref in refs)):
        yield "publish", DENY, "it overwrites every branch, whatever others have pushed"
    elif any(re.fullmatch(_SHARED, target) for target in targets):
        if forced:
            yield "publish", DENY, "it overwrites a branch that others work on"
        elif leased:
            yield "publish", ASK, "it overwrites a branch that others work on"
    elif forced:
        yield "publish", ASK, "it overwrites what others may have pushed to that branch"


# -- databases ----------------------------------------------------------------------------------------------------

_CLIENTS = {
    "psql": ("-c", "--command"),
    "mysql": ("-e", "--execute"),
    "mariadb": ("-e", "--execute"),
    "sqlite3": (),
    "cqlsh": ("-e", "--execute"),
    "clickhouse-client": ("-q", "--query"),
    "sqlcmd": ("-Q", "-q"),
    "mongosh": ("--eval",),
    "mongo": ("--eval",),
    "duckdb": ("-c",),
    "snowsql": ("-q",),
    "bq": (),
    "usql": ("-c",),
    "cockroach": ("-e", "--execute"),
}


@_for(*_CLIENTS)
def _sql(command: Command, places: Places) -> Found:
    words = command.words
    texts = [command.stdin or ""]
    for number, word in enumerate(words):
        for option in _CLIENTS[command.name]:
            if word == option and number + 1 < len(words):
                texts.append(words[number + 1])
            elif word.startswith(option + "=") or (len(option) == 2 and word.startswith(option) and len(word) > 2):
                texts.append(word[len(option) :].lstrip("="))
    if command.name in ("sqlite3", "bq"):
        texts += [word for word in words[1:] if " " in word or word.startswith(".")]
    in_memory = ":memory:" in words
    for_tests = any(re.search(danger_table.FOR_TESTS, word.rpartition("/")[2]) for word in words[1:] if " " not in word)
    for text in texts:
        for statement in re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).split(";"):
            danger = _statement(" ".join(statement.split()))
            if danger and not in_memory and not (for_tests and danger[0] == ASK):
                yield ("database", *danger)


def _statement(sql: str) -> tuple[str, str] | None:
    found = re.match(r"(?i)(?:\\\w+ )?drop (database|schema|keyspace)\s+(?:if exists\s+)?(\S+)", sql)
    if found:
        return (
            None
            if re.search(danger_table.FOR_TESTS, found.group(2))
            else (DENY, f"it drops the {found.group(1).lower()} {decoded(found.group(2))}")
        )
    found = re.match(
        r"(?i)(?:drop (?:table|view|collection|role|user)|truncate(?: table)?)\s+(?:if exists\s+)?(\S+)", sql
    )
    if found:
        return (
            None
            if re.search(danger_table.FOR_TESTS, found.group(1))
            else (ASK, f"what is in {decoded(found.group(1))} is gone")
        )
    if re.match(r"(?i)delete from \S+$", sql):
        return ASK, "without WHERE it deletes every row"
    if re.match(r"(?i)update \S+ set\b(?!.*\bwhere\b)", sql):
        return ASK, "without WHERE it changes every row"
    if re.search(r"\bdropDatabase\s*\(", sql):
        return DENY, "it drops the database"
    if re.search(r"\.\s*(?:drop|remove|deleteMany)\s*\(\s*(?:\{\s*\})?\s*\)", sql):
        return ASK, "it empties a collection"
    return None


@_for("dropdb")
def _dropped(command: Command, places: Places) -> Found:
    _, operands = arguments(command.words, "hpUW", ("--host", "--port", "--username", "--maintenance-db"))
    if not operands or not re.search(danger_table.FOR_TESTS, operands[-1]):
        yield "database", DENY, "it drops a database"


@_for("docker", "podman", "nerdctl")
def _all_containers(command: Command, places: Places) -> Found:
    """`docker ps -q | xargs docker rm -f`"""
    listed = any(words and program(words[0]) == command.name and "ps" in words for words in command.upstream)
    if listed and re.search(r"\b(?:rm .*-\w*f|kill)\b", " ".join(command.words)):
        yield "cloud", ASK, "it removes containers that are not named"


@_for("kubectl", "oc")
def _listed_resources(command: Command, places: Places) -> Found:
    """`kubectl get ns -o name | xargs kubectl delete`"""
    listed = [words for words in command.upstream if words and program(words[0]) == command.name and "get" in words]
    if "delete" in command.words and any(UNKNOWN in word for word in command.words) and listed:
        yield "cloud", DENY, "it deletes resources that are not named"


# -- packages -----------------------------------------------------------------------------------------------------

_ESSENTIAL = (
    r"(?:libc6|libc-bin|glibc\S*|systemd|bash|dash|coreutils|util-linux|dpkg|apt|rpm|dnf|yum|pacman|sudo|linux-image\S*"
    r"|linux-headers-generic|linux|kernel\S*|openssh-server|grub\S*|python3|python3-minimal|init|login|passwd|mount|tar|gzip|e2fsprogs"
    r"|network-manager|networkmanager|base-files|libssl\S*|openssl|perl-base|filesystem|ubuntu-desktop|gnome-shell|xorg)"
)


@_for(
    "apt",
    "apt-get",
    "aptitude",
    "dpkg",
    "yum",
    "dnf",
    "rpm",
    "zypper",
    "pacman",
    "apk",
    "brew",
    "pip",
    "snap",
    "emerge",
)
def _packages(command: Command, places: Places) -> Found:
    name, words = command.name, command.words
    options, operands = arguments(words, "oct", ("--option",))
    removing = {
        "rpm": has(options, "-e", "--erase"),
        "pacman": has(options, "-R", "--remove"),
        "dpkg": has(options, "-r", "-P", "--purge", "--remove"),
        "apk": "del" in operands,
        "emerge": has(options, "-C", "--unmerge"),
    }.get(name, bool(set(operands[:1]) & {"remove", "purge", "erase", "autoremove", "uninstall", "rm"}))
    if not removing or name in ("pip", "brew", "snap"):
        return
    needed = [word for word in operands if re.fullmatch(_ESSENTIAL, word)]
    if needed:
        yield "packages", DENY, f"the system needs {needed[0]}"
    elif any(mark in word for word in operands for mark in PATTERNS) or "*" in operands:
        yield "packages", ASK, "it removes more packages than are named"


# -- PowerShell ----------------------------------------------------------------------------------------------------


@_for("remove-item", "Remove-Item", "ri", "del", "erase", "rd", "Clear-Content", "Format-Volume", "Clear-Disk")
def _remove_item(command: Command, places: Places) -> Found:
    """PowerShell and cmd: judged by the line as it is written, since a backslash is no escape there."""
    said = command.shown
    if re.match(r"(?i)format-volume|clear-disk", said):
        yield "disk", DENY, "it erases a disk"
    elif re.search(r"(?i)\s-re\w*\b|\s/s\b", said) and re.search(_WINDOWS, said):
        yield "delete-system", DENY, "it deletes a directory of the system, or a home"
    elif re.search(r"(?i)\s-re\w*\b", said) and re.search(r"(?i)\s['\"]?(?:[a-z]:\\|~|\$env:|\$home|\\\\)", said):
        yield "delete-outside", DENY, "it deletes something outside the project"


_WINDOWS = (
    r"(?i)[a-z]:\\?(?:['\"\s*]|$)|[a-z]:\\(?:windows|users|program\S*)(?:\\[^\\\s]*)?\\?(?:['\"\s*]|$)"
    r"|\$(?:env:(?:userprofile|systemroot|windir|programfiles|appdata)|home)\\?(?:['\"\s*]|$)|\s['\"]?[~/]['\"]?(?:\s|$)"
)


@_for("iex", "Invoke-Expression", "invoke-expression")
def _invoked(command: Command, places: Places) -> Found:
    """`irm URL | iex`"""
    fetched = any(words and words[0].lower() in _FETCHING for words in command.upstream)
    if fetched or re.search(
        r"(?i)\b(?:irm|iwr|invoke-(?:webrequest|restmethod)|downloadstring|frombase64string)\b", command.shown
    ):
        yield "run-download", DENY, "it runs what comes over the network"


_FETCHING = ("irm", "iwr", "curl", "wget", "invoke-webrequest", "invoke-restmethod")


# -- what cannot be known -----------------------------------------------------------------------------------------


def _unknown_program(command: Command, places: Places) -> Found:
    """A program whose name comes from elsewhere, with arguments that only something destructive would have."""
    recursive = [
        word for word in command.words[1:] if re.fullmatch(r"-[a-zA-Z]{0,3}[rR][a-zA-Z]{0,3}|--recursive", word)
    ]
    operands = [word for word in command.words[1:] if word and not word.startswith("-")]
    for word in operands if recursive else ():
        hit = places.hit(places.resolve(command, word))
        if hit:
            yield hit[0].rule, DENY, f"a program that cannot be told goes through {_said(hit)}"
