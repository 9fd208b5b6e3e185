"""Measures our engine against others that run the same hooks, each in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import homes, packages
from .comparing import compare, take_turns
from .packages import CannotInstall, Package
from .requests import Case, Worker, WorkerEnded
from .rows import Row, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .measuring import Setting

_HERE = Path(__file__).resolve().parent
_OTHERS = 30  # hooks for other tools, where the event reaches none
AHEAD = Target(1.0)

KIMI_CLI = Package("kimi-cli", "1.49.0")  # later ones only say that it has moved
KIMI_CODE = Package("@moonshot-ai/kimi-code", "2.1.0")
GEMINI = Package("@google/gemini-cli-core", "0.61.0")


class Compared(NamedTuple):
    """A case, and how many rounds make a block."""

    title: str
    case: Case
    rounds: int
    target: Target | None = AHEAD


COMPARED = (
    Compared("1 hook `:`", Case(1, ":"), 10),
    Compared("1 hook `cat >/dev/null`", Case(1, "cat >/dev/null"), 10),
    Compared("8 hooks `cat >/dev/null`", Case(8, "cat >/dev/null"), 4),
    Compared(f"none of {_OTHERS} hooks matches", Case(0), 100, None),  # the others do not check for changed hooks
)


def kimi_cli(setting: Setting, other_tools: Path) -> Worker:
    """Return a worker with kimi-cli's `HookEngine`, from PyPI; raises `CannotInstall`."""
    python = packages.from_pypi(KIMI_CLI)
    return Worker(
        [python, "-m", "bench.kimi_cli_worker", setting.work_dir, other_tools], setting.environment, _HERE.parent
    )


def kimi_code(setting: Setting, other_tools: Path) -> Worker:
    """Return a worker with what Kimi Code's `trigger` calls, from its npm package; raises `CannotInstall`."""
    engine = _opened(packages.from_npm(KIMI_CODE) / "dist" / "main.mjs")
    argv = [packages.node(), _HERE / "kimi_code_worker.mjs", engine, setting.work_dir, other_tools]
    return Worker(argv, setting.environment, setting.work_dir)


def gemini(setting: Setting, other_tools: Path) -> Worker:
    """Return a worker with Gemini CLI's `HookSystem`, from its npm package; raises `CannotInstall`."""
    hooks = packages.from_npm(GEMINI) / "dist" / "src" / "hooks" / "index.js"
    argv = [packages.node(), _HERE / "gemini_worker.mjs", hooks, setting.work_dir, other_tools]
    return Worker(argv, setting.environment, setting.work_dir)


def codex(_: Setting, __: Path) -> Worker:
    raise CannotInstall("its engine is inside a compiled program, and cannot be asked without a whole session")


PEERS: dict[str, Callable[[Setting, Path], Worker]] = {
    f"kimi-cli {KIMI_CLI.version}": kimi_cli,
    f"Kimi Code {KIMI_CODE.version}": kimi_code,
    f"Gemini CLI {GEMINI.version}": gemini,
    "Codex": codex,
}


def running(setting: Setting) -> Iterator[Row]:
    """Measure our engine against each of the others that can be installed."""
    other_tools = setting.directory / "other-tools.json"
    other_tools.write_text(json.dumps(homes.tools(_OTHERS)))
    for peer, worker_of in PEERS.items():
        try:
            worker = worker_of(setting, other_tools)
        except CannotInstall as reason:
            yield Row("the same hooks", peer, None, AHEAD, str(reason))
            continue
        yield from _against(setting, peer, worker)


def _against(setting: Setting, peer: str, worker: Worker) -> Iterator[Row]:
    left = list(COMPARED)
    try:
        with worker, setting.engine(setting.folders(_OTHERS)) as none_match, setting.engine() as engine:
            while left:
                title, case, rounds, target = left[0]
                ours = engine if case.hooks else none_match
                turns = {"ours": ours.block(rounds, case), "theirs": worker.block(rounds, case)}
                found = take_turns(turns, setting.effort.blocks)
                yield Row(title, peer, compare(found["ours"], found["theirs"]), target)
                del left[0]
    except WorkerEnded as reason:  # theirs: another version, or a missing dependency
        yield from (Row(each.title, peer, None, each.target, f"it ended: {reason}") for each in left)


def _opened(program: Path) -> Path:
    """Write a copy of Kimi Code's program that exports its engine instead of starting; raises `CannotInstall`."""
    engine = program.with_name("engine.mjs")
    text, found, _ = program.read_text().rpartition("\nexport {")
    names = "HostProcessService, indexHooks, init_hostProcessService, init_matchHooks, runMatchedHooks"
    if not found or text.count("\nmain();\n") != 1:
        raise CannotInstall("its program is not built as it was")
    engine.write_text(text.replace("\nmain();\n", "\n") + f"\nexport {{ {names} }};\n")
    return engine
