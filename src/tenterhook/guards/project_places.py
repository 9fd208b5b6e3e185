"""Classifies paths for deleting and overwriting: the system, homes, the project, what builds generate."""

from __future__ import annotations

import os

from ..basics.named_tuples import NamedTuple
from ..shell import reader
from ..shell.syntax import PATTERNS, UNKNOWNS, before, decoded
from ..shell.words import pattern_matches
from .calls import is_below, path_here, project_root
from .danger_table import matches

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Iterable, Mapping

    from ..shell.reader import ShellCommand

MOST_LOOKED_UP = 4  # paths of a line that are compared with git's index
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
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp")  # noqa: S108  # only their content may be deleted
_BELOW_TEMPORARY = tuple(f"{path}/" for path in (*TEMPORARY, "/var/folders", "/private/var/folders"))
_OF_HOME = (
    ".ssh .gnupg .aws .kube .config .local .local/share .local/bin .local/state .password-store .mozilla .thunderbird "
    ".docker .azure .gcloud .config/gcloud Documents Desktop Pictures Music Videos Movies Downloads Library Dropbox "
    "OneDrive .vim .emacs.d .oh-my-zsh .pyenv .nvm .rustup .cargo go .m2 .ssh/keys .claude .codex .gemini .kimi"
).split()
_OF_GIT = (".git", ".git/objects", ".git/refs", ".git/objects/pack", ".git/refs/heads")
_PROBES = ("src", "docs", "README.md", "package.json", ".git", ".github")
# Directories outside the project that may be deleted, since programs fill them again.
_CACHES = (
    r"(?i)\.?caches?|_cacache|node_modules|__pycache__|\.pub-cache|DerivedData|\.?Trash|_npx|_logs"
    r"|\.(?:pytest|mypy|ruff)_cache"
)
_REFILLED = r"/var/lib/apt/lists/.+|/home/[^/]+/\.(?:m2/repository|cargo/registry|gradle/\w+|nuget/packages)(?:/.*)?"
# Names of directories and files that builds, package managers and tests generate.
GENERATED = (
    r"(?i)build|builds|dist|out|output|target|node_modules|bower_components|vendor|\.?cache|caches|__pycache__|\.?venv|env"
    r"|\.tox|\.nox|\.eggs|[\w.-]+\.egg-info|\.(?:pytest|mypy|ruff)_cache|htmlcov|coverage|\.coverage(?:\.\S+)?|\.next|\.nuxt"
    r"|\.svelte-kit|\.turbo|\.parcel-cache|\.gradle|\.terraform|\.dart_tool|\.stack-work|_build|site|public|storybook-static"
    r"|bin|obj|debug|release|deps|pods|deriveddata|cmake-build-\w+|CMakeFiles|tmp|temp|\.tmp|logs?|results?|reports?|artifacts"
    r"|__temp__\S*|core|a\.out|\.DS_Store|Thumbs\.db|nohup\.out|node-compile-cache|\.?sass-cache|generated|gen"
    r"|.*\.(?:o|a|so|dylib|obj|pyc|pyo|class|jar|war|log|tmp|temp|bak|swp|swo|orig|rej|old|pid|lock|out|err|map|min\.js|gcda|gcno"
    r"|cache|lcov|prof|core|part|crdownload|tsbuildinfo|egg-info|bk)|.*~|#.*#|\.eslintcache|\.nyc_output|__generated__"
    r"|(?:allure|cypress|jest|junit|playwright|surefire|test)-(?:outputs?|reports?|results?)"
    r"|(?:package-lock|npm-shrinkwrap)\.json|pnpm-lock\.yaml|\.terraform\.lock\.hcl|coverage\.xml|junit\S*\.xml"
)
_FILE_NAME = r"[^/]*\.[A-Za-z][A-Za-z0-9]{0,4}"  # a name that is more likely a file's than a directory's

_MARKS = (*UNKNOWNS, *PATTERNS)


class Place(NamedTuple):
    """A directory that should not be deleted."""

    path: str
    rule: str
    what: str
    only_contents: bool = False  # a path names everything in it, but not the directory itself

    @property
    def shown(self) -> str:
        return f"everything in {self.what}" if self.only_contents else self.what


class ProjectPlaces:
    """The directories of this machine, account and project that should not be deleted."""

    def __init__(self, directory: str, environment: Mapping[str, str], further: Iterable[str] = ()) -> None:
        self.home = os.path.normpath(environment.get("HOME") or "/root")
        self.agents_home = os.path.normpath(reader.agents_home(environment))
        self.directory = os.path.normpath(directory)
        self._looked_up = 0  # paths that were compared with git's index
        self._real: dict[str, str] = {}  # the real path of each directory
        self.shown: dict[tuple[str, ...], str] = {}  # commands with a backslash, as written
        self.finds: list[list[str]] = []  # the words of each `find`, which may feed `xargs rm`
        self.moved: list[tuple[str, str]] = []  # the paths that the line moves, from and to
        self.is_written_later = False  # the commands are text that the line writes to a file which runs it later
        self.root = project_root(self.directory, self.home)
        self.roots = tuple(dict.fromkeys((self.root, self.directory, *further)))
        self._ordinary = () if is_below(self.home, self.root) else (self.root + "/",)
        self._by_path = dict(_OF_SYSTEM)  # the first place of a path counts
        for home in (self.home, self.agents_home):
            self._add(home, "delete-system", "the home directory")
        for name in _OF_HOME:
            self._add(f"{self.home}/{name}", "delete-system", f"~/{name}")
        for path in dict.fromkeys((self.directory, self.root)):
            for name in _OF_GIT:
                self._add(f"{path}/{name}", "delete-project", f"{name} of the project")
            self._add(path, "delete-project", "the project itself")
            while (path := os.path.dirname(path)) != "/":  # the directories above it
                self._add(path, "delete-project", f"{path}, which contains the project")

    def _add(self, path: str, rule: str, what: str) -> None:
        self._by_path.setdefault(path, Place(path, rule, what))

    def resolve(self, command: ShellCommand, word: str) -> str | None:
        """Return a word as an absolute path on this machine; None if it is a path inside a container."""
        return path_here(command, word, self.agents_home)

    def hit(self, path: str) -> Place | None:
        """Return the place that is deleted if a path is deleted with its content, or None."""
        return self._hit(path) or (self._hit(real) if (real := self.real(path)) != path else None)

    def _hit(self, path: str) -> Place | None:
        names = [name for name in path.split("/") if name]
        count = len(names)
        while names and is_catch_all(names[-1]):
            names.pop()
        only_contents = len(names) < count
        if any(mark in name for name in names for mark in UNKNOWNS):
            return None
        if any(mark in name for name in names for mark in PATTERNS):
            known = (place for place in self._by_path.values() if _matches_path(names, place.path))
            place = next(known, None)
        else:
            place = self._by_path.get("/" + "/".join(names))
            if place is None and len(names) == 2 and names[0] in ("home", "Users"):
                place = Place(path, "delete-system", f"the home of {names[1]}")
            if place and only_contents and place.path in TEMPORARY and not is_below(self.directory, place.path):
                return None
        return place and place._replace(only_contents=only_contents)

    def real(self, path: str) -> str:
        """Return a path with symbolic links resolved, up to unknown parts. A directory is looked up only once."""
        directory, _, name = path.rpartition("/")
        if not directory or any(mark in directory for mark in _MARKS):
            return path
        try:
            if directory not in self._real:
                self._real[directory] = os.path.realpath(directory)
            joined = f"{self._real[directory]}/{name}"
            is_link = not any(mark in name for mark in _MARKS) and os.path.islink(joined)
            return os.path.realpath(joined) if is_link else joined
        except (OSError, ValueError):  # not a path of a file system
            return path

    def in_home(self, path: str) -> str:
        """Return a path below the home as one below /home/me, which the expressions use."""
        return "/home/me" + path[len(self.home) :] if path.startswith(self.home + "/") else path

    def is_temporary(self, path: str) -> bool:
        """Whether a path is below a directory for temporary files, and not in a project or home that is there."""
        return path.startswith(_BELOW_TEMPORARY) and not any(is_below(path, each) for each in (*self.roots, self.home))

    def is_ordinary(self, path: str) -> bool:
        """Whether a path is in the project but not in its `.git`, so that no rule about well-known files applies."""
        return path.startswith(self._ordinary) and "/.git/" not in path and "history" not in path

    def is_cache(self, path: str) -> bool:
        """Whether a path outside the project is in a directory that programs fill again."""
        own = self.in_home(path)
        if path.startswith(("/usr/", "/etc/", "/lib/")):
            return False
        return any(matches(_CACHES, name) for name in decoded(own).split("/")[2:]) or matches(_REFILLED, own)

    def is_file(self, path: str) -> bool:
        """Whether a path is a file rather than a directory, or looks like one if it does not exist."""
        if any(mark in path for mark in _MARKS):
            return False
        try:
            return os.path.isfile(path) or (matches(_FILE_NAME, path.rpartition("/")[2]) and not os.path.isdir(path))
        except ValueError:
            return False

    def is_outside(self, path: str) -> bool:
        """Whether a path is certainly outside the project, and not temporary."""
        known = before(path, _MARKS)
        if known != path:
            known = known.rpartition("/")[0]
            if is_below(self.root, known or "/"):
                return False  # the pattern or unknown part may lead into the project
        return not (any(is_below(known, root) for root in self.roots) or self.is_temporary(path))

    def is_generated(self, path: str) -> bool:
        """Whether a path of the project is generated by builds and tools, according to usual names."""
        root = next((root for root in self.roots if is_below(path, root)), "")
        names = [decoded(name).replace("*", "x") for name in path[len(root) :].split("/") if name]
        return any(matches(GENERATED, name) for name in names)

    def is_of_system(self, directory: str) -> bool:
        """Whether a directory is one of the system, or contains homes."""
        place = self._by_path.get(directory or "/")
        return place is not None and place.rule == "delete-system" and not directory.startswith(self.home)

    def can_restore(self, path: str) -> bool:
        """Whether git can restore a path of the project in its current state. False after a few paths of a line."""
        self._looked_up += 1
        is_known = is_below(path, self.root) and not any(mark in path for mark in _MARKS)
        if not is_known or self._looked_up > MOST_LOOKED_UP:
            return False
        from . import tracked  # rarely needed

        return tracked.can_restore(path, self.root)


_OF_SYSTEM = {
    path: Place(path, "delete-system", what)
    for path, what in (
        ("/", "the root of the file system"),
        *((path, f"{path}, a directory of the system") for path in _SYSTEM),
        *((path, f"{path}, which every program uses") for path in TEMPORARY),
    )
}


def is_catch_all(name: str) -> bool:
    """Whether a pattern matches nearly everything in a directory: `*`, `.*`, `[a-z]*`."""
    if not any(mark in name for mark in PATTERNS):
        return False
    return sum(pattern_matches(name, probe) for probe in _PROBES) > 1


def _matches_path(names: list[str], path: str) -> bool:
    known = path.split("/")[1:]
    return len(known) == len(names) and all(map(pattern_matches, names, known))
