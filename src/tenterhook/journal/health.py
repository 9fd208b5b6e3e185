"""How hooks have been doing lately, for wherever hooks are shown: failing, or over their budget."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING

from ..basics import places
from . import statistics
from .filters import Wanted
from .index import Index
from .writer import trouble

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model import Hook

_LATELY = 7 * 86400  # seconds


def why_not_written() -> str | None:
    """Why verdicts do not reach the journal now; None if they do."""
    try:
        trouble(places.journal())
    except OSError as error:
        return f"{error.strerror}: {error.filename or places.journal()}"
    return None


def remarks(hooks: Iterable[Hook]) -> dict[tuple[str, str], str]:
    """What there is to say about hooks, by name and source; nothing of those that do well."""
    if not os.path.isdir(places.journal()):
        return {}
    budgets = {hook.name: hook.budget_ms for hook in hooks if hook.budget_ms is not None}
    try:
        index = Index()
        index.update()
        figures = statistics.by_hook(index, Wanted(since=time.time() - _LATELY), budgets)
        index.close()
    except (OSError, sqlite3.Error):  # nothing can be read there: `log` says so
        return {}
    found: dict[tuple[str, str], str] = {}
    for each in figures:
        said = []
        if each.is_failing:
            said.append(f"failing: its last {statistics.FAILING_AFTER} runs failed")
        if each.is_over_budget:
            said.append(f"over budget: p95 {each.p95_ms:.0f} ms of {each.budget_ms:g} ms")
        if said:
            found[each.hook, each.source] = "; ".join(said)
    return found
