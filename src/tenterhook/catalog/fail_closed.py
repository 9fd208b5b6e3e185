"""Stores the hooks that block when they fail: one that can no longer be loaded blocks its event.

They are in a private file of the state directory, which is written when such hooks have changed. A project's hooks are
not stored: another branch may not have them, and a changed one is not trusted anyway.
"""

from __future__ import annotations

import os

from ..basics import light_json, places, private_files, processes
from ..basics.named_tuples import NamedTuple
from ..errors import ERROR, Problem
from ..events import BY_NAME, Effect
from ..model import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from .catalog import Layer, LeftOut

_TEXTS = ("name", "event", "declared", "format", "layer", "source", "dialect", "description")
_OPTIONAL = ("folder", "tool", "pattern", "target")
_NUMBERS = ("priority", "timeout")
_MOST_OF_FILES = 200  # hooks of named files; the oldest are dropped first
_LONGEST_WAIT = 1.0  # seconds for another process to write


class StoredHook(NamedTuple):
    """A hook that was in force, or is disabled until a time."""

    hook: Hook
    until: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.hook.source, self.hook.name, self.hook.event


class Scope:
    """What one load reads: the directories of layers, and named files."""

    def __init__(self, layers: Iterable[Layer], files: Iterable[str]) -> None:
        self._layers, self._files = {tuple(layer) for layer in layers}, set(files)

    def has(self, hook: Hook) -> bool:
        if hook.folder is None:
            return hook.source in self._files
        return (hook.layer, os.path.dirname(hook.folder)) in self._layers


def path() -> str:
    return f"{places.state()}/fail-closed.json"


def read() -> tuple[list[StoredHook], Problem | None]:
    """Return the stored hooks, and the problem if the file cannot be used."""
    try:
        descriptor = os.open(path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return [], None
    except OSError as error:
        return [], _unusable(f"cannot read it: {error.strerror}")
    with open(descriptor, "rb") as file:
        if private_files.others_can_write(os.fstat(descriptor)):
            return [], _unusable("another account could have written it")
        try:
            document = light_json.loads(file.read().decode())
            return [_kept(each) for each in document["hooks"]], None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return [], _unusable("it is broken")


def _unusable(why: str) -> Problem:
    message = f"{why}; the hooks that must block when they fail are unknown: tool calls are refused if a hook is broken"
    return Problem("fail-closed-unknown", path(), None, None, message, f"rm {path()}; it is then rewritten")


def unknown(problem: Problem) -> list[Hook]:
    """Return hooks that block every tool call, in place of stored hooks that cannot be read."""
    why = f"cannot be determined whether it is missing: {problem.file}: {problem.message}; {problem.remedy}"
    known: dict[str, Any] = {
        "format": "folder",
        "layer": "user",
        "source": problem.file,
        "fail_closed": True,
        "missing": why,
    }
    return [Hook("any-fail-closed-hook", event, event, **known) for event in ("pre-tool-call", "permission-request")]


def _kept(each: Any) -> StoredHook:
    hook = Hook(**{key: each[key] for key in (*_TEXTS, *_OPTIONAL, *_NUMBERS)}, fail_closed=True)
    is_valid = all(isinstance(each[key], str) for key in _TEXTS)
    is_valid &= all(isinstance(each[key], (str, type(None))) for key in _OPTIONAL)
    is_valid &= all(isinstance(each[key], (int, float)) for key in _NUMBERS)
    if not is_valid or hook.event not in BY_NAME or not isinstance(each["until"], (int, float, type(None))):
        raise ValueError(each)
    return StoredHook(hook, each["until"])


def _as_json(kept: StoredHook) -> dict[str, Any]:
    return {**{key: getattr(kept.hook, key) for key in (*_TEXTS, *_OPTIONAL, *_NUMBERS)}, "until": kept.until}


def is_guard(hook: Hook) -> bool:
    """Whether a hook blocks its event when it fails, and is to be stored."""
    if not hook.fail_closed or hook.layer not in ("managed", "user", "config") or hook.pack:
        return False
    is_enforced = not hook.is_shadow and not hook.in_background and not hook.never_matches
    return is_enforced and hook.spec.effect(hook.format) is Effect.DECIDES


def missing(
    kept: Iterable[StoredHook], scope: Scope, loaded: Collection[Hook], problems: Sequence[Problem]
) -> list[StoredHook]:
    """Return the stored hooks that should have been loaded and were not, each with the reason as `missing`."""
    found = []
    for hook, until in kept:
        if not scope.has(hook) or _is_among(hook, loaded):
            continue
        about = _about(hook, problems)
        if about is None and hook.layer == "managed" and not _exists(hook):
            continue  # only root could remove it
        why = f"cannot be loaded: {_reason(hook, about)}; fix that, or {_removal(hook)}"
        found.append(StoredHook(hook._replace(missing=why), until))
    return found


def problem(hook: Hook, problems: Sequence[Problem]) -> Problem:
    """Return the problem of a missing hook."""
    about = _about(hook, problems)
    message = f"'{hook.name}' cannot be loaded and blocks when it fails: {hook.declared} is refused where it applies"
    remedy = f"{about.remedy if about else 'put it back'}; or {_removal(hook)}"
    return Problem("fail-closed-missing", hook.source, None, None, f"{message} ({_reason(hook, about)})", remedy)


def _is_among(hook: Hook, loaded: Iterable[Hook]) -> bool:
    """Whether a hook was loaded, from the same place or under the same name. Its content is not compared."""
    if hook.folder is None:
        return any(each.source == hook.source for each in loaded)
    return any(
        each.folder == hook.folder
        or (each.layer in ("managed", "user") and (each.name, each.event) == (hook.name, hook.event))
        for each in loaded
    )


def _about(hook: Hook, problems: Iterable[Problem]) -> Problem | None:
    """Return the problem that kept a hook from being loaded, or None; one in its folder goes before one around it."""
    place = hook.folder or hook.source
    errors = [each for each in problems if each.severity == ERROR or each.code == "no-hooks"]
    own = [each for each in errors if each.file == place or each.file.startswith(f"{place}/")]
    around = [each for each in errors if each.file == os.path.dirname(place) and hook.folder is not None]
    return next(iter((*own, *around)), None)


def _reason(hook: Hook, about: Problem | None) -> str:
    if about is not None:
        return about.message if about.file in about.message else f"{about.message} ({about.file})"
    return f"{hook.source} {'was changed' if _exists(hook) else 'does not exist'}"


def _exists(hook: Hook) -> bool:
    try:
        os.lstat(hook.source)
    except OSError as error:  # other errors do not mean that it is missing
        return not isinstance(error, (FileNotFoundError, NotADirectoryError))
    return True


def _removal(hook: Hook) -> str:
    if hook.layer == "managed":
        return f"have root remove {hook.folder}"
    from shlex import quote

    return f"remove the hook: tenterhook remove {quote(hook.name)}"


def keep(known: Iterable[StoredHook], scope: Scope, hooks: Iterable[Hook], left_out: Iterable[LeftOut]) -> bool:
    """Store the hooks in force, and those disabled until a time. Return False if the file stays locked."""
    found = [StoredHook(hook) for hook in hooks if is_guard(hook)]
    found += [StoredHook(each.hook, each.until) for each in left_out if each.until is not None and is_guard(each.hook)]
    now = {each.key: each for each in found}
    before = {each.key: each for each in known if scope.has(each.hook)}
    if {key: _as_json(each) for key, each in now.items()} == {key: _as_json(each) for key, each in before.items()}:
        return True

    def changed(latest: list[StoredHook]) -> list[StoredHook]:
        # What other processes have removed or added meanwhile is respected.
        kept = [now.get(each.key, each) for each in latest if each.key in now or each.key not in before]
        keys = {each.key for each in kept}
        new = [each for key, each in now.items() if key not in keys and each.hook.missing is None]
        kept += [each for each in new if os.path.lexists(each.hook.source)]
        of_files = [each for each in kept if each.hook.folder is None and not scope.has(each.hook)]
        old = {each.key for each in of_files[:-_MOST_OF_FILES]}
        return [each for each in kept if each.key not in old]

    return _change(changed)


def forget(name: str) -> list[Hook]:
    """Remove the hooks with a name from the file, and return them. A hook that can be loaded is stored again."""
    forgotten: list[Hook] = []

    def changed(latest: list[StoredHook]) -> list[StoredHook]:
        forgotten.extend(each.hook for each in latest if each.hook.name == name)
        return [each for each in latest if each.hook.name != name]

    if any(each.hook.name == name for each in read()[0]):
        _change(changed)
    return forgotten


def _change(changed: Any) -> bool:
    """Replace the stored hooks by `changed(hooks)`, under a lock. Return False if the file stays locked."""
    file = path()
    try:
        places.make_private(os.path.dirname(file))
        with processes.Lock(f"{file}.lock", _LONGEST_WAIT) as is_held:
            if not is_held:
                return False
            latest, unusable = read()
            if unusable is None:
                hooks = [_as_json(each) for each in changed(latest)]
                places.replace_file(file, light_json.dumps({"schema": 1, "hooks": hooks}).encode())
    except OSError:  # not writable, or the disk is full
        pass
    return True
