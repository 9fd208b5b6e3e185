"""Running hooks for `trigger` and `try`: ended by Ctrl-C, and below an agent without changing its state."""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
from typing import TYPE_CHECKING

from ..basics import places
from ..engine.process_runner import Cancel
from ..errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from ..engine.engine import Engine
    from ..model import Event, Verdict


@contextlib.contextmanager
def own_state(*, keep: bool) -> Iterator[None]:
    """Give sessions and hooks a temporary state directory, so that an agent cannot change what its guards rely on.

    Trust and the journal stay where they are: their objects were made before. `keep`: hooks may outlive this process.
    """
    state = places.state()
    places.FIXED["state"] = tempfile.mkdtemp(prefix="tenterhook-trigger-")
    try:
        yield
    finally:
        if not keep:
            shutil.rmtree(places.FIXED["state"], ignore_errors=True)
        places.FIXED["state"] = state


def decide(engine: Engine, event: Event) -> Verdict:
    """Decide; on Ctrl-C and other signals to terminate, end the hooks' processes."""
    cancel = Cancel()
    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        cancel.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        return engine.decide(event, cancel=cancel)
    except Cancelled:
        raise SystemExit(128 + received[0]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        cancel.close()
