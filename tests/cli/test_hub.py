"""`tenterhook hub`: people and tokens in its database, and what keeps a hub from running."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from support import tenterhook
from tenterhook.basics import agent_marks, processes
from tenterhook.hub.service import SERVICE

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "hub.db"
    monkeypatch.setenv("TENTERHOOK_HUB_DATABASE", str(file))
    return file


def test_a_person_is_added_listed_and_removed(run: Run) -> None:
    assert (
        run("hub", "person", "add", "alice", "--admin", "--no-password").out == "alice may answer now and is an admin\n"
    )
    (alice,) = json.loads(run("hub", "person", "list", "--json").out)
    assert (alice["name"], alice["role"], alice["has_password"]) == ("alice", "admin", False)
    assert "token only" in run("hub", "person", "list").out
    assert "alice is the only admin" in run("hub", "person", "remove", "alice").err
    assert run("hub", "person", "add", "bob", "--no-password").out == "bob may answer now\n"
    assert run("hub", "person", "remove", "bob").out == "bob may no longer answer\n"
    assert run("hub", "person", "remove", "bob").status == 1


def test_a_password_comes_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, password in (("add", "a long password\n"), ("password", "another password\n")):
        monkeypatch.setattr("sys.stdin", io.StringIO(password))
        ended = run("hub", "person", command, "bob", "--password-stdin")
        assert ended.status == 0, ended.err
    assert json.loads(run("hub", "person", "list", "--json").out)[0]["has_password"] is True


def test_a_token_is_shown_once_and_revoked_by_its_number(run: Run) -> None:
    made = json.loads(run("hub", "token", "add", "build-machine", "--json").out)
    listed = run("hub", "token", "list")
    assert "build-machine" in listed.out
    assert made["token"] not in listed.out + run("hub", "token", "list", "--json").out
    assert run("hub", "token", "revoke", str(made["id"])).status == 0
    again = run("hub", "token", "revoke", str(made["id"]))
    assert again.status == 1
    assert f"there is no token {made['id']}" in again.err


def test_a_token_of_a_person_needs_the_person(run: Run) -> None:
    assert run("hub", "token", "add", "phone", "--person", "nobody").status == 1
    assert json.loads(run("hub", "token", "list", "--json").out) == []


def test_the_option_wins_over_the_variable_before_and_behind_the_command(
    run: Run, tmp_path: Path, database: Path
) -> None:
    other = tmp_path / "other.db"
    for place in (
        ("hub", "--database", other, "person", "add", "one"),
        ("hub", "person", "add", "two", "--database", other),
    ):
        assert run(*place, "--no-password").status == 0
    assert len(json.loads(run("hub", "person", "list", "--database", other, "--json").out)) == 2
    assert not database.exists()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--public-url", "hub.example.org"], 1, "address of a hub"),
        (["--keep-days", "0"], 64, "--keep-days"),
        (["start", "--no-pages", "--listen", "127.0.0.1:1"], 64, "--listen is for a hub"),
        (["start", "--public-url", "https://a/b"], 1, "address of a hub"),
    ],
)
def test_a_hub_that_could_not_serve_is_not_started(run: Run, arguments: list[str], status: int, said: str) -> None:
    ended = run("hub", *arguments)
    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err
    assert SERVICE.config() is None


def test_stopping_where_none_runs_is_no_error(run: Run) -> None:
    assert run("hub", "stop")[:2] == (0, "no hub is running\n")


def test_an_agent_that_is_guarded_may_not_decide_who_answers(database: Path) -> None:
    agent_marks.mark(processes.this())
    for command in (("person", "add", "eve", "--no-password"), ("token", "add", "eve"), ("start",)):
        ended = tenterhook("hub", *command)
        assert ended.returncode == 1
        assert "an agent that Tenterhook guards" in ended.stderr
    assert not database.exists()
