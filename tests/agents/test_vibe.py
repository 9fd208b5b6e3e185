"""Mistral Vibe: JSON with exit status 0, strict entries where calls are to be refused, and events of two meanings."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from hosts.homes import prepared
from hosts.recorded import DATA, answer, read
from support import folder_hook, tenterhook, user_hooks
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import LONGEST

if TYPE_CHECKING:
    from pathlib import Path

VIBE = AGENTS["vibe"]


def said(file: str, verdict: Verdict) -> dict[str, object]:
    found: dict[str, object] = json.loads(answer(f"vibe/{file}", verdict).stdout)
    return found


def test_a_block_is_json_for_its_exit_status_alone_blocks_nothing() -> None:
    given = answer("vibe/pre_tool", Verdict("", Action.DENY, "no"))
    assert (given.blocks, json.loads(given.stdout)) == (False, {"decision": "deny", "reason": "no"})


def test_a_replaced_output_is_a_refusal_after_the_tool() -> None:
    for file in ("post_tool", "post_tool-failure"):
        verdict = Verdict("", modified_output="[redacted]", additional_context=("mind this",))
        given = {"decision": "deny", "reason": "[redacted]"}
        assert said(file, verdict) == {**given, "hook_specific_output": {"additional_context": "mind this"}}


def test_a_block_after_the_tool_keeps_the_result() -> None:
    given = said("post_tool", Verdict("", Action.DENY, "not good"))
    assert given == {"hook_specific_output": {"additional_context": "not good"}}


def test_a_message_is_not_shown_beside_a_refused_call() -> None:
    given = answer("vibe/pre_tool", Verdict("", Action.DENY, "no", messages=("for the person",)))
    assert given.lost == ("message: not beside this answer",)
    assert said("post_agent", Verdict("", Action.DENY, "no", messages=("hi",)))["system_message"] == "hi"


@pytest.mark.parametrize(
    ("file", "verdict"),
    [
        ("pre_tool", Verdict("", Action.DENY, "no " * 700_000)),
        ("pre_tool", Verdict("", Action.DENY, "\U0001f600" * 200_000)),
        ("pre_tool", Verdict("", modified_input={"command": "x" * 2_000_000})),
        ("post_tool", Verdict("", modified_output="\x01" * 400_000, additional_context=("x" * 1_000_000,))),
        ("post_agent", Verdict("", Action.DENY, "no " * 700_000, messages=("x" * 1_000_000,))),
    ],
)
def test_an_answer_is_no_longer_than_it_reads(file: str, verdict: Verdict) -> None:
    """What is longer counts as a failure, and the call would run as it was."""
    given = answer(f"vibe/{file}", verdict)
    assert len(given.stdout.encode()) < 1_000_000
    assert json.loads(given.stdout)["decision"] == "deny"


@pytest.mark.parametrize(
    ("file", "output"),
    [
        ("post_tool-read_file", {"content": "hello\n", "path": "/home/user/proj/f.txt"}),  # and more
        ("post_tool-mcp", "the text"),
        ("post_tool-mcp-both", {"content": "the text", "structuredContent": {"ok": "the value"}}),
    ],
)
def test_hooks_see_all_that_the_model_may_see_of_a_result(file: str, output: object) -> None:
    seen = read(DATA / "vibe" / f"{file}.json").event.tool_output
    assert seen == output or seen.items() > output.items()  # type: ignore[attr-defined]


def test_the_error_of_a_call_in_a_program_is_said_to_stay() -> None:
    given = answer("vibe/post_tool-mcp-failure", Verdict("", modified_output="[redacted]"))
    assert given.lost == ("modified output: the model sees the original",)
    assert "decision" not in json.loads(given.stdout)


def test_a_text_beside_an_error_comes_with_the_error_which_it_would_replace() -> None:
    given = json.loads(answer("vibe/post_tool-failure", Verdict("", additional_context=("look elsewhere",))).stdout)
    assert given == {
        "decision": "deny",
        "reason": "File not found at: /home/user/proj/none",
        "hook_specific_output": {"additional_context": "look elsewhere"},
    }
    in_program = answer("vibe/post_tool-mcp-failure", Verdict("", additional_context=("look elsewhere",)))
    assert (in_program.lost, "decision" in json.loads(in_program.stdout)) == ((), False)


def test_a_failed_call_and_a_subagents_end_are_events_of_their_own() -> None:
    failed = read(DATA / "vibe" / "post_tool-failure.json").event
    assert failed.canonical == "post-tool-call-failure"
    assert failed.fields["error"] == "File not found at: /home/user/proj/none"
    ended = read(DATA / "vibe" / "post_agent-in-subagent.json").event
    assert (ended.canonical, ended.fields["subagent_name"]) == ("post-subagent", "accept-edits")


@pytest.mark.parametrize(("flag", "strict"), [("--open", None), ("--closed", True)])
def test_only_an_entry_that_closes_is_strict(home: Path, project: Path, flag: str, strict: bool | None) -> None:
    """A strict one refuses whatever our process does; an open one must not, where there is no Tenterhook."""
    for event in ("pre-tool-call", "post-tool-call", "pre-agent-turn-stop"):
        folder_hook(user_hooks(home), event, "exit 0", event)
    assert tenterhook("install", "vibe", flag).returncode == 0
    hooks = tomllib.loads((home / ".vibe/hooks.toml").read_text())["hooks"]
    assert {hook["type"]: hook.get("strict") for hook in hooks} == {
        "pre_tool": strict,
        "post_tool": None,
        "post_agent": None,  # with it, Vibe would leave the entry out
    }
    assert {hook["timeout"] for hook in hooks} == {LONGEST}


def test_each_entry_has_a_name_of_its_own_also_beside_those_of_a_project(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    names = []
    for flags, folder in (((), home), (("--project",), project)):
        assert tenterhook("install", "vibe", *flags).returncode == 0
        names += [hook["name"] for hook in tomllib.loads((folder / ".vibe/hooks.toml").read_text())["hooks"]]
    assert len(set(names)) == len(names) == 4


def test_a_projects_hook_of_the_same_name_is_found(home: Path, project: Path) -> None:
    assert tenterhook("install", "vibe").returncode == 0
    [hook] = tomllib.loads((home / ".vibe/hooks.toml").read_text())["hooks"]
    (project / ".vibe").mkdir()
    theirs = f'[[hooks]]\nname = "{hook["name"]}"\ntype = "pre_tool"\ncommand = "true"\n'
    (project / ".vibe/hooks.toml").write_text('[[hooks]]\nname = "lint"\ntype = "pre_tool"\ncommand = "true"\n')
    assert not list(VIBE.switches(VIBE.settings(), str(project)))
    (project / ".vibe/hooks.toml").write_text(theirs)
    [(what, remedy)] = VIBE.switches(VIBE.settings(), str(project))
    assert "replaces that of" in what
    assert remedy == "rename or remove it"


@pytest.mark.parametrize(
    ("lists", "is_trusted"),
    [
        ("", False),
        ('trusted = ["{project}"]', True),
        ('trusted = ["{parent}"]', True),
        ('trusted = ["{parent}"]\nuntrusted = ["{project}"]', False),
        ('trusted = ["{project}"]\nuntrusted = ["{parent}"]', True),
        ("trusted = 3", False),
    ],
)
def test_the_closest_decision_about_a_folder_counts(home: Path, project: Path, lists: str, is_trusted: bool) -> None:
    (home / ".vibe").mkdir()
    paths = {"project": project.resolve(), "parent": project.resolve().parent}
    (home / ".vibe/trusted_folders.toml").write_text(lists.format(**paths))
    settings = VIBE.settings(str(project))
    assert [what for what, _ in VIBE.switches(settings, str(project))] == (
        [] if is_trusted else [f"Mistral Vibe does not trust {project}: it ignores the project's hooks"]
    )


def test_it_loses_its_models_keys_and_servers_and_keeps_the_rest(home: Path) -> None:
    before = """
        theme = "dark"
        [[providers]]
        name = "mistral"
        api_key_env_var = "MISTRAL_API_KEY"
        [[mcp_servers]]
        name = "s"
        command = "real"
        """
    after = prepared(home, "vibe", before)
    assert after["theme"] == "dark"
    assert [each["name"] for each in after["providers"]] == ["tenterhook"]
    assert "mcp_servers" not in after
    assert not after["experiments"]["enable"]
