"""What an agent may not change, and which of our commands would: hooks, trust, settings, state, Tenterhook itself.

Our commands ask this below an agent that is guarded, and so does the hook protect-hooks, which has a copy of this file:
nothing else of ours is imported here.
"""

from __future__ import annotations

import os
from operator import eq

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Wherever they are: a home, a project, another project. A path that ends with `/` stands for all that is in it.
PROTECTED = {
    ".agents/hooks/": "hooks of a project",
    "agents/hooks/": "your hooks",  # below ~/.config or /etc
    ".kimi/hooks/": "hooks of Kimi",
    ".kimi/config.toml": "settings of Kimi CLI",
    ".kimi-code/config.toml": "settings of Kimi Code",
    ".claude/settings.json": "settings of Claude Code",
    ".claude/settings.local.json": "settings of Claude Code",
    ".claude/hooks/": "hooks of Claude Code",
    ".claude.json": "settings of Claude Code",
    ".codex/config.toml": "settings of Codex",
    ".codex/hooks.json": "hooks of Codex",
    ".gemini/settings.json": "settings of Gemini CLI",
    ".qwen/settings.json": "settings of Qwen Code",
    ".copilot/config.json": "settings of Copilot CLI",
    ".copilot/hooks/": "hooks of Copilot CLI",
    ".github/hooks/": "hooks of Copilot CLI",
    "site-packages/tenterhook/": "Tenterhook itself",
    "dist-packages/tenterhook/": "Tenterhook itself",
    "pipx/venvs/tenterhook/": "Tenterhook itself",  # the launcher falls back on these, there or not
    "uv/tools/tenterhook/": "Tenterhook itself",
}
# Variables that move an agent's settings elsewhere, each with what is in that directory.
MOVED = {
    "CLAUDE_CONFIG_DIR": ("settings.json", "settings.local.json", "hooks/"),
    "CODEX_HOME": ("config.toml", "hooks.json"),
    "COPILOT_HOME": ("config.json", "hooks/"),
    "KIMI_CODE_HOME": ("config.toml",),
    "KIMI_SHARE_DIR": ("config.toml",),
}


# Every command of ours: what it is below an agent that is guarded. Refused, whatever its options are:
REFUSED = frozenset(
    (
        *("disable", "enable", "remove", "trust", "untrust", "hub", "hub join", "hub leave", "hub start", "hub stop"),
        *("hub person add", "hub person password", "hub person remove", "hub token add", "hub token revoke"),
        *("inbox", "inbox approve", "inbox deny", "inbox sign-in"),
    )
)
REFUSED_WITHOUT = {"agent": "--sessions", "install": "--dry-run", "uninstall": "--dry-run", "new": "--project"}
REFUSED_WITH = {"add": "NAME", "doctor": "--fix", "new": "--force", "trigger": "--session"}
# Refused if the file or directory that these options name is protected, or if what they change is:
WRITING = {"convert": ("--out",), "log export": ("--out",), "test": ("--junit", "--update")}
# They read, or run hooks and agents that are held to the same.
READING = frozenset(
    (
        *("check", "completion", "list", "log", "log anchor", "log stats", "log verify", "replay", "show"),
        *("hub status", "hub person", "hub person list", "hub token", "hub token list", "inbox list"),
    )
)


def command_in(arguments: Iterable[str]) -> tuple[str, bool]:
    """The command of ours that is given these arguments, and whether it is refused to a guarded agent."""
    words = list(arguments)
    given = [word for word in words if not word.startswith("-")]
    known = (*REFUSED, *REFUSED_WITHOUT, *REFUSED_WITH, *WRITING, *READING)
    # options before a subcommand may have values, which cannot be told from names
    meant = [name for name in known if given[:1] == name.split()[:1] and _are_in_order(name.split(), given)]
    if not meant:
        return "", False
    longest = max(len(name.split()) for name in meant)
    name = min((name for name in meant if len(name.split()) == longest), key=lambda name: name not in REFUSED)
    is_without = name in REFUSED_WITHOUT and REFUSED_WITHOUT[name] not in words
    options = [word.partition("=")[0] for word in words]
    is_with = REFUSED_WITH.get(name) in (options if name != "add" else ["NAME"] * (len(given) > 1))
    return name, "--help" not in words and (name in REFUSED or is_without or is_with)


def _are_in_order(names: list[str], words: list[str]) -> bool:
    remaining = iter(words)
    return all(name in remaining for name in names)


def protected(
    path: str,
    removes: bool,
    matches: Callable[[str, str], bool] = eq,
    is_plain: bool = True,
    more: Mapping[str, str] | None = None,
) -> str | None:
    """What a path belongs to that an agent may not change, or None.

    What `removes` takes all that is in a directory with it. A path that is not `is_plain` has patterns in it, which
    `matches` compares with a name. `more` are places that are known to the caller.
    """
    if not path:
        return None
    places = {**_places(), **(more or {})}
    for each in dict.fromkeys((os.path.normpath(path), os.path.realpath(path))):
        what = _by_place(each, removes, matches, places) or _by_name(each, removes, matches, is_plain)
        if what:
            return what
    return _by_file(path, places) if is_plain else None


def _places() -> dict[str, str]:
    """Directories and files that this machine has exactly once."""
    home = os.environ.get("HOME") or os.path.expanduser("~")
    places = {"/etc/agents/": "the machine's hooks", "/etc/claude-code/": "settings of Claude Code"}
    for marks in (f"/run/user/{os.getuid()}/tenterhook/", f"/tmp/tenterhook-{os.getuid()}/"):  # noqa: S108
        places[marks] = "the marks of agents that Tenterhook guards"
    for directory in (os.environ.get("XDG_CONFIG_HOME", ""), home + "/.config"):
        if directory.startswith("/"):
            places[directory + "/agents/hooks/"] = "your hooks"
            places[directory + "/kimi/hooks/"] = "your hooks"
            places[directory + "/tenterhook/"] = "Tenterhook's configuration"
    own = os.environ.get("TENTERHOOK_STATE_DIR", "")
    for directory in (os.environ.get("XDG_STATE_HOME", ""), home + "/.local/state"):
        if directory.startswith("/"):
            places[directory + "/tenterhook/"] = "Tenterhook's state, where trust is kept"
    if own.startswith("/"):
        places[os.path.dirname(os.path.dirname(own)) + "/"] = "Tenterhook's state, where trust is kept"
    for directory in (os.environ.get("XDG_CACHE_HOME", ""), home + "/.cache"):
        if directory.startswith("/"):
            places[directory + "/tenterhook/"] = "what Tenterhook has compiled"
    for variable, names in MOVED.items():
        directory = os.environ.get(variable, "")
        if directory.startswith("/"):
            places.update({os.path.join(directory, name): "settings of an agent" for name in names})
    return places


def _by_file(path: str, places: Mapping[str, str]) -> str | None:
    """The same by the files themselves: a hard link, a mount and other letters are other names of one."""
    known = {_identity(place): (place, what) for place, what in places.items()}
    above = path = os.path.realpath(path)
    while above != "/":
        place, what = known.get(_identity(above), ("", ""))
        if place.endswith("/") or (place and above == path):
            return what
        above = os.path.dirname(above)
    return None


def _identity(path: str) -> tuple[int, int] | str:
    try:
        found = os.stat(path)
    except OSError:
        return path.rstrip("/")
    return found.st_dev, found.st_ino


def _by_place(path: str, removes: bool, same: Callable[[str, str], bool], places: Mapping[str, str]) -> str | None:
    parts = names_of(path)
    for place, what in places.items():
        known = names_of(place)
        is_it = _are(parts[: len(known)], known, same) and (len(parts) == len(known) or place.endswith("/"))
        around = removes and _are(parts, known[: len(parts)], same) and os.path.lexists(place.rstrip("/"))
        if is_it or around:
            return what
    return None


def _by_name(path: str, removes: bool, same: Callable[[str, str], bool], is_plain: bool) -> str | None:
    """Files and directories that are protected wherever they are."""
    parts = names_of(path)
    for name, what in PROTECTED.items():
        known = names_of(name)
        for start in range(len(parts)):
            found = parts[start : start + len(known)]
            if name == "agents/hooks/" and "".join(parts[start - 1 : start]).lower() not in (
                "config",
                ".config",
                "etc",
            ):
                continue
            if _are(found, known, same) and (name.endswith("/") or start + len(known) == len(parts)):
                return what
            is_above = removes and _are(found, known[: len(found)], same) and start + len(found) == len(parts)
            if is_above and is_plain and os.path.lexists(os.path.join(path, *known[len(found) :])):
                return what
    if removes and is_plain:
        for name, what in PROTECTED.items():
            if os.path.lexists(os.path.join(path, name.rstrip("/"))):
                return what
    return None


def names_of(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def _are(parts: list[str], known: list[str], same: Callable[[str, str], bool]) -> bool:
    """Whether names are those that are known, on a file system that takes capital letters for small ones too."""
    return len(parts) == len(known) and all(map(same, map(str.lower, parts), map(str.lower, known)))
