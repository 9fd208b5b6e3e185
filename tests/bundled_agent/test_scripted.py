"""`scripted:FILE`: what a script may say, and what is said about one that is wrong."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import shell, task, tool
from support import tenterhook
from tenterhook.basics.model_script import ModelScript
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path

    from bundled_agent.playing import Play


def played(script: Path | str, *options: str) -> subprocess.CompletedProcess[str]:
    """A session with a script that is there, or is not."""
    model = f"scripted:{script}"
    return tenterhook("agent", "go", "--model", model, "--mode", "yolo", *options, stdin=subprocess.DEVNULL)


# ------------------------------------------------------------------ scripts that are wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answers: [", "is not YAML"),
        ("answers: !!python/object:os.system {}", "is not YAML"),
        ("\ttext", "is not YAML"),
        ("answers:\n  - text: \xff", "is not YAML"),
        ("", "is no script"),
        ("just text", "is no script"),
        ("- text: Done.", "is no script"),
        ("answers: []\nanswer: []", "is no script"),
        ("answers: Done.", "not a list of answers"),
        ("answers: {text: Done.}", "not a list of answers"),
        ("answers: [Done.]", "answer 1"),
        ("answers: [{text: a}, {txt: b}]", "answer 2"),
        ("answers: [{calls: [Shell]}]", "answer 1"),
        ("answers: [{calls: [{input: {command: ls}}]}]", "answer 1"),
        ("answers: [{calls: [{tool: Shell, arguments: {}}]}]", "answer 1"),
        ("answers: [{text: Done.}]\ntasks: [helper]", "tasks"),
        ("answers: [{text: Done.}]\ntasks: {helper: Done.}", "helper"),
        ("answers: [{text: Done.}]\ntasks: {helper: [{txt: x}]}", "helper"),
        ("answers: [{text: Done.}]\nsummaries: x", "summar"),
        # values that only show when they are played, unless they are looked at before
        ("answers: [{text: a}, {calls: 5}]", "answer 2"),
        ("answers: [{text: a}, {calls: null, text: b}]", "answer 2"),
        ("answers: [{text: a}, {calls: [{tool: Shell, input: ls}]}]", "answer 2"),
        ("answers: [{text: a}, {calls: [{tool: 5}]}]", "answer 2"),
        ("answers: [{text: a}, {tokens: 5}]", "answer 2"),
        ("answers: [{text: a}, {tokens: {input: many}}]", "answer 2"),
        ("answers: [{text: a}, {delay: soon}]", "answer 2"),
        ("answers: [{text: a}, {error: overloaded}]", "answer 2"),
        ("answers: [{text: a}, {error: {status: high}}]", "answer 2"),
        ("answers: [{text: a}, {expect: '('}]", "answer 2"),
    ],
)
def test_a_script_that_is_wrong_is_refused_before_anything_is_played(project: Path, text: str, said: str) -> None:
    (project / "script.yaml").write_bytes(text.encode("latin-1"))
    with pytest.raises(HookError) as error:
        ModelScript.load("script.yaml")
    assert said in error.value.message
    assert "script.yaml" in error.value.message
    assert error.value.remedy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answers: [", "script.yaml is not YAML"),
        ("answer: []", "script.yaml is no script"),
        ("answers: [{text: a}, {calls: [{tool: Shell, command: ls}]}]", "answer 2"),
    ],
)
def test_the_agent_says_so_and_does_not_start(home: Path, project: Path, text: str, said: str) -> None:
    (project / "script.yaml").write_text(text)
    ended = played("script.yaml")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (home / ".local/state/tenterhook/agent").exists()


@pytest.mark.parametrize(("name", "said"), [("missing.yaml", "No such file"), (".", "Is a directory"), ("", "No such")])
def test_a_script_that_is_not_there_is_said(project: Path, name: str, said: str) -> None:
    ended = played(name)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_script_may_be_named_in_the_settings(play: Play) -> None:
    (play.root / "other.yaml").write_text("answers: [{text: From the settings.}]")
    file = play.home / ".config/tenterhook/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[agent]\nmodel = "scripted:{play.root}/other.yaml"\n')
    ended = tenterhook("agent", "go", stdin=subprocess.DEVNULL)
    assert (ended.returncode, ended.stdout) == (0, "From the settings.\n")


# ------------------------------------------------------------------ scripts that cannot go on


def test_an_expectation_that_is_not_met_fails_the_turn(play: Play) -> None:
    failed = play.hook("folder post-agent-turn-failure")
    session = play.run([shell("echo found")], {"text": "Never said.", "expect": "lost"}, exits=1)
    assert session.report["outcome"] == "failed"
    assert "script1.yaml expects 'lost'" in session.report["reason"]
    assert "found" in session.report["reason"]
    assert session.report["reason"].strip() in session.shown.strip()
    assert session.answer == ""
    assert failed.once["error_type"] == "ScriptError"


def test_an_expectation_is_searched_in_everything_the_model_is_sent(play: Play) -> None:
    (play.project / "a.txt").write_text("from a file")
    session = play.run(
        {"calls": [tool("ReadFile", file_path="a.txt")], "expect": "(?s)coding agent.*the prompt$"},
        {"text": "One.", "expect": "1\tfrom a f[i]le"},
        prompt="the prompt",
    )
    assert session.answer == "One."


def test_without_an_answer_left_the_turn_fails(play: Play) -> None:
    session = play.run([shell("touch ran")], exits=1)
    assert play.ran("ran")
    assert "no answer left for agent: 1 were given" in session.report["reason"]
    nothing = play.run(exits=1)
    assert "no answer left for agent: 0 were given" in nothing.report["reason"]


def test_a_subagent_without_answers_fails_as_a_call(play: Play) -> None:
    session = play.run([task("helper")], [task("stranger")], "Done.", tasks={"helper": []})
    helper, stranger = session.last.failed
    assert "no answer left for helper" in helper
    assert "no answer left for stranger: 0 were given" in stranger
    assert session.answer == "Done."


def test_an_error_is_the_models(play: Play) -> None:
    failed = play.hook("folder post-agent-turn-failure")
    session = play.run({"error": {"status": 503, "message": "overloaded"}}, "Never said.", exits=1)
    assert session.report["outcome"] == "failed"
    assert "503" in session.report["reason"]
    assert "overloaded" in session.report["reason"]
    assert failed.once["error_type"] == "ModelHTTPError"
    again = play.run("Better now.", prompt="again", options=["--resume", session.id])
    assert again.answer == "Better now."
    assert again.last.users == ["go", "again"]


def test_an_error_of_a_subagent_fails_its_call(play: Play) -> None:
    session = play.run([task("helper")], "Done.", tasks={"helper": [{"error": {}}]})
    assert "500" in session.last.failed[0]
    assert session.answer == "Done."


# ------------------------------------------------------------------ what a script says


def test_tokens_are_counted(play: Play) -> None:
    session = play.run(
        {"calls": [shell("true")], "tokens": {"input": 1200, "output": 30}},
        {"text": "Done.", "tokens": {"input": 1300}},
    )
    assert session.report["usage"] == {"input_tokens": 2500, "output_tokens": 30}
    assert session.report["steps"] == 2


def test_an_answer_may_take_its_time(play: Play) -> None:
    begun = time.monotonic()
    session = play.run({"text": "Done.", "delay": 1.5})
    assert time.monotonic() - begun >= 1.5
    assert session.answer == "Done."


def test_text_and_calls_of_one_answer_and_their_order(play: Play) -> None:
    ended = played(
        write(
            play,
            [
                {"text": "I will look.\nAt both.", "calls": [{**shell("echo a"), "id": "mine"}, shell("echo b")]},
                {"text": "Done."},
            ],
        )
    )
    assert ended.stdout == "I will look.\nAt both.\nDone.\n"
    assert "Shell  echo a" in ended.stderr
    (_, last) = (json.loads(line) for line in (play.root / "log.jsonl").read_text().splitlines())
    said = next(message for message in last["messages"] if message["role"] == "assistant")
    assert said["content"] == "I will look.\nAt both."
    assert [call["input"] for call in said["calls"]] == [{"command": "echo a"}, {"command": "echo b"}]
    results = [message for message in last["messages"] if message["role"] == "tool"]
    assert [result["id"] for result in results] == [call["id"] for call in said["calls"]]
    assert results[0]["id"] == "mine"


def test_the_log_has_every_request_as_the_model_got_it(play: Play) -> None:
    session = play.run(
        [task("helper", "help")],
        {"calls": [tool("ReadFile", file_path="missing")], "tokens": {"input": 200_000, "output": 1}},
        "Done.",
        tasks={"helper": ["helped"]},
        summaries=["It went well."],
    )
    assert [request.who for request in session.requests] == ["agent", "helper", "agent", "summary", "agent"]
    assert all("coding agent" in request.instructions for request in session.by())
    helper = session.by("helper")[0]
    assert helper.users == ["help"]
    assert "It went well." in session.last.text
    assert session.last.results[0]["failed"] is True


def test_every_process_begins_at_the_first_answer(play: Play) -> None:
    script = write(play, [{"text": "First."}, {"text": "Second."}])
    assert [played(script, *more).stdout for more in ((), ("--resume",))] == ["First.\n"] * 2


def test_the_model_is_named_after_its_script(play: Play) -> None:
    heard = play.hook("folder pre-session")
    session = play.run("Done.")
    assert heard.once["model"] == session.kept("session")[0]["model"] == "scripted:script1.yaml"


def test_a_call_of_a_tool_that_is_not_there_or_with_an_input_it_does_not_take(play: Play) -> None:
    calls: list[Any] = [tool("Nothing", x=1), shell("true"), tool("Shell", line="ls"), shell("true")]
    session = play.run(*([call] for call in calls), "Done.")
    unknown, wrong = session.last.failed
    assert "Nothing" in unknown
    assert "command" in wrong
    assert session.answer == "Done."


def write(play: Play, answers: list[dict[str, Any]]) -> Path:
    """A script with a log."""
    script = play.root / "script.yaml"
    script.write_text(json.dumps({"answers": answers, "log": "log.jsonl"}))  # JSON is YAML
    return script
