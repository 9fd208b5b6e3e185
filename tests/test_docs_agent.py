"""docs/agent.md and docs/embedding.md say what is so: scripts are played, settings loaded, tables compared.

Their console and Python examples are run with those of every other page, by test_docs.py.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic_ai.messages import ModelRequest, UserPromptPart

from support import array_hook, folder_hook, tenterhook, user_hooks, write_config
from tenterhook.approvals.requests import MODES
from tenterhook.basics.model_script import ANSWER_KEYS, CALL_KEYS, ModelScript
from tenterhook.bundled_agent import models, settings
from tenterhook.bundled_agent.session_record import SessionRecord
from tenterhook.bundled_agent.subagents import Tasks
from tenterhook.bundled_agent.tools import Tools
from tenterhook.cli.agent import STATUS, agent
from tenterhook.errors import HookError
from tenterhook.events import EVENTS, spec_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
AGENT = (ROOT / "docs" / "agent.md").read_text()
EMBEDDING = (ROOT / "docs" / "embedding.md").read_text()


def block(page: str, language: str) -> str:
    """The only example of a page in one language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(found)


def rows(page: str, section: str) -> dict[str, str]:
    """The first table of a section: its first column without its quotes, and the rest of each row."""
    text = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    table = text[text.index("\n|---") :].partition("\n\n")[0]
    return {
        row.split(" | ")[0].strip("| `"): row.partition(" | ")[2].removesuffix("|").strip()
        for row in table.splitlines()[2:]
    }


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


# ------------------------------------------------------------------ settings


def test_the_settings_load_and_name_every_key(home: Path) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", block(AGENT, "toml"))
    loaded = settings.load()
    assert all(value is not None for value in loaded)
    assert loaded == settings.AgentSettings(
        model=loaded.model, base_url=loaded.base_url, rules=loaded.rules, tools=loaded.tools
    )  # the defaults
    assert {rule.answer for rule in loaded.rules} == {"approve", "deny", "ask"}
    given = {key for rule in loaded.rules for key, value in rule._asdict().items() if value is not None}
    assert given == set(loaded.rules[0]._fields)


def test_the_rules_of_the_settings_decide(home: Path, project: Path) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", block(AGENT, "toml"))
    commands = ["git status", "git status; touch made", "echo hello && git push"]
    calls = [{"tool": "Shell", "input": {"command": command}} for command in commands]
    script = {"answers": [{"calls": calls}, {"text": "done"}], "log": "log"}
    ended = play(project, json.dumps(script), "--mode", "ask")
    assert ended.returncode == 0, ended.stderr
    results = [each for each in log(project)[-1]["messages"] if each["role"] == "tool"]
    assert [each["content"] for each in results if each.get("failed")][-1] == "A person pushes."
    assert "failed" not in results[0]
    assert results[1]["content"].startswith("There is nobody to ask")


def test_the_modes_ask_about_what_the_page_says() -> None:
    assert {mode: {*quoted(asked)} for mode, asked in rows(AGENT, "Settings and rules").items()} == MODES


# ------------------------------------------------------------------ the command


def test_the_commands_of_the_page_have_options_that_exist() -> None:
    lines = [line for text in re.findall(r"^```sh\n(.*?)^```", AGENT, re.M | re.S) for line in text.splitlines()]
    commands = [shlex.split(line.partition("| ")[2] or line, comments=True) for line in lines]
    ours = [command[2:] for command in commands if command[:2] == ["tenterhook", "agent"]]
    assert len(ours) == 6
    for arguments in ours:
        agent.make_context("agent", arguments)


def test_the_models_of_the_page_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [name for name in quoted(AGENT.partition("\n## Models\n")[2].partition("\n## ")[0]) if ":" in name]
    named = [name for name in names if re.fullmatch(r"\w+:[\w.-]+", name) and not name.startswith("scripted")]
    assert len(named) == 4
    for variable in ("OPENAI_API_KEY", "MOONSHOTAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "none")
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:11434/v1")
    for name in named:
        try:
            assert models.named(name, None, "config.toml").model_name == name.partition(":")[2]
        except HookError as error:
            assert "needs a package that is not installed" in str(error)


def test_the_tools_have_the_inputs_of_the_page(tmp_path: Path) -> None:
    from pydantic_ai import Tool

    nobody: Any = None  # a tool's inputs can be read without a session
    task = Tool(Tasks(nobody).task, name="Task", takes_ctx=True)
    made = (*Tools(str(tmp_path), dict).all(), task)
    inputs = {tool.name: [*tool.function_schema.json_schema["properties"]] for tool in made}
    assert {name: quoted(listed) for name, listed in rows(AGENT, "Tools").items()} == inputs


def test_every_exit_status_is_on_the_page() -> None:
    assert {*map(int, rows(AGENT, "For programs"))} == {*STATUS.values(), 64}


def test_every_command_of_a_session_is_on_the_page() -> None:
    from tenterhook.bundled_agent import terminal

    named = {key.split()[0] for key in rows(AGENT, "Keys and commands of a session")} - {"Ctrl-C"}
    assert named == set(re.findall(r"^/\w+", terminal._HELP, re.MULTILINE))


def test_what_json_prints_is_as_the_page_shows_it(home: Path, project: Path) -> None:
    shown = json.loads(block(AGENT, "json"))
    folder_hook(user_hooks(home), "keep-files", "exit 2", matcher={"pattern": r"\brm\b"})
    calls = [[{"tool": "Shell", "input": {"command": command}}] for command in ("rm x", "true")]
    script = {"answers": [*({"calls": call} for call in calls), {"text": shown["answer"]}]}
    printed = json.loads(play(project, json.dumps(script), "--json").stdout)
    assert {**printed, "session_id": shown["session_id"]} == shown


# ------------------------------------------------------------------ scripts


def play(project: Path, script: str, *options: str, prompt: str = "Go.") -> subprocess.CompletedProcess[str]:
    """One turn of the real command with a script as its model."""
    (project / "script.yaml").write_text(script)
    arguments = ("--model", "scripted:script.yaml", "--mode", "yolo", *options)
    return tenterhook("agent", prompt, *arguments, cwd=project, stdin=subprocess.DEVNULL)


def log(project: Path, file: str = "log") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / file).read_text().splitlines()]


def test_the_script_plays_as_the_page_says(project: Path) -> None:
    ended = play(project, block(AGENT, "yaml"))
    assert ended.returncode == 1
    assert "overloaded" in ended.stderr
    keys = rows(AGENT, "A script instead of a model")
    requests = log(project, "requests.jsonl")
    assert {request["who"] for request in requests} == {*quoted(keys["who"]), "reviewer"}
    assert all(set(request) == set(keys) for request in requests)
    said = {key for request in requests for message in request["messages"] for key in message}
    assert said <= set(quoted(keys["messages"]))
    assert "They said hello." in requests[-1]["messages"][0]["content"]


def test_the_script_of_the_page_has_every_key(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(block(AGENT, "yaml"))
    assert not ModelScript.load(str(tmp_path / "script.yaml")).is_used_up
    found = yaml.safe_load(block(AGENT, "yaml"))
    lists = [found["answers"], found["summaries"], *found["tasks"].values()]
    answers = [answer for answers in lists for answer in answers]
    assert {key for answer in answers for key in answer} == ANSWER_KEYS
    assert {key for answer in answers for call in answer.get("calls", ()) for key in call} == CALL_KEYS


# ------------------------------------------------------------------ the file of a session


def test_every_line_of_a_session_is_on_the_page(home: Path, project: Path) -> None:
    hooks = [
        array_hook("echo noted", "UserPromptSubmit"),
        array_hook("exit 2", "UserPromptSubmit", matcher="^Refuse"),
        array_hook("""echo '{"decision": "allow"}'""", "PermissionRequest"),
        array_hook("""echo '{"additional_context": "for later"}'""", "Stop"),
    ]
    write_config(home / ".kimi-code" / "config.toml", "".join(hooks))
    nobody: dict[str, Any] = {"tool": "Task", "input": {"name": "nobody", "description": "fail", "prompt": "Fail."}}
    script = yaml.safe_load(block(AGENT, "yaml"))
    later = {"tool": "Task", "input": {**nobody["input"], "background": True}}
    script["answers"][0]["calls"] += [nobody, later]
    assert play(project, json.dumps(script), "--mode", "ask").returncode == 1
    assert play(project, json.dumps(script), prompt="Refuse this.").returncode == 2
    assert play(project, json.dumps({"answers": [{"text": "Done."}]})).returncode == 0
    changed = SessionRecord("session_changed", pytest.fail)
    for text in ("one", "another"):
        changed.write_new([ModelRequest(parts=[UserPromptPart(text)])])
    files = list((home / ".local" / "state" / "tenterhook" / "agent").glob("*.jsonl"))
    assert len(files) == 4
    written: dict[str, set[str]] = {}
    for line in [line for file in files for line in file.read_text().splitlines()]:
        entry = json.loads(line)
        written.setdefault(entry["type"], set()).update(entry.keys() - {"type", "time"})
    table = {key: re.sub(r"\([^)]*\)", "", row) for key, row in rows(AGENT, "The file of a session").items()}
    assert {key: {name for name in quoted(row) if re.fullmatch(r"\w+", name)} for key, row in table.items()} == written


# ------------------------------------------------------------------ embedding


def example(name: str, project: Path) -> list[str]:
    """What an example prints, line by line."""
    command = [sys.executable, str(ROOT / "examples" / name)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=project, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_the_plain_loop_is_as_short_as_the_page_says() -> None:
    assert "in under 60 lines" in EMBEDDING
    assert len((ROOT / "examples" / "plain_loop.py").read_text().splitlines()) < 60


def test_the_plain_loop_asks_and_runs(project: Path) -> None:
    (project / "secret.txt").write_text("the secret")
    assert example("plain_loop.py", project) == [
        "may it run command? cat secret.txt",
        "may it run command? echo made it",
        "Make it.",
        "result: the secret",
        "result: made it",
    ]


def test_the_plain_loop_does_what_hooks_say(home: Path, project: Path) -> None:
    hooks = user_hooks(home)
    (project / "secret.txt").write_text("the secret")
    folder_hook(hooks, "guard", "echo 'Not that.' >&2; exit 2", matcher={"pattern": "secret"})
    folder_hook(hooks, "louder", """echo '{"modified_input": {"command": "echo MADE"}}'""", matcher={"pattern": "made"})
    folder_hook(hooks, "start", """echo '{"additional_context": "a house rule"}'""", "pre-session")
    folder_hook(hooks, "after", """echo '{"additional_context": "seen"}'""", "post-tool-call")
    folder_hook(hooks, "pity", """echo '{"additional_context": "pity"}'""", "post-tool-call-failure")
    folder_hook(hooks, "stop", "[ -e stopped ] || { touch stopped; echo 'Look again.' >&2; exit 2; }", "before_stop")
    folder_hook(hooks, "end", "touch ended", "post-session")
    assert example("plain_loop.py", project) == [
        "may it run command? echo MADE",
        *("a house rule", "Make it."),
        *("result: Not that.", "pity"),
        *("result: MADE", "seen"),
        "[Hook blocked stop: Look again.]",
    ]
    assert (project / "ended").exists()


@pytest.mark.parametrize(
    ("event", "printed"), [("pre-session", []), ("pre-agent-turn", ["answer: Not today."])], ids=["session", "prompt"]
)
def test_the_plain_loop_does_not_begin_where_hooks_refuse(
    event: str, printed: list[str], home: Path, project: Path
) -> None:
    folder_hook(user_hooks(home), "no", "echo 'Not today.' >&2; exit 2", event)
    assert example("plain_loop.py", project) == printed


def test_the_pydantic_agent_finds_another_way(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "asked", "touch asked", "pre-subagent")
    printed = example("pydantic_agent.py", project)
    assert printed[-2:] == ["It is on staging.", "post-session none"]
    decisions = [line.split() for line in printed if line != "It is on staging."]
    assert [event for event, decision in decisions if decision == "deny"] == ["pre-tool-call"]
    fired = {event for event, _ in decisions}
    assert fired == {name for name, who in rows(EMBEDDING, "Who fires what").items() if fires_by_itself(name, who)}
    assert (project / "asked").exists()


def fires_by_itself(name: str, who: str) -> bool:
    """Whether an event needs neither a person nor a failure, and not to be fired by hand."""
    if name in ("permission-request", "permission-result", "post-agent-turn-failure"):
        return False
    return who.startswith(("the capability", "the gate", "you, with `begin`", "you, with `end`"))


def test_every_event_has_its_row_with_the_fields_it_has() -> None:
    table = rows(EMBEDDING, "Who fires what")
    assert set(table) == {spec.name for spec in EVENTS}
    for name, row in table.items():
        who, fields = row.split(" | ") if " | " in row else (row.removesuffix("|"), "")
        assert who.startswith("you, with") == bool(fields), name
        spec = spec_of(name)
        known = {*spec.fields, *(column.name for column in spec.columns)}
        assert not fields or set(quoted(fields)) == known, name
