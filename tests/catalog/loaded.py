"""The catalog of a project, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenterhook.catalog import loading
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.catalog.catalog import Catalog


def load(root: Path, managed: Path | None = None, **options: object) -> Catalog:
    trust = Trust(str(root), everything=bool(options.get("everything")))
    return loading.load(str(root), trust=trust, managed=str(managed or root / "no-managed"))


def names(catalog: Catalog) -> list[str]:
    return [hook.name for hook in catalog.hooks]


def codes(catalog: Catalog) -> list[str]:
    return [problem.code for problem in catalog.problems]
