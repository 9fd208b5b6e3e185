"""Approvals of a single call if nobody can be asked: the refusal names an ID, and the user runs `tenterhook allow ID`.

Each refused call is a private file `ID.HASH.STATE` in the state directory; the hash covers all that an approval is
bound to. `allow` renames the file from `asked` to `allowed`, and the call from `allowed` to `used`, so that of two
equal calls at the same time only one succeeds. A file's time is that of its last change of state.

The name alone permits nothing: `allow` adds a proof to the file, an HMAC of the ID, the hash, the expiry and the file's
identity, with a key that agents may not read. It does not fit a copied file, and is removed from a used one.
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
_KEPT = 86400.0  # seconds that a file is kept, so that the state of an ID can be reported
_MOST = 200  # files
_LARGEST = 1 << 20  # characters of a call; a larger one cannot be allowed
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
_LENGTH = 8  # letters of an id
_LABELS = ("description", "justification")  # keys of a shell's input with texts for people, which models reword


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
    """Record a refused call, and return its ID; None if that is not possible."""
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
    except OSError:  # the refusal has no ID then
        return None
    return name


def how_to_allow(name: str) -> str:
    """Return the last sentence of a refusal: how the user permits the call with this ID."""
    return (
        "To allow exactly this call once when it is retried in this session, for ten minutes, the user runs in a "
        f"terminal outside the agent: tenterhook allow {name}"
    )


def decide(case: ApprovalCase, call: Call) -> tuple[Ruling, str | None]:
    """Return the policy's ruling, and the ID of the approval that it has used up, or None."""
    ruling = policy.decide(case._replace(is_allowed=True))
    if ruling.by != "allow":  # no approval is needed, or none counts
        return ruling, None
    found = allowed(call)
    if found is not None and use(found):
        return ruling, found.id
    return policy.decide(case), None  # also if an equal call has used it before


def find(name: str) -> RefusedCall | None:
    """Return the call with this ID, or None."""
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
    """Use up an approval; return False if another call did so before."""
    return _move(refused, ALLOWED, USED) and _rewrite(refused, USED, lambda identity: {})


class _File(NamedTuple):
    path: str
    id: str
    hash: str
    state: str
    since: float

    def read(self) -> RefusedCall | None:
        """Return the call; None if another account could write the file, or its hash or proof is wrong."""
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
    """Yield all files, or those with the hash `of`; the state is `expired` if their time is over."""
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
        os.utime(path + before)  # first, since it would look expired with the new state and the old time
        os.rename(path + before, path + after)
    except OSError:
        return False
    return True


def _rewrite(refused: RefusedCall, state: str, more: Callable[[list[int]], dict[str, Any]]) -> bool:
    """Rewrite a call's file in place, with more fields; return False if there is no such file."""
    path = os.path.join(_directory(), f"{refused.id}.{_hash(refused.call)}.{state}")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "wb") as file:
            data = _as_json(refused.call, refused.why, **more(_identity(os.fstat(descriptor))))
            file.truncate(0)  # in place, so that hard links lose the proof too
            file.write(data.encode())
    except OSError:
        return False
    return True


def _identity(found: os.stat_result) -> list[int]:
    return [found.st_dev, found.st_ino]


def _proof(name: str, call_hash: str, until: float, identity: list[int], *, is_first: bool = False) -> str:
    """Return the HMAC that only `allow` can write to a file; empty if there is no key. `is_first` creates the key."""
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
