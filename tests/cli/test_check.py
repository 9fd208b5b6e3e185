"""`tenterhook check`: every mistake with its place and remedy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support import (
    array_hook,
    folder_hook,
    project_hooks,
    table_hook,
    write_config,
)

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


def codes(run: Run, *arguments: Any) -> list[str]:
    return sorted(problem["code"] for problem in json.loads(run("check", *arguments, "--json").out)["problems"])


def test_good_hooks_have_no_problems(blocker: Path, project: Path, run: Run) -> None:
    ended = run("check")
    assert (ended.status, ended.out) == (0, "1 hook, 0 errors, 0 warnings\n")


def test_errors_exit_with_one_and_warnings_with_zero(project: Path, run: Run) -> None:
    bad = write_config(project / "bad.toml", array_hook("x", nope=1))
    odd = write_config(project / "odd.toml", array_hook("true | no-such-jq"))
    assert run("check", bad).status == 1
    assert run("check", odd).status == 0
    assert codes(run, odd) == ["missing-program"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (array_hook("if true; then"), "script-syntax"),
        (array_hook(":", matcher="(a+)+$"), "can-run-away"),
        (array_hook(":", matcher=r"\AShell\Z"), "dialect"),
        (table_hook(":", matcher={"tool": r"\AShell"}), "dialect"),
        (array_hook(":", event="before_tool"), "foreign-event-name"),
        (array_hook("python3 no/such/script.py"), "cannot-start"),
        (array_hook("cat | no-such-jq .tool_name"), "missing-program"),
        (table_hook('sh -c "echo {{tool_name}}"'), "placeholder-in-code"),
        (table_hook("eval {{tool_name}}"), "placeholder-in-code"),
        (table_hook("python3 -c 'print(\"{{tool_name}}\")'"), "placeholder-in-code"),
        (table_hook(":", event="before_stop", matcher={"tool": "x"}), "matcher-on-other-event"),
    ],
)
def test_what_is_legal_but_wrong_is_found(project: Path, text: str, code: str, run: Run) -> None:
    assert code in codes(run, write_config(project / "c.toml", text))


def test_what_is_found_has_the_line_of_its_key(project: Path, run: Run) -> None:
    text = "[[hooks]]\nevent = 'PreToolUse'\n\nmatcher = '(a+)+$'\ncommand = 'if'\n"
    found = json.loads(run("check", write_config(project / "c.toml", text), "--json").out)["problems"]
    lines = {problem["code"]: (problem["line"], problem["key"]) for problem in found}
    assert lines == {"can-run-away": (4, "matcher"), "script-syntax": (5, "command")}
    made = folder_hook(project / "hooks", "guard", matcher={"tool": "x"})
    head = "---\nname: guard\ndescription: d\ntrigger: PreToolUse\nmatcher:\n  tool: Shell\n"
    (made / "HOOK.md").write_text(head + '  pattern: "\\.(a+)+$"\n---\n')
    found = json.loads(run("check", made, "--json").out)["problems"]
    assert {(problem["code"], problem["line"], problem["key"]) for problem in found} == {
        ("can-run-away", 7, "pattern"),
        ("escape-in-quotes", 7, "pattern"),
    }
    assert r"pattern: '\.(a+)+$'" in next(p["remedy"] for p in found if p["code"] == "escape-in-quotes")


def test_folders_are_checked_for_their_scripts_names_and_length(project: Path, run: Run) -> None:
    hooks = project / "hooks"
    folder_hook(hooks, "one")
    (folder_hook(hooks, "two", name="one") / "scripts" / "run.sh").chmod(0o644)
    (folder_hook(hooks, "three") / "scripts" / "run.sh").unlink()
    folder_hook(hooks, "four", "if")
    folder_hook(hooks, "five", "#!/bin/sh\r\nexit 0\r\n")
    with (folder_hook(hooks, "six") / "HOOK.md").open("a") as file:
        file.write("word " * 1000)
    expected = [
        "long-body",
        "name-differs",
        "name-twice",
        "no-script",
        "not-executable",
        "script-syntax",
        "script-syntax",
    ]
    assert codes(run, hooks) == expected


def test_a_single_folder_a_project_and_a_settings_file_can_be_named(project: Path, run: Run) -> None:
    made = folder_hook(project_hooks(project), "odd", trigger="nope")
    write_config(project_hooks(project) / "hooks.toml", "[hooks]\nenabeld = true\n")
    assert codes(run, made) == codes(run, made / "HOOK.md") == ["unknown-event"]
    assert codes(run, project) == ["ignored-key", "unknown-event"]
    assert codes(run, project_hooks(project) / "hooks.toml") == ["ignored-key"]


def test_a_path_without_hooks_says_so(project: Path, run: Run) -> None:
    (project / "empty").mkdir()
    assert codes(run, project / "empty") == ["no-hooks"]


def test_github_annotations_name_file_and_line(project: Path, run: Run) -> None:
    write_config(project / "bad.toml", array_hook("x", nope=1))
    ended = run("check", "bad.toml", "--format", "github")
    assert ended.out.startswith("::error file=bad.toml,line=4,title=unknown-key::unknown key 'nope'")
