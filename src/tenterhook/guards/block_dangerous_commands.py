"""The guard `block-dangerous-commands`: objects to what cannot be undone, or reaches far beyond the project.

`judge` reads a shell line and applies the rules below to each command that it would run. A rule is a function on a
command that yields dangers; `RULES` describes each, and the table in docs/built-in-hooks.md is generated from it.
"""

from __future__ import annotations

from ..basics import lazy_re as re
from ..shell import reader
from ..shell.effects import effects
from ..shell.programs import SHELLS, Find, arguments, git_options, has, nested_commands, program, resolved, value_of
from ..shell.syntax import PATTERNS, STAR, UNKNOWN, UNKNOWNS, decoded
from ..shell.words import pattern_matches
from . import danger_table
from .calls import ASK, DENY, GuardFinding, is_below, judged, read
from .danger_table import SETS_OWNER, found, matches
from .project_places import GENERATED, TEMPORARY, ProjectPlaces, is_catch_all

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable, Iterator

    from ..shell.effects import PathEffect
    from ..shell.reader import ReadingNote, ShellCommand
    from .calls import GuardedCall, Objection

    Found = Iterator[tuple[str, str, str]]  # rule, decision, why
    Rule = Callable[[ShellCommand, ProjectPlaces], Found]


# The rules, the most telling first: what each is about, and what to do instead.
RULES = {
    "delete-system": (
        "deletes the file system, a home, or a directory that the system or its owner needs",
        "first list what should be deleted (ls), then remove it by its full name inside the project",
    ),
    "delete-project": (
        "deletes the project itself, the directories around it, or its .git",
        "remove build products by name (rm -rf build dist), or use git to go back",
    ),
    "disk": (
        "writes to a disk, formats it, or erases what is on it",
        "work on an image file (disk.img), or let the user do this themselves",
    ),
    "fork-bomb": (
        "starts an endless number of processes",
        "start a fixed number of processes, and wait for them",
    ),
    "run-decoded": (
        "runs text that is encoded or assembled at run time",
        "write the commands in plain text",
    ),
    "run-download": (
        "runs code from the network, unseen",
        "download it to a file, read it, and then run that file with a separate command",
    ),
    "remote-shell": (
        "gives another machine a shell on this one",
        "use ssh to connect to a machine of your own",
    ),
    "mining": (
        "mines cryptocurrency",
        "leave it out; tell the user if the task seems to need it",
    ),
    "attack": (
        "attacks other machines: guesses passwords, or floods them",
        "leave it out; tell the user if the task seems to need it",
    ),
    "security": (
        "disables or changes a firewall or another protection",
        "open the one port, or add the one exception that is needed",
    ),
    "traces": (
        "deletes logs or the shell's history",
        "keep them; move a large log elsewhere instead",
    ),
    "system-files": (
        "changes accounts, the kernel, or files that logins and the boot depend on",
        "write the new content to a file of the project, and let the user put it in place",
    ),
    "permissions": (
        "changes owners or permissions of the system, of a home, or so that any account can become root",
        "change the one file that needs it",
    ),
    "kill": (
        "ends processes that the user or the system needs",
        "end only the process that you started, by its id",
    ),
    "shut-down": (
        "shuts the machine down, restarts it, or cuts it off the network",
        "tell the user that a restart is needed",
    ),
    "services": (
        "stops a service of this machine",
        "restart it instead, or ask the user to stop it",
    ),
    "packages": (
        "removes packages that the system needs, or packages with their configuration",
        "remove only the package that you installed",
    ),
    "persistence": (
        "makes something run automatically later: at a login, a start or a given time",
        "say what should run when, and let the user set it up",
    ),
    "publish": (
        "publishes something, or overwrites or deletes what others have: a branch, a repository, a package",
        "show what would be published (--dry-run), and let the user do it",
    ),
    "discard-work": (
        "discards work that git cannot restore",
        "keep it with git stash, or name the files to discard",
    ),
    "delete-outside": (
        "deletes or overwrites something outside the project",
        "work inside the project or in a temporary directory; ask the user to remove files elsewhere",
    ),
    "delete-files": (
        "deletes files of the project that no build recreates",
        "name the files one by one, or use git rm, so that git can restore them",
    ),
    "unreadable": (
        "cannot be parsed completely, and contains something destructive",
        "write it as several plain commands, or put it into a script file",
    ),
}


def judge(call: GuardedCall) -> Objection | None:
    """Return the objection to a call's shell lines, or None."""
    return judged(call, RULES, lambda line: dangers(call, line))


def dangers(call: GuardedCall, line: str | list[str]) -> Iterator[GuardFinding]:
    """Yield the dangers of a line, or of a program with its arguments, before the hook's settings are applied."""
    directory, environment = call.directory(), {"TMPDIR": "/tmp", **call.environment}  # noqa: S108  # programs' default
    reading = read(line, directory, environment if "TMPDIR" in str(line) else call.environment)  # shared if possible
    places = ProjectPlaces(directory, environment, call.directories())
    places.finds = [each.words for each in reading.commands if each.name == "find"]
    places.shown = {tuple(each.words): each.shown for each in reading.commands if "\\" in each.shown}
    for command in reading.commands:
        for rule, decision, why in _of_command(command, places):
            yield GuardFinding(rule, decision, command.shown, why + _if_unset(command), command.span)
    text = line if isinstance(line, str) else " ".join(line)
    if ("sshpass" in text or "su" in text) and len(text) < danger_table.LONGEST and found(danger_table.GUESSING, text):
        yield GuardFinding("attack", DENY, "…", "it tries one password after another")
    yield from _notes(reading.notes, text)


def _if_unset(command: ShellCommand) -> str:
    if not command.unset:
        return ""
    names = ", ".join(f"${name}" for name in command.unset)
    return f", if {names} is not set; ${{{command.unset[0]}:?}} would stop there"


# Words of destructive programs: a line that cannot be read is a danger only if it contains one of them.
_DESTRUCTIVE = (
    r"(?i)(?<![\w.-])(?:rm|srm|shred|unlink|dd|mkfs\S*|wipefs|mkswap|fdisk|parted|truncate|chmod|chown|chattr|eval"
    r"|shutdown|reboot|kill(?:all)?|git\s+(?:push|reset|clean)|base64|curl|wget|nc|ncat|iex|invoke-expression|del|rmdir)"
    r"(?=[\s;|&)'\"]|$)|-delete\b|>\s*/(?:dev/[a-z]d|etc)|\$\{!"
)
MOST_PATHS = 500  # of one command that are checked
_UPSTREAM = 8  # commands of a pipeline that are searched together
_LONGEST_SEARCHED = 100_000  # characters; a longer line that cannot be read is asked about


def _notes(notes: list[ReadingNote], line: str) -> Iterator[GuardFinding]:
    unreadable = [note for note in notes if note.kind == "unreadable"]
    if unreadable:
        is_text = len(line) > danger_table.LONGEST or found(r"(?i)^\s*(?:write-\w+|echo|printf)\b", line)
        known = [] if is_text else list(danger_table.of_windows(line))
        yield from (GuardFinding(rule, decision, unreadable[0].shown, why) for rule, decision, why in known)
        if not known and (len(line) >= _LONGEST_SEARCHED or found(_DESTRUCTIVE, line)):
            yield GuardFinding("unreadable", ASK, unreadable[0].shown, f"it {RULES['unreadable'][0]}")
    for note in notes:
        if note.kind != "unreadable":
            rule = note.kind.removesuffix("-directly")
            yield GuardFinding(rule, DENY, note.shown, f"it {RULES[rule][0]}")


def _of_command(command: ShellCommand, places: ProjectPlaces) -> Found:
    if command.assignments and (not command.words or command.name in SHELLS):
        said = " ".join(f"{name}={value}" for name, value in command.assignments)
        if found(danger_table.NO_HISTORY, said):
            yield "traces", DENY, "it keeps the shell from recording its history"
    yield from _of_paths(command, places)
    if not command.words:
        return
    name = command.name
    is_pattern = any(mark in name for mark in PATTERNS)
    if is_pattern and len(re.findall(r"[a-z]", name)) > (STAR in name):  # /bin/r?, but not a*
        for known in (known for known in (*_BY_PROGRAM, *danger_table.BY_PROGRAM) if pattern_matches(name, known)):
            yield from _of_command(command._replace(words=[known, *command.words[1:]]), places)
    if is_pattern:
        return
    for rule in _BY_PROGRAM.get(name, ()):
        yield from rule(command, places)
    yield from danger_table.dangers(command)
    is_of_windows = danger_table.is_of_windows(command.words[0]) or danger_table.is_of_windows(name)
    is_text = name in ("echo", "printf") or name.startswith("write-")
    if not is_text and (
        is_of_windows or ("\\" in command.shown and re.search(r"\s['\"]?(?:[A-Za-z]:|%\w+%)\\", command.shown))
    ):
        yield from danger_table.of_windows(_as_written(command, places))
    if command.words[0].startswith("/etc/init.d/") and "stop" in command.words:
        yield "services", ASK, "it stops a service of this machine"
    # `$(which python || which python3)` reads as what both print
    if any(mark in name for mark in UNKNOWNS) or name.count("python") > 1:
        yield from _unknown_program(command, places)


_BY_PROGRAM: dict[str, list[Rule]] = {}


def _for(*names: str) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        for name in names:
            _BY_PROGRAM.setdefault(name, []).append(rule)
        return rule

    return add


# -- paths --------------------------------------------------------------------------------------------------------


def _of_paths(command: ShellCommand, places: ProjectPlaces) -> Found:
    """Yield the dangers of the paths that a command deletes, moves, writes, or changes the mode of."""
    changed = effects(command)
    if len(changed) > MOST_PATHS:
        yield "unreadable", ASK, "it names too many paths to check them all"
    sources: list[str] = []
    starts_later = False
    for effect in changed[:MOST_PATHS]:
        path = places.resolve(command, effect.path)
        if path is None:
            continue
        device = _device(path, effect.kind) if path.startswith("/dev/") else None
        if device:
            yield "disk", DENY, f"it {_CHANGES[effect.kind]} {device}"
            continue
        of_file = list(_of_known_file(command, effect, path, places))
        starts_later |= any(rule == "persistence" for rule, _, _ in of_file)
        yield from of_file
        match effect.kind:
            case "delete" if command.name not in ("find", "git"):  # those have their own rules
                yield from _deleted(command, effect, path, places)
                for source, target in places.moved:
                    if effect.recursive and is_below(target, path):
                        yield from _deleted(command, effect, source, places)
            case "move":
                sources.append(path)
                yield from _moved(effect, path, places)
            case "write":
                places.moved += [(source, path) for source in sources][: _MOST_MOVED - len(places.moved)]
                yield from _written(command, effect, path, places)
            case "mode":
                yield from _mode_changed(command, effect, path, places)
    if starts_later and not places.is_written_later:
        yield from _started_later(command, places)


_MOST_MOVED = 50  # moves of a line that are remembered


def _device(path: str, kind: str) -> str | None:
    """Return the disk, partition or memory at a path that is deleted or written, or any device that is written."""
    is_disk = kind in ("delete", "write") and matches(danger_table.DEVICE, path)
    return decoded(path) if is_disk or (kind == "write" and matches(_OTHER_DEVICES, path)) else None


_CHANGES = {"delete": "deletes", "move": "moves", "mode": "changes", "write": "writes to"}
_PARTS_OF_GIT = r"/\.git/(?:HEAD|index|config|packed-refs|(?:objects|refs|logs|worktrees|modules)/.+)"
_PASSWORDS = (
    r"/etc/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d/.*|pam\.d/.*|ld\.so\.preload|fstab|crypttab|inittab|securetty|default/grub|ssh/ssh_host_.*|ssh/sshd_config)-?"
    r"|/(?:private|usr/local)/etc/(?:sudoers(?:\.d/.*)?|master\.passwd|passwd)|/(?:usr/)?lib\S*/security/.*|/boot/.*|/proc/sysrq-trigger|/proc/\d+/mem"
    r"|/(?:usr/)?s?bin/(?:(?:ba|da|z)sh|su|sudo|login|passwd|sshd?|ls|cat|ps|env)"
    r"|/sys/block/.*/device/delete|/sys/power/state|/sys/fs/selinux/(?:enforce|disable)|/etc/selinux/config"
)
_SSH = r"(?:/root|/home/[^/]+|/Users/[^/]+)/\.ssh/(?:id_[a-z0-9_]+|identity|rc|environment)"
_HOME = r"(?:/root|/home/[^/]+|/Users/[^/]+)"
# Files that run, or decide what runs, at boot, at a login, or on a schedule.
_PERSISTENT = (
    r"/etc/(?:profile(?:\.d/.*)?|bash\.?bashrc|bashrc|zsh/.*|zshrc|zprofile|zshenv|csh\.\w+|crontab|anacrontab"
    r"|cron\.[a-z]+/.*|modules|ld\.so\.conf(?:\.d/.*)?|emond\.d/.*|periodic/.*|ssh/sshd_config\.d/.*|environment|rc\.local|init\.d/.*|systemd/.*"
    r"|xdg/autostart/.*|rc\.common|rc[0-6S]?\.d/.*|modules-load\.d/.*|udev/.*|launchd\.conf|update-motd\.d/.*|apt/apt\.conf\.d/.*)"
    rf"|{_HOME}/\.(?:(?:ba|z|k|c|tc|mk|)shrc|(?:vim|ex|screen|input|npm|xinit|python|irb|pry|curl|wget|nano|mail|lynx|yarn)rc|bash_\w+|profile|profile\.d/.*|zprofile|zshenv|zlog\w+|aliases|emacs(?:\.d/.*)?|n?vim/.*|tmux\.conf|gdbinit"
    r"|gitconfig|pam_environment|ssh/config|ssh/authorized_keys2?|xprofile|xsession|config/(?:autostart|systemd/user|fish(?!/completions)|n?vim|git)/.*"
    r"|local/lib/.*\.pth|config/environment\.d/.*|bin/.*|local/bin/(?:sudo|ls|git|ssh|python3?|cat|su)"
    rf"|local/share/systemd/.*)|{_HOME}/Library/LaunchAgents/.*|/var/(?:spool/cron|at/jobs|cron/tabs)/.*"
    r"|.*/\.git/(?:config|hooks/[^/]+(?<!\.sample))|/Library/(?:Launch(?:Agents|Daemons)|StartupItems)/.*|/usr/local/etc/rc\.d/.*|.*/com\.apple\.loginwindow\.\S*plist"
    r"|.*/(?:site|dist)-packages/(?:[^/]+\.pth|(?:user|site)customize\.py)|/(?:usr/)?lib/systemd/.*"
)
_SETTINGS = (
    r"/etc/(?:apt/.*|yum\S*/.*|r?syslog\S*|logrotate\.d/.*|hosts|default/ufw|resolv\.conf|host\.conf|hostname|nsswitch\.conf|login\.defs|motd|issue"
    r"|(?:audit|ssh|security|ufw|iptables|firewalld|nftables|fail2ban|apparmor\.d|ssl)/.*|audit\S*|nftables\.conf|exports|shells)"
    r"|/(?:s?bin|lib\w*|usr/(?:s?bin|lib\w*))/.+|/usr/local/share/ca-certificates(?:/.*)?|/System/.+"
)
_HISTORY = r".*/\.(?:bash|zsh|sh|python|mysql|psql|node_repl|fish)_?history|.*/fish_history"
# Paths that a pattern is compared with.
_TELLING = "/etc/passwd /etc/shadow /etc/sudoers /boot/vmlinuz /var/log/auth.log ~/.ssh/id_rsa ~/.bash_history".split()
_LOGS = (
    r"/var/(?:spool/)?mail/.*|/var/log/(?:auth\.log|syslog|secure|messages|kern\.log|audit/.*|wtmp|btmp|lastlog|faillog|journal/.*|dpkg\.log|sudo\.log|system\.log|ufw\.log|cron(?:\.log)?|apache2/.*|nginx/.*"
    r"|utmp)"
)
_KERNEL_PROTECTIONS = tuple(
    f"/proc/sys/kernel/{name}" for name in ("randomize_va_space", "yama/", "kptr_restrict", "modules_disabled")
)
_OTHER_DEVICES = (
    r"/dev/(?!(?:null|zero|full|u?random|std(?:in|out|err)|tty\S*|console|ptmx|fd|shm|pts|tcp|udp|log|kmsg)(?:/|$)).+"
)


def _of_known_file(command: ShellCommand, effect: PathEffect, path: str, places: ProjectPlaces) -> Found:
    """Yield the dangers of a change to a well-known file: of logins, the boot, schedules, logs, histories."""
    kind, shown = effect.kind, decoded(effect.path)
    candidates = list(dict.fromkeys((path, places.real(path))))
    if any(mark in path for mark in PATTERNS):
        known = [places.home + each[1:] if each[0] == "~" else each for each in _TELLING]
        # the names of files copied into a directory are not known
        into_directory = kind == "write" and is_catch_all(path.rpartition("/")[2])
        candidates = [] if into_directory else [each for each in known if pattern_matches(path, each)]
    for candidate in candidates:
        if places.is_ordinary(candidate):
            continue
        own = places.in_home(candidate)
        if kind == "write" and _overwrites_git(command, effect.path, candidate, places):
            yield "delete-project", DENY, f"it overwrites {shown}, without which the repository does not work"
        elif matches(_PASSWORDS, candidate) or matches(_SSH, own):
            if kind != "mode" or command.name != "chmod" or any(matches(_OPENS, word) for word in command.words[1:]):
                yield "system-files", DENY, f"it {_CHANGES[kind]} {shown}"
        elif kind == "mode":
            continue
        elif matches(_HISTORY, candidate) and not _appends(command, effect.path):
            yield "traces", DENY, f"it wipes the shell's history, {shown}"
        elif matches(_PERSISTENT, own):
            yield "persistence", ASK, f"it changes {shown}, which runs, or controls what runs, automatically"
        elif matches(_SETTINGS, candidate):
            yield "system-files", ASK, f"it changes {shown}, a setting of the system"
        elif matches(_LOGS, candidate) and command.name not in _MAKING and not _appends(command, effect.path):
            yield "traces", DENY, f"it wipes {shown}"


def _started_later(command: ShellCommand, places: ProjectPlaces) -> Found:
    """Yield what is refused in the text that a command writes to a file which runs automatically."""
    text = "\n".join(command.words[1:]) if command.name in ("echo", "printf") else command.stdin or ""
    if len(text) > danger_table.LONGEST:
        return
    places.is_written_later = True
    for written in reader.read(text, places.directory, {"HOME": places.home}).commands:
        yield from (each for each in _of_command(written, places) if each[1] == DENY)
    places.is_written_later = False


_MAKING = ("touch", "mkdir")  # they do not change existing files
_OPENS = r"[0-7]?[0-7]*[2367][0-7]?|[0-7]?[0-7]+[4-7]|[ago]*\+[rwxst]+"  # lets other accounts read or write


def _overwrites_git(command: ShellCommand, shown: str, path: str, places: ProjectPlaces) -> bool:
    """Whether a file of the project's `.git` is overwritten, and not appended to, edited as settings, or by git."""
    if not path.startswith(places.root + "/.git/") or not matches(_PARTS_OF_GIT, path[len(places.root) :]):
        return False
    is_edited = path.endswith("/config") and (">", shown) not in command.redirects and command.name != "truncate"
    by_git = command.name == "git" and not any(word.startswith("--output") for word in command.words)
    return not (is_edited or by_git or _appends(command, shown) or command.name in _MAKING)


def _appends(command: ShellCommand, path: str) -> bool:
    return any(target == path and ">>" in operator for operator, target in command.redirects) or (
        command.name == "tee" and any(word in ("-a", "--append") for word in command.words)
    )


def _written(command: ShellCommand, effect: PathEffect, path: str, places: ProjectPlaces) -> Found:
    shown, is_pattern = decoded(effect.path), any(mark in path for mark in PATTERNS)
    if path == "/dev/null" and command.name == "mv":
        yield "delete-system", DENY, "it replaces /dev/null, and what was moved there is lost"
    elif path.startswith(_KERNEL_PROTECTIONS):
        yield "security", DENY, "it disables a protection of the kernel"
    elif path.startswith("/proc/sys/") and "drop_caches" not in path:
        yield "system-files", ASK, "it changes the kernel's settings"
    elif command.name in _UNPACKING and _is_of_system(path, places):
        yield "delete-outside", ASK, f"it unpacks an archive over {shown}, a directory of the system"
    given = "xargs" in command.through and (">", effect.path) in command.redirects
    if given and (UNKNOWN in effect.path or places.hit(path)):
        yield "delete-files", ASK, "it overwrites files that another command names"
    if path.startswith("/dev/") or not _empties(command, effect):
        return
    if is_pattern and not places.is_generated(path):
        yield "delete-files", ASK, f"it empties every file that {shown} matches"
    elif UNKNOWN in path:
        return
    elif places.is_outside(path):
        if not places.is_cache(path):
            yield "delete-outside", DENY, f"it overwrites {shown}, outside the project"
    elif command.name == "truncate" and not (places.is_generated(path) or places.is_temporary(path)):
        yield "delete-files", ASK, f"it empties {shown}"


_UNPACKING = ("tar", "bsdtar", "unzip", "cpio", "7z", "7za", "7zz", "unrar")


def _is_of_system(path: str, places: ProjectPlaces) -> bool:
    place = None if path in (*_RELAXED, *TEMPORARY) or is_below(path, places.home) else places.hit(path)
    return place is not None and place.rule == "delete-system"


_PRINTING_NOTHING = ([":"], ["true"], ["cat", "/dev/null"], ["echo"], ["echo", ""], ["echo", "-n"], ["printf", ""])
_NOTHING = frozenset(("/dev/null", ""))
_EMPTYING = {
    **dict.fromkeys(("cp", "ln", "install", "perl"), _NOTHING),
    "sed": _NOTHING | {"d", "1,$d", "$!d", "/^/d", "/./d"},
}


def _empties(command: ShellCommand, effect: PathEffect) -> bool:
    """Whether a command leaves nothing of a file's content: `truncate`, `dd of=`, `> file` without output."""
    if command.name == "truncate":
        options, _ = arguments(command.words, "sr", ("--size", "--reference"))
        return re.match(r"[-<%/]|0+\D*$", value_of(options, "-s", "--size") or "") is not None
    if command.name == "tee":
        return any(words in _PRINTING_NOTHING for words in [*command.upstream][-1:]) and not _appends(
            command, effect.path
        )
    if command.name in _EMPTYING:
        return not _EMPTYING[command.name].isdisjoint(command.words[1:])
    nothing = not command.words or command.words in _PRINTING_NOTHING
    return command.name == "dd" or (nothing and (">", effect.path) in command.redirects)


def _deleted(command: ShellCommand, effect: PathEffect, path: str, places: ProjectPlaces) -> Found:
    place = places.hit(path)
    if place and effect.recursive:
        yield place.rule, DENY, f"it deletes {place.shown}"
    elif command.name == "rmdir":
        return
    elif place and place.only_contents and place.path not in TEMPORARY:
        decision = ASK if place.rule == "delete-project" else DENY
        yield place.rule, decision, f"it deletes every file in {place.what}"
    elif not place:
        yield from _deleted_elsewhere(command, effect, path, places)


def _deleted_elsewhere(command: ShellCommand, effect: PathEffect, path: str, places: ProjectPlaces) -> Found:
    """Yield the danger of deleting a path that is not a known place: outside the project, or not restorable."""
    shown = decoded(effect.path)
    real = places.real(path)
    path = real if places.is_outside(real) else path
    if (UNKNOWN in path and not path.startswith("/")) or places.is_temporary(path):
        return
    parent, _, name = path.rpartition("/")
    if name == UNKNOWN and effect.recursive and places.is_of_system(parent):
        yield "delete-system", DENY, f"it deletes something in {parent or '/'} that another command names"
    if matches(_PARTS_OF_GIT, path[len(places.root) :]) and path.startswith(places.root):
        yield "delete-project", DENY, f"it deletes {shown}, without which the repository does not work"
    elif places.is_outside(path):
        severe = effect.recursive or re.match(r"/(?:etc|usr|boot|opt|srv|lib|bin|sbin|var/(?!tmp/))", path)
        if not places.is_cache(path):
            yield "delete-outside", DENY if severe else ASK, f"it deletes {shown}, outside the project"
    elif UNKNOWN in path or places.is_generated(path):
        return
    elif command.name not in _ERASING and places.can_restore(path):
        if effect.recursive and parent == places.root and not places.is_file(path):
            yield "delete-files", ASK, f"it deletes all of {shown}, a directory at the top of the project"
    elif effect.recursive and (command.name in _ERASING or not places.is_file(path)):
        yield "delete-files", ASK, f"it deletes {shown}, which neither a build nor git restores"
    elif any(mark in path for mark in PATTERNS):
        yield "delete-files", ASK, f"it deletes every file that {shown} matches"


_ERASING = ("shred", "srm", "wipe")


def _moved(effect: PathEffect, path: str, places: ProjectPlaces) -> Found:
    place = places.hit(path)
    is_of_project = place is not None and place.rule == "delete-project"
    if place and not (place.only_contents and is_of_project) and place.path not in TEMPORARY:
        decision = ASK if is_of_project or place.path.startswith(places.home + "/") else DENY
        yield place.rule, decision, f"it moves {place.shown}"
    elif re.match(r"/(?:bin|boot|etc|lib\w*|sbin|usr(?!/local/)|System|Windows)/", path):
        yield "system-files", DENY, f"it moves {decoded(effect.path)}"


_DRASTIC = r"0*[0-7]?00|0+|[ugoa]*-[rwx]+|[0-7]*[0-7][2367]|[ao]*\+[rx]*w[rx]*"
_OPENS_TO_ALL = r"0?[0-7]{2}[2367]|[ugo]*[ao][ugoa]*\+[rx]*w[rwx]*"
_RELAXED = tuple("/usr/local /usr/local/bin /usr/local/lib /opt /srv /mnt /media /var/www /data/data".split())


def _mode_changed(command: ShellCommand, effect: PathEffect, path: str, places: ProjectPlaces) -> Found:
    """Yield the dangers of a change of owner or permissions."""
    place = places.hit(path)
    is_chmod, is_chown = command.name == "chmod", command.name == "chown"

    def has_mode(expression: str) -> bool:
        return any(matches(expression, word) for word in command.words[1:])

    if is_chmod and has_mode(SETS_OWNER):
        yield "permissions", DENY, "it then runs with its owner's rights"
    if is_chmod and path.startswith(("/usr/", "/bin/", "/sbin/")) and has_mode(r"0?[23][0-7]{3}"):
        yield "permissions", DENY, "it then runs with its group's rights"
    if place is None:
        if places.is_outside(path) and (is_chown or effect.recursive or has_mode(_OPENS_TO_ALL)):
            yield "permissions", ASK, f"it changes {decoded(effect.path)}, outside the project"
    elif place.rule == "delete-project":
        if is_chown and place.path != places.directory:
            yield "permissions", ASK, f"it changes the owner of {place.what}"
    elif place.path.endswith(("/.ssh", "/.gnupg", "/.aws", "/.kube")) and has_mode(_OPENS_TO_ALL):
        yield "permissions", DENY, f"it opens {place.what} to every account"
    elif place.path in TEMPORARY or place.path.startswith(places.home + "/"):
        return
    elif effect.recursive or (place.only_contents and place.path not in (places.home, *_RELAXED)):
        decision = ASK if place.path in _RELAXED else DENY
        yield "permissions", decision, f"it changes {place.shown} and everything in it"
    elif place.path in _RELAXED:
        return
    elif is_chown:
        yield "permissions", ASK, f"it changes the owner of {place.what}"
    elif is_chmod and place.path != places.home and has_mode(_DRASTIC):
        yield "permissions", DENY, f"it changes the permissions of {place.what}"


# -- programs -----------------------------------------------------------------------------------------------------

_DELETING = ("rm", "unlink", "shred", "srm", "truncate")


@_for(*_DELETING)
def _deleted_by_xargs(command: ShellCommand, places: ProjectPlaces) -> Found:
    """Yield the dangers of deleting what another command prints."""
    if "xargs" not in command.through:
        return
    if any(program(words[0]) == "find" and ".git" in words for words in command.upstream):
        yield "delete-project", DENY, "it deletes repositories"
    named_elsewhere = any(UNKNOWN in word for word in command.words[1:])
    if command.name == "rm" and named_elsewhere and not any(map(_finds_generated, places.finds)):
        yield "delete-files", ASK, "it deletes files that another command names"


def _finds_generated(words: list[str]) -> bool:
    """Whether a `find` only finds what builds generate."""
    if all(matches(GENERATED, start.strip("./")) for start in Find(words).starts):
        return True
    named = [at for at, word in enumerate(words[:-1]) if word in ("-name", "-iname", "-path")]
    names = [words[at + 1] for at in named if words[at - 1] not in ("!", "-not")]
    return bool(names) and all(map(_is_generated_name, names))


def _is_generated_name(name: str) -> bool:
    name = decoded(name)
    return matches(GENERATED, name.strip("*/") or "*") or matches(GENERATED, name.replace("*", "x"))


@_for("find")
def _find(command: ShellCommand, places: ProjectPlaces) -> Found:
    find = Find(command.words)
    wrapped = [each.value for words in find.commands for each in nested_commands(words, None) if each.kind == "words"]
    run = [(program(words[0]), words) for words in (*find.commands, *wrapped) if words]
    deletes = find.deletes or any(
        name in _DELETING
        or (name in SHELLS and any(re.search(r"\b(?:rm|shred|unlink)\b", word) for word in words))
        or (name == "mv" and "/dev/null" in words)
        for name, words in run
    )
    for start in find.starts if any(name in ("chmod", "chown", "chgrp") for name, _ in run) else ():
        path = places.resolve(command, start)
        if path is not None and places.is_outside(path) and path not in TEMPORARY:
            yield "permissions", ASK, f"it changes what it finds in {decoded(start)}, outside the project"
    asks_itself = bool(find.commands) and all("-i" in words for words in find.commands)
    links = re.search(r" -x?type l(?: |$)", " ".join(command.words)) is not None
    if not deletes or asks_itself or links or {*command.words} & {"-empty", "-inum", "-ok", "-okdir"}:
        return
    for start in find.starts[:MOST_PATHS]:
        yield from _found_in(command, start, places, find.restricted, _finds_generated(command.words))


def _found_in(command: ShellCommand, start: str, places: ProjectPlaces, restricted: bool, generated: bool) -> Found:
    """Yield the dangers of deleting what a search finds below a directory."""
    path = places.resolve(command, start)
    if path is None:
        return
    place = places.hit(path)
    if restricted and ".git" in command.words:
        yield "delete-project", DENY, "it deletes repositories"
    elif place and not restricted:
        yield place.rule, DENY, f"it deletes everything found in {place.shown}"
    elif path in TEMPORARY or places.is_temporary(path):
        return
    elif place and place.rule == "delete-system":
        yield place.rule, DENY, f"it deletes files all over {place.what}"
    elif places.is_outside(path):
        if not places.is_cache(path):
            yield "delete-outside", DENY, f"it deletes files in {decoded(start)}, outside the project"
    elif not places.is_generated(path) and not generated:
        yield "delete-files", ASK, "it deletes every file that it finds"


@_for("fd", "fdfind")
def _fd(command: ShellCommand, places: ProjectPlaces) -> Found:
    words = command.words
    at = next((at for at, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")), len(words))
    if not words[at + 1 : at + 2] or program(words[at + 1]) not in _DELETING:
        return
    long = ("--extension", "--exclude", "--type", "--max-depth", "--glob")
    options, operands = arguments(words[:at], "eEtdSojcC", long)
    names = [f"x.{value}" for name, value in options if name in ("-e", "--extension")]
    names += [operands[0]] if operands and operands[0].strip(".*^$") else []
    for start in operands[1:] or ["."]:
        yield from _found_in(command, start, places, bool(names), bool(names) and all(map(_is_generated_name, names)))


@_for("touch")
def _backdated(command: ShellCommand, places: ProjectPlaces) -> Found:
    options, operands = arguments(command.words, "drt", ("--date", "--reference"))
    reference = value_of(options, "-r", "--reference")
    like_system = reference and re.match(r"/(?:bin|usr|etc|lib|sbin)/", places.resolve(command, reference) or "")
    has_time = has(options, "-d", "-t", "-r", "--date", "--reference")
    paths = [places.resolve(command, path) for path in operands]
    if like_system or (has_time and any(path and places.is_outside(path) for path in paths)):
        yield "traces", DENY, "it hides when a file was changed"


@_for(*SHELLS)
def _fed_shell(command: ShellCommand, places: ProjectPlaces) -> Found:
    if any(target.startswith(("/dev/tcp/", "/dev/udp/")) for _, target in command.redirects):
        yield "remote-shell", DENY, "its input and output go over the network"
    if all(word.startswith("-") for word in command.words[1:]) and any(map(_scrambles, command.upstream)):
        yield "run-decoded", DENY, "it runs obfuscated text"


def _scrambles(words: list[str]) -> bool:
    """Whether a command obfuscates text: `rev`, `tr` that maps letters to others, `printf '\\x72…'`."""
    if words[:1] in (["printf"], ["echo"]):
        return any(re.search(r"(?:\\x[0-9a-fA-F]{2}|\\0?[0-7]{3}){2}", word) for word in words[1:])
    sets = [word for word in words[1:] if not word.startswith("-")]
    letters = [re.sub(r"[^A-Za-z]", "", each).lower() for each in sets]
    is_changed = len(sets) == 2 and all(letters) and letters[0] != letters[1]
    return words[:1] == ["rev"] or (words[:1] == ["tr"] and is_changed)


@_for("git")
def _git(command: ShellCommand, places: ProjectPlaces) -> Found:
    options, at = git_options(command.words)
    directory = command.directory
    for name, value in options:
        if name in ("-C", "--work-tree"):
            directory = resolved(value, directory, places.home)
    rest = command.words[at:]
    if not rest or "--help" in rest:
        return
    said = " " + danger_table.joined(rest[1:])
    rows = danger_table.GIT_ROWS.get(rest[0], ())
    rule, why = next(((rule, why) for expression, rule, why in rows if found(expression, said)), (None, ""))
    if rest[0] == "clean" and any("clean.requireforce=false" in value.lower() for _, value in options):
        rule, why = "discard-work", "files that git does not track are deleted"
    if rule == "discard-work" and places.is_temporary(directory):
        return
    place = places.hit(directory) if rule and rest[0] == "clean" else None
    if place and place.rule == "delete-system":
        yield "delete-system", DENY, f"it deletes files all over {place.what}"
    elif rule:
        yield rule, ASK, why


def _as_written(command: ShellCommand, places: ProjectPlaces) -> str:
    """Return a Windows command, and the last ones whose output it reads, as text."""
    shown = command.shown
    if command.name.lower() in ("powershell", "pwsh", "cmd"):  # a shell around it would have expanded `$env:…`
        shown = f"{' '.join(command.words)} {shown}"
    upstream = list(command.upstream)[-_UPSTREAM:]
    return " | ".join([*(places.shown.get(tuple(words), " ".join(words)) for words in upstream), shown])


def _unknown_program(command: ShellCommand, places: ProjectPlaces) -> Found:
    """Yield the dangers of a program whose name is not known, by arguments that only a destructive one would have."""
    from ..shell import one_liners

    words = command.words[1:]
    for option, code in zip(command.words, words, strict=False):
        for kind, note in one_liners.actions("python", code) if option in ("-c", "-e", "-r") else ():
            if kind == "note":
                yield note, DENY, f"it {RULES[note][0]}"
    recursive = any(re.fullmatch(r"-[a-zA-Z]{0,3}[rR][a-zA-Z]{0,3}|--recursive", word) for word in words)
    for word in words if recursive else ():
        path = places.resolve(command, word) if word and not word.startswith("-") else None
        if path and (place := places.hit(path)):
            yield place.rule, DENY, f"a program that cannot be determined goes through {place.shown}"
