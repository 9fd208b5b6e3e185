"""Files that a guarded agent may not change (hooks, trust, settings, state, Tenterhook), and commands that change them.

Used by our commands below a guarded agent, and by the guard protect-hooks.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property

from . import light_json, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Matches = Callable[[str, str], bool]

# Protected in every directory: a home, a project, another project. A path that ends with `/` includes its content.
PROTECTED = {
    ".agents/hooks/": "hooks of a project",
    ".agents/hooks.toml": "hooks of a project",
    ".agents/hooks.lock": "hooks of a project",
    ".config/agents/hooks/": "your hooks",
    "config/agents/hooks/": "your hooks",
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
    ".pi/agent/extensions/": "extensions of pi",
    ".pi/agent/settings.json": "settings of pi",
    ".pi/agent/trust.json": "settings of pi",
    ".pi/extensions/": "extensions of pi",
    ".pi/settings.json": "settings of pi",
    ".vibe/hooks.toml": "hooks of Mistral Vibe",
    ".vibe/config.toml": "settings of Mistral Vibe",
    ".vibe/trusted_folders.toml": "settings of Mistral Vibe",
    ".vibe/plugins/": "plug-ins of Mistral Vibe",
    ".vibe/tools/": "plug-ins of Mistral Vibe",  # Python that it runs in its own process
    ".openhands/hooks.json": "hooks of OpenHands",
    ".openhands/hooks/": "hooks of OpenHands",
    ".openhands/agent_settings.json": "settings of OpenHands",
    ".openhands/cli_config.json": "settings of OpenHands",
    ".openhands/mcp.json": "settings of OpenHands",
    ".hermes/config.yaml": "settings of Hermes",
    ".hermes/.env": "settings of Hermes",
    ".hermes/active_profile": "settings of Hermes",
    ".hermes/hooks/": "hooks of Hermes",
    ".hermes/plugins/": "plug-ins of Hermes",
    ".cline/hooks/": "hooks of Cline",
    ".cline/plugins/": "plug-ins of Cline",
    ".cline/data/settings/global-settings.json": "settings of Cline",
    ".clinerules/hooks/": "hooks of Cline",
    "documents/cline/hooks/": "hooks of Cline",
    "opencode.json": "settings of opencode",
    "opencode.jsonc": "settings of opencode",
    ".config/opencode/config.json": "settings of opencode",
    **dict.fromkeys(
        (  # plug-ins and tools: modules that it loads
            f"{folder}/{kind}/"
            for folder in (".opencode", ".config/opencode")
            for kind in ("plugin", "plugins", "tool", "tools")
        ),
        "hooks of opencode",
    ),
    ".cursor/hooks.json": "hooks of Cursor",
    ".cursor/hooks/": "hooks of Cursor",
    ".cursor/cli-config.json": "settings of Cursor",
    ".cursor/permissions.json": "settings of Cursor",
    ".agents/plugins/": "plug-ins of Goose",
    ".config/goose/settings.json": "settings of Goose",
    ".config/goose/settings.local.json": "settings of Goose",
    "site-packages/tenterhook/": "Tenterhook itself",
    "dist-packages/tenterhook/": "Tenterhook itself",
    "pipx/venvs/tenterhook/": "Tenterhook itself",  # the launcher tries these, even if they do not exist yet
    "uv/tools/tenterhook/": "Tenterhook itself",
}
# Variables that move or disable an agent's settings, each with the protected content of the directory that it names.
MOVED = {
    "CLAUDE_CONFIG_DIR": ("settings.json", "settings.local.json", "hooks/"),
    "CLINE_DIR": ("hooks/", "plugins/", "data/settings/global-settings.json"),
    "CODEX_HOME": ("config.toml", "hooks.json"),
    "COPILOT_HOME": ("config.json", "hooks/"),
    "FACTORY_HOME_OVERRIDE": (".factory/settings.json", ".factory/hooks.json"),
    "GOOSE_PATH_ROOT": (".agents/plugins/", ".config/goose/settings.json"),
    "HERMES_HOME": ("config.yaml", ".env", "hooks/", "plugins/"),
    "HERMES_SAFE_MODE": (),
    "KIMI_CODE_HOME": ("config.toml",),
    "KIMI_SHARE_DIR": ("config.toml",),
    "PI_CODING_AGENT_DIR": ("extensions/", "settings.json", "trust.json"),
    "VIBE_HOME": ("hooks.toml", "config.toml", "trusted_folders.toml", "plugins/", "tools/"),
    "OPENCODE_CONFIG": (),
    "OPENCODE_CONFIG_CONTENT": (),
    "OPENCODE_CONFIG_DIR": ("opencode.json", "opencode.jsonc", "plugin/", "plugins/", "tool/", "tools/"),
    "OPENCODE_DISABLE_PROJECT_CONFIG": (),
    "OPENCODE_PURE": (),
}
# The programs of all agents.
AGENT_PROGRAMS = frozenset(
    (
        *("claude", "cline", "codex", "copilot", "cursor", "cursor-agent", "droid", "gemini", "goose", "hermes"),
        *("kimi", "kimi-cli", "kimi-code", "opencode", "openhands", "pi", "qwen", "vibe"),
    )
)


# All of our commands, by how they are treated below a guarded agent. Refused with any options:
REFUSED = frozenset(
    (
        *("allow", "disable", "enable", "remove", "trust", "untrust", "daemon run", "daemon start", "daemon stop"),
        *("hub", "hub join", "hub leave", "hub share", "hub start", "hub stop"),
        *("hub token add", "hub token revoke"),
        *("hub person add", "hub person password", "hub person remove"),
        *("inbox", "inbox approve", "inbox deny", "inbox sign-in", "hub redact", "log redact", "pack remove"),
    )
)
REFUSED_WITHOUT = {
    "agent": "--sessions",
    "install": "--dry-run",
    "new": "--project",
    "pack add": "--dry-run",
    "pack update": "--dry-run",
    "setup": "--dry-run",
    "uninstall": "--dry-run",
    "update": "--dry-run",
}
REFUSED_WITH = {"add": "NAME", "doctor": "--fix", "new": "--force", "pack verify": "--fetch", "trigger": "--session"}
# Refused if the file or directory that these options name or change is protected:
WRITING = {"convert": ("--out",), "log export": ("--out",), "test": ("--junit", "--update")}
# Allowed, as they only read, or run hooks and agents under the same rules:
READING = frozenset(
    (
        *(
            "agents",
            "check",
            "completion",
            "guard",
            "list",
            "replay",
            "show",
            "try",
            "daemon",
            "daemon status",
            "inbox list",
        ),
        *("log", "log anchor", "log stats", "log verify"),
        *("pack", "pack diff", "pack init", "pack list", "pack show", "pack verify"),
        *("hub status", "hub test", "hub person", "hub person list", "hub token", "hub token list"),
    )
)


_FLAGS = ("--yes", "-y", "--json", "--all", "--force", "--fix", "--project", "--quiet")  # options without a value


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
    is_without = name in REFUSED_WITHOUT and not _is_given(REFUSED_WITHOUT[name], words)
    options = [word.partition("=")[0] for word in words]
    is_with = REFUSED_WITH.get(name) in (options if name != "add" else ["NAME"] * (len(given) > 1))
    return name, not _is_given("--help", words) and (name in REFUSED or is_without or is_with)


def _is_given(option: str, words: list[str]) -> bool:
    """Whether an option is among the words, and not the value of another option or an operand after `--`."""
    options = words[: words.index("--")] if "--" in words else words
    at = options.index(option) if option in options else -1
    return at == 0 or (at > 0 and (options[at - 1][:1] != "-" or options[at - 1] in _FLAGS))


def _are_in_order(names: list[str], words: list[str]) -> bool:
    remaining = iter(words)
    return all(name in remaining for name in names)


class ProtectedPlaces:
    """The protected directories (with `/` at the end) and files of this machine and account, each with what it is.

    They are looked up when first needed, anew for every object, since links and settings change.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    @cached_property
    def by_path(self) -> dict[str, tuple[str, str]]:
        """Each place as it is written, and what it is, by its path in lower case."""
        found = _known_places(self._variables)
        return {place.rstrip("/").lower(): (place, what) for place, what in found.items()}

    @cached_property
    def by_names(self) -> list[tuple[list[str], str, str]]:
        """The names that make up the path of each place, the place as it is written, and what it is."""
        return [(spelt.split("/"), place, what) for spelt, (place, what) in self.by_path.items()]

    @cached_property
    def by_identity(self) -> dict[tuple[int, int] | str, tuple[str, str]]:
        """Each place and what it is, by file identity, since hard links and mounts are further names of a file."""
        return {_identity(place): (place, what) for place, what in self.by_path.values()}


def protected(path: str, removes: bool, known: ProtectedPlaces | None, matches: Matches | None = None) -> str | None:
    """Return what a path belongs to that an agent may not change, or None.

    `removes`: the change removes a directory with its content. `matches` compares a pattern with a name, for a path
    with patterns. Without `known`, only names that are protected in every directory count.
    """
    path = places.encodable(path.partition("\0")[0])  # as a system call would get it
    if not path:
        return None
    for each in dict.fromkeys((os.path.normpath(path), places.real_path(path))):
        what = (_by_place(each, removes, known, matches) if known else None) or _by_name(each, removes, matches)
        if what:
            return what
    return _by_file(path, known) if known and not matches else None


SECRETS = "Tenterhook's credentials"
_CONFIGURATION, _PROGRAM = "Tenterhook's configuration", "Tenterhook itself"


def _known_places(variables: Mapping[str, str]) -> dict[str, str]:
    home, user = variables.get("HOME") or places.home(), os.getuid()
    own = variables.get("TENTERHOOK_STATE_DIR", "")  # a hook's, two levels below ours
    configs, states, caches, data = (
        [each for each in (variables.get(f"XDG_{kind}_HOME", ""), f"{home}/{usual}", now) if each[:1] == "/"]
        for kind, usual, now in (
            ("CONFIG", ".config", places.config_home()),
            ("STATE", ".local/state", os.path.dirname(places.state())),
            ("CACHE", ".cache", os.path.dirname(places.cache())),
            ("DATA", ".local/share", os.path.dirname(places.data())),
        )
    )
    states += [os.path.dirname(os.path.dirname(os.path.dirname(own)))] if own[:1] == "/" else []
    found = dict.fromkeys((f"{each}/tenterhook/hub/" for each in states), SECRETS)  # before the directories around them
    found.update(dict.fromkeys((f"{each}/tenterhook/hub.json" for each in configs), SECRETS))
    found.update(dict.fromkeys((f"{each}/tenterhook/approval.key" for each in states), SECRETS))
    found["/etc/agents/"], found["/etc/claude-code/"] = "the machine's hooks", "settings of Claude Code"
    found[f"{places.MANAGED}/"] = "the machine's installation"
    for marks in (f"/run/user/{user}/tenterhook/", f"/tmp/tenterhook-{user}/"):  # noqa: S108
        found[marks] = "the marks of agents that Tenterhook guards"
    for directory in configs:
        found[f"{directory}/agents/hooks/"] = found[f"{directory}/kimi/hooks/"] = "your hooks"
        found[f"{directory}/tenterhook/"] = _CONFIGURATION
        found[f"{directory}/opencode/plugins/"] = "hooks of opencode"
    for directory in dict.fromkeys(states):
        found[f"{directory}/tenterhook/"] = "Tenterhook's state, where trust is kept"
        found.update(_installed(f"{directory}/tenterhook"))
    found.update(dict.fromkeys((f"{each}/tenterhook/" for each in caches), "what Tenterhook has compiled"))
    found.update(dict.fromkeys((f"{each}/tenterhook/packs/" for each in data), "hooks of packs"))
    found["/var/lib/tenterhook/"] = "hooks of packs"
    program = [f"{places.PACKAGE}/", f"{os.path.dirname(sys.executable)}/tenterhook", f"{home}/.local/bin/tenterhook"]
    program += [f"{sys.prefix}/"] if sys.prefix != sys.base_prefix else []
    found.update(dict.fromkeys(program, _PROGRAM))
    found.update(_moved(variables))
    found = {os.path.normpath(place) + "/" * place.endswith("/"): what for place, what in found.items()}
    return {**found, **_behind_links(found, os.path.normpath(home))}


def _moved(variables: Mapping[str, str]) -> dict[str, str]:
    """Return agents' settings in the directories that variables name."""
    directories = [(names, variables.get(variable)) for variable, names in MOVED.items()]
    found = [os.path.join(each, name) for names, each in directories if each and each[:1] == "/" for name in names]
    return dict.fromkeys(found, "settings of an agent")


def _installed(state: str) -> dict[str, str]:
    """Return the settings files in records of installations, and the files of `install --config`."""
    directory = os.path.join(state, "installed")
    found: dict[str, str] = {}
    try:
        names = [name for name in os.listdir(directory) if name.endswith(".json")]
    except OSError:
        return {}
    for name in names:
        try:
            with open(os.path.join(directory, name), encoding="utf-8") as stream:
                record = light_json.loads(stream.read())
            settings = [record["settings"], *(each["path"] for each in record.get("files", ()))]
            found.update(dict.fromkeys(map(os.path.abspath, settings), "settings of an agent"))
            configs = map(os.path.abspath, record.get("configs", ()))
            found.update(dict.fromkeys(configs, "hooks that `install --config` named"))
            found.update(_moved(dict.fromkeys(MOVED, record.get("agent_home", ""))))
        except (OSError, ValueError, LookupError, TypeError, AttributeError):  # broken: `doctor` reports it
            continue
    return found


_MOST_ENTRIES = 10_000  # of a directory of hooks: even with `node_modules` in it, that takes milliseconds


def _behind_links(known: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the targets of symbolic links in protected places, such as those of dotfile managers."""
    named = {os.path.join(home, name): what for name, what in PROTECTED.items() if name[0] == "."}
    real: dict[str, str] = {"/": "/"}
    homes = (f"{home}/", f"{_real(home, real)}/")  # a directory above one of them would protect everything
    found: dict[str, str] = {}
    for place, what in {**named, **known}.items():
        end = "/" if place.endswith("/") else ""
        path = place.rstrip("/")
        if _real(path, real) != path:
            found.update(dict.fromkeys((each + end for each in _targets(path)), what))
        if place.endswith("hooks/") or what == _CONFIGURATION:
            found.update(dict.fromkeys(_linked_in(real[path], homes), what))
    return {place: what for place, what in found.items() if not place.endswith("/") or not _is_above(place, homes)}


def _real(path: str, known: dict[str, str]) -> str:
    """Return the real path of an absolute path, from and into a cache of known ones."""
    if path not in known:
        directory, _, name = path.rpartition("/")
        path_there = os.path.join(_real(directory or "/", known), name)
        known[path] = places.real_path(path_there) if os.path.islink(path_there) else path_there
    return known[path]


def _is_above(directory: str, others: Iterable[str]) -> bool:
    return any(other.startswith(directory) for other in others)


def _targets(path: str) -> list[str]:
    """Return the paths that a path leads to, link by link; empty if no part of it is a link."""
    found = [places.real_path(path)]
    way = path
    while os.path.islink(way) and len(found) < 40:  # as many as the system follows
        way = os.path.normpath(os.path.join(os.path.dirname(way), os.readlink(way)))
        found.append(way)
    return [each for each in dict.fromkeys(found) if each != path]


def _linked_in(root: str, homes: Iterable[str]) -> list[str]:
    """Return the targets outside a real directory of links in it, and of links in the directories they lead to."""
    found: list[str] = []
    waiting, seen, entries = [root], set[str](), 0
    while waiting and entries < _MOST_ENTRIES:
        here = waiting.pop(0)
        if here in seen or _is_above(f"{here.rstrip('/')}/", homes):
            continue
        seen.add(here)
        try:
            listed = list(os.scandir(here))
        except OSError:
            continue
        entries += len(listed)
        for entry in listed:
            is_link = entry.is_symlink()
            if entry.is_dir():
                waiting.append(places.real_path(entry.path) if is_link else entry.path)
            for each in _targets(entry.path) if is_link else ():
                if not each.startswith(f"{root}/"):
                    found.append(each.rstrip("/") + "/" if os.path.isdir(each) else each)
    return found


def _by_file(path: str, known: ProtectedPlaces) -> str | None:
    above = path = places.real_path(path)
    while above != "/":
        place, what = known.by_identity.get(_identity(above), ("", ""))
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


def _by_place(path: str, removes: bool, known: ProtectedPlaces, matches: Matches | None) -> str | None:
    """Return what the first place is that equals or contains a path or, if the path is removed, is inside it."""
    names = path.lower().rstrip("/").split("/")
    for others, place, what in known.by_names:
        is_it = len(names) == len(others) or (place.endswith("/") and len(names) > len(others))
        may_be = (is_it or (removes and len(names) < len(others))) and _are_equal(names, others, matches)
        if may_be and (is_it or os.path.lexists(place.rstrip("/"))):
            return what
    return None


def _are_equal(names: list[str], others: list[str], matches: Matches | None) -> bool:
    """Whether names are equal, or match as patterns, up to the length of the shorter list."""
    shorter = min(len(names), len(others))
    return all(map(matches, names, others)) if matches else names[:shorter] == others[:shorter]


_NAMES = [(name.rstrip("/").split("/"), name.endswith("/"), what) for name, what in PROTECTED.items()]
_FIRST_NAMES = {names[0] for names, _, _ in _NAMES}


def _by_name(path: str, removes: bool, matches: Matches | None) -> str | None:
    """Return what a path belongs to by names that are protected in every directory."""
    parts = path.lower().split("/")
    for start, part in enumerate(parts):
        if matches is None and part not in _FIRST_NAMES:
            continue
        for names, is_directory, what in _NAMES:
            found = parts[start : start + len(names)]
            may_be = len(found) == len(names) and (is_directory or start + len(names) == len(parts))
            # a pattern must not match a single name that is not hidden: `*` would match in every directory
            compared = matches if len(names) > 1 or names[0][0] == "." else None
            if may_be and _are_equal(found, names, compared):
                return what
    inside = _named_below(path) if removes and matches is None else ()
    return next((what for each, what in inside if os.path.lexists(each)), None)


def _named_below(path: str) -> Iterator[tuple[str, str]]:
    """Yield the paths in a directory that are protected by name, such as `hooks` in `.agents`. They need not exist."""
    parts = path.lower().split("/")
    for names, _, what in _NAMES:
        for there in range(len(names)):  # how many of the names the path ends with
            if parts[len(parts) - there :] == names[:there]:
                yield "/".join((path, *names[there:])), what


def existing_below(directory: str, known: ProtectedPlaces) -> list[str]:
    """Return the protected files in a directory, up to about `_MOST_ENTRIES`."""
    inside = directory.rstrip("/").lower() + "/"
    own = known.by_path.items()
    tops = [place for spelt, (place, what) in own if f"{spelt}/".startswith(inside) and what != _PROGRAM]
    tops += [each for each, _ in _named_below(directory)]
    found: list[str] = []
    for top in tops:
        found += [top.rstrip("/")] if os.path.lexists(top) else []
        for where, _, files in os.walk(top):
            found += [f"{where}/{file}" for file in files]
            if len(found) > _MOST_ENTRIES:
                return found
    return found
