"""The journal, for writing. Modules are imported when they are needed, or while hooks run."""

from __future__ import annotations

from ..basics import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..approvals.requests import Answer, Request
    from ..model import Event, Verdict


class Journal:
    """Appends records. `by` is the caller: trigger, library, agent, or the name of the agent that ran `dispatch`."""

    _told = False  # whether a failure was logged: once per process

    def __init__(self, by: str, *, tells: bool = True) -> None:
        """`tells`: whether failures are logged, which must not be if an agent reads stderr as a reason."""
        self.by = by
        self._tells = tells
        self._directory = places.journal()
        self._settings = places.settings_file()

    def make_ready(self) -> None:
        """Import what `add` needs. Never raises: `add` reports the error."""
        try:
            from . import records, settings, writer  # noqa: F401
        except Exception:  # noqa: BLE001, S110  # an upgrade may be under way
            pass

    def add(self, event: Event, verdict: Verdict, waited_ms: float) -> None:
        """Append a verdict. Never raises: the verdict must not depend on whether it can be recorded."""
        try:
            from . import records, settings, writer

            payloads = settings.payloads(self._settings)
            writer.append(self._directory, records.of_verdict(event, verdict, self.by, waited_ms, payloads))
        except Exception as error:  # noqa: BLE001  # a full disk, a file in the way, an unexpected value
            self._tell(error)

    def add_approval(self, request: Request, answer: Answer | None, waited_ms: float) -> None:
        """Append the answer to a request. Never raises."""
        try:
            from . import records, settings

            payloads = settings.payloads(self._settings)
            record = records.of_approval(request, answer, by=self.by, waited_ms=waited_ms, payloads=payloads)
        except Exception as error:  # noqa: BLE001  # unexpected settings or values
            self._tell(error)
        else:
            self.write(record)

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record. Never raises."""
        try:
            from . import writer

            writer.append(self._directory, record)
        except Exception as error:  # noqa: BLE001  # as above
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if self._tells and not Journal._told:
            try:
                import logging
            except Exception:  # noqa: BLE001  # no file descriptor is left
                return
            Journal._told = True
            logging.getLogger("tenterhook").warning("tenterhook: the journal cannot be written: %s", error)
