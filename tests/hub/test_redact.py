"""`tenterhook hub redact` takes a secret out of everything that the hub stores, and out of its file."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hub import hubs
from hub.deliveries import deliver, line, run, timeline
from tenterhook.approvals.requests import content_hash
from tenterhook.hub import accounts, database, records, redact, schemas
from tenterhook.journal.redact_stored import account
from tenterhook.journal.redacted_records import ByText

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"


@pytest.fixture
def secret() -> str:
    return f"correct-horse-{uuid.uuid4().hex}"


@pytest.fixture
def own_hub(tmp_path: Path) -> Iterator[hubs.Hub]:
    """A hub whose file nobody else uses."""
    with hubs.running(tmp_path) as running:
        yield running


def ask(agent: httpx.Client, secret: str, session: str) -> dict[str, Any]:
    given = {"command": f"curl -H 'key: {secret}'"}
    about = {"id": f"permission_{uuid.uuid4().hex}", "machine": "m", "agent": "a", "session_id": session}
    about |= {"work_dir": "/", "tool_name": "Shell", "action": f"run {secret}", "why": f"because {secret}"}
    digest = content_hash("Shell", given, "/")
    asked = agent.post("/requests", json={**about, "tool_input": given, "hash": digest, "expires_in": 600})
    assert asked.status_code in (200, 201), asked.text
    found: dict[str, Any] = asked.json()
    return {**found, "id": about["id"], "hash": digest}


def answer(admin: httpx.Client, request: dict[str, Any], message: str) -> None:
    given = {"approved": False, "message": message, "hash": request["hash"]}
    answered = admin.post(f"/requests/{request['id']}/answer", json=given)
    assert answered.status_code == 200, answered.text


def everything(hub: hubs.Hub) -> str:
    """Every row of every table."""

    def read(connection: Any) -> str:
        tables = ("records", "runs", "sessions", "requests", "answers", "grants", "changes", "rules", "machines", "hub")
        return json.dumps([connection.all(f"select * from {table}") for table in tables])

    return hub.write(read)


def redacted(hub: hubs.Hub, secret: str, *options: str) -> dict[str, Any]:
    ended = hub.command("redact", "--stdin", "--yes", "--json", *options, input=secret)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_a_secret_is_taken_out_of_all_tables_while_the_hub_runs(
    hub: hubs.Hub, agent: httpx.Client, admin: httpx.Client, secret: str
) -> None:
    session, hook = f"s-{secret}", f"guard-{uuid.uuid4().hex}"
    lines = [line(n, session, run(hook), reason=json.dumps({"say": secret}), decision="deny") for n in range(3)]
    deliver(agent, [*lines, line(9, "other", run(hook))])
    request = ask(agent, secret, session)
    assert redacted(hub, secret, "--dry-run")["records"] == 3
    waiting = redacted(hub, secret)
    assert (waiting["records"], waiting["requests"], waiting["waiting"]) == (3, 0, 1)
    assert admin.get(f"/requests/{request['id']}").json()["tool_input"]["command"].endswith(f"{secret}'")
    answer(admin, request, f"not {secret}")
    told = redacted(hub, secret, "--kind", "password")
    assert (told["records"], told["requests"], told["answers"], told["waiting"]) == (0, 1, 1, 0)
    assert secret not in everything(hub)
    name = "s-[redacted: secret]"
    assert [each["record"]["session_id"] for each in timeline(admin, agent, name.replace("/", "%2F"))][-3:] == [
        name
    ] * 3
    shown = admin.get(f"/requests/{request['id']}").json()
    assert shown["tool_input"] == {"command": "curl -H 'key: [redacted: password]'"}
    assert shown["answer"]["message"] == "not [redacted: password]"
    (figures,) = [each for each in admin.get("/hooks?since=1d").json()["hooks"] if each["hook"] == hook]
    assert figures["runs"] == 4
    assert deliver(agent, lines) == {"taken": 0, "known": 3}  # what is sent again does not come back
    assert secret not in everything(hub)


def test_an_approval_for_the_session_of_what_had_the_text_ends(
    hub: hubs.Hub, agent: httpx.Client, admin: httpx.Client, secret: str
) -> None:
    """Its key is a hash of what was asked, in which the text is not to be seen."""

    def asked_again(command: str) -> dict[str, Any]:
        return hubs.opened(agent, command, grant="7 x", session_id=session)

    session = f"s-{uuid.uuid4().hex}"
    for command in (f"use {secret}", "ls"):
        request = asked_again(command)
        assert hubs.answered(admin, request, scope="session").status_code == 200
        assert asked_again(command)["state"] == "approved"
    redacted(hub, secret, "--dry-run")
    assert asked_again(f"use {secret}")["state"] == "approved"
    redacted(hub, secret)
    assert asked_again("ls")["state"] == "approved"
    again = asked_again(f"use {secret}")
    assert again["state"] == "open"
    agent.post(f"/requests/{again['id']}/withdraw", json={"by": "terminal"}).raise_for_status()


def test_what_a_machine_reports_of_its_agents_is_redacted(hub: hubs.Hub, agent: httpx.Client, secret: str) -> None:
    about = {"name": "codex", "title": "Codex", "connected": False, "why": f"unreadable: token = {secret}"}
    agent.put("/machine", json={"agents": [about]}).raise_for_status()
    assert secret in everything(hub)
    redacted(hub, secret)
    assert secret not in everything(hub)
    assert hub.admin is not None
    (found,) = [each for each in hub.admin.get("/machines").json()["machines"] if each["name"] == hubs.name_of(agent)]
    assert found["agents"][0]["why"] == "unreadable: token = [redacted: secret]"


def test_who_redacted_when_is_kept(hub: hubs.Hub, agent: httpx.Client, secret: str) -> None:
    deliver(agent, [line(1, "s", reason=secret)])
    begin = time.time()
    redacted(hub, secret)
    told = json.loads(hub.command("redact", "--list", "--json").stdout)["redactions"][-1]
    assert (told["by"], told["records"], told["requests"], told["answers"]) == (account(), 1, 0, 0)
    assert begin - 1 < told["time"] < time.time() + 1
    shown = hub.command("redact", "--list").stdout.splitlines()
    assert shown[-1].split()[2:] == [account(), "1", "0", "0"]


def test_nothing_is_left_in_the_file_of_sqlite(own_hub: hubs.Hub, secret: str) -> None:
    assert own_hub.admin is not None
    agent = own_hub.agent()
    deliver(agent, [line(number, f"s-{number}", reason=f"{secret} {'x' * 9000}") for number in range(50)])
    deliver(agent, [line(99, f"gone-{secret}", time=1.0)])
    own_hub.write(lambda connection: connection.run("delete from records where time < 2"))  # in freed pages
    request = ask(agent, secret, "s")
    answer(own_hub.admin, request, secret)
    directory = Path(own_hub.home, ".local/state/tenterhook/hub")
    assert any(secret.encode() in path.read_bytes() for path in directory.iterdir())
    redacted(own_hub, secret)
    for path in directory.iterdir():
        assert secret.encode() not in path.read_bytes(), path
    assert deliver(agent, [line(1, "after")])["taken"] == 1  # it goes on


def test_todays_rules_are_applied(own_hub: hubs.Hub) -> None:
    agent = own_hub.agent()
    deliver(agent, [line(1, f"s-{TOKEN}", fields={"prompt": f"use {TOKEN}"})])
    ended = own_hub.command("redact", "--rules", "--yes")
    assert (ended.returncode, ended.stdout) == (0, "1 record, 0 requests, 0 answers redacted\n")
    assert own_hub.admin is not None
    (record,) = timeline(own_hub.admin, agent, f"s-{TOKEN}")  # names are not looked at
    assert record["record"]["fields"] == {"prompt": "use [redacted: github token]"}


def test_rules_are_left_alone_and_counted(tmp_path: Path, secret: str) -> None:
    kept = database.opened(str(tmp_path / "hub.db"))
    insert = "insert into rules (answer, pattern, created_by, created) values ('deny', ?, 'me', 1)"
    kept.write(lambda connection: connection.run(insert, f"^{secret}"))
    counts = redact.redact(kept, ByText(secret, "secret"), "me")
    assert counts == redact.Counts(rules=1)
    assert kept.read(lambda connection: connection.all("select pattern from rules")) == [{"pattern": f"^{secret}"}]
    assert kept.read(redact.audit) == []
    kept.close()


def test_more_rows_than_one_transaction_takes_are_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setattr(redact, "_BATCH", 7)
    kept = database.opened(str(tmp_path / "hub.db"))
    token = kept.write(lambda connection: accounts.new_token(connection, "laptop", accounts.AGENT)[0])
    lines = [schemas.DeliveredGiven(**line(number, "s", reason=secret)) for number in range(30)]
    given = schemas.RecordsGiven(machine="m", records=lines)
    kept.write(lambda connection: records.store(connection, [records.Upload(token, "machine", given)]))
    assert redact.redact(kept, ByText(secret, "secret"), "me", dry_run=True).records == 30
    assert redact.redact(kept, ByText(secret, "secret"), "me").records == 30
    assert redact.redact(kept, ByText(secret, "secret"), "me").records == 0
    kept.close()
