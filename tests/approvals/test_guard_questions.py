"""Which rules answer what built-in guards ask: the person's own, for the whole command, and no other hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.approvals.requests import Call
from tenterhook.approvals.rules import Rule
from tenterhook.approvals.rules import match_verdict as match
from tenterhook.basics import places
from tenterhook.model import Action, Decision, Hook, Run, Verdict

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("home")

LINE = "git push --force-with-lease origin"


def own(**fields: Any) -> Rule:
    return Rule(**{"answer": "approve", "command": LINE, **fields}, source=places.settings_file())


def asked(*layers: str, guard: str | None = "block-dangerous-commands", **decision: Any) -> Verdict:
    """The verdict on a call about which a hook of each layer asks."""
    said = Decision(Action.ASK, "look", **decision)
    metadata = {"guard": guard} if guard else {}
    hooks = [
        Hook("g", "pre-tool-call", "pre-tool-call", "folder", layer, folder="/h/g", metadata=metadata)
        for layer in layers
    ]
    return Verdict("pre-tool-call", Action.ASK, "look", runs=tuple(Run(hook, decision=said) for hook in hooks))


def answered(rules: list[Rule], verdict: Verdict | None = None, line: str = LINE, **call: Any) -> bool:
    given = Call(**{"tool_name": "Bash", "tool_input": {"command": line}, "work_dir": "/p", **call})
    return match(verdict or asked("user"), rules, given)[1]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, LINE),
        ({"command": None, "pattern": r"^git push --force-with-lease( \w+)*$"}, LINE),
        ({"command": None, "pattern": r"git push --force-with-lease.*"}, LINE),
        ({"tool": "Shell", "command": None, "pattern": "^git push --force-with-lease"}, "git push --force-with-lease"),
    ],
)
def test_a_rule_that_names_the_whole_command_answers(fields: dict[str, Any], line: str) -> None:
    assert answered([own(**fields)], line=line)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"command": None, "tool": "Shell"}, LINE),
        ({"command": None}, LINE),
        ({"command": None, "pattern": "^git"}, LINE),
        ({"command": None, "pattern": "^git push --force-with-lease"}, f"{LINE} --force"),
        ({"command": None, "pattern": "^git push$"}, "git push origin +main"),
        ({"command": None, "pattern": ".*"}, f"{LINE} && git push --force"),
        ({"command": None, "pattern": ".*"}, "git push --force-with-lease $BRANCH"),
        ({"command": None, "pattern": "(?i)GIT PUSH.*"}, LINE),
        ({"agent": "codex"}, LINE),
        ({"expires": 1.0}, LINE),
        ({"answer": "ask"}, LINE),
        ({"answer": "deny"}, LINE),
    ],
)
def test_any_other_rule_does_not(fields: dict[str, Any], line: str) -> None:
    assert not answered([own(**fields)], line=line)


@pytest.mark.parametrize("source", ["", "/etc/tenterhook/config.toml", "https://hub.example.org"])
def test_only_the_persons_own_rules_answer(source: str) -> None:
    assert not answered([own()._replace(source=source)])
    assert answered([own()._replace(source=source), own()])


@pytest.mark.parametrize("answer", ["ask", "deny"])
def test_a_rule_of_another_source_that_says_otherwise_counts(answer: str) -> None:
    assert not answered([Rule(answer, pattern="push", source="/etc/tenterhook/config.toml"), own()])


def test_only_built_in_guards_of_the_person_and_of_the_machine_are_answered() -> None:
    assert answered([own()], asked("user", "managed"))
    for verdict in (asked("project"), asked("user", "project"), asked("config"), asked("user", guard=None)):
        assert not answered([own()], verdict)


def test_a_question_that_does_not_count_is_not_looked_at() -> None:
    both = asked("user")
    ignored = asked("project", ignored="shadow mode").runs
    assert answered([own()], both._replace(runs=(*both.runs, *ignored)))


def test_a_verdict_that_does_not_ask_needs_no_answer() -> None:
    assert not answered([own()], Verdict("pre-tool-call"))
    assert not answered([own()], asked("user")._replace(decision=Action.DENY))


def test_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    read: dict[str, Any] = {"tool_name": "Read", "tool_input": {"file_path": ".env"}, "work_dir": str(tmp_path)}
    assert answered([own(command=None, pattern=r"\.env")], **read)
    assert not answered([own(command=None, pattern=r"env")], **read)


def test_a_text_beside_the_one_that_the_guard_asks_about_answers_nothing(tmp_path: Path) -> None:
    decoy = {"path": ".env", "note": LINE}
    assert not answered([own()], tool_name="mcp__fs__read_file", tool_input=decoy, work_dir=str(tmp_path))
    both = own(command=None, pattern=rf"\.env|{LINE}")
    assert answered([both], tool_name="mcp__fs__read_file", tool_input=decoy, work_dir=str(tmp_path))
