"""How grave a loss is: an error where a block is, or may be, lost with it."""

from __future__ import annotations

import pytest

from tenterhook import Hook
from tenterhook.authoring.convert.findings import Findings, can_block
from tenterhook.errors import ERROR, WARNING

GUARD = Hook("guard", "pre-tool-call", "pre-tool-call", "folder", source="HOOK.md", line=3)
OBSERVER = GUARD._replace(event="post-session", declared="post-session")


@pytest.mark.parametrize(
    ("hook", "options", "severity"),
    [
        (GUARD, {}, WARNING),
        (GUARD, {"weaker": True}, ERROR),
        (OBSERVER, {"weaker": True}, WARNING),
        (OBSERVER, {"left_out": True}, ERROR),
    ],
)
def test_a_loss_is_an_error_if_the_hook_is_left_out_or_blocks_less(
    hook: Hook, options: dict[str, bool], severity: str
) -> None:
    findings = Findings(hook)
    findings.lose("priority", 7, "why", "instead", **options)
    (loss,) = findings.losses
    assert (loss.severity, loss.hook, loss.source, loss.line) == (severity, "guard", "HOOK.md", 3)
    assert findings.left_out is options.get("left_out", False)


def test_a_hook_in_the_background_blocks_nothing() -> None:
    assert can_block(GUARD)
    assert not can_block(GUARD._replace(async_=True))
    assert not can_block(OBSERVER)


def test_the_value_of_a_loss_is_plain_data_in_json() -> None:
    findings = Findings(GUARD)
    findings.lose("metadata", {"tags": ("a", "b")}, "why", "instead")
    assert findings.losses[0].as_json()["value"] == {"tags": ["a", "b"]}
