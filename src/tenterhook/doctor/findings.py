"""What a look at an agent found: all is well, something to know, or a guard would not hold."""

from __future__ import annotations

from typing import NamedTuple

from ..basics.named_tuples import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"  # a guard would not hold


class Finding(NamedTuple):
    """One thing found, and what to do about it unless all is well."""

    level: Level
    what: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        return {"level": str(self.level), "what": self.what, "remedy": self.remedy}


def ok(what: str) -> Finding:
    return Finding(Level.OK, what)


def note(what: str, remedy: str = "") -> Finding:
    return Finding(Level.NOTE, what, remedy)


def bad(what: str, remedy: str) -> Finding:
    return Finding(Level.BAD, what, remedy)
