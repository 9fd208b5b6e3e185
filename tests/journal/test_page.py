"""docs/journal.md: every example prints what the page shows, and its tables are those of real records."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from journal import journals
from support import console_steps, folder_hook, shell_call, table_hook, user_hooks, write_config
from tenterhook import Engine
from tenterhook.basics import places
from tenterhook.journal import records, settings
from tenterhook.journal.redact_stored import account

PAGE = Path(__file__).parent.parent.parent / "docs" / "journal.md"
TEXT = PAGE.read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str]]:
    """Each command with the output it shows; `> ` goes on with a command."""
    return console_steps("".join(blocks("shellsession")))


def settled(output: str) -> list[str]:
    """Output without what differs from run to run: times, how wide columns are, which session waited longer."""
    output = re.sub(r"(\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d", "DATE", output)
    output = re.sub(r"\d+(\.\d+)? m?s\b", "TIME", output)
    output = output.replace(f"by {account()}", "by me")
    output = re.sub(r"[▁▂▃▄▅▆▇█]", "", output)
    return sorted(re.sub(r" +", " ", line).strip() for line in output.splitlines())


def test_the_examples_print_what_the_page_shows(home: Path, project: Path) -> None:
    assert len(steps()) > 15
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command, expected in steps():
        ended = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, cwd=project, env={**os.environ, "PATH": path}
        )
        assert settled(ended.stdout.replace(str(project), "~/src/app")) == settled(expected), (
            f"{command}\n{ended.stdout}{ended.stderr}"
        )
        assert ended.stderr == "", command


def table(heading: str) -> list[str]:
    """The first column of a table, by its heading."""
    rows = TEXT.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \|", rows, re.MULTILINE)


def test_the_tables_have_every_key_of_a_record(home: Path, project: Path) -> None:
    everything = {"reason": "r", "modified_input": {"command": "a"}, "additional_context": "c", "message": "m"}
    said = json.dumps({**everything, "decision": "ask", "log": "l", "odd": 1})
    folder_hook(user_hooks(home), "says-all", f"echo '{said}'; echo e >&2")
    folder_hook(user_hooks(home), "only-watches", f"echo '{said}'", metadata={"mode": "shadow"}, priority=1)
    folder_hook(user_hooks(home), "odd", 'echo stray; echo \'{"decision": "allow"}\'', priority=2)
    folder_hook(user_hooks(home), "fails", "exit 3", priority=3)
    folder_hook(user_hooks(home), "redacts", """echo '{"modified_output": ""}'""", "post-tool-call")
    Engine.load().decide(shell_call())
    Engine.load().decide(shell_call(event="post-tool-call", tool_output="o"))
    before, after = journals.recorded(journals.folder(home))
    record = {**before, **after, "runs": [*before["runs"], *after["runs"]]}
    assert set(table("of a verdict")) == {*record, "redacted"}
    assert set(table("of a run")) == {key for run in record["runs"] for key in run}
    schema = json.loads(resources.files("tenterhook").joinpath("schemas/record.json").read_text())
    jsonschema.validate(before, schema)
    jsonschema.validate(after, schema)
    assert set(schema["$defs"]["verdict"]["properties"]) == {*record, "redacted"}
    assert set(schema["$defs"]["run"]["properties"]) == set(table("of a run"))


def test_the_table_of_words_has_every_meaning() -> None:
    outcomes = ("ok", "blocked", "failed", "timed_out", "not_run", "started")
    actions = ("deny", "ask", "approve", "allow", "none")
    meanings = {records.meaning(outcome, action) for outcome in outcomes for action in actions}
    assert {word.replace(" ", "_") for word in table("word")} == meanings


def test_the_table_of_options_has_every_option(project: Path) -> None:
    from tenterhook.cli.log import log

    known = {option for parameter in log.params for option in parameter.opts if option != "--follow"}
    assert {option.split()[0] for option in table("option")} == known


def test_the_settings_shown_are_all_there_are_with_their_defaults(home: Path, project: Path) -> None:
    (text,) = blocks("toml")
    write_config(home / ".config" / "tenterhook" / "config.toml", text)
    shown = tomllib.loads(text)["journal"]
    assert settings.read(places.settings_file()) == shown
    (home / ".config" / "tenterhook" / "config.toml").unlink()
    assert settings.read(places.settings_file()) == {**shown, "payloads": "redacted"}
    for word in records.PAYLOADS:
        assert f'"{word}"' in text


def test_the_output_that_is_kept_is_as_long_as_the_page_says(home: Path, project: Path) -> None:
    config = write_config(project / "hooks.toml", table_hook("head -c 9000 /dev/zero | tr '\\0' x"))
    Engine.load(configs=[config]).decide(shell_call())
    (record,) = journals.recorded(journals.folder(home))
    assert "2,000 characters" in TEXT
    assert record["runs"][0]["stdout"] == "x" * 2000


@pytest.mark.parametrize("block", blocks("yaml"))
def test_the_front_matter_shown_is_shadow_mode(home: Path, project: Path, block: str) -> None:
    import yaml

    front: dict[str, Any] = yaml.safe_load(block)
    folder_hook(user_hooks(home), "new", "exit 2", **front)
    (hook,) = Engine.load().hooks
    assert hook.is_shadow
