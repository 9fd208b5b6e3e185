"""`tenterhook hub redact`: what it asks, says and refuses; what it does is in tests/hub/test_redact.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hub.deliveries import line
from support import tenterhook
from tenterhook.approvals.requests import content_hash
from tenterhook.hub import accounts, database, inbox, records, schemas

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.hub.database import Connection

SECRET = "correct-horse-battery"


@pytest.fixture
def file(home: Path, project: Path) -> Path:
    file = project / "hub.db"
    kept = database.opened(str(file))
    token = kept.write(lambda connection: accounts.new_token(connection, "laptop", accounts.AGENT)[0])

    def fill(connection: Connection) -> None:
        delivered = schemas.DeliveredGiven(**line(1, f"s-{SECRET}"))
        given = schemas.RecordsGiven(machine="m", records=[delivered])
        records.store(connection, [records.Upload(token, "laptop", given)])
        about: dict[str, Any] = {
            "id": "waits",
            "machine": "m",
            "agent": "a",
            "session_id": "s",
            "work_dir": "/",
            "tool_name": "Shell",
        }
        rest: dict[str, Any] = {"tool_input": {"command": SECRET}, "action": "run", "expires_in": 60.0}
        digest = content_hash("Shell", rest["tool_input"], "/")
        asked = schemas.RequestGiven(**about, **rest, hash=digest)
        inbox.open_requests(connection, [inbox.NewRequest(inbox.RequestSource(token, "laptop", None), asked)])

    kept.write(fill)
    kept.close()
    return file


def test_it_says_how_much_was_redacted_and_what_still_waits(file: Path) -> None:
    dry = tenterhook("hub", "redact", "--stdin", "--dry-run", "--database", file, input=SECRET)
    assert (dry.returncode, dry.stdout) == (0, "1 record, 0 requests, 0 answers to be redacted\n")
    ended = tenterhook("hub", "--database", file, "redact", "--stdin", "--yes", input=SECRET)
    assert (ended.returncode, ended.stdout) == (0, "1 record, 0 requests, 0 answers redacted\n")
    assert "also in 1 open request" in ended.stderr
    told = json.loads(tenterhook("hub", "redact", "--rules", "--yes", "--json", "--database", file).stdout)
    assert (told["redacted"], told["records"]) == (False, 0)


@pytest.mark.parametrize(
    ("options", "said"), [(("--stdin",), "needs confirmation"), ((), "--stdin --yes"), (("--rules",), "confirmation")]
)
def test_without_a_terminal_it_must_be_said_that_it_is_meant(file: Path, options: tuple[str, ...], said: str) -> None:
    before = file.read_bytes()
    ended = tenterhook("hub", "redact", *options, "--database", file, input=SECRET)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert file.read_bytes() == before
