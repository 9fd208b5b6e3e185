"""Which program a first line names, which programs a script calls, and whether a shell would refuse it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.basics import shell_lines

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (b"#!/bin/sh\n", ["/bin/sh"]),
        (b"#! /bin/bash -eu\n", ["/bin/bash", "-eu"]),
        (b"#!/usr/bin/env python3\n", ["python3"]),
        (b"#!/usr/bin/env -S python3 -u -I\n", ["python3", "-u", "-I"]),
        (b"#!/usr/bin/env -S -i A=1 -u B python3\n", ["python3"]),
        (b"#!/usr/bin/env --split-string=node --test\n", ["node", "--test"]),
        (b"#!/usr/bin/env -i sh\n", []),
        (b'#!/usr/bin/env -S "unclosed\n', []),
        (b"echo hi\n", []),
    ],
)
def test_a_first_line_comes_to_a_program_behind_env_too(first: bytes, words: list[str]) -> None:
    assert shell_lines.named_program(first) == words


def test_a_script_names_its_programs_but_not_builtins_functions_and_what_is_computed() -> None:
    text = """
        set -e; cd x; check() { jq . | grep -q x; }
        check && /usr/bin/env || $TOOL --now; "$(which sed)" -n; for each in a b; do rg "$each"; done
        jq .again <<< '{}'
    """
    assert sorted(shell_lines.programs(text)) == ["/usr/bin/env", "grep", "jq", "rg", "which"]


def test_a_shell_says_why_it_refuses_a_line_and_runs_nothing(tmp_path: Path) -> None:
    assert shell_lines.refusal("/bin/sh", "-c", f"touch {tmp_path}/ran") is None
    assert shell_lines.refusal("/bin/sh", "-c", "if then")
    assert not (tmp_path / "ran").exists()
    assert shell_lines.refusal("/no/such/shell", "-c", "true") is None  # it cannot be asked
