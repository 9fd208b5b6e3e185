"""Pipes that nobody reads any more."""

from __future__ import annotations

import signal


class Unharmed:
    """Write to a pipe that nobody may read any more, in a program that has not told SIGPIPE to be ignored."""

    def __enter__(self) -> None:
        self._before: set[int] | None = None
        if signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL:
            self._before = set(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE}))

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        if signal.SIGPIPE in signal.sigpending():
            signal.sigwait({signal.SIGPIPE})
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
