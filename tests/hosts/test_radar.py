"""What is said about the newest releases of agents: how they differ from what was recorded."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import yaml

from hosts import coverage, radar
from hosts.radar import Found
from tenterhook.agents import AGENTS

BEFORE = {
    "pre-tool-call": {"names": ["PreToolUse"], "fires": {"plain": "yes"}, "block": {"plain": "yes", "subagent": "yes"}},
    "pre-session": {"names": ["SessionStart"], "fires": {"plain": "yes"}},
}


def test_events_that_come_no_longer_and_new_ones_are_named() -> None:
    now = {"pre-tool-call": {"names": ["PreToolUse", "ToolCall"]}, "pre-session": {"names": []}}
    assert [*radar.event_changes(BEFORE, now)] == ["`SessionStart` no longer comes", "`ToolCall` is new"]
    assert [*radar.event_changes(BEFORE, BEFORE)] == []


def test_an_answer_that_has_another_effect_is_named_with_both() -> None:
    now = {**BEFORE, "pre-tool-call": {**BEFORE["pre-tool-call"], "block": {"plain": "no: the tool runs"}}}
    assert [*radar.answer_changes(BEFORE, now)] == [
        "pre-tool-call, block, plain: was “yes”, is “no: the tool runs”",
        "pre-tool-call, block, subagent: was “yes”, is “nothing was seen”",
    ]
    assert [*radar.answer_changes(BEFORE, BEFORE)] == []


def test_the_report_has_every_agent_and_what_changed() -> None:
    changed = Found("codex", "9.9.9", {"Events": [], "Payloads": ["`Stop`: `turn_id` is gone"]})
    text = radar.report([changed, Found("qwen", "1.0.0"), Found("droid", skipped="not installed: no npm")], ["test_x"])
    proven = coverage.proven(coverage.read())
    assert f"| codex | {proven['codex']['version']} | 9.9.9 | 1 |" in text
    assert f"| qwen | {proven['qwen']['version']} | 1.0.0 | 0 |" in text
    assert f"| droid | {proven['droid']['version']} | – | not installed: no npm |" in text
    assert "## Codex 9.9.9\n\n### Payloads\n\n- `Stop`: `turn_id` is gone\n" in text
    assert "### Events" not in text
    assert "- `test_x`" in text
    assert "Nothing has changed." in radar.report([Found("qwen", "1.0.0", {"Events": []})], [])


def test_payloads_of_new_tools_and_with_new_keys_are_kept_once_and_without_paths(tmp_path: Path) -> None:
    where = "/tmp/tenterhook-radar-x1/codex-3"
    plain = {"cwd": f"{where}/project", "tool_name": "Bash", "file": "/h/-tmp-tenterhook-radar-x1-codex-3-project/a"}
    server = {**plain, "tool_name": "mcp__echo__echo"}
    more = {**plain, "turn": {"id": 1}}
    seen: radar.Payloads = {"PreToolUse": [plain, server, server, more, more], "Stop": [{"cwd": "/"}]}
    kept = [*radar.keep_new(AGENTS["codex"], {"PreToolUse": [plain]}, seen, tmp_path, "/tmp/tenterhook-radar-x1")]
    assert [file.name for file in kept] == ["PreToolUse-mcp.json", "PreToolUse-turn.json", "Stop.json"]
    assert json.loads(kept[1].read_text()) == {
        **{"cwd": "/work/project", "tool_name": "Bash", "file": "/h/-work-project/a"},
        "turn": {"id": 1},
    }


def test_a_payload_is_kept_as_it_was_sent_and_goes_on_to_the_launcher(tmp_path: Path) -> None:
    runs = radar.RecordedRuns("codex", Path("/nonexistent"), tmp_path)
    place = coverage.Place(AGENTS["codex"], Path("/nonexistent"), tmp_path / "codex-1")
    launcher = place.home / ".local" / "state" / "tenterhook" / "launcher.sh"
    launcher.parent.mkdir(parents=True)
    launcher.write_text('echo "$1 $2 $3"; cat; exit 2\n')
    runs.installed(place)
    for text in ('{"a": "é"}', "not JSON"):
        ended = subprocess.run(
            ["/bin/sh", launcher, "codex", "Stop", "open"], input=text, capture_output=True, text=True
        )
        assert (ended.returncode, ended.stdout) == (2, f"codex Stop open\n{text}")
    assert runs.payloads() == {"Stop": [{"a": "é"}]}


def test_the_workflow_runs_it_daily_and_keeps_what_it_writes() -> None:
    workflow = yaml.safe_load((radar.ROOT / ".github" / "workflows" / "agents-latest.yml").read_text())
    steps = workflow["jobs"]["agents-latest"]["steps"]
    assert "make agents-latest" in [step.get("run") for step in steps]
    assert steps[-1]["with"]["path"] == str(radar.REPORT.relative_to(radar.ROOT))
    assert "\nagents-latest: " in (radar.ROOT / "Makefile").read_text()
