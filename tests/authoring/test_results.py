"""JUnit's XML, as a machine reads it, and what people and programs see of a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from authoring.trying import case, hook, tenterhook, tried
from support import folder_hook, project_hooks

if TYPE_CHECKING:
    from pathlib import Path

CALL = '[event]\ntool_name = "Shell"\n'


def test_every_kind_of_end_is_in_the_file(home: Path, project: Path) -> None:
    folder = hook(home, r"printf 'odd \033[31m\001 \357\277\277 <&> text' >&2; exit 2")
    case(folder, f'name = "passes <&>"\n{CALL}\n[expect]\ndecision = "deny"\n', "a.toml")
    case(folder, f'{CALL}\n[expect]\ndecision = "none"\n', "b.toml")
    case(folder, f"setup = 'exit 1'\n{CALL}\n[expect]\n", "c.toml")
    case(folder, "[expect]\ndecison = 1\n", "d.toml")
    case(folder_hook(project_hooks(project), "theirs", "exit 2"), f"{CALL}\n[expect]\n")
    ended = tenterhook("test", "--junit", "out.xml")
    assert ended.returncode == 1
    root = ElementTree.parse(project / "out.xml").getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["one", "case files", "not trusted"]
    one = suites["one"]
    assert [one.get(key) for key in ("tests", "failures", "errors")] == ["3", "1", "1"]
    passes, fails, errs = one
    assert passes.get("name") == "passes <&>"
    assert passes.find("failure") is None
    failure = fails.find("failure")
    assert failure is not None and failure.get("message") == "decision: expected none, was deny"
    assert "expected: none" in (failure.text or "")
    assert fails.findtext("system-err") == r"odd \x1b[31m\x01 \uffff <&> text"
    assert (fails.get("file") or "").endswith("cases/b.toml")
    error = errs.find("error")
    assert error is not None and error.get("message") == "setup failed (exit 1)"
    (broken,) = suites["case files"]
    assert (broken.get("name") or "").endswith("cases/d.toml:2")
    (untrusted,) = suites["not trusted"]
    assert untrusted.get("classname") == "theirs"


def test_json_tells_all_of_it(home: Path, project: Path) -> None:
    folder = hook(home, "echo no >&2; exit 2")
    case(folder, f'{CALL}\n[expect]\ndecision = "ask"\n')
    hook(home, "true", name="bare")
    report = tried()
    assert (report["schema"], report["passed"], report["failed"], report["status"]) == (1, 0, 1, 1)
    assert [each["hook"] for each in report["without_cases"]] == ["bare"]
    (result,) = report["cases"]
    assert result["differences"] == [{"field": "decision", "expected": "ask", "actual": "deny"}]
    assert (result["case"], result["line"], result["actual"]["stderr"]) == ("one", 1, "no\n")


def test_what_hooks_write_does_nothing_to_a_terminal(home: Path, project: Path) -> None:
    script = r"printf 'red \033[31m \342\200\256 end' >&2; exit 2"
    case(hook(home, script), f'{CALL}\n[expect]\nreason = "\\u001b[2J"\n')
    ended = tenterhook("test")
    assert "\x1b" not in ended.stdout
    assert "\u202e" not in ended.stdout
    assert r"- \x1b[2J" in ended.stdout
    assert r"red \x1b[31m \u202e end" in ended.stdout


def test_of_long_texts_what_differs_is_shown(home: Path, project: Path) -> None:
    case(
        hook(home, "seq 1 50 >made; sed -i 's/^25$/other/' made"),
        CALL + "[expect.files]\nmade = " + json.dumps("".join(f"{n}\n" for n in range(1, 51))) + "\n",
    )
    shown = [line[12:] for line in tenterhook("test").stdout.splitlines() if line.startswith(" " * 12)]
    assert shown == ["  23", "  24", "- 25", "+ other", "  26", "  27"]


def test_a_line_break_at_the_end_is_a_difference_one_can_see(home: Path, project: Path) -> None:
    case(hook(home, "printf x >made"), f'{CALL}[expect.files]\nmade = "x\\n"\n')
    shown = [line[12:] for line in tenterhook("test").stdout.splitlines() if line.startswith(" " * 12)]
    assert shown == ["- (with a line break at the end)", "+ (without a line break at the end)"]


def test_a_link_in_the_place_of_the_file_is_replaced_and_not_followed(home: Path, project: Path) -> None:
    case(hook(home, "exit 2"), f'{CALL}\n[expect]\ndecision = "deny"\n')
    (project / "other").write_text("as it was")
    (project / "out.xml").symlink_to("other")
    assert tenterhook("test", "--junit", "out.xml").returncode == 0
    assert (project / "other").read_text() == "as it was"
    assert ElementTree.parse(project / "out.xml").getroot().tag == "testsuites"
