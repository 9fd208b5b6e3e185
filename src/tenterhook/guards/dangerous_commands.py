"""What is dangerous about a shell line: what cannot be taken back, or reaches far beyond the project.

`judge` reads the line and applies the rules below to each command that it would run. A rule is a function on a command
that yields dangers; `RULES` has what each means, and the table in docs/built-in-hooks.md is made of it.
"""

from __future__ import annotations

import os

from ..basics import lazy_re as re
from ..shell import effects as shell_effects
from ..shell import reader
from ..shell.programs import SHELLS, Find, arguments, has, program, resolved, split_options, value_of
from ..shell.syntax import PATTERNS, STAR, UNKNOWN, UNKNOWNS, decoded
from ..shell.words import pattern_matches
from . import danger_table
from .calls import ASK, DENY, GuardFinding, objection, path_here, project_root, read
from .danger_table import found, matches

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..shell.effects import PathEffect
    from ..shell.reader import ReadingNote, ShellCommand
    from .calls import GuardedCall, Objection

    Found = Iterator[tuple[str, str, str]]  # rule, decision, why
    Hit = tuple["Place", bool]
    Rule = Callable[[ShellCommand, "ProjectPlaces"], Found]


# Each rule by name, the more telling first: what it is about, and what to do instead.
RULES = {
    "delete-system": (
        "deletes the file system, a home, or a directory that the system or its owner needs",
        "list what is to go first (ls), and remove it by its full name inside the project",
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
    "run-decoded": (
        "runs text that is hidden by an encoding or made up on the way",
        "write the commands as they are",
    ),
    "run-download": (
        "runs what comes over the network, unseen",
        "download it to a file, read it, and then run that file with a command of its own",
    ),
    "remote-shell": (
        "gives a shell on this machine to another",
        "connect to a machine of your own with ssh",
    ),
    "mining": (
        "mines cryptocurrency",
        "leave it out; tell the person if the task seems to need it",
    ),
    "attack": (
        "attacks other machines: guesses passwords, or floods them",
        "leave it out; tell the person if the task seems to need it",
    ),
    "security": (
        "switches off or changes a firewall or another protection",
        "open the one port, or add the one exception that is needed",
    ),
    "traces": (
        "deletes logs or the shell's history",
        "leave them; move a large log away instead",
    ),
    "system-files": (
        "changes accounts, the kernel, or files that logins and the boot depend on",
        "write the new content to a file of the project, and let the person put it in place",
    ),
    "permissions": (
        "changes owners or permissions of the system, of a home, or so that anybody may become root",
        "change the one file that needs it",
    ),
    "kill": (
        "ends processes that the person or the system needs",
        "end the one process you started, by its number",
    ),
    "shut-down": (
        "shuts the machine down, restarts it, or cuts it off the network",
        "tell the person that a restart is needed",
    ),
    "services": (
        "stops a service of this machine",
        "restart it instead, or ask the person to stop it",
    ),
    "packages": (
        "removes packages that the system needs, or with their configuration",
        "remove the one package that you installed",
    ),
    "persistence": (
        "makes something run by itself later on, at a login, a start or a time",
        "say what should run when, and let the person set it up",
    ),
    "publish": (
        "publishes something, or overwrites or deletes what others have: a branch, a repository, a package",
        "show what would be published (--dry-run), and let the person do it",
    ),
    "discard-work": (
        "discards work that git cannot restore",
        "git stash keeps it; name the files that are to go",
    ),
    "delete-outside": (
        "deletes or overwrites something outside the project",
        "work inside the project or in a temporary directory; ask the person to remove what is elsewhere",
    ),
    "delete-files": (
        "deletes files of the project that no build makes again",
        "name the files one by one, or use git rm, so that git can restore them",
    ),
    "unreadable": (
        "cannot be read to its end, and something destructive is in it",
        "write it as several plain commands, or put it into a script file",
    ),
}


def judge(call: GuardedCall) -> Objection | None:
    """Return the dangers of a call's shell line, or None."""
    line = call.line()
    return None if line is None else objection(call, dangers(call, line), RULES)


def dangers(call: GuardedCall, line: str | list[str]) -> Iterator[GuardFinding]:
    """Yield every danger of a line, or of a program with its arguments, whatever the settings are."""
    directory, environment = call.directory(), {"TMPDIR": "/tmp", **call.environment}  # noqa: S108  # as programs take it
    reading = read(line, directory, environment if "TMPDIR" in str(line) else call.environment)  # as other guards do
    places = ProjectPlaces(directory, environment, call.directories())
    places.finds = [each.words for each in reading.commands if each.name == "find"]
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


# Words of programs that destroy: a line that cannot be read is a danger only if one of them is in it.
_DESTRUCTIVE = (
    r"(?i)(?<![\w.-])(?:rm|srm|shred|unlink|dd|mkfs\S*|wipefs|mkswap|fdisk|parted|truncate|chmod|chown|chattr|eval"
    r"|shutdown|reboot|kill(?:all)?|git\s+(?:push|reset|clean)|base64|curl|wget|nc|ncat|iex|invoke-expression|del|rmdir)"
    r"(?=[\s;|&)'\"]|$)|-delete\b|>\s*/(?:dev/[a-z]d|etc)|\$\{!"
)
MOST_LOOKED_UP = 4  # paths of a line that are compared with git's index
MOST_PATHS = 500  # of one command that are looked at
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


def _effects(command: ShellCommand) -> list[PathEffect]:
    """What a command does to paths, without its redirections, as far as it is checked."""
    return shell_effects.effects_of_words(command)[:MOST_PATHS]


def _of_command(command: ShellCommand, places: ProjectPlaces) -> Found:
    if command.assignments and (not command.words or command.name in SHELLS):
        said = " ".join(f"{name}={value}" for name, value in command.assignments)
        if found(danger_table.NO_HISTORY, said):
            yield "traces", DENY, "the shell writes no history then"
    yield from _written(command, places)
    if not command.words:
        return
    name = command.name
    is_pattern = any(mark in name for mark in PATTERNS)
    if is_pattern and len(re.findall(r"[a-z]", name)) > (STAR in name):  # /bin/r?, but not a*
        for known in (known for known in (*_BY_PROGRAM, *danger_table.programs()) if pattern_matches(name, known)):
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
        yield from danger_table.of_windows(_as_written(command))
    if command.words[0].startswith("/etc/init.d/") and "stop" in command.words:
        yield "services", ASK, "a service of this machine ends"
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
_BELOW_TEMPORARY = tuple(f"{path}/" for path in (*_TEMPORARY, "/var/folders", "/private/var/folders"))
_OF_HOME = (
    ".ssh .gnupg .aws .kube .config .local .local/share .local/bin .local/state .password-store .mozilla .thunderbird "
    ".docker .azure .gcloud .config/gcloud Documents Desktop Pictures Music Videos Movies Downloads Library Dropbox "
    "OneDrive .vim .emacs.d .oh-my-zsh .pyenv .nvm .rustup .cargo go .m2 .ssh/keys .claude .codex .gemini .kimi"
).split()
_OF_GIT = (".git", ".git/objects", ".git/refs", ".git/objects/pack", ".git/refs/heads")
_PARTS_OF_GIT = r"/\.git/(?:HEAD|index|config|packed-refs|(?:objects|refs|logs|worktrees|modules)/.+)"
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


# Directories outside the project of which nothing is lost, since programs fill them anew.
_CACHES = (
    r"(?i)\.?caches?|_cacache|node_modules|__pycache__|\.pub-cache|DerivedData|\.?Trash|_npx|_logs"
    r"|\.(?:pytest|mypy|ruff)_cache"
)
_REFILLED = r"/var/lib/apt/lists/.+|/home/[^/]+/\.(?:m2/repository|cargo/registry|gradle/\w+|nuget/packages)(?:/.*)?"
# Names that builds, package managers and tests make: of directories, and of files.
_GENERATED = (
    r"(?i)build|builds|dist|out|output|target|node_modules|bower_components|vendor|\.?cache|caches|__pycache__|\.?venv|env"
    r"|\.tox|\.nox|\.eggs|[\w.-]+\.egg-info|\.(?:pytest|mypy|ruff)_cache|htmlcov|coverage|\.coverage(?:\.\S+)?|\.next|\.nuxt"
    r"|\.svelte-kit|\.turbo|\.parcel-cache|\.gradle|\.terraform|\.dart_tool|\.stack-work|_build|site|public|storybook-static"
    r"|bin|obj|debug|release|deps|pods|deriveddata|cmake-build-\w+|CMakeFiles|tmp|temp|\.tmp|logs?|results?|reports?|artifacts"
    r"|__temp__\S*|core|a\.out|\.DS_Store|Thumbs\.db|nohup\.out|node-compile-cache|\.?sass-cache|generated|gen"
    r"|.*\.(?:o|a|so|dylib|obj|pyc|pyo|class|jar|war|log|tmp|temp|bak|swp|swo|orig|rej|old|pid|lock|out|err|map|min\.js|gcda|gcno"
    r"|cache|lcov|prof|core|part|crdownload|tsbuildinfo|egg-info|bk)|.*~|#.*#|\.eslintcache|\.nyc_output|__generated__"
    r"|(?:package-lock|npm-shrinkwrap)\.json|pnpm-lock\.yaml|\.terraform\.lock\.hcl|coverage\.xml|junit\S*\.xml"
)
_FILE_NAME = r"[^/]*\.[A-Za-z][A-Za-z0-9]{0,4}"  # a name that a file has rather than a directory


_MARKS = (*UNKNOWNS, *PATTERNS)


class Place:
    """A directory that should not go."""

    __slots__ = ("path", "rule", "what")

    def __init__(self, path: str, rule: str, what: str) -> None:
        self.path = path
        self.rule = rule
        self.what = what


class ProjectPlaces:
    """The directories that should not go, of this machine, this person and this project."""

    def __init__(self, directory: str, environment: Mapping[str, str], further: Iterable[str] = ()) -> None:
        self.home = os.path.normpath(environment.get("HOME") or "/root")
        self.agents_home = os.path.normpath(reader.agents_home(environment))
        self.directory = os.path.normpath(directory)
        self._looked_up = 0  # paths of which git was asked
        self._real: dict[str, str] = {}  # directories to what they are without symbolic links
        self.finds: list[list[str]] = []  # the words of every `find`, which may tell what `xargs rm` is given
        self.root = project_root(self.directory, self.home)
        self.roots = tuple(dict.fromkeys((self.root, self.directory, *further)))
        self._ordinary = () if self._is_in(self.home, self.root) else (self.root + "/",)
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

    def resolve(self, command: ShellCommand, word: str) -> str | None:
        """A word as an absolute path of this machine; None if it is a path inside a container."""
        return path_here(command, word, self.agents_home)

    def hit(self, path: str | None) -> Hit | None:
        """The place that goes if a path goes with all that is in it: (place, whether only its contents go)."""
        if path is None:
            return None
        found = self._hit(path)
        if found is None:
            real = self.real(path)
            found = self._hit(real) if real != path else None
        return found

    def real(self, path: str) -> str:
        """Return a path with symbolic links resolved, as far as it is known. The directory is looked up once."""
        directory, _, name = path.rpartition("/")
        if not directory or any(mark in directory for mark in _MARKS):
            return path
        try:
            if directory not in self._real:
                self._real[directory] = os.path.realpath(directory)
            joined = f"{self._real[directory]}/{name}"
            is_link = not any(mark in name for mark in _MARKS) and os.path.islink(joined)
            return os.path.realpath(joined) if is_link else joined
        except (OSError, ValueError):  # no path of a file system
            return path

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
        """Whether a path is below a directory for temporary files, and not in a project or home that is there, too."""
        return path.startswith(_BELOW_TEMPORARY) and not any(
            self._is_in(path, each) for each in (*self.roots, self.home)
        )

    def is_ordinary(self, path: str) -> bool:
        """Whether a path is in the project and no part of its `.git`: no rule is about such a file by its name."""
        return path.startswith(self._ordinary) and "/.git/" not in path and "history" not in path

    def is_cache(self, path: str) -> bool:
        """Whether a path outside the project is in a directory that programs fill anew."""
        own = path.replace(self.home + "/", "/home/me/", 1) if path.startswith(self.home + "/") else path
        if path.startswith(("/usr/", "/etc/", "/lib/")):
            return False
        names = decoded(own).split("/")
        return any(matches(_CACHES, name) for name in names[2:]) or matches(_REFILLED, own)

    def is_file(self, path: str) -> bool:
        """Whether a path is one file rather than a directory: it is, or its name looks like it."""
        if any(mark in path for mark in _MARKS):
            return False
        try:
            return os.path.isfile(path) or (matches(_FILE_NAME, path.rpartition("/")[2]) and not os.path.isdir(path))
        except ValueError:
            return False

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
        root = next((root for root in self.roots if self._is_in(path, root)), "")
        names = [decoded(name).replace("*", "x") for name in path[len(root) :].split("/") if name]
        return any(matches(_GENERATED, name) for name in names)

    def is_of_system(self, directory: str) -> bool:
        """Whether a directory is one of the system, or has homes in it."""
        place = self.by_path.get(directory or "/")
        return place is not None and place.rule == "delete-system" and not directory.startswith(self.home)

    def can_restore(self, path: str) -> bool:
        """Whether git can restore a path of the project as it is now. Only a few paths of a line are looked at."""
        self._looked_up += 1
        is_known = self._is_in(path, self.root) and not any(mark in path for mark in _MARKS)
        if not is_known or self._looked_up > MOST_LOOKED_UP:
            return False
        from . import tracked  # only if something of the project is deleted

        return tracked.can_restore(path, self.root)

    def _holds_project(self, path: str) -> bool:
        return self.directory == path or self.directory.startswith(path + "/")


def _is_catch_all(name: str) -> bool:
    """Whether a pattern stands for nearly everything in a directory: `*`, `.*`, `[a-z]*`."""
    if not any(mark in name for mark in PATTERNS):
        return False
    return sum(pattern_matches(name, probe) for probe in _PROBES) > 1


def _said(hit: Hit) -> str:
    place, contents = hit
    return f"everything in {place.what}" if contents else place.what


# -- deleting and moving ------------------------------------------------------------------------------------------


@_for("rm", "srm", "wipe", "trash", "trash-put", "rmdir", "unlink", "shred", "rimraf", "del-cli")
@_for("zip", "tar", "bsdtar", "7z", "7za", "7zz", "7zr", "rar")
def _remove(command: ShellCommand, places: ProjectPlaces) -> Found:
    if "--no-preserve-root" in command.words:
        yield "delete-system", DENY, "--no-preserve-root is there to delete the root of the file system"
    for effect in _effects(command):
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
    if "xargs" in command.through and any(
        words and program(words[0]) == "find" and ".git" in words for words in command.upstream
    ):
        yield "delete-project", DENY, "it deletes repositories"
    named_elsewhere = "xargs" in command.through and any(UNKNOWN in word for word in command.words[1:])
    if command.name == "rm" and named_elsewhere and not any(map(_finds_generated, places.finds)):
        yield "delete-files", ASK, "it deletes what another command names"


def _deleted(command: ShellCommand, effect: PathEffect, path: str, places: ProjectPlaces) -> Found:
    """Judge a path that is no place of its own by where it is, and by whether a build would make it again."""
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
        return
    if places.is_outside(path):
        if places.is_cache(path):
            return
        severe = effect.recursive or re.match(r"/(?:etc|usr|boot|opt|srv|lib|bin|sbin|var/(?!tmp/))", path)
        yield "delete-outside", DENY if severe else ASK, f"it deletes {shown}, outside the project"
    elif UNKNOWN in path or places.is_generated(path) or (command.name not in _ERASING and places.can_restore(path)):
        return
    elif effect.recursive and (command.name in _ERASING or not places.is_file(path)):
        yield "delete-files", ASK, f"it deletes {shown}, which neither a build nor git restores"
    elif any(mark in path for mark in PATTERNS):
        yield "delete-files", ASK, f"it deletes every file that {shown} stands for"


_ERASING = ("shred", "srm", "wipe")


def _is_generated_name(name: str) -> bool:
    name = decoded(name)
    return matches(_GENERATED, name.strip("*/") or "*") or matches(_GENERATED, name.replace("*", "x"))


def _finds_generated(words: list[str]) -> bool:
    """Whether a `find` finds nothing but what builds make."""
    if all(matches(_GENERATED, start.strip("./")) for start in Find(words).starts):
        return True
    names = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-name", "-iname", "-path")]
    return bool(names) and all(map(_is_generated_name, names))


@_for("find")
def _find(command: ShellCommand, places: ProjectPlaces) -> Found:
    find = Find(command.words)
    deleting = find.deletes
    for words in find.commands:
        name = program(words[0]) if words else ""
        deleting = deleting or name in _DELETING
        deleting = deleting or (name in SHELLS and any(re.search(r"\b(?:rm|shred|unlink)\b", word) for word in words))
        deleting = deleting or (name == "mv" and "/dev/null" in words)
    changes = any(program(words[0]) in ("chmod", "chown", "chgrp") for words in find.commands if words)
    for start in find.starts if changes else ():
        path = places.resolve(command, start)
        if path is not None and places.is_outside(path) and path not in _TEMPORARY:
            yield "permissions", ASK, f"it changes what it finds in {decoded(start)}, outside the project"
    asks_itself = bool(find.commands) and all("-i" in words for words in find.commands)
    links = any(
        pair in (("-type", "l"), ("-xtype", "l")) for pair in zip(command.words, command.words[1:], strict=False)
    )
    if not deleting or asks_itself or links or set(command.words) & {"-empty", "-inum", "-ok", "-okdir"}:
        return
    for start in find.starts[:MOST_PATHS]:
        yield from _found_in(command, start, places, find.restricted, _finds_generated(command.words))


def _found_in(command: ShellCommand, start: str, places: ProjectPlaces, restricted: bool, generated: bool) -> Found:
    """Judge that what a search finds below a directory is deleted."""
    path = places.resolve(command, start)
    hit = places.hit(path)
    if path is None:
        return
    if restricted and ".git" in command.words:
        yield "delete-project", DENY, "it deletes repositories"
    elif hit is not None and not restricted:
        yield hit[0].rule, DENY, f"it deletes everything found in {_said(hit)}"
    elif path in _TEMPORARY or places.is_temporary(path):
        return
    elif hit is not None and hit[0].rule == "delete-system":
        yield hit[0].rule, DENY, f"it deletes files all over {hit[0].what}"
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
    options, operands = arguments(
        words[:at], "eEtdSojcC", ("--extension", "--exclude", "--type", "--max-depth", "--glob")
    )
    names = [f"x.{value}" for name, value in options if name in ("-e", "--extension")]
    names += [operands[0]] if operands and operands[0].strip(".*^$") else []
    for start in operands[1:] or ["."]:
        yield from _found_in(command, start, places, bool(names), bool(names) and all(map(_is_generated_name, names)))


_DELETING = ("rm", "unlink", "shred", "srm", "truncate")


@_for("rsync")
def _sync(command: ShellCommand, places: ProjectPlaces) -> Found:
    if any(re.fullmatch(r"--dry-run|-[a-zA-Z]*n[a-zA-Z]*", word) for word in command.words):
        return
    for effect in _effects(command):
        if effect.kind == "delete":
            path = places.resolve(command, effect.path)
            hit = places.hit(path)
            if hit:
                yield hit[0].rule, DENY, f"--delete removes what is in {hit[0].what}"
            elif path is not None:
                yield from _deleted(command, effect, path, places)


@_for("mv")
def _moved(command: ShellCommand, places: ProjectPlaces) -> Found:
    for effect in _effects(command):
        path = places.resolve(command, effect.path)
        if effect.kind == "write" and path == "/dev/null":
            yield "delete-system", DENY, "it replaces /dev/null, and what was moved there is gone"
        if effect.kind != "move" or path is None:
            continue
        hit = places.hit(path)
        if hit and not (hit[1] and hit[0].rule == "delete-project") and hit[0].path not in _TEMPORARY:
            decision = ASK if hit[0].rule == "delete-project" or hit[0].path.startswith(places.home + "/") else DENY
            yield hit[0].rule, decision, f"it moves {_said(hit)} away"
        elif re.match(r"/(?:bin|boot|etc|lib\w*|sbin|usr(?!/local/)|System|Windows)/", path):
            yield "system-files", DENY, f"it moves {decoded(effect.path)} away"


# -- disks --------------------------------------------------------------------------------------------------------


def _device(path: str) -> str | None:
    """A disk, a part of one, or the memory; patterns count if they could be one."""
    if not path.startswith("/dev/"):
        return None
    if matches(danger_table.DEVICE, path):
        return path
    if any(mark in path for mark in PATTERNS):
        return next(
            (each for each in ("/dev/sda", "/dev/sda1", "/dev/nvme0n1", "/dev/vda") if pattern_matches(path, each)),
            None,
        )
    return None


# -- writing ------------------------------------------------------------------------------------------------------

_PASSWORDS = (
    r"/etc/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d/.*|pam\.d/.*|ld\.so\.preload|fstab|crypttab|inittab|securetty|default/grub|ssh/ssh_host_.*|ssh/sshd_config)-?"
    r"|/(?:private|usr/local)/etc/(?:sudoers(?:\.d/.*)?|master\.passwd|passwd)|/(?:usr/)?lib\S*/security/.*|/boot/.*|/proc/sysrq-trigger|/proc/\d+/mem"
    r"|/sys/block/.*/device/delete|/sys/power/state|/sys/fs/selinux/(?:enforce|disable)|/etc/selinux/config"
)
_SSH = r"(?:/root|/home/[^/]+|/Users/[^/]+)/\.ssh/(?:id_[a-z0-9_]+|identity|rc|environment)"
_HOME = r"(?:/root|/home/[^/]+|/Users/[^/]+)"
# Files that run, or decide what runs, at a start, a login or a time.
_PERSISTENT = (
    r"/etc/(?:profile(?:\.d/.*)?|bash\.?bashrc|bashrc|zsh/.*|zshrc|zprofile|zshenv|csh\.\w+|crontab|anacrontab"
    r"|cron\.[a-z]+/.*|modules|emond\.d/.*|periodic/.*|ssh/sshd_config\.d/.*|environment|rc\.local|init\.d/.*|systemd/.*"
    r"|xdg/autostart/.*|rc\.common|rc\.d/.*|modules-load\.d/.*|udev/.*|launchd\.conf|update-motd\.d/.*|apt/apt\.conf\.d/.*)"
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
# What a pattern is held against.
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


def _written(command: ShellCommand, places: ProjectPlaces) -> Found:
    """What a command writes, deletes or changes the mode of, wherever that stands."""
    effects = shell_effects.effects(command)
    if len(effects) > MOST_PATHS:
        yield "unreadable", ASK, "it names too many paths to check them all"
    for effect in effects[:MOST_PATHS]:
        path = places.resolve(command, effect.path)
        if path is None:
            continue
        shown = decoded(effect.path)
        device = _device(path) if path.startswith("/dev/") else None
        if effect.kind == "write" and path.startswith("/dev/") and (device or matches(_OTHER_DEVICES, path)):
            yield "disk", DENY, f"it writes to {device or shown}"
            continue
        if effect.kind == "write" and path.startswith("/proc/sys/"):
            if path.startswith(_KERNEL_PROTECTIONS):
                yield "security", DENY, "it takes a protection of the kernel away"
            elif "drop_caches" not in path:
                yield "system-files", ASK, "it changes the kernel's settings"
        given = "xargs" in command.through and (">", effect.path) in command.redirects
        if given and (UNKNOWN in effect.path or places.hit(path)):
            yield "delete-files", ASK, "it overwrites what another command names"
        candidates = list(dict.fromkeys((path, places.real(path))))
        if any(mark in path for mark in PATTERNS) and effect.kind == "write" and _is_catch_all(path.rpartition("/")[2]):
            candidates = []  # something is copied into a directory, under names that are not known
        elif any(mark in path for mark in PATTERNS):
            known = [each.replace("~", places.home) for each in _TELLING]
            candidates = [each for each in known if pattern_matches(path, each)]
        for candidate in candidates:
            if places.is_ordinary(candidate):
                continue
            own = (
                candidate.replace(places.home + "/", "/home/me/", 1) if candidate.startswith(places.home) else candidate
            )
            if effect.kind == "write" and _overwrites_git(command, effect.path, candidate, places):
                yield "delete-project", DENY, f"it overwrites {shown}, without which the repository does not work"
            elif matches(_PASSWORDS, candidate) or matches(_SSH, own):
                if effect.kind == "mode" and command.name == "chmod" and not _opens(command.words):
                    continue
                what = {"delete": "deletes", "move": "moves away", "mode": "changes"}.get(effect.kind, "writes to")
                yield "system-files", DENY, f"it {what} {shown}"
            elif matches(_HISTORY, candidate) and effect.kind != "mode" and not _appends(command, effect.path):
                yield "traces", DENY, f"it wipes the shell's history, {shown}"
            elif matches(_PERSISTENT, own) and effect.kind != "mode":
                yield "persistence", ASK, f"it changes {shown}, which runs, or says what runs, by itself"
            elif matches(_SETTINGS, candidate) and effect.kind != "mode":
                yield "system-files", ASK, f"it changes {shown}, a setting of the system"
            elif command.name in ("touch", "mkdir"):
                continue
            elif matches(_LOGS, candidate) and effect.kind != "mode" and not _appends(command, effect.path):
                yield "traces", DENY, f"it wipes {shown}"
        if _empties(command, effect) and any(mark in path for mark in PATTERNS) and not places.is_generated(path):
            yield "delete-files", ASK, f"it empties every file that {shown} stands for"
        elif _empties(command, effect) and not path.startswith("/dev/") and UNKNOWN not in path:
            if places.is_outside(path):
                if not places.is_cache(path):
                    yield "delete-outside", DENY, f"it overwrites {shown}, outside the project"
            elif command.name == "truncate" and not (places.is_generated(path) or places.is_temporary(path)):
                yield "delete-files", ASK, f"it empties {shown}"


_PRINTING_NOTHING = ([":"], ["true"], ["cat", "/dev/null"], ["echo"], ["echo", ""], ["echo", "-n"], ["printf", ""])


def _overwrites_git(command: ShellCommand, shown: str, path: str, places: ProjectPlaces) -> bool:
    """Whether a file of the project's `.git` is replaced; adding to it, or editing its settings, is not meant."""
    if not path.startswith(places.root + "/.git/") or not matches(_PARTS_OF_GIT, path[len(places.root) :]):
        return False
    is_edited = path.endswith("/config") and (">", shown) not in command.redirects and command.name != "truncate"
    by_git = command.name == "git" and not any(word.startswith("--output") for word in command.words)
    return not (is_edited or by_git or _appends(command, shown) or command.name in ("touch", "mkdir"))


def _empties(command: ShellCommand, effect: PathEffect) -> bool:
    """Whether a command leaves nothing of what a file had: `truncate`, `dd of=`, `> file` of nothing."""
    if effect.kind != "write":
        return False
    if command.name == "truncate":
        sizes = [
            value
            for name, value in arguments(command.words, "sr", ("--size", "--reference"))[0]
            if name in ("-s", "--size")
        ]
        return any(re.match(r"[-<%/]|0+\D*$", size) for size in sizes)
    if command.name in ("cp", "ln", "install", "sed", "perl"):
        emptying = {"/dev/null", "d", "1,$d", "$!d", "/^/d", "/./d", ""} if command.name == "sed" else {"/dev/null", ""}
        return not emptying.isdisjoint(command.words[1:])
    nothing = not command.words or command.words in _PRINTING_NOTHING
    return command.name == "dd" or (nothing and (">", effect.path) in command.redirects)


def _appends(command: ShellCommand, path: str) -> bool:
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
def _permissions(command: ShellCommand, places: ProjectPlaces) -> Found:
    words = command.words
    drastic = any(
        re.fullmatch(r"0*[0-7]?00|0+|[ugoa]*-[rwx]+|[0-7]*[0-7][2367]|[ao]*\+[rx]*w[rx]*", word) for word in words
    )
    for effect in _effects(command):
        path = places.resolve(command, effect.path)
        hit = places.hit(path)
        if (
            hit is None
            and path is not None
            and places.is_outside(path)
            and (command.name == "chown" or effect.recursive or any(map(_opens_to_all, words[1:])))
        ):
            yield "permissions", ASK, f"it changes {decoded(effect.path)}, outside the project"
        if hit is None or hit[0].rule == "delete-project":
            if hit is not None and command.name == "chown" and hit[0].path != places.directory:
                yield "permissions", ASK, f"it changes the owner of {hit[0].what}"
            continue
        place, contents = hit
        if place.path.endswith(("/.ssh", "/.gnupg", "/.aws", "/.kube")) and any(map(_opens_to_all, words[1:])):
            yield "permissions", DENY, f"it opens {place.what} to every account"
        if place.path in _TEMPORARY or place.path.startswith(places.home + "/"):
            continue
        if place.path in _RELAXED:
            if effect.recursive:
                yield "permissions", ASK, f"it changes {_said(hit)} and all that is in it"
            continue
        if effect.recursive or (contents and place.path != places.home):
            yield "permissions", DENY, f"it changes {_said(hit)} and all that is in it"
        elif command.name == "chown" and place.path not in _TEMPORARY:
            yield "permissions", ASK, f"it changes the owner of {place.what}"
        elif place.path != places.home and command.name == "chmod" and drastic:
            yield "permissions", DENY, f"it changes the permissions of {place.what}"
    sets_group = any(re.fullmatch(r"0?[23][0-7]{3}", word) for word in words[1:])
    paths = [places.resolve(command, effect.path) or "" for effect in _effects(command)] if sets_group else []
    if command.name == "chmod" and any(path.startswith(("/usr/", "/bin/", "/sbin/")) for path in paths):
        yield "permissions", DENY, "it then runs with its group's rights"
    if command.name == "chmod" and _effects(command) and any(map(_sets_owner, words[1:])):
        yield "permissions", DENY, "it then runs with its owner's rights"


def _opens_to_all(mode: str) -> bool:
    return bool(re.fullmatch(r"0?[0-7]{2}[2367]|[ugo]*[ao][ugoa]*\+[rx]*w[rwx]*", mode))


def _sets_owner(mode: str) -> bool:
    """Whether a mode has the setuid bit, or is symbolic and sets setuid or setgid."""
    return bool(re.fullmatch(r"0?[4-7][0-7]{3}|(?:.*,)?[ugoa]*[+=][rwxXt]*s[rwxXst]*(?:,.*)?", mode))


@_for("install")
def _installed(command: ShellCommand, places: ProjectPlaces) -> Found:
    options, _ = arguments(command.words, "tSmogZ", ("--target-directory", "--suffix", "--mode", "--owner", "--group"))
    if _sets_owner(value_of(options, "-m", "--mode") or ""):
        yield "permissions", DENY, "it then runs with its owner's rights"


@_for("touch")
def _backdated(command: ShellCommand, places: ProjectPlaces) -> Found:
    options, operands = arguments(command.words, "drt", ("--date", "--reference"))
    reference = value_of(options, "-r", "--reference")
    paths = [places.resolve(command, path) for path in operands]
    is_of_system = bool(reference) and re.match(
        r"/(?:bin|usr|etc|lib|sbin)/", places.resolve(command, reference or "") or ""
    )
    if is_of_system or (
        has(options, "-d", "-t", "-r", "--date", "--reference") and any(p and places.is_outside(p) for p in paths)
    ):
        yield "traces", DENY, "it hides when a file was changed"


# -- accounts, processes, services --------------------------------------------------------------------------------


@_for("crontab")
def _crontab(command: ShellCommand, places: ProjectPlaces) -> Found:
    options, operands = arguments(command.words, "u")
    if has(options, "-r"):
        yield "persistence", ASK, "it deletes every scheduled job"
    elif has(options, "-e"):
        yield "persistence", ASK, "it edits scheduled jobs"
    elif operands or "-" in command.words[1:]:
        yield "persistence", ASK, "it replaces every scheduled job"


_NEEDED = frozenset(
    "init systemd launchd sshd dbus-daemon kernel_task loginwindow windowserver gdm xorg networkmanager "
    "cron crond dockerd containerd".split()
)


@_for("kill")
def _kill(command: ShellCommand, places: ProjectPlaces) -> Found:
    words = command.words[1:]
    signals = [word for word in words[:1] if word[:1] == "-" and re.fullmatch(r"-(?:\d+|[A-Za-z]+\d*)", word)]
    rest = words[1:] if signals else words
    if rest[:1] in (["-s"], ["-n"], ["--signal"]):
        rest = rest[2:]
    if "-l" in words or "-L" in words or signals in (["-0"], ["-l"]):
        return
    rest = [word for word in rest if word != "--"]
    if "-1" in rest or (signals == ["-1"] and not rest):
        yield "kill", ASK, "-1 stands for every process there is"
    elif "1" in rest:
        yield "kill", ASK, "process 1 is the system itself"


@_for("pkill", "killall", "killall5", "skill", "slay")
def _kill_by_name(command: ShellCommand, places: ProjectPlaces) -> Found:
    options, operands = arguments(
        command.words, "uUGgPstFZy", ("--signal", "--user", "--euid", "--uid", "--older-than")
    )
    names = [re.sub(r"^-(?:9|KILL|SIGKILL)$", "", word) for word in operands]
    if command.name == "killall5":
        yield "kill", ASK, "it ends every process there is"
    elif not names and has(options, "-u", "-U", "--user", "--euid", "--uid"):
        yield "kill", ASK, "it ends every process of an account"
    for name in names:
        if matches(danger_table.GUARDS, program(name.strip("^$"))):
            yield "security", DENY, "that protects this machine"
        elif program(name.strip("^$")) in _NEEDED:
            yield "kill", ASK, f"the machine needs {decoded(name)}"
        elif command.name == "pkill" and re.fullmatch(r"[.*^$]+", decoded(name)):
            yield "kill", ASK, "it ends every process there is"


# -- the network --------------------------------------------------------------------------------------------------


@_for(*SHELLS, "exec")
def _reverse_shell(command: ShellCommand, places: ProjectPlaces) -> Found:
    targets = [target for _, target in command.redirects]
    if any(target.startswith(("/dev/tcp/", "/dev/udp/")) for target in targets) and command.name != "exec":
        yield "remote-shell", DENY, "its input and output go over the network"
    if any(_is_connection(words) for words in command.upstream):
        yield "remote-shell", DENY, "its input comes over the network"
    if all(word.startswith("-") for word in command.words[1:]) and any(map(_scrambles, command.upstream)):
        yield "run-decoded", DENY, "it runs text that is made unreadable"


def _scrambles(words: list[str]) -> bool:
    """Whether a program hides what it prints: `rev`, `tr` with letters for other letters, `printf '\\x72…'`."""
    if words[:1] in (["printf"], ["echo"]):
        return any(re.search(r"(?:\\x[0-9a-fA-F]{2}|\\0?[0-7]{3}){2}", word) for word in words[1:])
    sets = [word for word in words[1:] if not word.startswith("-")]
    letters = [re.sub(r"[^A-Za-z]", "", each).lower() for each in sets]
    return words[:1] == ["rev"] or (
        words[:1] == ["tr"] and len(sets) == 2 and all(letters) and letters[0] != letters[1]
    )


def _is_connection(words: list[str]) -> bool:
    name = program(words[0]) if words else ""
    return name in ("ncat", "telnet", "fetch", "dig", "drill", "host", "nslookup") or (
        name == "openssl" and "s_client" in words
    )


@_for("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd", "socat", "openssl", "telnet")
def _listening_shell(command: ShellCommand, places: ProjectPlaces) -> Found:
    joined = " ".join(command.words[1:])
    if command.name == "socat":
        if re.search(r"(?i)\b(?:exec|system):", joined) and re.search(r"(?i)\b(?:tcp|udp|openssl|ssl)[\w-]*:", joined):
            yield "remote-shell", DENY, "it connects a program to the network"
        return
    options, _ = arguments(command.words, "ecpswiIoOqXxmgGbTV", ("--exec", "--sh-exec"))
    if command.name == "openssl" and "s_client" not in command.words:
        return
    ran = value_of(options, "-e", "--exec", "--sh-exec") or value_of(options, "-c")
    if ran and (program(ran.split()[0]) in SHELLS or "sh" in ran):
        yield "remote-shell", DENY, "it gives a shell to the other end"
    elif any(program(words[0]) in SHELLS for words in command.upstream):
        yield "remote-shell", DENY, "what a shell prints goes over the network"


# -- git and other people's copies --------------------------------------------------------------------------------

_REWRITES = "it rewrites the whole history"
_UNREACHABLE = "lost commits cannot be restored any more"
_ALL = rf"(?:\.|\./|:/|\*|{STAR}|\.\.)(?=\s|$)"
_GONE = "uncommitted changes are lost"
_UNTRACKED = "files that git does not track are deleted"
_FORCED = r"\s(?:(?!-[bB])-\w*f\w*|--forc?e?)(?=\s|$)"
_DRY = r"(?!.*\s(?:-\w*n\w*|--dry-run)(?=\s|$))"
# Subcommands, and their arguments (each after a blank) that discard what git cannot restore.
_DISCARDING = {
    "reset": ((r"\s--(?:har?d?|merg?e?)(?=\s|$)", _GONE),),
    "clean": ((rf"^{_DRY}.*{_FORCED}", _UNTRACKED),),
    "checkout": ((rf"{_FORCED}|\s{_ALL}|\s--\s|\s--(?:pathspec-from-file|ours|theirs)\b", _GONE),),
    "switch": ((r"^(?!\s--\s).*\s(?:(?!-[cC])-\w*f\w*|--forc?e?|--discard-changes)(?=\s|$)", _GONE),),
    "restore": ((r"^(?!.*\s(?:-S|--staged)\b(?!.*\s(?:-W|--worktree)\b))(?=.*\s[^-\s])", _GONE),),
    "stash": ((r"^ (?:clear|drop)\b", "what was stashed is lost"),),
    "reflog": ((rf"^ (?:expire|delete)\b{_DRY}", _UNREACHABLE),),
    "gc": ((r"\s--prune[= ](?:now|all)", _UNREACHABLE),),
    "prune": ((rf"^{_DRY}", _UNREACHABLE),),
    "tag": (("^ (?:-d|--delete) .*[\ue000-\ue006]", "it deletes tags that another command names"),),
    "update-ref": ((r"\s(?:-d|--delete)\b", "it deletes a branch or tag"),),
    "rm": ((rf"^(?!.*\s--cached\b){_DRY}.*(?:{_FORCED}|\s-\w*r.*\s{_ALL})", _GONE),),
    "worktree": ((rf"^ remove\b.*{_FORCED}", "uncommitted changes in it are lost"),),
    "submodule": ((rf"^ (?:deinit|update)\b.*{_FORCED}", "uncommitted changes in submodules are lost"),),
    "read-tree": ((r"^(?=.*\s--reset\b)(?=.*\s-u\b)", _GONE),),
    "branch": (
        (r"\s-\w*D", "it deletes a branch, merged or not"),
        (rf"^(?=.*{_FORCED})(?=.*\s(?:-\w*d|--delete))", "it deletes a branch, merged or not"),
        (r"\s-M \S+ \S", "it overwrites a branch"),
        (rf"^(?=.*{_FORCED})(?!.*\s(?:-[mMcC]|--move|--copy)\b)", "it moves a branch, and its commits may be lost"),
    ),
    "checkout-index": ((rf"^(?!.*\s(?:-n|--no-create)\b).*{_FORCED}", _GONE),),
    "filter-branch": ((r"", _REWRITES),),
    "filter-repo": ((rf"^{_DRY}", _REWRITES),),
}


# Settings of git that name what it runs, with a path outside the project, or a command.
_GIT_RUNS = (
    r"(?i)(?:core\.(?:hookspath|fsmonitor|pager|editor|askpass|gitproxy)|init\.templatedir|\w+\.external|\w+\.\S*(?:program|command|cmd)"
    r"|sequence\.editor) (?:~|/|!|.*[;|&`$])|filter\.\S+\.(?:smudge|clean|process) (?!git-lfs)\S|core\.sshcommand \S"
    r"|(?:alias\.\S+|credential\.\S*helper) !(?!git\b|gh\b|glab\b|/usr/bin/gh\b|aws\b)|url\.\S+\.(?:push)?insteadof (?!https?://github\.com/?$|git@)(?=.*://)"
)
_GIT_OPTIONS = ("--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix")


@_for("git")
def _git(command: ShellCommand, places: ProjectPlaces) -> Found:
    options, at = split_options(command.words, "cC", _GIT_OPTIONS)
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
    elif sub == "config" and found(_GIT_RUNS, " ".join(rest)):
        yield "persistence", ASK, "git runs what it names"
    elif not places.is_temporary(directory):
        said = " " + danger_table.joined(rest[1:])
        why = next((why for expression, why in _DISCARDING.get(sub, ()) if found(expression, said)), None)
        if sub == "clean" and any("clean.requireforce=false" in value.lower() for _, value in options):
            why = _UNTRACKED
        if why is None and sub == "checkout" and _checks_out_files(rest):
            why = _GONE
        if why and sub == "clean" and directory == places.home:
            yield "delete-system", DENY, "it deletes files all over the home directory"
        elif why:
            yield "discard-work", ASK, why


def _checks_out_files(words: list[str]) -> bool:
    """Whether `git checkout` is given paths besides a branch or commit: it overwrites them."""
    options, operands = arguments(words, "bBU", ("--conflict", "--unified", "--inter-hunk-context", "--orphan"))
    makes_branch = has(options, "-b", "-B", "--orphan", "-t", "--track", "-d", "--detach", "-l")
    return len(operands) > 1 and not makes_branch


def _push(words: list[str]) -> Found:
    options, operands = arguments(words, "o", ("--push-option", "--receive-pack", "--repo"))
    refs = operands[1:]
    forced = has(options, "-f", "--force", "--force-with-lease", "--force-if-includes")
    if has(options, "-n", "--dry-run"):
        return
    if has(options, "--mirror", "--prune"):
        yield "publish", ASK, "it deletes what the remote repository has and this one has not"
    elif has(options, "-d", "--delete") or any(ref.startswith(":") for ref in refs):
        yield "publish", ASK, "it deletes a branch or tag that others have"
    elif forced or any(ref.startswith("+") for ref in refs):
        yield "publish", ASK, "it overwrites what others may have pushed"


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
def _packages(command: ShellCommand, places: ProjectPlaces) -> Found:
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
    needed = [word for word in operands if matches(_ESSENTIAL, word)]
    if needed:
        yield "packages", DENY, f"the system needs {needed[0]}"
    elif any(mark in word for word in operands for mark in PATTERNS) or "*" in operands:
        yield "packages", ASK, "it removes more packages than are named"


# -- Windows -------------------------------------------------------------------------------------------------------


def _as_written(command: ShellCommand) -> str:
    """A command and those whose output it reads, as text."""
    shown = command.shown if command.name.lower() not in ("powershell", "pwsh", "cmd") else " ".join(command.words)
    return " | ".join([*(" ".join(words) for words in command.upstream), shown])


# -- what cannot be known -----------------------------------------------------------------------------------------


def _unknown_program(command: ShellCommand, places: ProjectPlaces) -> Found:
    """A program whose name comes from elsewhere, with arguments that only something destructive would have."""
    from ..shell import one_liners

    recursive = [
        word for word in command.words[1:] if re.fullmatch(r"-[a-zA-Z]{0,3}[rR][a-zA-Z]{0,3}|--recursive", word)
    ]
    for option, code in zip(command.words[1:], command.words[2:], strict=False):
        for kind, note in one_liners.actions("python", code) if option in ("-c", "-e", "-r") else ():
            if kind == "note":
                yield note, DENY, f"it {RULES[note][0]}"
    operands = [word for word in command.words[1:] if word and not word.startswith("-")]
    for word in operands if recursive else ():
        hit = places.hit(places.resolve(command, word))
        if hit:
            yield hit[0].rule, DENY, f"a program that cannot be told goes through {_said(hit)}"
