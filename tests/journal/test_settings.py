"""The settings of the journal: what makes no sense is as if it were not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from journal import journals
from support import shell_call, write_config
from tenterhook.basics import places
from tenterhook.journal import settings

if TYPE_CHECKING:
    from pathlib import Path

    pass


def test_settings_that_nobody_can_read_change_no_verdict(home: Path, project: Path) -> None:
    for text in ("[", "x = " + "[" * 5000, "x = " + "[" * 5000 + "]" * 5000, "journal = 3", "[journal]\npayloads = 3"):
        write_config(home / ".config" / "tenterhook" / "config.toml", text)
        engine = journals.engine(lambda _: {"decision": "deny", "reason": "no"})
        assert engine.decide(shell_call()).reason == "no"
    assert len(journals.recorded(journals.folder(home))) == 5


@pytest.mark.parametrize(
    "text", ["keep_days = true", "keep_days = -1", "keep_mb = 0", 'keep_mb = "9"', f"keep_days = {'9' * 400}"]
)
def test_a_setting_that_makes_no_sense_is_as_if_it_were_not_there(home: Path, project: Path, text: str) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", f"[journal]\n{text}\n")
    for _ in range(2):  # from the file, then from the cache
        assert settings.read(places.settings_file()) == {"payloads": "redacted", "keep_days": 90, "keep_mb": 256}


def test_a_changed_setting_holds_from_the_next_event_on(home: Path, project: Path) -> None:
    for payloads in ("full", "none", "redacted", "full"):
        write_config(home / ".config" / "tenterhook" / "config.toml", f'[journal]\npayloads = "{payloads}"\n')
        journals.engine().decide(shell_call("PASSWORD=zx81spectrum", session_id="s"))
    kept = [
        record["fields"] and record["fields"]["tool_input"]["command"]
        for record in journals.recorded(journals.folder(home))
    ]
    assert kept == ["PASSWORD=zx81spectrum", None, "PASSWORD=[redacted: password]", "PASSWORD=zx81spectrum"]
