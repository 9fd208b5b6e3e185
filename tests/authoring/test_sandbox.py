"""The surroundings of a case: its files, setup and variables, and nothing real."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from authoring.trying import CALL, DENY, case, hook, outcome, tried

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("temporary")


class TestSurroundings:
    """What is around a hook, and what it cannot reach."""

    def test_files_setup_and_variables_are_there(
        self, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = (
            'cat src/a.txt; cat ~/b; ls -l tool | cut -c1-10; cat made; readlink to; echo "$GREETING"; '
            'echo "${EDITOR-unset}"; cat "$TENTERHOOK_STATE_DIR/count"; test -d empty && echo folder'
        )
        case(
            hook(home, script),
            """
            setup = "echo set up >made"

            [event]
            tool_name = "Shell"

            [env]
            GREETING = "hello from {{work_dir}}"
            EDITOR = false

            [files]
            "src/a.txt" = "a\\n"
            "~/b" = "b\\n"
            "tool" = { content = "#!/bin/sh\\n", mode = "750" }
            "to" = { link = "src/a.txt" }
            "empty/" = ""
            "{{state_dir}}/count" = "3\\n"

            [expect]
            stdout = '''
            a
            b
            -rwxr-x---
            set up
            src/a.txt
            hello from {{work_dir}}
            unset
            3
            folder
            '''

            [expect.files]
            "src/a.txt" = "a\\n"
            "~/b" = { contains = "b" }
            "tool" = { mode = "750" }
            "{{state_dir}}/count" = true
            """,
        )
        monkeypatch.setenv("EDITOR", "vi")
        result = outcome()
        assert result["status"] == "passed", result

    def test_nothing_real_is_touched(self, home: Path, project: Path) -> None:
        real = {"GIT_DIR": str(project / ".git"), "XDG_STATE_HOME": str(home / "state"), "SSH_AUTH_SOCK": "/x"}
        script = 'echo x >~/made; echo x >made; env; echo x >"$TENTERHOOK_STATE_DIR/x"; mktemp'
        case(hook(home, script), f"{CALL}\n[expect]\n")
        before = sorted(str(path) for place in (home, project) for path in place.rglob("*"))
        (result,) = tried(env={**os.environ, **real})["cases"]
        assert result["status"] == "passed", result
        assert sorted(str(path) for place in (home, project) for path in place.rglob("*")) == before
        variables = dict(line.split("=", 1) for line in result["actual"]["stdout"].splitlines() if "=" in line)
        assert not {"GIT_DIR", "XDG_STATE_HOME", "SSH_AUTH_SOCK"} & variables.keys()
        assert (variables["HOME"], variables["PWD"]) == ("{{home}}", "{{work_dir}}")
        assert variables["TENTERHOOK_STATE_DIR"] == "{{state_dir}}"

    def test_each_case_has_a_directory_of_its_own(self, home: Path, project: Path) -> None:
        folder = hook(home, 'test -e seen && exit 1; touch seen ~/seen "$TENTERHOOK_STATE_DIR/seen"')
        text = "".join(f"[[case]]\nname = '{n}'\n[case.event]\ntool_name = 'x'\n[case.expect]\n" for n in range(5))
        case(folder, text)
        assert tried()["passed"] == 5

    def test_what_stands_above_all_cases_holds_for_each(self, home: Path, project: Path) -> None:
        folder = hook(home, 'echo "$A$B" $(cat a b)')
        case(
            folder,
            """
            env = { A = "1", B = "2" }
            files = { a = "x", b = "y" }
            event = { tool_name = "Shell" }
            [[case]]
            expect = { stdout = "12 xy" }
            [[case]]
            env = { B = "3" }
            files = { b = "z" }
            expect = { stdout = "13 xz" }
            """,
        )
        report = tried()
        assert [each["status"] for each in report["cases"]] == ["passed", "passed"], report
        assert [each["case"] for each in report["cases"]] == ["one[0]", "one[1]"]

    def test_the_working_directory_may_be_a_folder_below(self, home: Path, project: Path) -> None:
        case(
            hook(home, "pwd"),
            '[event]\nwork_dir = "sub/dir"\ntool_name = "x"\n[expect]\nstdout = "{{work_dir}}/sub/dir"\n',
        )
        assert outcome()["status"] == "passed"

    def test_json_does_as_well(self, home: Path, project: Path) -> None:
        folder = hook(home, "cat")
        text = json.dumps(
            {
                "event": {"tool_name": "Shell", "tool_input": {"file_path": "{{work_dir}}/a"}},
                "expect": {"stdout": {"contains": '"file_path": "{{work_dir}}/a"'}},
            }
        )
        case(folder, text, "one.json")
        case(
            folder,
            json.dumps({"case": [json.loads(text), {"expect": {"runs": False}, "event": {"event_type": "Stop"}}]}),
            "two.json",
        )
        assert tried()["passed"] == 3

    def test_a_setup_that_fails_is_no_result(self, home: Path, project: Path) -> None:
        case(hook(home, DENY), f'setup = "echo no luck >&2; exit 7"\n{CALL}\n[expect]\ndecision = "deny"\n')
        result = outcome()
        assert (result["status"], result["error"]) == ("error", "setup failed (exit 7): no luck")

    def test_no_file_is_written_through_a_link_that_leads_out(self, home: Path, project: Path) -> None:
        outside = project / "outside"
        outside.mkdir()
        folder = hook(home, "true")
        setup = f'[files]\n"a" = {{ link = "{outside}" }}\n"a/b" = "x"\n'
        case(folder, f"{CALL}\n{setup}\n[expect]\n")
        result = outcome()
        assert result["status"] == "error"
        assert list(outside.iterdir()) == []

    def test_nor_is_a_folder_made_through_one(self, home: Path, project: Path) -> None:
        outside = project / "outside"
        outside.mkdir()
        files = f'[files]\n"a" = {{ link = "{outside}" }}\n"a/b/c" = {{ link = "x" }}\n'
        case(hook(home, "true"), f"{CALL}\n{files}\n[expect]\n")
        result = outcome()
        assert (result["status"], result["error"]) == ("error", "a/b/c is outside the case's directory")
        assert list(outside.iterdir()) == []

    def test_files_that_nobody_may_read_are_removed_all_the_same(self, home: Path, project: Path) -> None:
        case(hook(home, "mkdir -p a/b; touch a/b/c; chmod 000 a/b a"), f"{CALL}\n[expect]\n")
        assert outcome()["status"] == "passed"
