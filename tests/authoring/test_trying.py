"""`tenterhook test`: each case through the real engine, in surroundings that are thrown away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from authoring.trying import COMMAND, case, differing, hook, outcome, tenterhook, tried
from support import alive, array_hook, folder_hook, project_hooks, table_hook, until, user_hooks, write_config

if TYPE_CHECKING:
    from pathlib import Path

DENY = "echo 'not here' >&2; exit 2"
CALL = '[event]\ntool_name = "Shell"\ntool_input = { command = "ls" }\n'


def left_behind() -> list[str]:
    """Directories of cases that nobody has removed."""
    return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("tenterhook-test-")]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A directory for temporary files of each test's own, in which nothing may be left."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield directory
    assert left_behind() == []


class TestExpectations:
    """What a case says is what is looked at."""

    @pytest.mark.parametrize(
        ("script", "trigger", "event", "expect"),
        [
            (DENY, "pre-tool-call", CALL, 'decision = "deny"\nreason = "not here"\noutcome = "blocked"\nexit_code = 2'),
            (DENY, "pre-tool-call", CALL, 'decision = "deny"\nreason = { matches = "^not .*e$" }'),
            (DENY, "pre-tool-call", CALL, 'decision = "deny"\nreason = { contains = "here" }\nstderr = "not here"'),
            ("echo '{\"decision\": \"ask\", \"reason\": \"sure?\"}'", "before_tool", CALL,
             'decision = "ask"\nreason = "sure?"'),
            ("echo '{\"hookSpecificOutput\": {\"permissionDecision\": \"allow\"}}'", "PreToolUse", CALL,
             'decision = "approve"'),
            ("echo '{\"decision\": \"allow\", \"scope\": \"session\"}'", "permission-request", CALL,
             'decision = "approve"\nscope = "session"'),
            ("echo '{\"modified_input\": {\"command\": \"ls -la\", \"n\": [1, true]}}'", "pre-tool-call", CALL,
             'modified_input = { command = { matches = "^ls" }, n = [1, true] }'),
            ("echo '{\"additional_context\": \"a\", \"message\": \"b\", \"log\": \"c\"}'", "pre-tool-call", CALL,
             'additional_context = "a"\nmessage = "b"\nlog = "c"\nreason = false'),
            ("echo hello", "pre-tool-call", CALL, 'stdout = "hello"\nexit_code = 0\noutcome = "ok"'),
            ("echo oops >&2; exit 3", "pre-tool-call", CALL, 'outcome = "failed"\nwhy = "exit 3"\nstderr = "oops"'),
            ("echo oops >&2; exit 3", "pre-tool-call", CALL, "exit_code = 3"),
            ("kill -9 $$", "pre-tool-call", CALL, 'outcome = "failed"\nwhy = "signal 9"'),
            ("echo '{\"decision\": \"nay\"}'", "pre-tool-call", CALL, "unreadable = true"),
            ("echo '{\"decision\": \"nay\"}'", "pre-tool-call", CALL, 'outcome = "failed"\nunreadable = true'),
            (DENY, "pre-tool-call", '[event]\nevent_type = "Stop"\n', "runs = false"),
            (DENY, "Notification", '[event]\ntitle = "x"\n', 'decision = "none"\nexit_code = 2'),
            ("echo A=1 >>\"$TENTERHOOK_ENV_FILE\"; echo PATH=/ >>\"$TENTERHOOK_ENV_FILE\"", "pre-session", "[event]\n",
             '[expect.env]\nA = "1"\nPATH = false'),
        ],
    )  # fmt: skip
    def test_a_case_that_says_what_happens_passes(
        self, script: str, trigger: str, event: str, expect: str, home: Path, project: Path
    ) -> None:
        case(hook(home, script, trigger), f"{event}\n[expect]\n{expect}\n")
        result = outcome()
        assert result["status"] == "passed", result

    @pytest.mark.parametrize(
        ("script", "expect", "field", "shown"),
        [
            (DENY, 'decision = "none"', "decision", ("none", "deny")),
            (DENY, 'decision = "deny"\nreason = "other"', "reason", ("other", "not here")),
            (DENY, 'decision = "deny"\nreason = { matches = "^here" }', "reason",
             ("a text that matches ^here", "not here")),
            (DENY, 'decision = "deny"\nreason = false', "reason", ("(nothing)", "not here")),
            ("true", 'reason = "x"', "reason", ("x", "(nothing)")),
            ("exit 1", "", "outcome", ("it does not fail", "failed: exit 1")),
            ("exit 1", 'outcome = "ok"', "outcome", ("ok", "failed: exit 1")),
            ("exit 1", "exit_code = 3", "exit_code", ("3", "1")),
            ("kill -9 $$", "exit_code = 3", "exit_code", ("3", "none (failed: signal 9)")),
            ("echo '{\"modified_input\": {\"command\": \"id\"}}'", "", "modified_input",
             ("(unchanged)", '{\n  "command": "id"\n}')),
            ("echo '{\"modified_input\": {\"n\": true}}'", "modified_input = { n = 1 }", "modified_input",
             ('{\n  "n": 1\n}', '{\n  "n": true\n}')),
            ("echo '{\"decision\": 1}'", "", "unreadable",
             ("false", "true: unreadable answer: unknown decision 1; expected allow, deny, block or ask")),
            ("true", "runs = false", "runs", ("false", "true")),
            ("true", 'files = { a = "x" }', "files.a", ("x", "no such file")),
            ("echo y >a", 'files = { a = "x\\n" }', "files.a", ("x\n", "y\n")),
            ("echo y >a", 'files = { a = { matches = "x" } }', "files.a", ("a text that matches x", "y\n")),
            ("echo y >a", "files = { a = false }", "files.a", ("no such file", "y\n")),
            ("mkdir a", 'files = { a = "x" }', "files.a", ("x", "a folder")),
            ("touch a; chmod 600 a", 'files = { a = { mode = "755" } }', "files.a mode", ("755", "600")),
        ],
    )  # fmt: skip
    def test_a_case_that_says_otherwise_fails_and_shows_both(
        self, script: str, expect: str, field: str, shown: tuple[str, str], home: Path, project: Path
    ) -> None:
        case(hook(home, script), f"{CALL}\n[expect]\n{expect}\n")
        result = outcome()
        assert result["status"] == "failed"
        assert differing(result)[field] == shown

    def test_a_matcher_that_does_not_find_the_event_says_why(self, home: Path, project: Path) -> None:
        case(hook(home, DENY, matcher={"tool": "Shell", "pattern": "^rm"}), f'{CALL}\n[expect]\ndecision = "deny"\n')
        found = differing(outcome())
        assert found == {"runs": ("true", "false: pattern: '^rm' is not found in 'ls'")}

    def test_a_guard_that_fails_closed_must_be_expected_to_fail(self, home: Path, project: Path) -> None:
        folder = hook(home, "exit 1", metadata={"on_failure": "block"})
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n', "silent.toml")
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\noutcome = "failed"\n', "said.toml")
        assert {each["case"]: each["status"] for each in tried()["cases"]} == {"silent": "failed", "said": "passed"}

    def test_a_case_without_expectations_is_no_pass(self, home: Path, project: Path) -> None:
        case(hook(home, DENY), CALL)
        result = outcome()
        assert (result["status"], result["error"]) == ("error", "it expects nothing")

    def test_what_a_shadow_hook_would_have_enforced_is_what_counts(self, home: Path, project: Path) -> None:
        case(hook(home, DENY, metadata={"mode": "shadow"}), f'{CALL}\n[expect]\ndecision = "deny"\n')
        assert outcome()["status"] == "passed"


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
        assert (result["status"], result["error"]) == ("error", "a/b/c leads out of the case's directory")
        assert list(outside.iterdir()) == []

    def test_files_that_nobody_may_read_are_removed_all_the_same(self, home: Path, project: Path) -> None:
        case(hook(home, "mkdir -p a/b; touch a/b/c; chmod 000 a/b a"), f"{CALL}\n[expect]\n")
        assert outcome()["status"] == "passed"


class TestProcesses:
    """Nothing hangs, nothing is left."""

    def test_a_timeout_is_one(self, home: Path, project: Path) -> None:
        case(
            hook(home, "echo before >&2; sleep 60"),
            f'timeout = 1500\n{CALL}\n[expect]\noutcome = "timed_out"\nstderr = "before"\n',
        )
        assert outcome()["status"] == "passed"

    def test_a_missing_script_is_said(self, home: Path, project: Path) -> None:
        folder = hook(home, DENY)
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n')
        (folder / "scripts" / "run.sh").unlink()
        assert differing(outcome())["outcome"] == ("it does not fail", "failed: cannot start: no script")

    def test_children_that_a_hook_leaves_behind_are_ended(self, home: Path, project: Path, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        script = f"sleep 600 & echo $! >>{pids}; (setsid sh -c 'echo $$ >>{pids}; exec sleep 600' &); "
        script += f"while [ $(wc -l <{pids}) -lt 2 ]; do sleep 0.01; done"
        case(hook(home, script), f"{CALL}\n[expect]\n")
        result = outcome()
        assert result["status"] == "passed"
        assert result["actual"]["notes"] == ["it left 2 processes behind, which would go on; ended"]
        found = [int(pid) for pid in pids.read_text().split()]
        assert len(found) == 2
        until(lambda: not any(alive(pid) for pid in found))

    def test_what_a_child_does_in_a_moment_still_counts(self, home: Path, project: Path) -> None:
        case(hook(home, "(sleep 0.05; echo late >late) & exit 0"), f'{CALL}\n[expect.files]\nlate = "late\\n"\n')
        assert outcome()["status"] == "passed"

    @pytest.mark.parametrize(
        ("script", "expect"),
        [
            (
                "sleep 0.2; echo done >made; echo no >&2; exit 2",
                'exit_code = 2\nstderr = "no"\nfiles = { made = "done\\n" }',
            ),
            ("exit 5", 'outcome = "failed"\nwhy = "exit 5"'),
        ],
    )
    def test_an_asynchronous_hook_is_waited_for(self, script: str, expect: str, home: Path, project: Path) -> None:
        case(hook(home, script, background=True), f"{CALL}\n[expect]\n{expect}\n")
        result = outcome()
        assert (result["status"], result["actual"]["decision"]) == ("passed", "none"), result

    def test_an_asynchronous_hook_that_times_out_is_ended(self, home: Path, project: Path) -> None:
        case(hook(home, "sleep 60", background=True), f'timeout = 1500\n{CALL}\n[expect]\noutcome = "timed_out"\n')
        assert outcome()["status"] == "passed"

    def test_output_without_end_does_no_harm(self, home: Path, project: Path) -> None:
        case(hook(home, "yes | head -c 20000000"), f"{CALL}\n[expect]\n")
        assert outcome()["status"] == "passed"

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
    def test_ended_from_outside_it_leaves_nothing(
        self, number: signal.Signals, home: Path, project: Path, tmp_path: Path
    ) -> None:
        pids = tmp_path / "pids"
        case(hook(home, f"setsid sleep 600 & echo $! $$ >>{pids}; exec sleep 600"), f"{CALL}\n[expect]\n")
        process = subprocess.Popen([*COMMAND, "test"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = until(lambda: pids.exists() and [int(pid) for pid in pids.read_text().split()])
        until(lambda: all(alive(pid) for pid in found))
        process.send_signal(number)
        assert process.wait(30) == {signal.SIGINT: 130, signal.SIGKILL: -9}.get(number, 128 + number)
        until(lambda: not any(alive(pid) for pid in found))
        until(lambda: left_behind() == [])

    def test_a_reader_that_has_seen_enough_costs_no_traceback(self, home: Path, project: Path) -> None:
        text = "".join(f"[[case]]\nname = '{n}'\n[case.event]\ntool_name = 'x'\n[case.expect]\n" for n in range(8))
        case(hook(home, "true"), text)
        process = subprocess.Popen([*COMMAND, "test"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait(60) == 1


class TestSelection:
    """Which hooks and cases are tried, and what is said of the others."""

    @pytest.fixture
    def two(self, home: Path, project: Path) -> None:
        for name in ("push", "pull"):
            folder = hook(home, DENY, name=name)
            for word in ("force", "plain"):
                case(folder, f'name = "a {word} {name}"\n{CALL}\n[expect]\ndecision = "deny"\n', f"{word}.toml")
        hook(home, DENY, name="bare")

    def test_all_of_them(self, two: None) -> None:
        ended = tenterhook("test")
        assert ended.returncode == 0
        assert ended.stdout.splitlines()[-2:] == ["without cases: bare", "4 passed"]

    def test_by_name(self, two: None) -> None:
        assert [each["case"] for each in tried("push")["cases"]] == ["a force push", "a plain push"]

    def test_by_folder(self, two: None, home: Path) -> None:
        assert tried(user_hooks(home) / "pull")["passed"] == 2

    @pytest.mark.parametrize(("word", "count"), [("FORCE", 2), ("pull", 2), ("a plain push", 1), ("plain.toml", 2)])
    def test_by_word(self, word: str, count: int, two: None) -> None:
        report = tried("-k", word)
        assert (report["passed"], report["deselected"], report["status"]) == (count, 4 - count, 0)

    def test_nothing_found_by_name_or_word_is_no_success(self, two: None) -> None:
        assert tenterhook("test", "-k", "nowhere").returncode == 1
        assert tenterhook("test", "bare").returncode == 1
        unknown = tenterhook("test", "posh")
        assert unknown.returncode == 1
        assert "no hook is called 'posh'" in unknown.stderr
        assert "did you mean 'push'?" in unknown.stderr

    def test_without_any_hook_there_is_nothing_wrong(self, project: Path) -> None:
        ended = tenterhook("test")
        assert (ended.returncode, ended.stdout) == (0, "no cases: they are TOML or JSON files in cases/ of a hook\n")

    def test_a_definition_that_is_broken_does_not_pass_for_tested(self, two: None, home: Path) -> None:
        definition = user_hooks(home) / "push" / "HOOK.md"
        definition.write_text(definition.read_text().replace("trigger:", "triger:"))
        for arguments in ((), ("push",)):
            ended = tenterhook("test", *arguments)
            assert ended.returncode == 1
            assert "'trigger' is missing" in ended.stdout
            assert "1 broken" in ended.stdout

    def test_a_disabled_hook_is_tried_by_name_only(self, two: None, home: Path) -> None:
        (user_hooks(home) / "hooks.toml").write_text('[[hooks.disable]]\nname = "push"\n')
        assert {each["hook"] for each in tried()["cases"]} == {"pull"}
        assert tried("push")["passed"] == 2


class TestTrust:
    """A project's hooks."""

    @pytest.fixture
    def folder(self, home: Path, project: Path, tmp_path: Path) -> Path:
        folder = folder_hook(project_hooks(project), "guard", f"touch {tmp_path}/ran; {DENY}")
        case(folder, f'setup = "touch {tmp_path}/set-up"\n{CALL}\n[expect]\ndecision = "deny"\n')
        return folder

    def test_not_trusted_nothing_of_it_runs(self, folder: Path, tmp_path: Path) -> None:
        ended = tenterhook("test")
        assert ended.returncode == 1
        assert "not trusted: guard" in ended.stdout
        assert "its 1 case file did not run" in ended.stdout
        assert "tenterhook trust guard; for this once: --trust-project" in ended.stdout
        assert "0 passed, 1 hook not trusted" in ended.stdout
        assert not (tmp_path / "ran").exists()
        assert not (tmp_path / "set-up").exists()

    def test_the_environment_does_not_stand_for_trust(self, folder: Path, project: Path) -> None:
        env = {**os.environ, "TENTERHOOK_TRUST_PROJECT": str(project)}
        assert tried(env=env)["passed"] == 0

    def test_for_this_once(self, folder: Path) -> None:
        assert tried("--trust-project")["passed"] == 1
        assert tried()["passed"] == 0

    def test_trusted_until_a_case_changes(self, folder: Path) -> None:
        assert tenterhook("trust", "guard", "--yes").returncode == 0
        assert tried()["passed"] == 1
        case(folder, f"{CALL}\n[expect]\n", "another.toml")
        report = tried()
        assert (report["passed"], report["status"]) == (0, 1)
        assert "changed since it was trusted" in report["untrusted"][0]["why"]

    def test_a_folder_of_no_layer_needs_trust_too(self, home: Path, tmp_path: Path, project: Path) -> None:
        folder = folder_hook(tmp_path / "elsewhere", "guard", DENY)
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n')
        assert tried(folder)["status"] == 1
        assert tried(folder, "--trust-project")["passed"] == 1

    def test_an_update_says_that_trust_is_needed_again(self, folder: Path) -> None:
        case(folder, f"{CALL}\n[expect]\n")
        ended = tenterhook("test", "--trust-project", "--update")
        assert ended.returncode == 0
        assert "they need trust again" in ended.stdout


class TestFiles:
    """Hooks of TOML files, by name."""

    def test_their_cases_are_beside_the_file(self, home: Path, project: Path) -> None:
        config = write_config(home / "hooks" / "mine.toml", table_hook(DENY, name="guard") + table_hook("true"))
        case(config.parent / "x", "", "none")
        place = config.parent / "cases"
        for name, decision in (("guard", "deny"), ("before_tool[1]", "none")):
            (place / name).mkdir(parents=True)
            (place / name / "one.toml").write_text(f'{CALL}\n[expect]\ndecision = "{decision}"\n')
        report = tried("--config", config)
        assert {each["hook"]: each["status"] for each in report["cases"]} == {
            "guard": "passed",
            "before_tool[1]": "passed",
        }
        assert tried("guard", "--config", config)["passed"] == 1

    def test_or_in_a_directory_that_is_named(self, home: Path, project: Path) -> None:
        config = write_config(home / "mine.toml", array_hook(DENY, matcher="Bash") + array_hook("cat", "Notification"))
        place = project / "my-cases"
        for name in ("PreToolUse[0]", "Notification[1]"):
            (place / name).mkdir(parents=True)
        (place / "PreToolUse[0]" / "a.toml").write_text(f'{CALL}\n[expect]\ndecision = "deny"\n')
        (place / "Notification[1]" / "a.toml").write_text(
            '[event]\ntitle = "t"\n[expect]\nstdout = { contains = "\\"hook_event_name\\": \\"Notification\\"" }\n'
        )
        assert tried("--config", config, "--cases", place)["passed"] == 2
        assert tried("PreToolUse[0]", "--config", config, "--cases", place / "PreToolUse[0]")["passed"] == 1

    def test_another_agents_settings_too(self, home: Path, project: Path) -> None:
        group = {"matcher": "Bash", "hooks": [{"type": "command", "command": DENY}]}
        settings = home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
        (name,) = [
            each["name"] for each in json.loads(tenterhook("list", "--config", settings, "--json").stdout)["hooks"]
        ]
        place = home / ".claude" / "cases" / name
        place.mkdir(parents=True)
        (place / "a.toml").write_text(f'{CALL}\n[expect]\ndecision = "deny"\n')
        assert tried(name, "--config", settings)["passed"] == 1

    def test_a_refused_file_is_no_success(self, home: Path, project: Path) -> None:
        config = write_config(home / "mine.toml", array_hook(DENY, timeot=3))
        assert tried("--config", config)["status"] == 1


class TestWatching:
    """Round after round."""

    def test_a_change_is_tried_and_ctrl_c_ends_it(self, home: Path, project: Path, tmp_path: Path) -> None:
        folder = hook(home, DENY)
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n')
        out = tmp_path / "out"
        with out.open("w") as stream:
            process = subprocess.Popen([*COMMAND, "test", "--watch"], stdout=stream, stderr=stream)
        try:
            until(lambda: out.read_text().count("watching; Ctrl-C ends it") == 1)
            assert "1 passed" in out.read_text()
            script = folder / "scripts" / "run.sh"
            script.write_text("#!/bin/sh\nexit 0\n")
            until(lambda: "0 passed, 1 failed" in out.read_text())
            until(lambda: out.read_text().count("watching; Ctrl-C ends it") == 2)
            assert "changed: ~/.config/agents/hooks/one/scripts/run.sh" in out.read_text()
            definition = folder / "HOOK.md"
            good = definition.read_text()
            definition.write_text("---\nbroken\n")  # in the middle of an edit
            until(lambda: out.read_text().count("watching; Ctrl-C ends it") == 3)
            definition.write_text(good)
            case(folder, f'{CALL}\n[expect]\ndecision = "none"\n')
            until(
                lambda: (
                    out.read_text().rstrip().endswith("watching; Ctrl-C ends it")
                    and "1 passed" in out.read_text()[-200:]
                )
            )
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        assert "Traceback" not in out.read_text()
