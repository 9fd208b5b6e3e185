"""Where nobody can be asked, the refusal names `tenterhook allow ID`; typed by a person, that call runs once."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from dispatch.bridges import ASKS, BEFORE_TOOL, allow, call, does, install, line, named, payload
from support import few_first, folder_hook, tenterhook, user_hooks, write_config
from tenterhook import cli
from tenterhook.agents import AGENTS
from tenterhook.approvals import single_use

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.observed import Does

pytestmark = pytest.mark.usefixtures("answering")

CANNOT_ASK = [name for name in AGENTS if not AGENTS[name].capabilities.asks]
UNATTENDED = {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
FORCE = "git push --force"


@pytest.fixture
def guard() -> None:
    assert cli.run(["add", "block-dangerous-commands"]) == 0


def said(host: str, project: Path, command: str = FORCE, *, env: dict[str, str] | None = None, **more: Any) -> Does:
    """What the agent does after its tool call, through the line that `install` wrote."""
    native = BEFORE_TOOL[host]
    ended = call(line(host, native), payload(host, project, command, **more), env={**os.environ, **(env or {})})
    found: Does = does(host, native, ended)
    return found


def approvals() -> list[tuple[str, str | None, str]]:
    """Who answered what, by the journal."""
    return [(each["by"], each["answered_by"], each["decision"]) for each in answers()]


def answers() -> list[dict[str, Any]]:
    """The journal's records of approvals."""
    found = map(json.loads, tenterhook("log", "--json").stdout.splitlines())
    return [each for each in found if each["type"] == "approval"]


@pytest.mark.parametrize("host", few_first(CANNOT_ASK))
@pytest.mark.usefixtures("guard")
def test_a_guards_question_is_a_refusal_until_a_person_allows_the_call_once(
    host: str, home: Path, project: Path
) -> None:
    install(host)
    refusal = said(host, project).block or ""
    assert "it overwrites what others may have pushed" in refusal
    assert f"{AGENTS[host].title} has no way to do so" in refusal
    allow(named(refusal))
    assert said(host, project).block is None
    assert named(said(host, project).block) != named(refusal)


@pytest.mark.parametrize("host", ["codex", "kimi-code"])
def test_so_is_the_question_of_a_persons_own_hook_and_of_a_rule(host: str, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "careful", ASKS, matcher={"pattern": "^make release$"})
    write_config(
        home / ".config/tenterhook/config.toml", '[[approvals.rules]]\nanswer = "ask"\ncommand = "make deploy"'
    )
    install(host)
    for command, why in (("make release", "look at it"), ("make deploy", "says: ask")):
        refusal = said(host, project, command).block or ""
        assert why in refusal
        allow(named(refusal))
        assert said(host, project, command).block is None
        assert said(host, project, command).block is not None


@pytest.mark.usefixtures("guard")
def test_nothing_but_the_allowed_call_runs(home: Path, project: Path) -> None:
    install("codex", "kimi-code")
    (project / "below").mkdir()
    allow(named(said("codex", project).block))
    for other in (
        said("codex", project, FORCE + " origin"),
        said("codex", project, session_id="s-2"),
        said("codex", project / "below"),
        said("kimi-code", project),
    ):
        assert other.block is not None
    assert said("codex", project).block is None


@pytest.mark.usefixtures("guard")
def test_of_two_equal_calls_at_the_same_time_one_runs(home: Path, project: Path) -> None:
    install("codex")
    allow(named(said("codex", project).block))
    with ThreadPoolExecutor(4) as pool:
        blocks = [each.block for each in pool.map(lambda _: said("codex", project), range(4))]
    assert blocks.count(None) == 1


def test_what_a_hook_refuses_cannot_be_allowed(home: Path, project: Path) -> None:
    blocker = folder_hook(user_hooks(home), "blocker", ASKS)
    install("codex")
    refusal = said("codex", project).block
    (blocker / "scripts/run.sh").write_text("#!/bin/sh\necho never >&2; exit 2\n")
    allow(named(refusal))
    assert said("codex", project).block == "never\n"
    assert single_use.waiting() == []
    found = single_use.find(named(refusal))
    assert found is not None
    assert found.state == single_use.ALLOWED  # and was not used up by a call that is refused anyway


def test_what_a_rule_denies_cannot_be_allowed(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "careful", ASKS)
    install("codex")
    refusal = said("codex", project).block
    deny = '[[approvals.rules]]\nanswer = "deny"\npattern = "push"\nreason = "never"'
    write_config(home / ".config/tenterhook/config.toml", deny)
    allow(named(refusal))
    assert said("codex", project).block == "never\n"


@pytest.mark.usefixtures("guard")
def test_an_agent_that_asks_its_person_is_told_to_ask(home: Path, project: Path) -> None:
    install("claude-code")
    asked = said("claude-code", project)
    assert (asked.block, "allow" in (asked.ask or "allow")) == (None, False)
    assert single_use.waiting() == []


@pytest.mark.usefixtures("guard")
def test_without_a_person_at_it_that_agent_is_told_to_refuse(home: Path, project: Path) -> None:
    install("claude-code")
    refusal = said("claude-code", project, env=UNATTENDED).block or ""
    assert "nobody is there to be asked" in refusal
    allow(named(refusal))
    permitted = said("claude-code", project, env=UNATTENDED)
    assert (permitted.block, permitted.approve) == (None, True)
    assert said("claude-code", project, env=UNATTENDED).block is not None


@pytest.mark.usefixtures("guard")
def test_without_a_person_the_refusal_names_the_command_also_if_permission_requests_are_wired(
    home: Path, project: Path
) -> None:
    """`claude -p` refuses by itself what a hook asks about: it sends no permission request."""
    folder_hook(user_hooks(home), "answer", "exit 0", trigger="permission-request")
    install("claude-code")
    allow(named(said("claude-code", project, env=UNATTENDED).block))
    permitted = said("claude-code", project, env=UNATTENDED)
    assert (permitted.block, permitted.approve) == (None, True)


@pytest.mark.usefixtures("guard")
def test_each_step_is_in_the_journal(home: Path, project: Path) -> None:
    install("codex")
    allow(named(said("codex", project).block))
    said("codex", project)
    assert sorted(approvals()) == [
        ("allow", "allow", "approve"),
        ("codex", "allow", "approve"),
        ("codex", "nobody", "deny"),
    ]


@pytest.mark.promise("a model that tries")
@pytest.mark.usefixtures("guard")
def test_an_agent_cannot_allow_its_own_call(home: Path, project: Path) -> None:
    """An agent that reads the ID of its refused call cannot use it."""
    install("codex")
    name = named(said("codex", project).block)  # this process is the agent now
    for arguments in ([name, "--yes"], []):
        ended = tenterhook("allow", *arguments)
        assert ended.returncode == 1
        assert "was called from an agent that Tenterhook guards" in ended.stderr
    assert said("codex", project).block is not None


@pytest.mark.usefixtures("guard")
def test_a_rule_of_the_person_answers_a_built_in_guard(home: Path, project: Path) -> None:
    rule = '[[approvals.rules]]\nanswer = "approve"\npattern = "^git push --force( origin)?$"\nreason = "my branches"'
    write_config(home / ".config/tenterhook/config.toml", rule)
    install("codex", "kimi-code", "claude-code")
    for host in ("codex", "kimi-code"):
        assert said(host, project).block is None
        assert said(host, project, FORCE + " upstream").block is not None
        assert said(host, project, FORCE + " && ls").block is not None
    left = said("claude-code", project)
    assert (left.block, left.ask) == (None, None)  # if it asks, that reaches us
    given = {**payload("claude-code", project, FORCE), "hook_event_name": "PermissionRequest"}
    asked = call(line("claude-code", "PermissionRequest"), given)
    assert does("claude-code", "PermissionRequest", asked).approve
    assert said("claude-code", project, FORCE + " upstream").ask is not None
    assert {each["reason"] for each in answers() if each["answered_by"] == "rule"} == {"my branches"}


def test_it_answers_no_other_hook(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "careful", ASKS)
    rule = f'[[approvals.rules]]\nanswer = "approve"\ncommand = "{FORCE}"'
    write_config(home / ".config/tenterhook/config.toml", rule)
    install("codex")
    assert said("codex", project).block is not None


def test_protect_hooks_knows_the_place_of_approvals(home: Path, project: Path) -> None:
    assert cli.run(["add", "protect-hooks"]) == 0
    install("codex")
    place = home / ".local/state/tenterhook/single-use"
    for command in (f"mv {place}/a.asked {place}/a.allowed", f"{sys.executable} -m tenterhook allow abcdefgh --yes"):
        assert said("codex", project, command).block is not None, command
