"""`tenterhook test --update`: expectations rewritten in their file, and nothing else."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from authoring.generated_expectations import EXPECTS, actuals, one_case
from authoring.trying import case, hook, tenterhook, tried
from tenterhook.authoring import expectations, update_cases
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path


@given(expect=EXPECTS, actual=actuals(), layout=st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_an_update_writes_into_the_file_exactly_what_was_meant(
    tmp_path_factory: pytest.TempPathFactory, expect: dict[str, Any], actual: dict[str, Any], layout: int
) -> None:
    first = tomlkit.dumps({"event": {"tool_name": "x"}, "expect": expect})
    text, number = [
        (f"# kept\n{first}# and this\n", None),
        (f"# kept\n[event]\n[expect]\n{tomlkit.dumps(expect).replace('[', '[expect.') if _flat(expect) else ''}", None),
        ("# kept\n" + tomlkit.dumps({"case": [{"name": "other"}, {"name": "x", "expect": expect}]}), 1),
        ("# kept\n[[case]]\nname = 'x'\n\n[[case]]\nname = 'y'  # kept\n", 0),
        ("# kept\n[event]\ntool_name = 'x'\n", None),
        (json.dumps({"event": {}, "expect": expect}), None),
    ][layout]
    is_json = layout == 5
    before = json.loads(text) if is_json else tomllib.loads(text)
    own = before if number is None else before["case"][number]
    known = own.get("expect")
    expected = expectations.updated(known, actual)
    file = tmp_path_factory.getbasetemp() / f"updated-{layout}.{'json' if is_json else 'toml'}"
    file.write_text(text)
    update_cases.rewrite(str(file), [(one_case(number, known), expected)])
    after = file.read_text()
    read = json.loads(after) if is_json else tomllib.loads(after)
    now = read if number is None else read["case"][number]
    assert expectations.differences(now["expect"], actual) == []
    assert is_json or after.count("# kept") == text.count("# kept")
    del now["expect"]
    own.pop("expect", None)
    assert read == before


def _flat(expect: dict[str, Any]) -> bool:
    return not any(isinstance(value, dict) for value in expect.values())


def test_a_file_that_cannot_be_edited_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "one.toml"
    file.write_text("[expect]\ndecision = 'deny'\n")
    monkeypatch.setattr(update_cases, "_toml", lambda *_: "[expect]\ndecision = 'ask'\n")
    with pytest.raises(HookError, match="cannot be edited"):
        update_cases.rewrite(str(file), [(one_case(None, {"decision": "deny"}), {"decision": "none"})])
    assert file.read_text() == "[expect]\ndecision = 'deny'\n"


def test_update_rewrites_what_has_changed_and_keeps_the_rest(home: Path, project: Path) -> None:
    folder = hook(home, "echo 'not in '$PWD >&2; echo x >made; exit 2")
    file = case(
        folder,
        """
        # Why this case is here.
        name = "one"  # a name

        [event]
        tool_name = "Shell"  # any

        [expect]
        decision = "ask"     # the person
        stderr = { matches = "^not" }

        [expect.files]
        made = "y\\n"
        """,
    )
    file.chmod(0o640)
    ended = tenterhook("test", "--update")
    assert ended.returncode == 0
    assert ended.stdout.splitlines()[-1] == "0 passed, 1 updated"
    assert file.read_text() == (
        '\n# Why this case is here.\nname = "one"  # a name\n\n[event]\ntool_name = "Shell"  # any\n\n'
        '[expect]\ndecision = "deny"     # the person\nstderr = { matches = "^not" }\n'
        'reason = "not in {{work_dir}}"\n\n[expect.files]\nmade = "x\\n"\n'
    )
    assert file.stat().st_mode & 0o777 == 0o640
    assert tried()["passed"] == 1


def test_update_writes_down_what_a_case_without_expectations_does(home: Path, project: Path) -> None:
    folder = hook(home, 'echo one; echo a >made; echo b >"$TENTERHOOK_STATE_DIR/kept"; rm gone; echo c >~/c')
    file = case(folder, "[event]\ntool_name = 'x'\n[files]\ngone = 'x'\nstays = 'y'\n")
    assert tenterhook("test").returncode == 1
    assert tenterhook("test", "--update").returncode == 0
    assert tomllib.loads(file.read_text())["expect"] == {
        "decision": "none",
        "files": {"gone": False, "made": "a\n", "{{state_dir}}/kept": "b\n", "~/c": "c\n"},
    }
    assert tried()["passed"] == 1


def test_update_changes_no_file_when_nothing_differs_and_nothing_that_could_not_be_tried(
    home: Path, project: Path
) -> None:
    folder = hook(home, "exit 2")
    good = case(folder, "event = {tool_name='x'}\nexpect = {decision='deny'}\n", "good.toml")
    failing = case(folder, "setup = 'exit 1'\nevent = {tool_name='x'}\nexpect = {decision='ask'}\n", "bad.toml")
    before = [(file.read_text(), file.stat().st_mtime_ns) for file in (good, failing)]
    assert tenterhook("test", "--update").returncode == 1
    assert [(file.read_text(), file.stat().st_mtime_ns) for file in (good, failing)] == before
