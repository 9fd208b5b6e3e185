"""Hermes: what its plug-in sends and is answered, patches, and what leaves the plug-in out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from hosts.homes import URL, write
from hosts.recorded import DATA, answer, read
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

HERMES = AGENTS["hermes"]


def test_a_question_is_put_by_the_plug_in_where_a_person_can_answer() -> None:
    said = answer("hermes/pre_tool_call", Verdict("", Action.ASK, "sure?"))
    assert (json.loads(said.stdout), said.lost) == ({"ask": "sure?"}, ())
    assert HERMES.is_attended({})
    assert not HERMES.is_attended({b"HERMES_UNATTENDED": b"1"})


def test_a_prompt_that_is_blocked_reaches_the_model_with_the_reason() -> None:
    said = answer("hermes/pre_llm_call", Verdict("", Action.DENY, "not now"))
    assert json.loads(said.stdout) == {"context": "not now"}
    assert said.lost == ("block: it has no effect",)


def test_its_names_of_subagents_turns_and_answers_are_ours() -> None:
    assert read(DATA / "hermes" / "subagent_start.json").event.fields["subagent_name"] == "leaf"
    assert read(DATA / "hermes" / "subagent_stop.json").event.fields["response"] == "All done."
    turn = read(DATA / "hermes" / "post_llm_call.json").event.fields
    assert (turn["prompt"], turn["response"]) == ("please run the scripted command", "FINAL-TEXT")
    approved = read(DATA / "hermes" / "post_approval_response.json").event.fields
    assert (approved["decision"], approved["scope"]) == ("approved", "once")


def patched(**given: Any) -> tuple[Any, Any]:
    payload = {"session_id": "s", "cwd": "/", "tool_name": "patch", "tool_input": given}
    seen = HERMES.read_event(payload, "pre_tool_call").event.tool_input
    return seen.get("file_path"), seen.get("file_paths")


PATCH = """*** Begin Patch
*** Update File: /a.py
@@
-x
+*** Add File: /not/this
***Add   File:/b.py
*** Delete File:  /c.py
*** Move File: /d.py -> /e.py
*** End Patch"""


def test_every_file_of_a_patch_is_seen_in_the_spelling_that_hermes_takes() -> None:
    assert patched(mode="patch", patch=PATCH) == ("/a.py", ["/a.py", "/b.py", "/c.py", "/d.py", "/e.py"])


def test_a_harmless_path_beside_a_patch_and_a_patch_beside_a_replacement_hide_nothing() -> None:
    assert patched(mode="patch", path="/harmless", patch=PATCH)[0] == "/a.py"
    assert patched(mode="replace", path="/secret", old_string="x", new_string=PATCH) == ("/secret", None)
    assert patched(path="/secret", patch=PATCH) == ("/secret", None)  # the mode is `replace` unless it is named


def test_a_modified_patch_is_given_back_without_the_files() -> None:
    received = read(DATA / "hermes" / "pre_tool_call-patch-of-files.json")
    changed = {**received.event.tool_input, "patch": "other"}
    said = HERMES.write_verdict(received, Verdict("pre-tool-call", modified_input=changed))
    assert json.loads(said.stdout)["input"] == {"mode": "patch", "patch": "other"}


def test_a_path_below_the_home_is_the_one_that_is_written(home: Path) -> None:
    payload = {"session_id": "s", "cwd": "/", "tool_name": "write_file", "tool_input": {"path": "~/x", "content": ""}}
    received = HERMES.read_event(payload, "pre_tool_call")
    assert received.event.tool_input["file_path"] == f"{home}/x"
    said = HERMES.write_verdict(
        received, Verdict("pre-tool-call", modified_input={**received.event.tool_input, "content": "y"})
    )
    assert json.loads(said.stdout)["input"] == {"path": "~/x", "content": "y"}


def test_a_replaced_text_leaves_no_other_text_of_the_result() -> None:
    shell = answer("hermes/post_tool_call", Verdict("", modified_output="[redacted]"))
    assert json.loads(shell.stdout)["output"] == {"output": "[redacted]", "exit_code": 0, "error": None}
    mcp = answer("hermes/post_tool_call-mcp", Verdict("", modified_output="[redacted]"))
    assert json.loads(mcp.stdout)["output"] == {"result": "[redacted]"}
    found = answer("hermes/post_tool_call-search_files", Verdict("", modified_output="[redacted]"))
    assert json.loads(found.stdout)["output"] == "[redacted]"
    whole = answer("hermes/post_tool_call", Verdict("", modified_output={"output": "x"}))
    assert json.loads(whole.stdout)["output"] == {"output": "x"}


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.yaml", "plugins:\n  enabled: [tenterhook]\n", None),
        ("config.yaml", "plugins:\n  enabled: [tenterhook]\n  disabled: [tenterhook]\n", "`plugins.disabled` in "),
        ("config.yaml", "plugins: 3\n", None),
        (".env", "OPENAI_API_KEY=x\nexport HERMES_SAFE_MODE='1'\n", "HERMES_SAFE_MODE in "),
        (".env", "HERMES_SAFE_MODE=0\n", None),
        ("active_profile", "coder\n", "the profile coder, which does not have our plug-in"),
        ("active_profile", "default\n", None),
        ("managed/config.yaml", "plugins:\n  enabled: [theirs]\n", "replaces the list in"),
        ("managed/config.yaml", "plugins:\n  disabled: [tenterhook]\n", "`plugins.disabled` in "),
        ("managed/config.yaml", "model: x\n", None),
    ],
)
def test_what_leaves_our_plug_in_out_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch, file: str, content: str, said: str | None
) -> None:
    path = home / ".hermes" / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(home / ".hermes" / "managed"))
    found = list(HERMES.switches(HERMES.settings(), "/"))
    assert len(found) == (said is not None)
    assert said is None or said in found[0][0]


def test_safe_mode_in_the_environment_is_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_SAFE_MODE", "true")
    assert [how for _, how in HERMES.switches(HERMES.settings(), "/")] == ["unset HERMES_SAFE_MODE"]


def test_profiles_are_mentioned_where_there_are_any(home: Path) -> None:
    assert len(list(HERMES.install_notes(in_project=False))) == 1
    (home / ".hermes" / "profiles" / "coder").mkdir(parents=True)
    assert "profiles/NAME" in list(HERMES.install_notes(in_project=False))[1]


def test_it_keeps_plug_ins_and_loses_other_models_and_mcp_servers(home: Path) -> None:
    before = {
        "model": {"api_key": "sk-real", "default": "mine"},
        "fallback_providers": [{"api_key": "sk-real"}],
        "mcp_servers": {"x": {"command": "real"}},
        "plugins": {"enabled": ["tenterhook"]},
        "skills": {"creation_nudge_interval": 10, "kept": 1},
    }
    file = write(home, "hermes", yaml.safe_dump(before))
    HERMES.prepare(home, URL)
    after = yaml.safe_load(file.read_text())
    assert after["plugins"] == before["plugins"]
    assert "real" not in json.dumps(after)
    assert after["model"]["base_url"] == f"{URL}/v1"
    assert after["skills"] == {"creation_nudge_interval": 0, "kept": 1}
