"""What is read for a conversion: folders, directories, projects, files and agents' settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from authoring.convert.ways import GUARD, array, config, tenterhook
from support import folder_hook, write_config
from tenterhook.authoring.convert import sources

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_its_definition_a_directory_and_a_project_are_the_same_hook_once(project: Path) -> None:
    made = folder_hook(project / ".agents/hooks", "guard", GUARD)
    paths = [project, project / ".agents/hooks", made, made / "HOOK.md"]
    for path in paths:
        assert [hook.name for hook in sources.read([str(path)]).hooks] == ["guard"]
    assert len(sources.read([str(made), f"{made}/"]).hooks) == 1


def test_a_directory_is_read_as_its_settings_have_it(project: Path) -> None:
    for name in ("off", "on"):
        folder_hook(project / "hooks", name, GUARD)
    text = "[hooks.defaults]\ntimeout = 500\n[[hooks.disable]]\nname = 'off'\n"
    write_config(project / "hooks/hooks.toml", f"{text}[[hooks.override]]\nname = 'on'\npriority = 7\n")
    found = sources.read([str(project / "hooks")])
    (hook,) = found.hooks
    assert (hook.name, hook.priority, hook.timeout) == ("on", 7, 0.5)
    assert [(note.hook, "switches it off" in note.text) for note in found.notes] == [("off", True)]


def test_an_entry_that_is_no_hook_here_is_a_loss_and_no_problem(project: Path) -> None:
    handlers = [{"type": "command", "command": GUARD}, {"type": "prompt", "prompt": "judge"}]
    file = project / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": handlers}]}}))
    found = sources.read([str(file)])
    assert (len(found.hooks), found.problems) == (1, ())
    (loss,) = found.losses
    assert loss.left_out
    assert loss.source == str(file)


def test_a_hook_without_a_script_is_read_and_its_problem_kept(project: Path) -> None:
    made = folder_hook(project / "hooks", "guard", GUARD)
    (made / "scripts/run.sh").unlink()
    found = sources.read([str(made)])
    assert [hook.name for hook in found.hooks] == ["guard"]
    assert ([problem.code for problem in found.problems], found.errors) == (["no-script"], [])


def test_paths_keep_their_order(project: Path, tmp_path: Path) -> None:
    second = config(project)
    first = array(tmp_path / "x", "true", "Stop")
    assert [hook.event for hook in sources.read([str(first), str(second)]).hooks] == [
        "pre-agent-turn-stop",
        "pre-tool-call",
    ]


def test_a_broken_folder_among_good_ones_stops_the_conversion(project: Path) -> None:
    folder_hook(project / "hooks", "good", GUARD)
    folder_hook(project / "hooks", "bad", GUARD, priority=1001)
    ended = tenterhook("convert", "hooks", "--to", "table", "--out", "new.toml")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "error hooks/bad/HOOK.md:5 [bad-value] 'priority' is 1001" in ended.stderr
    assert not (project / "new.toml").exists()


def test_nothing_to_convert_is_an_error(project: Path) -> None:
    (project / "empty").mkdir()
    (project / "none.json").write_text("{}")
    for path in ("empty", "none.json", "missing.toml"):
        ended = tenterhook("convert", path, "--to", "table")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert path in ended.stderr
