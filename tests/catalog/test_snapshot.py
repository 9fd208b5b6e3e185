"""What was read is not read again while its files are as they were."""

from __future__ import annotations

import json
import marshal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from catalog.changes import age, many_hooks
from support import array_hook, folder_hook, project_hooks, until, user_hooks, write_config
from tenterhook import Engine, Event
from tenterhook.catalog import snapshot
from tenterhook.catalog.snapshot import ParseCache, Snapshot
from tenterhook.errors import Problem

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.catalog.snapshot import Known

READS = """
import json, sys
opened, on = [], []
def heard(name, given):
    if on and name == "open" and isinstance(given[0], str) and given[0].endswith(("HOOK.md", ".toml", "index")):
        opened.append(given[0])
sys.addaudithook(heard)
from tenterhook import Engine, Event
from tenterhook.catalog import snapshot
from tenterhook.catalog.snapshot import ParseCache, Snapshot
from tenterhook.errors import Problem
from pathlib import Path
engine = Engine.load(journal=False)
event = Event("pre-tool-call", tool_name="Shell", tool_input={"command": "ls"})
hooks = Path.home() / ".config/agents/hooks"
on.append(True)
def opens():
    engine.decide(event)
    read = [Path(file).parent.name + "/" + Path(file).name for file in opened]
    opened.clear()
    return read
engine.decide(event); engine.decide(event)
told = {"nothing": opens()}
file = hooks / "hook-500" / "HOOK.md"
file.write_text(file.read_text().replace("Nothing", "Shell"))
told["edited"] = opens()
(hooks / "hook-1").rename(hooks / "new-1")
told["renamed"] = opens()
(hooks / "hook-2" / "HOOK.md").unlink()
told["removed"] = opens()
(hooks / "hook-3" / "scripts" / "run.sh").chmod(0o644)
told["script changed"] = opens()
print(json.dumps(told))
"""


def test_of_a_thousand_hooks_the_one_is_read_that_has_changed(home: Path, project: Path) -> None:
    many_hooks(home)
    for kept in ("loaded for the first time", "loaded again", "as another process left it"):
        if kept == "as another process left it":
            Engine.load(journal=False)
        ended = subprocess.run([sys.executable, "-c", READS], capture_output=True, text=True, check=True)
        told = json.loads(ended.stdout)
        assert told["nothing"] == [], kept
        assert set(told["edited"]) == {"hook-500/HOOK.md"}, kept
        assert set(told["renamed"]) <= {"new-1/HOOK.md", "hook-500/HOOK.md"}, kept
        assert "new-1/HOOK.md" in told["renamed"], kept
        assert set(told["removed"]) <= {"new-1/HOOK.md", "hook-500/HOOK.md"}, kept
        assert set(told["script changed"]) <= {"new-1/HOOK.md", "hook-500/HOOK.md", "hook-3/HOOK.md"}, kept
        _as_before(home)


def _as_before(home: Path) -> None:
    hooks = user_hooks(home)
    (hooks / "new-1").rename(hooks / "hook-1")
    text = (hooks / "hook-4" / "HOOK.md").read_text()
    (hooks / "hook-2" / "HOOK.md").write_text(text.replace("hook-4", "hook-2"))
    (hooks / "hook-500" / "HOOK.md").write_text(text.replace("hook-4", "hook-500"))
    (hooks / "hook-3" / "scripts" / "run.sh").chmod(0o755)
    until(lambda: age(hooks / "hook-3" / "scripts" / "run.sh") > 0.1)


def test_a_named_file_is_read_again_only_when_it_has_changed(home: Path, project: Path) -> None:
    named = write_config(home / "more.toml", array_hook("exit 0"))
    engine = Engine.load(configs=[named], journal=False)
    folder_hook(user_hooks(home), "guard", "true")
    assert [hook.format for hook in engine.hooks] == ["folder", "array"]
    named.write_text(array_hook("echo now >&2; exit 2"))
    assert engine.decide(Event("PreToolUse", tool_name="Bash", tool_input={})).reason == "now"


def observed(project: Path, *configs: Path) -> Snapshot:
    return Snapshot(str(project), [str(config) for config in configs], str(project / "no-managed"))


def read(project: Path, earlier: Known | None = None) -> ParseCache:
    """What is known after each folder of the project was read, or found as it was."""
    seen = observed(project)
    seen.look_at_all()
    memory = ParseCache(seen, earlier)
    for folder, look in seen.looks.items():
        if look is not None:
            memory.folder(folder, "project", {}, look)
    return memory


def test_what_another_process_has_read_is_used_while_its_files_are_as_they_were(project: Path) -> None:
    made = folder_hook(project_hooks(project), "guard")
    until(lambda: age(made / "scripts" / "run.sh") > 0.1)
    first = read(project)
    recalled = snapshot.recalled(first.as_bytes())
    again = read(project, recalled)
    assert again.known == recalled
    (made / "HOOK.md").write_text((made / "HOOK.md").read_text().replace("for a test", "changed"))
    ((_, _, (hooks, _)),) = read(project, recalled).known.values()
    assert [hook.description for hook in hooks] == ["changed"]


@pytest.mark.parametrize("data", [b"", b"nonsense", marshal.dumps(3), marshal.dumps([1]), marshal.dumps([(1, 2)])])
def test_bytes_that_are_nothing_of_the_kind_are_an_error_that_callers_expect(data: bytes) -> None:
    with pytest.raises((ValueError, EOFError, TypeError)):
        snapshot.recalled(data)


def test_a_file_that_has_just_changed_is_not_settled(project: Path) -> None:
    config = write_config(project / "hooks.toml", array_hook("true"))
    assert not observed(project, config).is_settled()
    until(lambda: age(config) > 0.1)
    seen = observed(project, config)
    assert seen.is_settled()
    seen.doubt()
    assert not seen.is_settled()


def test_an_entry_that_is_no_hook_may_change_unless_a_problem_was_reported_of_it(project: Path) -> None:
    stray = project_hooks(project) / "stray"
    stray.mkdir(parents=True)
    seen = observed(project)
    assert seen.look(str(stray)) is None
    assert str(stray) not in dict(seen.files())
    seen.report([Problem("wrong-case", f"{stray}/hook.md", None, None, "", "")])
    assert str(stray) in dict(seen.files())
