"""Which shell lines and scripts start Python on code that is no file: it must not import from the project."""

from __future__ import annotations

import pytest

from tenterhook.engine import safe_path

SET = {b"PYTHONSAFEPATH": b"1"}


@pytest.mark.parametrize(
    "line",
    [
        "python3 -c 'import json'",
        "cat | python3 -m json.tool",
        "X=1 /usr/bin/python3.12 -W ignore -c 'import json'",
        "python3 <<'END'\nimport json\nEND",
        'found=$(python3 -c "import json")',
        "# python3 guard.py\npython3 -c 'import json'",
    ],
)
def test_code_without_a_file_does_not_look_for_modules_in_the_project(line: str) -> None:
    assert safe_path.for_line(line) == SET


@pytest.mark.parametrize(
    "line",
    [
        "python3 guard.py",
        'python3 "$HOOK_DIR/guard"',
        "python3 -c 'import json'; python3 hooks/guard.py",  # the script must find its own modules
        "./guard.py && python3 -c 'import json'",
        "pythonic -c x",
    ],
)
def test_a_line_that_runs_a_script_keeps_the_scripts_own_directory(line: str) -> None:
    assert safe_path.for_line(line) == {}


@pytest.mark.parametrize(
    ("name", "first", "expected"),
    [
        ("run.sh", "#!/bin/sh\n", SET),
        ("run", "#!/usr/bin/env bash\n", SET),
        ("run", "", SET),
        ("run.py", "", {}),
        ("run", "#!/usr/bin/env python3\n", {}),
    ],
)
def test_only_scripts_for_a_shell_are_read(name: str, first: str, expected: dict[bytes, bytes]) -> None:
    assert safe_path.for_script(name, f"{first}python3 -c 'import json'\n".encode()) == expected
