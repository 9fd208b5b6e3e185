"""One vector put to one engine: a process of its adapter, one JSON document in, one out."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance import checking, leftovers, places
from conformance.checking import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.places import Place
    from conformance.reading import Vector

PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"
STATUSES = (PASSED, FAILED, UNSUPPORTED)
_ENDING = 1.0  # seconds that an adapter has to end, or crash, after its answer
_LISTS = ("additional_context", "messages", "failures", "problems")


class Result(NamedTuple):
    """The result of a vector."""

    vector: Vector
    status: str
    why: str = ""
    differences: tuple[Difference, ...] = ()
    seconds: float = 0.0


class NoAnswer(Exception):
    """There is no answer: the adapter crashed, timed out, or wrote something else."""


def attempt(vector: Vector, command: Sequence[str], run_mark: str, patience: float) -> Result:
    """Run a vector with an engine and return the result. No process is left running."""
    place = places.make(vector, run_mark)
    begun = time.monotonic()
    try:
        with _adapter(place, vector, command) as adapter:
            answer = _answer(adapter, place, begun + patience)
            seconds = time.monotonic() - begun
            if adapter.poll() is None:
                _wait(adapter, _ENDING)  # it may live on for hooks in the background, and is ended when all was seen
            _check_exit(adapter, place)
            return judged(vector, answer, place, seconds)
    except NoAnswer as reason:
        return Result(vector, FAILED, str(reason), seconds=time.monotonic() - begun)
    finally:
        leftovers.sweep(place.mark, place.root)
        place.remove()


def judged(vector: Vector, answer: dict[str, Any], place: Place, seconds: float) -> Result:
    """What an answer and what hooks left in a place mean for a vector."""
    if "unsupported" in answer:
        return Result(vector, UNSUPPORTED, str(answer["unsupported"]), seconds=seconds)
    _check_shape(answer)
    expect = vector.expect
    found = checking.answer_differences(expect, answer, place)
    limit = expect.get("within_seconds")
    if limit is not None and seconds > limit:
        found.append(Difference("seconds until the answer", f"at most {limit}", round(seconds, 1)))
    found += checking.effects(expect, place)
    if found:
        return Result(vector, FAILED, differences=tuple(found), seconds=seconds)
    if missing := checking.untold(expect, answer):
        return Result(vector, UNSUPPORTED, f"it does not tell: {', '.join(missing)}", seconds=seconds)
    return Result(vector, PASSED, seconds=seconds)


@contextmanager
def _adapter(place: Place, vector: Vector, command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the adapter's process, with files instead of pipes: a child that keeps them open blocks nothing."""
    place.request_file.write_text(json.dumps(place.request(vector)))
    with (
        place.request_file.open("rb") as stdin,
        place.answer_file.open("wb") as stdout,
        place.stderr_file.open("wb") as stderr,
    ):
        try:
            adapter = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=place.project,
                env=place.environment(vector.environment),
                start_new_session=True,
            )
        except OSError as error:
            raise NoAnswer(f"the adapter cannot be started: {error}") from None
    try:
        yield adapter
    finally:
        if adapter.poll() is None:
            leftovers.end_group(adapter.pid)
            adapter.wait()


def _answer(adapter: subprocess.Popen[bytes], place: Place, deadline: float) -> dict[str, Any]:
    """Return the adapter's output, as soon as it is a complete line of JSON or the adapter has ended."""
    seen = -1
    while adapter.poll() is None:
        if time.monotonic() > deadline:
            raise NoAnswer(f"the adapter hung: no answer, and no end{_last_words(place.stderr_file)}")
        size = place.answer_file.stat().st_size
        if size != seen:
            seen, text = size, place.answer_file.read_bytes()
            if text.endswith(b"\n") and _is_json(text):
                break
        _wait(adapter, 0.02)
    _check_exit(adapter, place)
    return _document(place)


def _wait(adapter: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        adapter.wait(seconds)
    except subprocess.TimeoutExpired:
        pass


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _check_exit(adapter: subprocess.Popen[bytes], place: Place) -> None:
    status = adapter.poll()
    if status:
        how = f"was killed by signal {-status}" if status < 0 else f"crashed with exit status {status}"
        raise NoAnswer(f"the adapter {how}{_last_words(place.stderr_file)}")


def _document(place: Place) -> dict[str, Any]:
    text = place.answer_file.read_bytes().decode("utf-8", "replace")
    if not text.strip():
        raise NoAnswer(f"the adapter said nothing on stdout{_last_words(place.stderr_file)}")
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise NoAnswer(f"the adapter's stdout is not one JSON document ({error}): {text[:200]!r}") from None
    if not isinstance(answer, dict) or not answer.keys() & {"decision", "unsupported"}:
        raise NoAnswer(f"the answer is no object with a decision: {text.strip()[:200]}")
    return answer


def _last_words(stderr: Path) -> str:
    lines = stderr.read_bytes().decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1][:300]}" if lines else ""


def _check_shape(answer: dict[str, Any]) -> None:
    """Validate an answer: an error of the adapter should not look like one of the engine."""
    if answer["decision"] not in checking.DECISIONS:
        raise NoAnswer(f"the decision is {answer['decision']!r}, not one of {', '.join(checking.DECISIONS)}")
    if not isinstance(answer.get("reason"), str | None):
        raise NoAnswer(f"the reason is {answer['reason']!r}, not a text or null")
    if not isinstance(answer.get("modified_input"), dict | None):
        raise NoAnswer(f"modified_input is {answer['modified_input']!r}, not an object or null")
    for key in _LISTS:
        if not isinstance(answer.get(key, []), list):
            raise NoAnswer(f"{key} is {answer[key]!r}, not an array")
