"""The runner tells what went wrong, whatever an engine does, and leaves nothing running."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from conformance import checking, leftovers, places, reading
from conformance.run import command_of
from conformance.trying import Result, attempt
from support import alive, until

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
BLOCKS = "exit-codes/array-two-blocks"
VECTORS = {vector.id: vector for vector in reading.load()}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what will not come about however long one waits."""
    monkeypatch.setattr(checking, "PATIENCE", 0.1)


@pytest.fixture
def engine(tmp_path: Path) -> Callable[[str], str]:
    """An adapter with a body of its own, as a command."""

    def write(body: str) -> str:
        file = tmp_path / "engine.py"
        file.write_text(
            "import json, os, subprocess, sys, time\nrequest = json.load(sys.stdin)\n" + textwrap.dedent(body)
        )
        return f"{sys.executable} {file}"

    return write


def runner(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "conformance" / "run.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, **options)


def tried(command: str, vector: str = BLOCKS, patience: float = 30) -> Result:
    return attempt(VECTORS[vector], command_of(command), "test-", patience)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit('out of paper')", "the adapter crashed with exit status 1: out of paper"),
        ("os.kill(os.getpid(), 9)", "the adapter was killed by signal 9"),
        ("", "the adapter said nothing on stdout"),
        ("print('all good')", "the adapter's stdout is not one JSON document"),
        ("print('[]')", "the answer is no object with a decision: []"),
        ("print('{\"verdict\": 1}')", "the answer is no object with a decision"),
        ('print(\'{"decision": "maybe"}\')', "the decision is 'maybe', not one of deny, ask, approve, allow, none"),
        ('print(\'{"decision": "deny", "reason": 5}\')', "the reason is 5, not a text or null"),
        ('print(\'{"decision": "deny", "problems": {}}\')', "problems is {}, not an array"),
        ('print(\'{"decision": "deny"}\', flush=True); sys.exit(3)', "the adapter crashed with exit status 3"),
    ],
)
def test_a_broken_adapter_is_told_as_such(engine: Callable[[str], str], body: str, told: str) -> None:
    result = tried(engine(body))
    assert result.status == "failed"
    assert result.why.startswith(told)


def test_a_hanging_adapter_is_ended_with_all_it_started(engine: Callable[[str], str], tmp_path: Path) -> None:
    child = tmp_path / "child"
    body = f"""
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        open({str(child)!r}, "w").write(str(child.pid))
        time.sleep(300)
    """
    result = tried(engine(body), patience=3)
    assert (result.status, result.why) == ("failed", "the adapter hung: no answer, and no end")
    assert not alive(int(child.read_text()))


def test_ctrl_c_ends_everything(engine: Callable[[str], str], tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = engine(f"open({str(started)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(300)")
    begun = [
        sys.executable,
        str(ROOT / "conformance" / "run.py"),
        "--engine",
        command,
        "--only",
        "exit-codes",
        "-j",
        "2",
    ]
    with subprocess.Popen(begun, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        until(lambda: started.exists() and started.read_text().count(" ") == 2)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    pids = [int(pid) for pid in started.read_text().split()]
    assert len(pids) == 2
    assert not any(map(alive, pids))


def test_a_program_that_is_not_there_is_a_failure() -> None:
    assert tried("/no/such/engine").why.startswith("the adapter cannot be started")


def test_a_wrong_verdict_is_shown_with_what_was_expected(engine: Callable[[str], str]) -> None:
    command = engine("open('../records/ran', 'w').write('guard'); print(json.dumps({'decision': 'none'}))")
    result = tried(command)
    assert result.status == "failed"
    assert result.differences == (checking.Difference("decision", "deny", "none"),)
    shown = runner("--engine", command, "--only", BLOCKS)
    assert shown.returncode == 1
    assert "    expected  deny\n    got       none\n" in shown.stdout
    assert "0 passed, 1 failed, 0 unsupported" in shown.stdout


@pytest.mark.usefixtures("impatient")
def test_a_right_verdict_without_running_the_hook_fails(engine: Callable[[str], str]) -> None:
    (difference,) = tried(engine('print(\'{"decision": "deny"}\')')).differences
    assert difference == checking.Difference("hooks that ran", ["guard"], [])


def test_what_an_engine_does_not_tell_is_unsupported(engine: Callable[[str], str]) -> None:
    result = tried(engine('print(\'{"decision": "deny"}\')'), "reasons/array-default")
    assert (result.status, result.why) == ("unsupported", "it does not tell: reason")
    wrong = tried(engine('print(\'{"decision": "deny", "reason": null}\')'), "reasons/array-default")
    assert wrong.status == "failed"


def test_an_engine_may_say_that_it_does_not_support_something(engine: Callable[[str], str]) -> None:
    ended = runner("--engine", engine('print(\'{"unsupported": "no arrays here"}\')'), "--only", BLOCKS)
    assert ended.returncode == 0
    assert f"unsupported: no arrays here ({BLOCKS})" in ended.stdout


def test_an_adapter_may_live_on_after_its_answer(engine: Callable[[str], str], tmp_path: Path) -> None:
    body = f"""
        open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
        print(json.dumps({{"decision": "deny"}}), flush=True)
        time.sleep(2)
        subprocess.run(["sh", "-c", "echo guard >> ../records/ran"])
        time.sleep(300)
    """
    assert tried(engine(body)).status == "passed"
    assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("decision", "allow"),
        ("reason", "another reason"),
        ("modified_input", {"command": "rm"}),
        ("modified_output", "another text"),
        ("additional_context", ["said by nobody"]),
        ("failures", 3),
        ("problems", ["home/.kimi-code/config.toml"]),
        ("ran", []),
        ("ran", {"any_order": ["guard", "guard"]}),
        ("files", {"records/ran": "somebody else"}),
        ("files", {"records/ran": {"absent": True}}),
        ("files", {"records/nothing": "here"}),
        ("gone", ["records/no-pid"]),
        ("within_seconds", 0.001),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_a_vector_that_must_fail_does(key: str, value: Any) -> None:
    vector = VECTORS[BLOCKS]
    wrong = vector._replace(expect={**vector.expect, key: value})
    ours = [sys.executable, str(ROOT / "conformance" / "engines" / "tenterhook_engine.py")]
    assert attempt(wrong, ours, "test-", 60).status == "failed"


def test_json_and_junit_tell_the_same(engine: Callable[[str], str], tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    body = """
        blocks = request["vector"].endswith("two-blocks")
        open("../records/ran", "w").write("guard")
        print(json.dumps({"decision": "none"} if blocks else {"unsupported": "another day"}))
    """
    command = engine(body)
    ended = runner("--engine", command, "--only", "exit-codes/array-*", "--json", "--junit", str(report), "-j", "2")
    assert ended.returncode == 1
    told = json.loads(ended.stdout)
    assert (told["kit"], told["protocol"], told["engine"]) == ("1.1", 1, command)
    by_id = {result["id"]: result for result in told["results"]}
    assert by_id[BLOCKS]["status"] == "failed"
    assert by_id[BLOCKS]["differences"] == [{"what": "decision", "expected": "deny", "got": "none"}]
    (suite,) = ElementTree.parse(report).getroot()
    assert int(suite.attrib["tests"]) == len(by_id)
    assert int(suite.attrib["failures"]) == told["counts"]["failed"] == 1
    assert int(suite.attrib["skipped"]) == told["counts"]["unsupported"] == len(by_id) - 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--engine", ""),
        ("--engine", "'"),
        ("--engine", "/no/such/program"),
        ("--engine", "true", "--only", "nothing-of-the-kind"),
        ("--engine", "true", "--level", "best"),
        ("--engine", "true", "-j", "0"),
        ("--engine", "true", "--patience", "0"),
    ],
)
def test_wrong_use_is_64(arguments: tuple[str, ...]) -> None:
    ended = runner(*arguments)
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "Traceback" not in ended.stderr


def test_the_runner_needs_nothing_of_ours(tmp_path: Path) -> None:
    bare = [sys.executable, "-I", "-S", str(ROOT / "conformance" / "run.py"), "--help"]
    ended = subprocess.run(bare, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0
    assert "--engine" in ended.stdout


def test_the_caller_s_settings_do_not_reach_an_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TENTERHOOK_TRUST_PROJECT", "/")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    given = places.Place(tmp_path, "mark").environment({"STAGE": "@PROJECT@"})
    assert not {"TENTERHOOK_TRUST_PROJECT", "XDG_CONFIG_HOME"} & given.keys()
    assert (given["HOME"], given["STAGE"]) == (str(tmp_path / "home"), str(tmp_path / "project"))


def test_what_is_at_work_below_a_folder_is_swept_up(tmp_path: Path) -> None:
    sleeper = subprocess.Popen(["sleep", "300"], cwd=tmp_path, env={})
    until(lambda: (Path("/proc") / str(sleeper.pid) / "comm").read_text() == "sleep\n")
    leftovers.sweep("no-such-mark", tmp_path)
    assert sleeper.wait(20) == -9


def test_a_bad_file_of_vectors_is_named(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"about": "x", "vectors": [{"id": "a"}]}')
    with pytest.raises(reading.BadVector, match=r"odd\.json"):
        reading.load(tmp_path)


def test_levels_and_patterns_choose() -> None:
    every = list(VECTORS.values())
    assert {vector.level for vector in reading.chosen(every, "format", [])} == {"format"}
    assert {vector.area for vector in reading.chosen(every, None, ["order", "exit-codes/*"])} == {"order", "exit-codes"}
    assert [vector.id for vector in reading.chosen(every, None, [BLOCKS])] == [BLOCKS]
