"""Measures the cost of packs: `pack verify`, and an event that none of their hooks matches.

python -m bench.packs [--quick] [--write]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from . import homes, measuring, tables
from .comparing import compare, take_turns
from .dispatching import READ, Installed, with_hooks
from .growth import running_daemon
from .looking_up import run_command
from .requests import WorkerEnded
from .rows import Measure, Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .measuring import Setting

PACKS, HOOKS = 50, 10  # hooks of each pack
VERIFIED = Target(1.0, measure=Measure.TIME)
REACHES_NONE = Target(1.2)
_ROOT = Path(__file__).resolve().parent.parent
PAGE = _ROOT / "docs" / "performance.md"
COMMAND = "python -m bench.packs --write"
_HOOK = """\
---
name: {name}
description: One of many
trigger: pre-tool-call
matcher:
  tool: {tool}
  pattern: part-{number}/.*\\.(py|toml)$
---
"""
_TOOLS = ("Shell", "WriteFile|StrReplaceFile", "mcp__github__.*", "FetchURL")
_SCRIPT = "#!/bin/sh\nexit 0\n"


def rows(setting: Setting, packs: int = PACKS) -> Iterator[Row]:
    """Measure verifying the packs, and events that none of their hooks matches, with the daemon and without."""
    home = setting.directory / "packs-home"
    _use(home, [_repository(setting.directory / "packs" / f"pack-{number:02}", number) for number in range(packs)])
    environment = homes.clean_environment(home)
    turns = {
        "ours": run_command(["pack", "verify"], environment),
        "bare": run_command(["--version"], environment),
    }
    found = take_turns(turns, max(setting.effort.loads // 2, 2))
    of_them = f"{packs} packs with {packs * HOOKS} hooks"
    compared = compare(found["ours"], found["bare"])
    yield Row(f"`pack verify`, {of_them}", "`tenterhook --version`", compared, VERIFIED)
    many, none = Installed(home, setting.work_dir), with_hooks(setting, 0, "no-packs-home")
    with ExitStack() as stack:
        for here in (many, none):  # before any event, which makes this process an agent: none starts below one
            stack.enter_context(running_daemon(here))
        yield _reaching_none(setting, "dispatch with the daemon", of_them, many, none)
    yield _reaching_none(setting, "dispatch", of_them, many, none)


def _reaching_none(setting: Setting, way: str, of_them: str, many: Installed, none: Installed) -> Row:
    turns = {}
    for name, here in {"many": many, "none": none}.items():
        here.begin(READ)
        turns[name] = here.block(["/bin/sh", "-c", here.line], here.payload(READ))
    found = take_turns(turns, setting.effort.blocks)
    return Row(
        f"{way}, none of {of_them}: line", "the same, no hook", compare(found["many"], found["none"]), REACHES_NONE
    )


def _repository(path: Path, number: int) -> Path:
    """Create a git repository with a pack, tagged v1."""
    for each in range(HOOKS):
        name = f"pack-{number:02}-hook-{each}"
        folder = path / "hooks" / name
        (folder / "scripts").mkdir(parents=True)
        tool = _TOOLS[each % len(_TOOLS)]
        (folder / "HOOK.md").write_text(_HOOK.format(name=name, tool=tool, number=number * HOOKS + each))
        homes.write_script(folder / "scripts" / "run.sh", _SCRIPT)
    person = {f"GIT_{role}_{key}": "bench" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(path), "GIT_CONFIG_NOSYSTEM": "1", **person}
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "hooks"], ["tag", "v1"]):
        subprocess.run(["git", "-C", str(path), *words], env=environment, check=True)
    return path


def _use(home: Path, repositories: list[Path]) -> None:
    home.mkdir()
    argv = [sys.executable, "-m", "bench.packs_worker", *map(str, repositories)]
    subprocess.run(argv, env=homes.clean_environment(home), cwd=_ROOT, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.packs", description="Measure what packs of hooks cost.")
    parser.add_argument("--quick", action="store_true", help="a short run; its figures are rough")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    try:
        with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
            setting = measuring.Setting(Path(directory).resolve(), measuring.QUICK if options.quick else measuring.FULL)
            found = list(rows(setting))
    except WorkerEnded as error:
        sys.exit(f"bench: {error}")
    text = f"{tables.table(found)}\n\n{tables.machine()}"
    if options.write:
        tables.put(PAGE, COMMAND, text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
