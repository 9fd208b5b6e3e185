"""Every definition example of the source documents converts to every format and back, or says what is lost.

Taken from the documents and fired as in `test_seed_examples.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from authoring.convert.ways import FILES, FORMATS, Converted, comparable, convert, read
from seed_examples import FOLDER, TABLE, Document, Programs, Read, fire, install, marked, outcomes, said
from seed_examples import programs as programs  # noqa: PLC0414  # a fixture
from seed_examples import read as documents
from tenterhook import Engine

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Hook

__all__ = ["documents", "programs"]

EXAMPLES = [
    *(("table", heading) for heading in TABLE),
    ("array", "configuration"),
    ("array", "example"),
    *(("folder", heading) for heading in (*FOLDER, "10.2 HOOK.md Example")),
]


def source_of(documents: Read, kind: str, heading: str, directory: Path) -> Path:
    """An example where it belongs, nothing changed."""
    path = directory / FILES[kind]
    if kind == "folder":
        document: Document = documents("folder")
        definition = next(block for block in document.blocks() if block.heading == heading and "---\n" in block.text)
        script = [block.text for block in document.blocks() if block[:2] == (heading, "bash")]
        if heading == "10.2 HOOK.md Example":
            script = [document.block("10.3 Script Example (scripts/run.sh)", "bash")]
        install(path, definition.text, *script)
        return path
    path.parent.mkdir(parents=True)
    path.write_text(documents("table").block(heading, "toml") if kind == "table" else marked(documents, heading))
    return path


# The fields of a hook that a lost key may change.
CHANGED = {
    "name": "name",
    "description": "description",
    "priority": "priority",
    "timeout": "timeout",
    "async": "background",
    "fail_mode": "fail_closed",
}


def differences(before: tuple[Hook, ...], after: tuple[Hook, ...], way: Converted, *others: str) -> list[str]:
    """What is not the same any more, was not said to be lost, and is none of these other fields."""
    left_out = {loss.hook for loss in way.losses if loss.left_out}
    one, two = comparable(tuple(hook for hook in before if hook.name not in left_out)), comparable(after)
    if len(one) != len(two):
        return [f"{len(one)} hooks became {len(two)}"]
    lost = {*others, *(CHANGED.get(loss.key, loss.key) for loss in way.losses)}
    return [
        f"{ours['name']}: {key}: {ours[key]} became {theirs[key]}"
        for ours, theirs in zip(one, two, strict=True)
        for key in ours
        if ours[key] != theirs[key] and key not in lost
    ]


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize(("kind", "heading"), EXAMPLES)
def test_every_example_converts_there_and_back_or_says_what_is_lost(
    documents: Read, home: Path, tmp_path: Path, kind: str, heading: str, to: str
) -> None:
    source = source_of(documents, kind, heading, home)
    hooks = read(source)
    there = convert(source, to, tmp_path / "there")
    for loss in there.losses:
        assert loss.hook in {hook.name for hook in hooks}
        assert loss.key and loss.why and loss.instead and loss.source
    # what formats write differently; the order of folders is said in priorities
    assert differences(hooks, there.hooks, there, "runs", "metadata", "priority") == []
    if not there.hooks:
        return
    back = convert(there.path, kind, tmp_path / "back")
    assert not [loss for loss in back.losses if loss.left_out]
    assert differences(hooks, back.hooks, there) == []


# ---- and does what it did


@pytest.mark.parametrize("to", ["folder", "table"])
@pytest.mark.parametrize(
    ("heading", "event", "fields", "verdict", "runs"),
    [(heading, *case) for heading, cases in TABLE.items() for case in cases],
)
@pytest.mark.usefixtures("project", "programs")
def test_a_converted_table_example_does_what_it_did(
    documents: Read,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    to: str,
    heading: str,
    event: str,
    fields: dict[str, Any],
    verdict: str,
    runs: list[str],
) -> None:
    monkeypatch.delenv("ENV", raising=False)
    there = convert(source_of(documents, "table", heading, home), to, tmp_path)
    assert there.losses == ()
    given = fire(Engine(there.hooks), event, **fields)
    if to == "folder" and runs == ["type-check failed"]:  # a mistake behind lines that may have run: exit 2 is a block
        assert outcomes(given) == ["type-check blocked"]
        return
    assert (said(given), sorted(outcomes(given))) == (verdict, sorted(runs))
    if "started" not in str(runs):
        assert outcomes(given) == runs


@pytest.mark.parametrize("to", ["table", "array", "claude", "codex", "gemini"])
@pytest.mark.parametrize(
    ("heading", "event", "fields", "verdict"),
    [(heading, *case[:3]) for heading, cases in FOLDER.items() for case in cases],
)
@pytest.mark.usefixtures("project", "programs")
def test_a_converted_folder_example_says_what_it_said_if_it_was_carried(
    documents: Read,
    home: Path,
    tmp_path: Path,
    to: str,
    heading: str,
    event: str,
    fields: dict[str, Any],
    verdict: str,
) -> None:
    there = convert(source_of(documents, "folder", heading, home), to, tmp_path)
    given = fire(Engine(there.hooks), event, **fields)
    if not any(loss.left_out or loss.key in ("answer", "async") for loss in there.losses):
        assert said(given) == verdict
    elif not there.hooks:
        assert said(given) == "none"


@pytest.mark.parametrize("to", ["folder", "table", "claude", "codex"])
def test_a_converted_array_example_blocks_as_it_did(
    documents: Read, home: Path, project: Path, tmp_path: Path, programs: Programs, to: str
) -> None:
    programs.add("node", f"cat > {project}/sent; echo 'Not this one' >&2; exit 2")
    (home / ".kimi-code" / "hooks").mkdir(parents=True)
    there = convert(source_of(documents, "array", "configuration", tmp_path), to, tmp_path / "there")
    left_out = {"folder": ["matcher"], "table": ["matcher"], "codex": ["event"]}  # of Notification
    assert [loss.key for loss in there.losses if loss.left_out] == left_out.get(to, [])
    verdict = fire(Engine(there.hooks), "PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_call_id="c")
    assert said(verdict) == "deny: Not this one"
    assert fire(Engine(there.hooks), "PreToolUse", tool_name="Grep", tool_input={}).runs == ()
    assert programs.arguments("node") == [f"{home}/.kimi-code/hooks/check-bash.mjs"]
