"""What a look at a hook's texts shows: the fields it speaks of, whether it prints text, the scripts it runs."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from converting.ways import FILES, Converted, convert
from support import array_hook, tenterhook, write_config
from tenterhook import Event
from tenterhook.converting import printed
from tenterhook.converting.sight import Sight, Text

if TYPE_CHECKING:
    from pathlib import Path


# ---- which fields it speaks of


@pytest.mark.parametrize(
    "text",
    [
        'process.stdout.write(JSON.stringify({systemMessage: "no"}))',
        'const answer = {\n  decision: "deny",\n  systemMessage: `no`,\n};',
        "const answer = { decision, systemMessage };",
        "const { systemMessage, ...rest } = JSON.parse(text);",
        """jq -n '{decision: "deny", systemMessage: "no"}'""",
        "jq --arg systemMessage no '{$systemMessage, systemMessage}'",
        """jq '.systemMessage = "no"'""",
        """jq '.a|.systemMessage'""",
        'echo "{\\"systemMessage\\": \\"no\\"}"',
    ],
)
def test_a_key_is_seen_with_quotes_and_without(text: str) -> None:
    assert Sight((Text(text),)).reads(["systemMessage", "cwd"]) == ["systemMessage"]


@pytest.mark.parametrize(
    "text",
    [
        'echo "${prompt}"',
        "import sys\n\ndef ask(a: str, prompt: str) -> None:\n    prompt: str = a\n",
        "for (;;) { if (done) continue; }\n// prompt\n",
        "prompt=1; case $x in prompt) ;; esac",
        "switch (x) { case 1: continue }\nfor (;;) { continue }",
    ],
)
def test_a_word_that_is_no_key_is_not_taken_for_one(text: str) -> None:
    assert Sight((Text(text),)).reads(["prompt", "continue"]) == []


# ---- whether it prints text


@pytest.mark.parametrize(
    ("command", "may"),
    [
        ("exit 2", False),
        ("cat > /dev/null; echo no >&2; exit 2", False),
        ("echo no 1>&2", False),
        ("echo no", True),
        ("""echo '{"decision": "deny"}'""", False),
        ("""printf '%s\\n' '{"decision": "deny"}'""", False),
        ("""printf '{"decision": "deny"}\\n'""", False),
        ("jq -n '{decision: \"deny\"}'", False),
        ("jq -r .tool_name", True),
        ('command=$(jq -r .tool_name); [ -n "$command" ] && exit 2', False),
        ("if jq -e .x | grep -q rm; then echo no >&2; exit 2; fi", False),
        ("if grep rm; then exit 2; fi", True),
        ('cat <<END\n{"decision": "deny"}\nEND\n', False),
        ("cat <<END\nno\nEND\n", True),
        ("no() { echo no >&2; }\nno; exit 2", False),
        ("no() { echo no; }\nno; exit 2", True),
        ("{ echo a; echo b; } >> log", False),
        ("git status", True),
        ("if true; then", True),
        ("echo 🙂 >&2", True),
    ],
)
def test_whether_a_command_prints_text(command: str, may: bool) -> None:
    assert printed.may_be_text(Sight((Text(command),))) is may


@pytest.mark.parametrize(
    ("name", "script", "may"),
    [
        ("a.py", "import json\nprint(json.dumps({}))\n", False),
        ("a.py", "import sys\nprint('no', file=sys.stderr)\nsys.exit(2)\n", False),
        ("a.py", "print('no')\n", True),
        ("a.py", "print(", True),
        ("a.py", "import sys\nprint('no', file=sys.stdout)\n", True),
        ("a.py", "import sys\nout = sys.stdout\nout.write('no')\n", True),
        ("a.py", "import sys\nsys.stdout.flush()\n", False),
        ("a.py", "import json\nprint(json.dumps({}), 'no')\n", True),
        ("a.py", "import os\nos.write(1, b'no')\n", True),
        ("a.py", "from subprocess import run\nrun(['git', 'status'])\n", True),
        ("a.py", "import subprocess\nsubprocess.run(['git', 'status'])\n", True),
        ("a.py", "import subprocess\nsubprocess.run(['git', 'status'], capture_output=True)\n", False),
        ("a.js", "console.log(JSON.stringify({decision: 'deny'}));", False),
        ("a.js", "console.error('no'); process.exit(2);", False),
        ("a.js", "console.log('no');", True),
        ("a.rb", "exit 2", True),
        ("a", "#!/usr/bin/env node\nprocess.exit(2)", False),
        ("a", "#!/usr/bin/env python3\nraise SystemExit(2)", False),
    ],
)
def test_whether_a_script_prints_text(name: str, script: str, may: bool) -> None:
    assert printed.may_be_text(Sight((Text(f"./{name}"), Text(script, f"/project/{name}")))) is may


def test_a_script_that_was_not_read_may_print_text() -> None:
    assert printed.may_be_text(Sight((Text("./a.py"),), ("./a.py",)))


# ---- the scripts it runs

GUARD = "#!/bin/sh\nif grep -q 'rm -rf'; then echo 'not here' >&2; exit 2; fi\n"
VARIABLES = {"claude": "CLAUDE_PROJECT_DIR", "gemini": "GEMINI_PROJECT_DIR", "qwen": "QWEN_PROJECT_DIR"}
EVENTS = {"gemini": "BeforeTool"}


def project_with(tmp_path: Path, agent: str, command: str, script: str = GUARD, name: str = "guard.sh") -> Path:
    """The settings of a project whose hook runs a script of the agent's own folder."""
    project = tmp_path / "project"
    settings = project / FILES[agent]
    (settings.parent / "hooks").mkdir(parents=True)
    (settings.parent / "hooks" / name).write_text(script)
    (settings.parent / "hooks" / name).chmod(0o755)
    group = {"hooks": [{"type": "command", "command": command, "timeout": 30}]}
    settings.write_text(json.dumps({"hooks": {EVENTS.get(agent, "PreToolUse"): [group]}}))
    return settings


def answer(converted: Converted, directory: Path, command: str) -> tuple[int, str]:
    """How the script of a converted folder ends in some directory."""
    script = next((next(converted.path.iterdir()) / "scripts").glob("run.*"))
    event = Event("pre-tool-call", tool_name="Shell", tool_input={"command": command})
    sent = json.dumps({"tool_input": event.fields["tool_input"], "work_dir": str(directory)})
    ran = subprocess.run([script], input=sent, capture_output=True, text=True, cwd=directory, check=False)
    return ran.returncode, ran.stderr.strip()


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        *((agent, f'"${name}"/.{agent}/hooks/guard.sh') for agent, name in VARIABLES.items()),
        *((agent, f"sh ${{{name}}}/.{agent}/hooks/guard.sh --strict") for agent, name in VARIABLES.items()),
        ("claude", '"$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh"'),
        ("gemini", "./.gemini/hooks/guard.sh"),
        ("codex", "bash -e .codex/hooks/guard.sh"),
    ],
)
def test_a_script_of_the_project_is_copied_with_the_hook(tmp_path: Path, agent: str, command: str) -> None:
    source = project_with(tmp_path, agent, command)
    converted = convert(source, "folder", tmp_path / "there")
    (folder,) = converted.path.iterdir()
    assert (folder / "scripts" / "guard.sh").read_text() == GUARD
    assert os.access(folder / "scripts" / "guard.sh", os.X_OK)
    assert f".{agent}" not in (folder / "scripts" / "run.sh").read_text()
    assert any(f"{source.parent}/hooks/guard.sh is copied to scripts/guard.sh" in note.text for note in converted.notes)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert answer(converted, elsewhere, "rm -rf x") == (2, "not here")
    assert answer(converted, elsewhere, "ls") == (0, "")


def test_a_copy_is_no_longer_a_command_of_its_own(tmp_path: Path) -> None:
    source = project_with(tmp_path, "gemini", "$GEMINI_PROJECT_DIR/.gemini/hooks/guard.sh")
    there = convert(source, "folder", tmp_path / "there")
    back = convert(there.path, "claude", tmp_path / "back")
    assert back.hooks[0].command == f"{there.path}/pre-tool-call-0/scripts/run.sh"


def test_a_command_that_is_given_its_own_json_finds_its_copy(tmp_path: Path) -> None:
    (tmp_path / "guard.py").write_text("import json, sys\nsys.exit(2 if json.load(sys.stdin)['cwd'] else 0)\n")
    file = write_config(tmp_path / "config.toml", array_hook("python3 guard.py"))
    converted = convert(file, "folder", tmp_path / "there")
    assert (converted.path / "pre-tool-call-0/scripts/run.py").exists()
    assert answer(converted, tmp_path.parent, "ls") == (2, "")


@pytest.mark.parametrize(
    ("command", "script", "why"),
    [
        ("$CLAUDE_PROJECT_DIR/.claude/hooks/other.sh", GUARD, "there is no such file"),
        ("$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh", '. "$(dirname "$0")/words.sh"', "looks for other files"),
        ("$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh", ". .claude/hooks/words.sh", "it uses words.sh beside it"),
        ("node $CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh", "require('./words')", "looks for other files"),
        ("cd .claude && sh .claude/hooks/guard.sh", GUARD, "changes its directory"),
    ],
)
def test_a_script_that_cannot_be_copied_alone_stays_and_is_told_of(
    tmp_path: Path, command: str, script: str, why: str
) -> None:
    source = project_with(tmp_path, "claude", command, script)
    (source.parent / "hooks" / "words.sh").write_text("words=1\n")
    converted = convert(source, "folder", tmp_path / "there")
    (folder,) = converted.path.iterdir()
    assert sorted(os.listdir(folder / "scripts")) == ["run.sh"]
    assert command in (folder / "scripts" / "run.sh").read_text()
    assert [why in note.text and "scripts/" in note.text for note in converted.notes].count(True) == 1


@pytest.mark.parametrize(
    "command",
    [
        "eslint .claude/hooks/guard.sh",
        "sh -c 'exec .claude/hooks/guard.sh'",
        "'$CLAUDE_PROJECT_DIR'/.claude/hooks/guard.sh",
    ],
)
def test_what_is_not_seen_to_be_a_script_of_the_project_is_left_alone(tmp_path: Path, command: str) -> None:
    converted = convert(project_with(tmp_path, "claude", command), "folder", tmp_path / "there")
    (folder,) = converted.path.iterdir()
    assert os.listdir(folder / "scripts") == ["run.sh"]


def test_a_script_that_is_called_as_an_entry_point_gets_another_name(tmp_path: Path) -> None:
    source = project_with(tmp_path, "claude", ".claude/hooks/run", name="run")
    converted = convert(source, "folder", tmp_path / "there")
    (folder,) = converted.path.iterdir()
    assert sorted(os.listdir(folder / "scripts")) == ["2-run", "run.sh"]
    assert answer(converted, tmp_path, "rm -rf x") == (2, "not here")


def test_a_file_of_hooks_says_which_script_must_stay(tmp_path: Path) -> None:
    source = project_with(tmp_path, "gemini", "$GEMINI_PROJECT_DIR/.gemini/hooks/guard.sh")
    said: dict[str, Any] = json.loads(tenterhook("convert", source, "--to", "claude", "--json").stdout)
    assert any(f"it runs {source.parent}/hooks/guard.sh: keep that file" in note["text"] for note in said["notes"])
