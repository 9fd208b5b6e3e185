"""Packs of hooks: those that a `hooks.toml` names, the bytes that the `hooks.lock` beside it pins, and their store.

A hook of a pack is in force only with the bytes that the lock pins. If those are missing or different, it is in the
catalog as a hook that fails: if it fails closed, its event is blocked.
"""

from __future__ import annotations

import os
import stat
import time

from ..basics import light_json, places, private_files
from ..basics.named_tuples import NamedTuple
from ..errors import ERROR, HookError, Problem
from ..events import BY_NAME
from ..formats import folder as folder_format
from ..formats import hook_fields, toml_files
from ..model import Hook
from . import fingerprints, layer_settings, source_trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .catalog import Layer

FILE = "hooks.lock"
MANAGED_STORE = "/var/lib/tenterhook/packs"
PACK = (
    hook_fields.Field(
        "source", str, None, 1, required=True, meaning="a git URL, or the path of a repository or folder"
    ),
    hook_fields.Field("rev", str, "", meaning="a tag, a branch or a commit; of a folder, none"),
    hook_fields.Field("only", list, None, meaning="the hooks that are in force; without it, those that the pack says"),
    hook_fields.Field("settings", dict, {}, meaning="by hook: its `metadata`, over that of the pack"),
)
_TEXTS = ("name", "source", "rev", "commit", "tree")


class NamedPack(NamedTuple):
    """One `[[packs]]` of a `hooks.toml`."""

    source: str
    rev: str = ""
    only: tuple[str, ...] | None = None
    settings: Mapping[str, Any] = {}


class LockedHook(NamedTuple):
    """One hook of a pack in a `hooks.lock`: the hash of its folder, and its matchers in case the folder is missing."""

    name: str
    digest: str
    event: str
    tool: str | None = None
    pattern: str | None = None
    closed: bool = False


class LockedPack(NamedTuple):
    """One pack of a `hooks.lock`."""

    name: str
    source: str
    rev: str
    commit: str  # empty for a folder without git
    tree: str  # the name of its directory in the store
    hooks: tuple[LockedHook, ...]
    default: tuple[str, ...] | None = None
    signer: str = ""
    before: LockedPack | None = None  # the revision in force until `shadow_until`; changes since run in shadow mode
    shadow_until: float = 0.0  # in seconds since 1970
    tag: bool = False  # whether `rev` is a tag, which does not move

    def chosen(self, only: Sequence[str] | None) -> list[LockedHook]:
        """Return the hooks that are in force."""
        names = self.default if only is None else only
        return [hook for hook in self.hooks if names is None or hook.name in names]


def store(layer: str) -> str:
    """Return the directory of a layer's fetched packs; that of the managed layer belongs to root."""
    return MANAGED_STORE if layer == "managed" else f"{places.data()}/packs"


def restoring(layer: str) -> str:
    """Return the command that restores the store of a layer's packs."""
    root, project = "sudo " if layer == "managed" else "", " --project" if layer == "project" else ""
    return f"{root}tenterhook pack verify --fetch{project}"


def locking(layer: str) -> str:
    """Return the command that locks a layer's packs as its `hooks.toml` names them."""
    return f"tenterhook pack update{' --project' if layer == 'project' else ''}"


def default_name(source: str) -> str:
    """Return the name of a pack whose `pack.toml` gives none: the last part of its address."""
    return os.path.basename(source.rstrip("/").removesuffix(".git")) or "pack"


def load(file: str) -> tuple[dict[str, Any], toml_files.LineNumbers] | Problem:
    """Return the document of a `hooks.toml` or `hooks.lock` that may not have been reviewed, or the problem."""
    try:
        found = os.stat(file)
    except OSError:
        return toml_files.load(file)  # which says why
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_FILE:
        message = f"it is no regular file, or holds more than {_LARGEST_FILE >> 20} MiB"
        return Problem("unreadable", file, None, None, message, "remove it")
    text = toml_files.read_text(file)
    if not isinstance(text, Problem) and _is_slow(text):
        return Problem("unreadable", file, None, None, "it has keys of too many parts", "shorten its longest keys")
    return toml_files.load(file)


_LARGEST_FILE = 1024 * 1024
_MOST_STEPS = 2_000_000  # less than a second


def _is_slow(text: str) -> bool:
    """Whether `tomllib` could take long: a key takes the square of its parts, and each line those of its table."""
    dots = [line.count(".") for line in text.split("\n")]
    return max(dots) * len(dots) + sum(each * each for each in dots) > _MOST_STEPS


def named(file: str) -> tuple[list[NamedPack], list[Problem]]:
    """Return the packs that a `hooks.toml` names, and problems. Raises `HookError` if the file cannot be read."""
    loaded = load(file)
    if isinstance(loaded, Problem):
        raise HookError(f"{file}: {loaded.message}", loaded.remedy)
    document, lines = loaded
    given = document.get("packs", [])
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        return [], [Problem("bad-pack", file, None, "packs", "'packs' is not written as [[packs]]", "write [[packs]]")]
    found, problems = [], []
    for number, entry in enumerate(given):

        def line_of(key: str, number: int = number) -> int | None:
            return lines.line_of("packs", number, key)

        values, wrong = hook_fields.check(PACK, entry, file, line_of)
        problems += wrong
        if not any(each.severity == ERROR for each in wrong):
            only = None if values["only"] is None else tuple(map(str, values["only"]))
            found.append(NamedPack(values["source"], values["rev"], only, values["settings"]))
    return found, problems


def read_lock(file: str) -> list[LockedPack]:
    """Return the packs of a `hooks.lock`. Raises `HookError` if it is missing or broken."""
    loaded = load(file)
    if isinstance(loaded, Problem):
        raise HookError(f"{file}: {loaded.message}", RELOCK)
    try:
        if "schema" not in loaded[0]:
            raise HookError(f"{file} is incomplete", RELOCK)
        if loaded[0]["schema"] != 1:
            raise HookError(f"{file} was written by a newer version of Tenterhook", UPGRADE)
        return [_locked(each) for each in loaded[0].get("packs", [])]
    except KeyError as error:
        raise HookError(f"{file} is broken: an entry has no {error}", RELOCK) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise HookError(f"{file} is broken: {error}", RELOCK) from None


UPGRADE = "upgrade Tenterhook"
RELOCK = "restore it from version control, or lock again: tenterhook pack update, of a project with --project"


def _locked(entry: Mapping[str, Any]) -> LockedPack:
    texts = {key: entry[key] for key in _TEXTS}
    if not all(isinstance(each, str) for each in texts.values()) or not _is_file_name(texts["tree"]):
        raise ValueError(f"the entry of {entry['source']}")
    hooks = []
    for name, hook in entry["hooks"].items():
        known = LockedHook(name, **hook)
        is_valid = all(isinstance(each, str) for each in known[:3]) and isinstance(known.closed, bool)
        is_valid &= all(isinstance(each, (str, type(None))) for each in (known.tool, known.pattern))
        if not is_valid or known.event not in BY_NAME or not _is_file_name(name):
            raise ValueError(f"the hook {name}")
        for expression in filter(None, (known.tool, known.pattern)):
            _check_expression(expression)
        hooks.append(known)
    default = entry.get("default")
    return LockedPack(
        **texts,
        hooks=tuple(hooks),
        default=None if default is None else tuple(default),
        signer=str(entry.get("signer", "")),
        before=_locked(entry["before"]) if entry.get("before") else None,
        shadow_until=_seconds(entry.get("shadow_until", 0.0)),
        tag=entry.get("tag") is True,
    )


def _check_expression(expression: str) -> None:
    """Raise `ValueError` if a matcher is not a valid expression: it is searched if the hook's own files are missing."""
    from ..formats import expressions

    try:
        expressions.check(expressions.PYTHON, expression)
    except expressions.BadExpression as error:
        raise ValueError(error.message) from None


def _is_file_name(text: str) -> bool:
    return text not in ("", ".", "..") and "/" not in text and "\0" not in text


def _seconds(given: Any) -> float:
    if isinstance(given, (int, float)):
        return float(given)
    until = layer_settings.moment(given)
    if until is None:
        raise ValueError(f"shadow_until is {given!r}")
    return until


def read_hooks(
    layer: Layer, taken: set[str], *, is_trusted: bool, keep: bool
) -> tuple[list[Hook], list[Problem], list[float]]:
    """Return the hooks of the packs that a layer's `hooks.toml` names, problems, and when shadow modes end.

    If that file or the lock cannot be read, or the lock is incomplete, the packs that were in force remain so; with
    `keep`, they are stored for that case. A missing file ends those of the machine, which only root can remove.
    Settings count only if the file `is_trusted`. Skips hooks in `taken`, and adds its own.
    """
    file, lock = f"{layer.directory}/{layer_settings.FILE}", f"{layer.directory}/{FILE}"
    earlier = _kept_file(lock)
    if not os.path.lexists(file) and (layer.name != "user" or not os.path.exists(earlier)):
        return [], [], []
    try:
        wanted, problems = named(file)
        if any(each.severity == ERROR for each in problems):
            known = {pack.source for pack in wanted}
            wanted += [pack for pack in _kept(earlier)[0] if pack.source not in known]
        locked = {pack.source: pack for pack in read_lock(lock)} if wanted else {}
    except HookError as error:
        wanted, locked = _kept(earlier)
        if not wanted:
            if not _names_packs(file):
                return [], [], []
            return [], [Problem("bad-lock", lock, None, None, error.message, error.remedy)], []
        message = f"{error.message}; the packs that were in force still are"
        problems = [Problem("bad-lock", lock, None, None, message, error.remedy)]
    else:
        if wanted and os.path.exists(earlier):
            problems += _complete(lock, wanted, locked, _kept(earlier)[1], of_root=layer.name == "managed")
        if keep:
            _keep(earlier, wanted, locked)
    problems += _same_names(file, wanted, locked)
    hooks: list[Hook] = []
    ends: list[float] = []
    now = time.time()
    for pack in wanted:
        found = locked.get(pack.source)
        if found is None or found.rev != pack.rev:
            still = f"{found.rev or 'an earlier state'} stays in force" if found else "none of its hooks runs"
            message = f"{pack.source}{f' at {pack.rev}' if pack.rev else ''} is not in {FILE}; {still}"
            problems.append(Problem("pack-not-locked", file, None, None, message, locking(layer.name)))
        if found is None:
            continue
        read, wrong = _read_pack(layer, lock, pack, found, taken, is_trusted=is_trusted)
        if found.before and now < found.shadow_until:
            ends.append(found.shadow_until)
            same = {(hook.name, hook.digest) for hook in found.before.hooks} & {
                (hook.name, hook.digest) for hook in found.hooks
            }
            read = [hook if (hook.name, hook.pack["digest"]) in same else _in_shadow(hook) for hook in read]
            kept = tuple(hook for hook in found.before.hooks if (hook.name, hook.digest) not in same)
            old, more = _read_pack(layer, lock, pack, found.before._replace(hooks=kept), taken, is_trusted=is_trusted)
            read += old
            wrong += [each for each in more if each.code != "bad-pack" and each not in wrong]
        hooks += read
        problems += wrong
    return hooks, problems, ends


def _complete(
    lock: str,
    wanted: Sequence[NamedPack],
    locked: dict[str, LockedPack],
    kept: Mapping[str, LockedPack],
    *,
    of_root: bool,
) -> list[Problem]:
    """Restore the entries that a lock has lost, or that contradict what it said of the same revision; return problems.

    Only packs that are still named have any. In a lock `of_root`, what it says of a hook counts: the account could have
    written what is kept.
    """
    problems = []
    for pack in wanted:
        found, before = locked.get(pack.source), kept.get(pack.source)
        if before is None or (found and (found.commit, found.tree) != (before.commit, before.tree)):
            continue  # it was not in force, or is at another revision
        locked[pack.source] = _merged(found, before, of_root=of_root) if found else before
        if (wrong := _contradiction(found, before, of_root=of_root)) is not None:
            problems.append(Problem("bad-lock", lock, None, None, f"{FILE} {wrong}", RELOCK))
    return problems


def _merged(found: LockedPack, before: LockedPack, *, of_root: bool) -> LockedPack:
    """Return a pack of a lock with what it said earlier of the same revision, where it differs."""
    now, then = ({hook.name: hook for hook in each.hooks} for each in (found, before))
    if of_root:
        return found._replace(hooks=tuple({**then, **now}.values()))
    return found._replace(
        hooks=tuple({**now, **then}.values()),
        default=before.default,
        before=before.before if found.before else None,
        shadow_until=min(found.shadow_until, before.shadow_until),
    )


def _contradiction(found: LockedPack | None, before: LockedPack, *, of_root: bool) -> str | None:
    """Return what a lock no longer has, or says differently of the same revision; else None."""
    if found is None:
        return f"no longer has {before.name}, which stays in force"
    now = {hook.name: hook.digest for hook in found.hooks}
    for hook in before.hooks:
        if hook.name not in now:
            return f"no longer has the hook {hook.name} of {before.name}, which stays in force"
        if now[hook.name] != hook.digest and not of_root:
            return f"has other bytes of {hook.name} for the same revision; those before stay in force"
    if not of_root and (found.default != before.default or found.shadow_until > before.shadow_until):
        return f"puts fewer hooks of {before.name} in force for the same revision; those before stay in force"
    return None


def lacking(layer: str, locked: LockedPack) -> list[str]:
    """Return the names of a stored pack's hooks that its entry in the lock lacks: the lock was truncated or edited."""
    directory = f"{store(layer)}/{locked.tree}"
    names = os.listdir(directory) if os.path.isdir(directory) else []
    return sorted({name for name in names if not name.startswith(".")} - {hook.name for hook in locked.hooks})


def names_twice(packs: Iterable[tuple[NamedPack, LockedPack | None]]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each hook that two packs have, and the names of both packs."""
    taken: dict[str, str] = {}
    for pack, locked in packs:
        for hook in locked.chosen(pack.only) if locked else ():
            if hook.name in taken:
                yield hook.name, taken[hook.name], locked.name if locked else ""
            taken[hook.name] = locked.name if locked else ""


def _same_names(file: str, wanted: Sequence[NamedPack], locked: Mapping[str, LockedPack]) -> list[Problem]:
    return [
        Problem(
            *("bad-pack", file, None, name),
            f"the packs {one} and {other} both have a hook '{name}'; both run",
            "leave it out of one of them: only = […]",
        )
        for name, one, other in names_twice((pack, locked.get(pack.source)) for pack in wanted)
    ]


def _in_shadow(hook: Hook) -> Hook:
    return hook._replace(metadata={**hook.metadata, "mode": "shadow"}, fail_closed=False)


def _names_packs(file: str) -> bool:
    """Whether a `hooks.toml` can be read and names packs."""
    try:
        return bool(named(file)[0])
    except HookError:
        return False  # its own problem is reported already


def _read_pack(
    layer: Layer,
    lock: str,
    pack: NamedPack,
    locked: LockedPack,
    taken: set[str],
    *,
    is_trusted: bool,
) -> tuple[list[Hook], list[Problem]]:
    hooks: list[Hook] = []
    problems: list[Problem] = []
    known = {hook.name for hook in locked.hooks}
    file = f"{os.path.dirname(lock)}/{layer_settings.FILE}"
    for name in dict.fromkeys((*(pack.only or ()), *pack.settings)):
        if name not in known:
            message = f"the pack {locked.name} has no hook '{name}'"
            problems.append(Problem("bad-pack", file, None, name, message, f"its hooks: {', '.join(sorted(known))}"))
    if pack.settings and not is_trusted:
        message = f"settings of the pack {locked.name} have no effect: the project's hooks.toml is not trusted"
        problems.append(Problem("untrusted-settings", file, None, None, message, "tenterhook trust hooks.toml"))
    about = {"name": locked.name, "source": locked.source, "rev": locked.rev, "commit": locked.commit, "lock": lock}
    for each in locked.chosen(pack.only):
        folder = f"{store(layer.name)}/{locked.tree}/{each.name}"
        origin = {**about, "digest": each.digest, "tree": locked.tree}
        settings = pack.settings.get(each.name) if is_trusted else None
        key = f"{locked.tree}/{each.name} {each.digest} {settings!r}"
        if key in taken:
            continue
        taken.add(key)
        changes = {"defaults": {}, "override": {"metadata": settings} if isinstance(settings, dict) else {}}
        definition = private_files.signature(f"{folder}/HOOK.md")
        why = difference(folder, each.digest)
        read = None if why else folder_format.read(folder, layer.name, changes)
        if read is not None and private_files.signature(f"{folder}/HOOK.md") != definition:
            read, why = None, "its files were changed while they were read"
        if read is not None:
            problems += read.problems
            if read.hook is not None:
                hooks.append(read.hook._replace(pack=origin))
                continue
            why = "its HOOK.md cannot be used"
        remedy = restoring(layer.name)
        hooks.append(_missing(layer, folder, each, origin, f"{why}; {remedy}"))
        if layer.name == "managed" or source_trust.objection(hooks[-1]) is None:  # else `trust` fetches it
            message = f"{each.name} of {locked.name}: {why}"
            problems.append(Problem("pack-differs", folder, None, None, message, remedy))
    return hooks, problems


def _missing(layer: Layer, folder: str, locked: LockedHook, origin: Mapping[str, str], why: str) -> Hook:
    """Return a hook in place of a locked one whose bytes are missing or different: each of its runs fails."""
    return Hook(
        locked.name,
        BY_NAME[locked.event].name,
        locked.event,
        "folder",
        layer.name,
        f"{folder}/HOOK.md",
        folder=folder,
        tool=locked.tool,
        pattern=locked.pattern,
        fail_closed=locked.closed,
        missing=why,
        pack=origin,
    )


def difference(folder: str, digest: str) -> str | None:
    """Return how a folder differs from the digest in a lock, or None."""
    if not os.path.isdir(folder):
        return "it is not in the store"
    try:
        found = fingerprints.of_folder(folder)
    except (fingerprints.Untrustable, OSError) as error:
        return str(error)
    return None if found.hash == digest else f"its files are not those of {FILE}"


def stats_of(folder: str) -> list[tuple[str, int, int]]:
    """Return what changes with a hook's folder in the store, and if another one takes the place of a directory above.

    Those are the tree, the store and the data directory.
    """
    found = fingerprints.stats_of(folder)
    for _ in range(3):
        folder = os.path.dirname(folder)
        try:
            about = os.lstat(folder)
        except OSError:
            return [*found, (folder, 0, 0)]
        found.append((folder, about.st_ino, about.st_ctime_ns))
    return found


def in_force(lock: str) -> dict[str, LockedPack]:
    """Return the packs that a lock put in force when it was last read, by source."""
    return _kept(_kept_file(lock))[1]


def remember(file: str, lock: str) -> None:
    """Store the packs that a `hooks.toml` and its lock put in force, in case either cannot be read later."""
    wanted = named(file)[0] if os.path.lexists(file) else []
    _keep(_kept_file(lock), wanted, {pack.source: pack for pack in read_lock(lock)} if wanted else {})


def _kept_file(lock: str) -> str:
    return f"{places.state()}/packs/{places.file_name(os.path.realpath(lock))}"


def _keep(file: str, wanted: Sequence[NamedPack], locked: Mapping[str, LockedPack]) -> None:
    """Store the packs that are in force; if there are none, remove the file."""
    if not wanted:
        if os.path.exists(file):
            os.unlink(file)
        return
    packs = [
        {"named": pack._asdict(), "locked": _as_json(locked[pack.source])} for pack in wanted if pack.source in locked
    ]
    data = light_json.dumps({"schema": 1, "packs": light_json.plain(packs)}).encode()
    if private_files.read(file) != data:
        private_files.write(file, data)


def _kept(file: str) -> tuple[list[NamedPack], dict[str, LockedPack]]:
    data = private_files.read(file)
    try:
        packs = light_json.loads(data.decode())["packs"] if data else []
        wanted = [NamedPack(**each["named"]) for each in packs]
        locked = [_locked(each["locked"]) for each in packs]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], {}
    return wanted, {pack.source: pack for pack in locked}


def _as_json(pack: LockedPack) -> dict[str, Any]:
    hooks = {hook.name: {key: value for key, value in hook._asdict().items() if key != "name"} for hook in pack.hooks}
    return {**pack._asdict(), "hooks": hooks, "before": _as_json(pack.before) if pack.before else None}


def _without_none(given: Any) -> Any:
    """Return a value without the entries that are None, which TOML does not have."""
    if not isinstance(given, dict):
        return given
    return {key: _without_none(each) for key, each in given.items() if each is not None}


def lock_text(packs: Iterable[LockedPack]) -> str:
    """Return the text of a `hooks.lock`; packs and hooks are sorted."""
    from ..formats.toml_writing import array_table, value

    parts = ["# Written by `tenterhook pack`. Hooks of packs run only as they are here.\nschema = 1\n"]
    for pack in sorted(packs, key=lambda each: (each.name, each.source)):
        entry = {key: getattr(pack, key) for key in _TEXTS}
        entry |= {"tag": True} if pack.tag else {}
        entry |= {"signer": pack.signer} if pack.signer else {}
        entry |= {"default": list(pack.default)} if pack.default is not None else {}
        if pack.before:
            from datetime import UTC, datetime

            entry["shadow_until"] = datetime.fromtimestamp(int(pack.shadow_until), UTC)
            entry["before"] = _without_none(light_json.plain(_as_json(pack.before)))
        rows = [f"\n{array_table(('packs',), entry)}\n[packs.hooks]\n"]
        for hook in sorted(pack.hooks):
            about = {key: each for key, each in hook._asdict().items() if key != "name" and each not in (None, False)}
            rows.append(f"{value(hook.name)} = {value(about)}\n")
        parts.append("".join(rows))
    return "".join(parts)
