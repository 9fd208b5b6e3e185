"""Approvals of one call, where nobody can be asked: the refusal names an id, and the user runs `tenterhook allow ID`.

Each refused call is a private file `ID.HASH.STATE` in the state directory; the hash covers everything that an approval
is bound to. `allow` renames it from `asked` to `allowed`, the call itself from `allowed` to `used`: of two simultaneous
equal calls, one succeeds. A file's time is that of its last change of state.

The name alone permits nothing: `allow` adds a proof, an HMAC of the id, the hash, the end and the file's identity, with
a key that agents may not read. A renamed or copied file has no valid proof, and a used file no longer has one.
"""

from __future__ import annotations

import os
import time

from ..basics import light_json, places, private_files
from ..basics.named_tuples import NamedTuple
from . import policy
from .requests import Call, content_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .policy import ApprovalCase, Ruling

KEY = "approval.key"  # in the state directory
ASKED, ALLOWED, USED, EXPIRED = "asked", "allowed", "used", "expired"
WAITS = 3600.0  # seconds in which a refused call can be allowed
LASTS = 600.0  # seconds in which an allowed call can be made
_KEPT = 86400.0  # seconds that a file is kept, to explain what happened to an id
_MOST = 200  # files
_LARGEST = 1 << 20  # characters of a call; a larger one cannot be allowed
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
_LENGTH = 8  # letters of an id
_LABELS = ("description", "justification")  # of a shell's input: texts for people, which models rephrase each time


class RefusedCall(NamedTuple):
    """A call that was refused because nobody could be asked."""

    id: str
    call: Call
    why: str | None
    state: str
    since: float  # when the state began, in seconds since 1970

    @property
    def until(self) -> float:
        """When it can no longer be allowed, or made."""
        return self.since + (LASTS if self.state == ALLOWED else WAITS)


def record(call: Call, why: str | None) -> str | None:
    """Record a call that is refused, and return its id; None if that is not possible."""
    directory = _directory()
    call = call._replace(tool_input=light_json.plain(call.tool_input), more={})
    data = _as_json(call, why)
    if len(data) > _LARGEST:
        return None
    try:
        places.make_private(directory)
        private_files.forget_old(directory, _KEPT)
        known = next((each for each in _files(_hash(call)) if each.state == ASKED), None)
        if known is not None:
            os.utime(known.path)
            return known.id
        others = [each for each in _files() if each.state != ALLOWED]
        for oldest in sorted(others, key=lambda each: each.since)[: -_MOST + 1]:
            os.unlink(oldest.path)
        name = _fresh_id()
        places.replace_file(os.path.join(directory, f"{name}.{_hash(call)}.{ASKED}"), data.encode())
    except OSError:  # the refusal stands without an id
        return None
    return name


def how_to_allow(name: str) -> str:
    """Return the end of the reason for a refusal: how the user allows the call with this id."""
    return (
        "To allow exactly this call once when it is retried, the user runs in a terminal outside the agent: "
        f"tenterhook allow {name}"
    )


def decide(case: ApprovalCase, call: Call) -> tuple[Ruling, str | None]:
    """Return what the policy decides, and the id of the approval that this consumes, or None."""
    ruling = policy.decide(case._replace(is_allowed=True))
    if ruling.by != "allow":  # none is needed, or none counts
        return ruling, None
    found = allowed(call)
    if found is not None and use(found):
        return ruling, found.id
    return policy.decide(case), None  # even if an equal call was first


def find(name: str) -> RefusedCall | None:
    """Return the call with this id, or None."""
    return next((found for each in _files() if each.id == name and (found := each.read()) is not None), None)


def waiting() -> list[RefusedCall]:
    """Return the calls that can be allowed, the newest first."""
    found = [call for each in _files() if each.state == ASKED and (call := each.read()) is not None]
    return sorted(found, key=lambda call: -call.since)


def allow(refused: RefusedCall) -> bool:
    """Approve a call once; return whether it was still waiting."""
    until = time.time() + LASTS

    def proven(identity: list[int]) -> dict[str, Any]:
        return {"until": until, "proof": _proof(refused.id, _hash(refused.call), until, identity, is_first=True)}

    return _rewrite(refused, ASKED, proven) and _move(refused, ASKED, ALLOWED)


def allowed(call: Call) -> RefusedCall | None:
    """Return the approval that covers a call, or None."""
    mine = (each.read() for each in _files(_hash(call)) if each.state == ALLOWED)
    return next(filter(None, mine), None)


def use(refused: RefusedCall) -> bool:
    """Consume an approval; return whether no other call did so before."""
    return _move(refused, ALLOWED, USED) and _rewrite(refused, USED, lambda identity: {})


class _File(NamedTuple):
    path: str
    id: str
    hash: str
    state: str
    since: float

    def read(self) -> RefusedCall | None:
        """Return the call; None if the file is not ours alone, is for another call, or lacks a valid proof."""
        data = private_files.read(self.path)
        try:
            found = light_json.loads((data or b"").decode())
            why = found.pop("why")
            call = Call(**{key: value for key, value in found.items() if key in Call._fields})
            is_it = _hash(call) == self.hash and (self.state != ALLOWED or self._is_proven(**found))
        except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return None
        return RefusedCall(self.id, call, why, self.state, self.since) if is_it else None

    def _is_proven(self, until: float = 0.0, proof: str = "", **_: Any) -> bool:
        expected = _proof(self.id, self.hash, until, _identity(os.lstat(self.path)))
        return proof == expected != "" and time.time() < until


def _files(of: str | None = None) -> Iterator[_File]:
    """Yield all files, or those of calls with this hash, with the state `expired` where time is over."""
    directory = _directory()
    try:
        names = os.listdir(directory)
    except OSError:  # nothing was refused yet
        return
    for name in names:
        parts = name.split(".")
        if len(parts) != 3 or parts[2] not in (ASKED, ALLOWED, USED) or of not in (None, parts[1]):
            continue
        path = os.path.join(directory, name)
        try:
            since = os.lstat(path).st_mtime
        except OSError:  # it has just been renamed
            continue
        over = time.time() - since > {ASKED: WAITS, ALLOWED: LASTS}.get(parts[2], _KEPT)
        yield _File(path, parts[0], parts[1], EXPIRED if over else parts[2], since)


def _move(refused: RefusedCall, before: str, after: str) -> bool:
    """Change the state of a call; return False if another process was first."""
    path = os.path.join(_directory(), f"{refused.id}.{_hash(refused.call)}.")
    try:
        os.utime(path + before)  # first: with the new state and the old time it would look expired
        os.rename(path + before, path + after)
    except OSError:
        return False
    return True


def _rewrite(refused: RefusedCall, state: str, more: Callable[[list[int]], dict[str, Any]]) -> bool:
    """Rewrite a call in place with more fields; return False if its file does not exist."""
    path = os.path.join(_directory(), f"{refused.id}.{_hash(refused.call)}.{state}")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "wb") as file:
            data = _as_json(refused.call, refused.why, **more(_identity(os.fstat(descriptor))))
            file.truncate(0)  # hard links lose the proof as well
            file.write(data.encode())
    except OSError:
        return False
    return True


def _identity(found: os.stat_result) -> list[int]:
    return [found.st_dev, found.st_ino]


def _proof(name: str, call_hash: str, until: float, identity: list[int], *, is_first: bool = False) -> str:
    """Return the proof that only `allow` can write to a file; empty without a key, which the first use creates."""
    import hmac

    path = os.path.join(places.state(), KEY)
    if is_first and not private_files.read(path):
        places.make_private(places.state())
        places.replace_file(path, os.urandom(32))
    key = private_files.read(path)
    data = light_json.dumps([name, call_hash, until, identity]).encode()
    return hmac.digest(key, data, "sha256").hex() if key else ""


def _as_json(call: Call, why: str | None, **more: Any) -> str:
    return light_json.dumps({"schema": 1, "why": why, **call._asdict(), **more})


def _hash(call: Call) -> str:
    """Return the hash of what an approval is bound to: tool, input, directory, session and agent."""
    left_out = _LABELS if call.tool == "Shell" else ()
    given = {key: value for key, value in call.tool_input.items() if key not in left_out}
    return content_hash(call.tool_name, [call.agent, call.session_id, given], call.work_dir)


def _directory() -> str:
    return os.path.join(places.state(), "single-use")


def _fresh_id() -> str:
    number = int.from_bytes(os.urandom(16), "big")
    letters = ""
    while len(letters) < _LENGTH:
        number, place = divmod(number, len(_LETTERS))
        letters += _LETTERS[place]
    return letters
