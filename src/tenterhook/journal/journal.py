"""Where a process writes down what was decided. What that takes is imported when it is needed, or while hooks run."""

from __future__ import annotations

from ..basics import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..approvals.requests import Answer, Request
    from ..model import Event, Verdict


class Journal:
    """Where one process writes. `by` says on whose behalf: trigger, library, agent, or the host's name."""

    _told = False  # in this process, by whichever of them

    def __init__(self, by: str, *, tells: bool = True) -> None:
        """`tells`: whether trouble is said; not where stderr is part of an answer, which an agent reads as a reason."""
        self.by = by
        self._tells = tells
        self._directory = places.journal()
        self._settings = places.settings_file()

    def make_ready(self) -> None:
        """Import what a verdict will need. Never raises: whoever writes will hear of it again."""
        try:
            from . import records, settings, writer  # noqa: F401
        except Exception:  # noqa: BLE001, S110  # an upgrade may be under way
            pass

    def add(self, event: Event, verdict: Verdict, waited_ms: float) -> None:
        """Write a verdict down. Never raises: what was decided stands, whatever becomes of its record."""
        try:
            from . import records, settings, writer

            payloads = settings.payloads(self._settings)
            writer.append(self._directory, records.of_verdict(event, verdict, self.by, waited_ms, payloads))
        except Exception as error:  # noqa: BLE001  # a full disk, a file in the way, a value that nobody thought of
            self._tell(error)

    def add_approval(self, request: Request, answer: Answer | None, waited_ms: float) -> None:
        """Write down how a question ended, in the same way."""
        try:
            from . import records, settings

            payloads = settings.payloads(self._settings)
            record = records.of_approval(request, answer, by=self.by, waited_ms=waited_ms, payloads=payloads)
        except Exception as error:  # noqa: BLE001  # settings or a value that nobody thought of
            self._tell(error)
        else:
            self.write(record)

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record. Never raises either."""
        try:
            from . import writer

            writer.append(self._directory, record)
        except Exception as error:  # noqa: BLE001  # as above
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if self._tells and not Journal._told:
            try:
                import logging
            except Exception:  # noqa: BLE001  # no descriptor is left to read it with
                return
            Journal._told = True
            logging.getLogger("tenterhook").warning("tenterhook: the journal is not written: %s", error)
