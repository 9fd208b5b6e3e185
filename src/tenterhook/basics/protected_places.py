"""What a guarded agent may not change: hooks, trust, settings, state, Tenterhook; and the commands that would.

Our commands use this below a guarded agent, and so does the guard protect-hooks.
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
    ".factory/settings.json": "settings of Factory Droid",
    ".factory/hooks.json": "hooks of Factory Droid",
    ".factory/hooks/": "hooks of Factory Droid",
    "site-packages/tenterhook/": "Tenterhook itself",
    "dist-packages/tenterhook/": "Tenterhook itself",
    "pipx/venvs/tenterhook/": "Tenterhook itself",  # the launcher tries these, also if they do not exist yet
    "uv/tools/tenterhook/": "Tenterhook itself",
}
# Variables that move an agent's settings elsewhere, each with what is in that directory.
MOVED = {
    "CLAUDE_CONFIG_DIR": ("settings.json", "settings.local.json", "hooks/"),
    "CODEX_HOME": ("config.toml", "hooks.json"),
    "COPILOT_HOME": ("config.json", "hooks/"),
    "FACTORY_HOME_OVERRIDE": (".factory/settings.json", ".factory/hooks.json"),
    "KIMI_CODE_HOME": ("config.toml",),
    "KIMI_SHARE_DIR": ("config.toml",),
}


# Every command of ours, by how it is treated below a guarded agent. Refused with any options:
REFUSED = frozenset(
    (
        *("disable", "enable", "remove", "trust", "untrust", "hub", "hub join", "hub leave", "hub start", "hub stop"),
        *("daemon run", "daemon start", "daemon stop"),
        *("hub person add", "hub person password", "hub person remove", "hub token add", "hub token revoke"),
        *("inbox", "inbox approve", "inbox deny", "inbox sign-in"),
    )
)
REFUSED_WITHOUT = {
    **{"agent": "--sessions", "install": "--dry-run", "new": "--project"},
    **{"uninstall": "--dry-run", "update": "--dry-run"},
}
REFUSED_WITH = {"add": "NAME", "doctor": "--fix", "new": "--force", "trigger": "--session"}
# Refused if the file or directory that these options name is protected, or if what they change is:
WRITING = {"convert": ("--out",), "log export": ("--out",), "test": ("--junit", "--update")}
# Allowed: they read, or run hooks and agents under the same rules.
READING = frozenset(
    (
        *("check", "completion", "guard", "list", "log", "log anchor", "log stats", "log verify", "replay", "show"),
        *("hub status", "hub person", "hub person list", "hub token", "hub token list", "inbox list"),
        *("daemon", "daemon status"),
    )
)


def command_in(arguments: Iterable[str]) -> tuple[str, bool]:
    """Return the command of ours that these arguments call, and whether it is refused below a guarded agent."""
    words = list(arguments)
    given = [word for word in words if not word.startswith("-")]
    known = (*REFUSED, *REFUSED_WITHOUT, *REFUSED_WITH, *WRITING, *READING)
    # options before a subcommand may have values, which look like names
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
    places: Mapping[str, str] | None = None,
) -> str | None:
    """Return what a path belongs to that an agent may not change, or None.

    `removes`: the change removes a directory with its content. A path that is not `is_plain` has patterns, which
    `matches` compares with a name. `places`: the result of `known_places`, if the caller has it.
    """
    if not path:
        return None
    places = known_places(os.environ) if places is None else places
    for each in dict.fromkeys((os.path.normpath(path), os.path.realpath(path))):
        what = _by_place(each, removes, matches, places) or _by_name(each, removes, matches, is_plain)
        if what:
            return what
    return _by_file(path, places) if is_plain else None


def known_places(
    variables: Mapping[str, str], more: Mapping[str, str] | None = None, home: str = "", state: str = ""
) -> dict[str, str]:
    """Return the directories and files that exist once on this machine, with what they are; `more` are added.

    Without `home` and `state`, Tenterhook's directory of state, the variables decide where they are.
    """
    home = home or variables.get("HOME") or os.path.expanduser("~")
    places = {"/etc/agents/": "the machine's hooks", "/etc/claude-code/": "settings of Claude Code"}
    for marks in (f"/run/user/{os.getuid()}/tenterhook/", f"/tmp/tenterhook-{os.getuid()}/"):  # noqa: S108
        places[marks] = "the marks of agents that Tenterhook guards"
    for directory in (variables.get("XDG_CONFIG_HOME", ""), home + "/.config"):
        if directory.startswith("/"):
            places[directory + "/agents/hooks/"] = "your hooks"
            places[directory + "/kimi/hooks/"] = "your hooks"
            places[directory + "/tenterhook/"] = _CONFIGURATION
    own = variables.get("TENTERHOOK_STATE_DIR", "")  # a hook's, two levels below ours
    xdg = variables.get("XDG_STATE_HOME", "")
    states = (
        state,
        os.path.dirname(os.path.dirname(own)),
        xdg and xdg + "/tenterhook",
        home + "/.local/state/tenterhook",
    )
    for directory in dict.fromkeys(states):
        if directory.startswith("/"):
            places[directory + "/"] = "Tenterhook's state, where trust is kept"
            places.update(_installed(directory))
    for directory in (variables.get("XDG_CACHE_HOME", ""), home + "/.cache"):
        if directory.startswith("/"):
            places[directory + "/tenterhook/"] = "what Tenterhook has compiled"
    places.update(_moved(variables))
    places.update(more or {})
    return {**_behind_links(places, home), **places}


def _moved(variables: Mapping[str, str]) -> dict[str, str]:
    """Return agents' settings in the directories that variables name."""
    directories = [(names, variables.get(variable)) for variable, names in MOVED.items()]
    found = [os.path.join(each, name) for names, each in directories if each and each[:1] == "/" for name in names]
    return dict.fromkeys(found, "settings of an agent")


def _installed(state: str) -> dict[str, str]:
    """Return the settings that records of installations name, and files named with `--config`."""
    import json

    directory = os.path.join(state, "installed")
    found: dict[str, str] = {}
    try:
        names = [name for name in os.listdir(directory) if name.endswith(".json")]
    except OSError:
        return {}
    for name in names:
        try:
            with open(os.path.join(directory, name), encoding="utf-8") as stream:
                record = json.load(stream)
            settings = [record["settings"], *(each["path"] for each in record.get("files", ()))]
            found.update(dict.fromkeys(map(os.path.abspath, settings), "settings of an agent"))
            configs = map(os.path.abspath, record.get("configs", ()))
            found.update(dict.fromkeys(configs, "hooks that `install --config` named"))
            found.update(_moved(dict.fromkeys(MOVED, record.get("agent_home", ""))))
        except (OSError, ValueError, LookupError, TypeError, AttributeError):  # broken; `doctor` says so
            continue
    return found


_CONFIGURATION = "Tenterhook's configuration"
_MOST_ENTRIES = 10_000  # of a directory of hooks: even with `node_modules` in it, that takes milliseconds


def _behind_links(places: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the targets of symbolic links in protected places, as managers of dotfiles make them."""
    named = {os.path.join(home, name): what for name, what in PROTECTED.items() if name[0] == "."}
    homes = (f"{home}/", f"{os.path.realpath(home)}/")  # a directory above one of them would protect everything
    found: dict[str, str] = {}
    for place, what in {**named, **places}.items():
        end = "/" if place.endswith("/") else ""
        found.update(dict.fromkeys((each + end for each in _targets(place.rstrip("/"))), what))
        if place.endswith("hooks/") or what == _CONFIGURATION:
            found.update(dict.fromkeys(_linked_in(place, homes), what))
    return {place: what for place, what in found.items() if not place.endswith("/") or not _is_above(place, homes)}


def _is_above(directory: str, others: Iterable[str]) -> bool:
    return any(other.startswith(directory) for other in others)


def _targets(path: str) -> list[str]:
    """Return where a path leads, link by link; empty if no part of it is a link."""
    found = [os.path.realpath(path)]
    way = path
    while os.path.islink(way) and len(found) < 40:  # as many as the system follows
        way = os.path.normpath(os.path.join(os.path.dirname(way), os.readlink(way)))
        found.append(way)
    return [each for each in dict.fromkeys(found) if each != path]


def _linked_in(directory: str, homes: Iterable[str]) -> list[str]:
    """Return what links in a directory lead to outside of it, and links in those directories."""
    found: list[str] = []
    root = os.path.realpath(directory) + "/"
    waiting, seen, entries = [root], set[str](), 0
    while waiting and entries < _MOST_ENTRIES:
        here = os.path.realpath(waiting.pop(0))
        if here in seen or _is_above(here.rstrip("/") + "/", homes):
            continue
        seen.add(here)
        try:
            listed = list(os.scandir(here))
        except OSError:
            continue
        entries += len(listed)
        for entry in listed:
            waiting += [entry.path] if entry.is_dir() else []
            for each in _targets(entry.path) if entry.is_symlink() else ():
                if not each.startswith(root):
                    found.append(each.rstrip("/") + "/" if os.path.isdir(each) else each)
    return found


def _by_file(path: str, places: Mapping[str, str]) -> str | None:
    """The same by file identity: hard links, mounts and other letter case are further names of one file."""
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
    """Return what a path belongs to by names that are protected in every directory."""
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
    """Whether two lists of names are the same, ignoring case as some file systems do."""
    return len(parts) == len(known) and all(map(same, map(str.lower, parts), map(str.lower, known)))
