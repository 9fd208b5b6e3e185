"""People, repositories and packs for the tests of `tenterhook pack`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from support import trigger

if TYPE_CHECKING:
    from pathlib import Path

CASE = '[event]\ntool_name = "Shell"\ntool_input = { command = "deploy" }\n[expect]\ndecision = "deny"\n'
DEPLOY = ("pre-tool-call", "--tool", "Shell", "--input", '{"command": "make deploy"}')


def decision(**options: Any) -> str:
    return str(trigger(*DEPLOY, **options)["decision"])


def other_person(home: Path) -> dict[str, str]:
    """The environment of a second person."""
    other = home.parent / "other-home"
    other.mkdir(exist_ok=True)
    return {**os.environ, "HOME": str(other)}
