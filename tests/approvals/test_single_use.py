"""Approvals of one call: bound to exactly that call, used once, for a while, and private."""

from __future__ import annotations

import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.approvals import single_use
from tenterhook.approvals.policy import ApprovalCase, Ruling, Step
from tenterhook.approvals.requests import Call
from tenterhook.model import Action

if TYPE_CHECKING:
    from pathlib import Path

CALL = Call("Bash", {"command": "git push --force"}, "/p", session_id="s", agent="codex")


@pytest.fixture(autouse=True)
def directory(home: Path) -> Path:
    return home / ".local" / "state" / "tenterhook" / "single-use"


def recorded(call: Call = CALL) -> single_use.RefusedCall:
    name = single_use.record(call, "why")
    assert name is not None
    found = single_use.find(name)
    assert found is not None
    return found


def allowed(call: Call = CALL) -> single_use.RefusedCall:
    refused = recorded(call)
    assert single_use.allow(refused)
    return refused


def age(directory: Path, seconds: float) -> None:
    for file in directory.iterdir():
        os.utime(file, (time.time() - seconds,) * 2)


def test_a_refused_call_waits_with_all_that_a_person_must_see() -> None:
    refused = recorded()
    assert (refused.call, refused.why, refused.state) == (CALL, "why", single_use.ASKED)
    assert single_use.waiting() == [refused]
    assert single_use.allowed(CALL) is None


def test_the_refusal_says_for_how_long_and_where_the_approval_holds() -> None:
    assert "in this session, for ten minutes," in single_use.how_to_allow("k7mq3xwd")
    assert single_use.LASTS == 10 * 60


def test_its_id_is_short_and_never_the_same_for_two_calls() -> None:
    names = {single_use.record(CALL._replace(session_id=str(number)), None) for number in range(100)}
    assert len(names) == 100
    assert all(name and len(name) == 8 and name.isalnum() for name in names)


def test_the_same_call_refused_again_has_the_same_id() -> None:
    assert single_use.record(CALL, "why") == single_use.record(CALL, "why")
    assert len(single_use.waiting()) == 1


def test_the_files_are_for_this_account_alone(directory: Path) -> None:
    recorded()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in directory.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "other",
    [
        {"tool_name": "Shell"},
        {"tool_input": {"command": "git push --force origin"}},
        {"tool_input": {"command": "git push --force", "workdir": "/q"}},
        {"work_dir": "/q"},
        {"session_id": "t"},
        {"agent": "kimi-code"},
    ],
)
def test_an_approval_covers_no_other_call(other: dict[str, Any]) -> None:
    allowed()
    assert single_use.allowed(CALL._replace(**other)) is None
    assert single_use.allowed(CALL) is not None


def test_a_shells_description_may_be_worded_anew() -> None:
    allowed(CALL._replace(tool_input={**CALL.tool_input, "description": "Push it"}))
    assert single_use.allowed(CALL._replace(tool_input={**CALL.tool_input, "description": "Push again"})) is not None


def test_the_description_of_another_tool_counts() -> None:
    ticket = CALL._replace(tool_name="mcp__tickets__add", tool_input={"description": "one"})
    allowed(ticket)
    assert single_use.allowed(ticket._replace(tool_input={"description": "two"})) is None


def test_an_approval_is_used_once_also_by_many_at_the_same_time() -> None:
    for _ in range(20):
        refused = allowed()
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(lambda _, refused=refused: single_use.use(refused), range(8))) == 1
        assert single_use.allowed(CALL) is None
        found = single_use.find(refused.id)
        assert found is not None
        assert found.state == single_use.USED


def test_an_approval_holds_for_ten_minutes(directory: Path) -> None:
    refused = allowed()
    age(directory, 9 * 60)
    assert single_use.allowed(CALL) is not None
    age(directory, 11 * 60)
    assert single_use.allowed(CALL) is None
    found = single_use.find(refused.id)
    assert found is not None
    assert found.state == single_use.EXPIRED


def test_the_ten_minutes_begin_when_the_person_allows_it(directory: Path) -> None:
    refused = recorded()
    age(directory, 30 * 60)
    assert single_use.allow(refused)
    assert single_use.allowed(CALL) is not None


def test_a_refused_call_can_be_allowed_within_an_hour(directory: Path) -> None:
    refused = recorded()
    age(directory, 61 * 60)
    found = single_use.find(refused.id)
    assert found is not None
    assert found.state == single_use.EXPIRED
    assert single_use.waiting() == []
    assert single_use.record(CALL, "why") != refused.id


def test_a_file_that_is_about_another_call_than_its_name_says_counts_for_nothing(directory: Path) -> None:
    refused = allowed()
    (file,) = directory.glob("*.allowed")
    file.write_text(file.read_text().replace("--force", "--fierce"))
    assert single_use.find(refused.id) is None
    assert single_use.allowed(CALL) is None


def test_a_file_that_is_only_named_as_allowed_permits_nothing(directory: Path) -> None:
    refused = recorded()
    (file,) = directory.glob("*.asked")
    allowed(CALL._replace(session_id="other"))  # there is a key
    file.rename(file.with_suffix(".allowed"))
    assert single_use.allowed(CALL) is None
    assert single_use.find(refused.id) is None


def test_a_copy_of_an_approval_permits_nothing(directory: Path) -> None:
    refused = allowed()
    (file,) = directory.glob("*.allowed")
    data = file.read_bytes()
    other = file.with_name(file.name.replace(refused.id, "k7mq3xwd"))
    other.hardlink_to(file)
    file.unlink()
    assert single_use.allowed(CALL) is None
    file.write_bytes(data)  # the name and the content of the one that was allowed, but another file
    file.chmod(0o600)
    assert single_use.allowed(CALL) is None


@pytest.mark.parametrize("is_linked", [False, True])
def test_an_approval_that_was_used_cannot_be_brought_back(directory: Path, tmp_path: Path, is_linked: bool) -> None:
    refused = allowed()
    (file,) = directory.glob("*.allowed")
    kept = tmp_path / "kept"
    if is_linked:
        kept.hardlink_to(file)
    assert single_use.use(refused)
    (used,) = directory.glob("*.used")
    (kept if is_linked else used).rename(file)
    assert single_use.allowed(CALL) is None


def test_a_new_time_does_not_prolong_an_approval(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_use, "LASTS", 0.05)
    allowed()
    time.sleep(0.06)
    age(directory, -60)
    assert single_use.allowed(CALL) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"why": 1, "tool_input": 3}', "[" * 100_000, "null"])
def test_a_malformed_file_is_left_out(directory: Path, text: str) -> None:
    refused = recorded()
    (file,) = directory.glob("*.asked")
    for name in ("tool_name", "tool_input", "work_dir", "session_id", "agent"):
        broken = directory / f"{name}.{file.name.split('.')[1]}.asked"
        broken.write_text(file.read_text().replace(f'"{name}": ', f'"{name}": 3, "x": '))
        broken.chmod(0o600)
    (directory / "k7mq3xwd.abc.asked").write_text(text)
    assert [each.id for each in single_use.waiting()] == [refused.id]
    assert single_use.find("k7mq3xwd") is None


def test_refused_calls_do_not_push_out_allowed_ones(directory: Path) -> None:
    allowed()
    age(directory, 60)
    for number in range(210):
        single_use.record(CALL._replace(session_id=str(number)), None)
    assert single_use.allowed(CALL) is not None


def test_a_directory_that_others_can_write_counts_for_nothing(directory: Path) -> None:
    allowed()
    directory.chmod(0o777)
    assert single_use.allowed(CALL) is None


def test_a_call_that_is_too_large_to_be_shown_has_no_id() -> None:
    assert single_use.record(CALL._replace(tool_input={"command": "x" * (1 << 21)}), None) is None


def test_there_are_never_more_than_a_few_hundred_files(directory: Path) -> None:
    for number in range(230):
        single_use.record(CALL._replace(session_id=str(number)), None)
    assert len(list(directory.iterdir())) == 200


def test_an_approval_is_used_up_only_by_a_call_that_needs_it() -> None:
    refused = allowed()
    denied, nobody = ApprovalCase(Action.DENY), ApprovalCase(Action.ASK, can_ask=False)
    assert single_use.decide(denied, CALL) == (Ruling(Step.REFUSE, "hook"), None)
    assert single_use.decide(nobody, CALL._replace(session_id="other")) == (Ruling(Step.REFUSE, "nobody"), None)
    assert single_use.decide(nobody, CALL) == (Ruling(Step.RUN, "allow"), refused.id)
    assert single_use.decide(nobody, CALL) == (Ruling(Step.REFUSE, "nobody"), None)


def test_values_that_json_does_not_have_are_recorded_as_hooks_see_them(tmp_path: Path) -> None:
    refused = recorded(CALL._replace(tool_name="mine", tool_input={"path": tmp_path}))
    assert refused.call.tool_input == {"path": str(tmp_path)}
