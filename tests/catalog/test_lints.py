"""`check`: what can never run is an error, what was probably meant otherwise a warning."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from catalog.checked import checked, only
from support import (
    array_hook,
    folder_hook,
    project_hooks,
    table_hook,
    tenterhook,
    trigger,
    user_hooks,
    write_config,
)
from tenterhook.catalog import lints

if TYPE_CHECKING:
    from pathlib import Path


# ---- scripts that cannot run

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


@pytest.mark.parametrize(
    ("file", "script", "line"),
    [
        ("run.sh", "#!/bin/sh\nif\n", None),
        ("run.sh", "#!/bin/sh\nif then\n", None),  # and nothing about a program called then
        ("run.sh", "#!/bin/sh -e\nif\n", None),
        ("run", "#!/usr/bin/env -S bash -eu\nif\n", None),
        ("run.py", "#!/usr/bin/env python3\n\ndef (:\n", 3),
        ("run.py", "#!/usr/bin/env -S python3 -u\n\ndef (:\n", 3),
        pytest.param("run", "#!/usr/bin/env node\nconst x = ;\n", 2, marks=NODE),
        pytest.param("run", "#!/usr/bin/env node\nimport fs from 'fs';\nconst x = ;\n", 3, marks=NODE),
    ],
)
def test_a_script_that_does_not_parse_is_an_error(project: Path, file: str, script: str, line: int | None) -> None:
    made = folder_hook(project, "guard", script, file=file)
    status, found = checked(made)
    assert (status, [(each["code"], each["severity"]) for each in found]) == (1, [("script-syntax", "error")])
    assert line in (None, found[0]["line"])


@pytest.mark.parametrize(
    ("file", "script"),
    [
        ("run.py", "#!/usr/bin/env python3\nimport sys\n"),
        ("run.py", "#!/usr/bin/env -S FOO=1 python3 -u\nimport sys\n"),
        ("run", "#!/usr/bin/env -S bash -eu\ntrue\n"),
        pytest.param("run", "#!/usr/bin/env node\nconst fs = require('fs');\n", marks=NODE),
        pytest.param("run", "#!/usr/bin/env node\nimport fs from 'fs';\n", marks=NODE),
    ],
)
def test_a_script_that_parses_is_fine(project: Path, file: str, script: str) -> None:
    assert checked(folder_hook(project, "guard", script, file=file)) == (0, [])


def test_nothing_of_a_script_is_run_to_check_it(project: Path) -> None:
    folder_hook(project / "hooks", "one", f"#!/usr/bin/env python3\nopen('{project}/ran', 'w')\n", file="run.py")
    other = project / "python3"
    other.write_text(f"#!/bin/sh\ntouch {project}/ran\n")
    other.chmod(0o755)
    folder_hook(project / "hooks", "two", f"#!{other}\ndef (:\n", file="run.py")
    assert checked(project / "hooks")[0] == 1
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    ("first", "remedy"),
    [
        ("#!/no/such/python3", "install the interpreter"),
        ("#!/usr/bin/env pyhton3", "did you mean python3?"),
        ("#!/usr/bin/env -S pyhton3 -u", "did you mean python3?"),
        ("#!/usr/bin/env -S FOO=1 no-such-program", "install it"),
        ("#!/usr/bin/env python3 -u", "#!/usr/bin/env -S python3 -u"),
    ],
)
def test_a_missing_interpreter_is_an_error(project: Path, first: str, remedy: str) -> None:
    status, code, _, said = only(folder_hook(project, "guard", f"{first}\npass\n", file="run.py"))
    assert (status, code) == (1, "cannot-start")
    assert remedy in said


def test_a_script_that_nothing_runs_is_an_error(project: Path) -> None:
    script = folder_hook(project, "guard", "#!/bin/sh", file="run") / "scripts" / "run"
    script.write_text("echo hello\n")
    script.chmod(0o644)
    status, found = checked(project / "guard")
    assert (status, {each["code"] for each in found}) == (1, {"not-executable", "cannot-start"})


def test_a_hook_without_a_script_is_an_error(project: Path) -> None:
    shutil.rmtree(folder_hook(project, "guard") / "scripts")
    assert only(project / "guard")[:2] == (1, "no-script")


@pytest.mark.parametrize("link", ["scripts", "scripts/run", "scripts/run.sh"])
def test_a_script_that_is_a_link_to_nowhere_is_named_as_one(project: Path, link: str) -> None:
    made = folder_hook(project, "guard")
    shutil.rmtree(made / "scripts")
    (made / link).parent.mkdir(exist_ok=True)
    (made / link).symlink_to("/nonexistent")
    status, code, message, _ = only(made)
    assert (status, code, message) == (1, "no-script", f"{link} is a broken symbolic link: /nonexistent")


def test_a_script_that_is_a_directory_is_named_as_none(project: Path) -> None:
    made = folder_hook(project, "guard")
    shutil.rmtree(made / "scripts")
    (made / "scripts" / "run.sh").mkdir(parents=True)
    assert only(made)[:3] == (1, "no-script", "scripts/run.sh is not a regular file")


@pytest.mark.parametrize("line", ["python3 guard.py", "{}/guard.py --all", "A=1 exec sh '{}/guard.sh'", '"$HOME/g" x'])
def test_a_command_whose_script_is_missing_is_an_error(project: Path, line: str) -> None:
    status, code, message, _ = only(write_config(project / "c.toml", array_hook(line.format(project))))
    assert (status, code) == (1, "cannot-start")
    assert message.startswith("there is no /")


@pytest.mark.parametrize("hook", [array_hook, table_hook])
@pytest.mark.parametrize("line", ["pyhton3 guard.py", "env FOO=1 pyhton3 guard.py", "exec pyhton3 x", "A=1 pyhton3"])
def test_a_plain_command_whose_program_is_missing_is_an_error(project: Path, hook: Any, line: str) -> None:
    status, code, message, remedy = only(write_config(project / "c.toml", hook(line)))
    assert (status, code, message) == (1, "cannot-start", "there is no program 'pyhton3' on the PATH")
    assert "did you mean python3?" in remedy


@pytest.mark.parametrize("line", ["pyhton3 guard.py || true", "if pyhton3 x; then exit 2; fi", "! pyhton3 x"])
def test_a_program_that_is_missing_in_a_longer_line_is_a_warning(project: Path, line: str) -> None:
    assert only(write_config(project / "c.toml", array_hook(line)))[:2] == (0, "missing-program")


@pytest.mark.parametrize(
    "line", ["true", "! true", "cd /", "test -e x", "env", "env -S 'sh -c true'", "PATH=/opt/x/bin its-program x"]
)
def test_a_plain_command_that_may_well_start_is_no_error(project: Path, line: str) -> None:
    assert checked(write_config(project / "c.toml", array_hook(line)))[0] == 0


@pytest.mark.parametrize("line", ["sh Guard.js", "env sh {}/GUARD.js", "{}/Guard.js"])
def test_a_command_whose_script_has_other_letters_is_told_so(project: Path, line: str) -> None:
    (project / "guard.js").touch()
    path = write_config(project / "c.toml", array_hook(line.format(project)))
    status, code, message, _ = only(path)
    assert (status, code) == (1, "cannot-start")
    assert message.endswith("; the file is called guard.js, and case matters")


def test_the_script_of_a_command_is_checked_too(project: Path) -> None:
    (project / "guard.py").write_text("def (:\n")
    config = write_config(project / "c.toml", array_hook(f"python3 {project}/guard.py"))
    assert only(config)[:2] == (1, "script-syntax")
    config = write_config(project / "c.toml", array_hook(f"{project}/guard.py"))
    status, code, message, _ = only(config)
    assert (status, code) == (1, "cannot-start")
    assert "not executable" in message


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_hook_of_a_project_that_can_never_be_trusted_is_an_error(
    project: Path, tmp_path: Path, is_folder: bool
) -> None:
    made = folder_hook(project_hooks(project), "guard")
    if is_folder:
        made.rename(tmp_path / "elsewhere")
        made.symlink_to(tmp_path / "elsewhere")
    else:
        (made / "helper").symlink_to("/etc/passwd")
    refused = tenterhook("trust", "guard", "--yes").stderr
    for paths in ((), (made,), (project_hooks(project),), (project,)):
        status, code, message, remedy = only(*paths)
        assert (status, code) == (1, "cannot-be-trusted")
        assert message.removeprefix("it never runs: ") in refused
        assert remedy in refused
    assert "untrusted" in tenterhook("list").stdout


def test_a_hook_of_ones_own_may_be_a_link(home: Path, project: Path, tmp_path: Path) -> None:
    made = folder_hook(tmp_path / "elsewhere", "guard")
    user_hooks(home).mkdir(parents=True)
    (user_hooks(home) / "guard").symlink_to(made)
    assert checked() == checked(user_hooks(home)) == (0, [])


# ---- files that are not where, or not called what, they should be


@pytest.mark.parametrize("path", ["scripts/Run.py", "Scripts/run.py", "scripts/RUN.SH", "scripts/Run"])
def test_a_script_in_other_letters_is_an_error(project: Path, path: str) -> None:
    made = folder_hook(project, "guard")
    shutil.rmtree(made / "scripts")
    (made / path).parent.mkdir()
    (made / path).write_text("#!/bin/sh\n")
    status, code, message, remedy = only(made)
    assert (status, code) == (1, "wrong-case")
    assert path in message
    assert remedy == f"rename it to {path.lower()}"


# ---- what is said of a run


def fired(home: Path, script: str, **front: Any) -> tuple[str, dict[str, Any]]:
    folder_hook(user_hooks(home), "guard", script, **front)
    return tenterhook("trigger", "pre-tool-call", "--tool", "Shell").stdout, trigger(
        "pre-tool-call", "--tool", "Shell"
    )["runs"][0]


def test_a_hook_that_exits_with_one_is_told_that_two_blocks(home: Path, project: Path) -> None:
    shown, run = fired(home, "echo no >&2; exit 1")
    note = "it exited with 1: only exit 2 blocks"
    assert note in shown
    assert (run["why"], run["notes"]) == ("exit 1", [note])
    assert note in tenterhook("log").stdout


@pytest.mark.parametrize(
    ("script", "front"),
    [
        ("exit 3", {}),
        ("exit 1", {"metadata": {"on_failure": "block"}}),
        ("exit 1", {"trigger": "permission-result"}),
        ("echo 'Traceback (most recent call last)' >&2; exit 1", {}),
    ],
)
def test_where_a_block_was_not_meant_nothing_is_said_of_it(
    home: Path, project: Path, script: str, front: dict[str, Any]
) -> None:
    folder_hook(user_hooks(home), "guard", script, **front)
    (run,) = trigger(front.get("trigger", "pre-tool-call"), "--tool", "Shell")["runs"]
    assert run["notes"] == []


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("exit 2", "it gave no reason: stderr was empty"),
        ("echo no; exit 2", "it gave no reason: stderr was empty; a reason goes to stderr, not to stdout"),
    ],
)
def test_a_block_without_a_reason_says_that_stderr_was_empty(home: Path, project: Path, script: str, note: str) -> None:
    shown, run = fired(home, script)
    assert note in shown
    assert (run["reason"], run["notes"]) == ("Blocked by pre-tool-call hook", [note])
    assert note in tenterhook("log").stdout


def test_a_script_names_its_programs_but_not_builtins_functions_and_what_is_computed() -> None:
    text = """
        set -e; cd x; check() { jq . | grep -q x; }
        check && /usr/bin/env || $TOOL --now; "$(which sed)" -n; for each in a b; do rg "$each"; done
        jq .again <<< '{}'
    """
    assert sorted(lints.programs(text)) == ["/usr/bin/env", "grep", "jq", "rg", "which"]
