"""The start of the bridge: a hub on this machine is asked first (handing_over.py), else dispatch.py answers.

The hub's socket stands beside the record. Exit status 10 is a block, which the line's shell turns into 2: an
interpreter that cannot begin exits with 2 as well, and that is no block.
"""

from __future__ import annotations

import gc
import posix
import sys
from _signal import alarm  # type: ignore[import-not-found]  # `signal` would import `enum`
from time import monotonic

_LONGEST = 595  # seconds, until we know better: a little before the patience of any agent is over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType
    from typing import Any, NoReturn


def start(package: str, code_of: Callable[[str], CodeType], not_kept: Sequence[str]) -> NoReturn:
    """Answer the event on stdin. `code_of` gives a module of this package, compiled; had to compile: `not_kept`."""
    begun = monotonic()
    alarm(_LONGEST)
    gc.disable()  # nothing here lives long enough to be worth a look
    sent = _answered_by_hub(package, code_of)
    sys.path.append(package.rpartition("/")[0])  # behind the standard library
    _open_bundle(package)
    if not_kept and hasattr(sys.meta_path[0], "is_stale"):
        sys.meta_path[0].is_stale = True  # whoever makes it anew has everything compiled
    from tenterhook.dispatch import main

    main(sys.argv[1:], block=10, sent=sent, begun=begun)


def _answered_by_hub(package: str, code_of: Callable[[str], CodeType]) -> bytes | None:
    """End with a hub's answer; where there is none, what stdin held, if it was read."""
    state, _, name = sys.argv[-1].rpartition("/installed/")
    try:
        posix.stat(f"{state}/hub.sock" if name else "")  # mostly there is none, and that is all it costs
    except OSError:
        return None
    hub: dict[str, Any] = {"__name__": "handing_over", "__file__": f"{package}/handing_over.py"}
    exec(code_of("handing_over"), hub)  # noqa: S102  # it stands beside us
    sent: bytes = hub["everything_sent"]()
    answer = hub["ask_hub"](f"{state}/hub.sock", sys.argv[1:], sent)
    if answer:
        hub["end_with"](answer)
    return sent


def _open_bundle(package: str) -> None:
    """Have our modules found in one file, if it is there (bundle.py)."""
    from _frozen_importlib_external import MAGIC_NUMBER
    from marshal import loads

    try:
        file = open(f"{package}/__pycache__/{sys.implementation.cache_tag}.bundle", "rb", 0)  # noqa: SIM115  # stays open
        if file.read(4) == MAGIC_NUMBER:
            length = int(file.read(8))
            code, entries = loads(file.read(length))  # noqa: S302  # it stands beside the `.pyc` files
            opened = (file.fileno(), 12 + length, entries)
            exec(code, {"__name__": "bundle", "opened": opened, "file": file})  # noqa: S102  # bundle.py
    except Exception:  # noqa: BLE001, S110  # there is none, or it is broken: modules are found one by one
        pass


if __name__ == "starting":  # in the bridge
    start(*globals()["begun"])
