"""python -m tools.walks: the source files that run for an event, traced in real processes.

`blocked event`: a call that a hook refuses. `approval`: a call that the agent would ask about, and that a person
approves at the hub; the bridge and the hub are traced. `journal record`: the blocked event, and `tenterhook log`, which
shows it; only the files of the journal and of the command are listed. A file is entered when a function in it runs;
importing it is not enough. `--write` updates the lists in ARCHITECTURE.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tenterhook"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
VALUES = ("model.py", "events.py", "errors.py", "__init__.py")  # used everywhere: not listed
_FUNCTION = 1  # the flag CO_OPTIMIZED: code of a function, not of a module or a class body
_PAYLOAD = {
    "session_id": "walk",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "one",
}


def main() -> int:
    if sys.argv[1:2] == ["traced"]:
        _trace(Path(sys.argv[2]), sys.argv[3:])
    options = argparse.ArgumentParser(prog="python -m tools.walks", description=__doc__)
    options.add_argument("--write", action="store_true", help="update the lists in ARCHITECTURE.md")
    write = options.parse_args().write
    blocks = {name: block(name, entered(name)) for name in WALKS}
    if not write:
        print(*blocks.values(), sep="\n\n")
        return 0
    text = ARCHITECTURE.read_text()
    for name, written in blocks.items():
        text = re.sub(rf"```text\n{name}: .*?```", lambda _, new=written: new, text, flags=re.DOTALL)  # type: ignore[misc]
    ARCHITECTURE.write_text(text)
    return 0


def entered(name: str) -> list[str]:
    """Return the files that a walk enters, without those of `VALUES`."""
    with tempfile.TemporaryDirectory() as folder:
        found = WALKS[name](Path(folder))
    return sorted(file for file in found if Path(file).name not in VALUES)


def block(name: str, files: Iterable[str]) -> str:
    """Return the list of a walk as ARCHITECTURE.md has it: one line per package."""
    packages = defaultdict(list)
    for file in files:
        package, _, module = file.removesuffix(".py").rpartition("/")
        packages[package].append(module)
    rows = [f"{package:14} {'  '.join(modules)}" for package, modules in packages.items()]
    lines = [line for row in rows for line in wrap(row, 116, subsequent_indent=" " * 15)]
    return "\n".join(["```text", f"{name}: {sum(map(len, packages.values()))} files", *lines, "```"])


def _trace(out: Path, arguments: list[str]) -> NoReturn:
    """Run a script, or `-m` a module, and write to `out` which of our files it entered since the last SIGUSR1."""
    entered: set[str] = set()

    def enter(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_flags & _FUNCTION:
            entered.add(frame.f_code.co_filename)

    def end(status: int = 0) -> NoReturn:
        sys.setprofile(None)
        names = {Path(name).resolve() for name in entered.copy()}
        ours = sorted(str(name.relative_to(SOURCE)) for name in names if SOURCE in name.parents)
        out.write_text("\n".join(ours))
        leave(status)

    leave = os._exit
    os._exit = end
    sys.modules["posix"]._exit = end  # type: ignore[attr-defined]
    signal.signal(signal.SIGUSR1, lambda *_: entered.clear())
    threading.setprofile(enter)
    sys.setprofile(enter)
    status = 0
    try:
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 0
    end(status)


def _block(folder: Path) -> set[str]:
    home = _home(folder, "echo no >&2; exit 2")
    said, _ = _agent(home, folder / "bridge.txt").communicate(timeout=60)
    if b'"deny"' not in said:
        raise SystemExit(f"the bridge should have refused the call, and said {said.decode()!r}")
    return set((folder / "bridge.txt").read_text().split())


def _record(folder: Path) -> set[str]:
    written = _block(folder)
    line = _traced(folder / "log.txt", "-m", "tenterhook", "log")
    said = subprocess.run(line, capture_output=True, text=True, check=True, env=_env(folder / "home"))
    if "deny" not in said.stdout:
        raise SystemExit(f"the journal should have the blocked event, and has {said.stdout!r}")
    found = written | set((folder / "log.txt").read_text().split())
    return {name for name in found if name.startswith("journal/") or name == "cli/log.py"}


def _approve(folder: Path) -> set[str]:
    home = _home(folder, "exit 0")
    line = ["-m", "tenterhook", "hub", "--listen", "127.0.0.1:0", "--json"]
    hub = subprocess.Popen(_traced(folder / "hub.txt", *line), stdout=subprocess.PIPE, text=True, env=_env(home))
    try:
        assert hub.stdout is not None
        url = json.loads(hub.stdout.readline())["listen"]
        token = json.loads((home / ".local/state/tenterhook/hub/person.json").read_text())["token"]
        machine = _until(lambda: _ask(url, token, "/tokens", {"name": "machine"}))["token"]
        joining = [sys.executable, "-m", "tenterhook", "hub", "join", url, "--yes", "--token-file", "-"]
        subprocess.run(joining, input=machine, text=True, check=True, capture_output=True, env=_env(home))
        os.kill(hub.pid, signal.SIGUSR1)
        agent = _agent(home, folder / "bridge.txt", "PermissionRequest")
        asked = _until(lambda: _ask(url, token, "/inbox")["requests"])[0]
        _ask(url, token, f"/requests/{asked['id']}/answer", {"approved": True, "hash": asked["hash"]})
        said, _ = agent.communicate(timeout=60)
        if b'"allow"' not in said:
            raise SystemExit(f"the bridge should have let the call run, and said {said.decode()!r}")
        _until(lambda: _ask(url, token, "/sessions")["sessions"])  # its record has been uploaded, too
    finally:
        hub.terminate()
        hub.communicate(timeout=60)
        leave = [sys.executable, "-m", "tenterhook", "hub", "leave"]  # so that the uploader ends
        subprocess.run(leave, check=False, capture_output=True, env=_env(home))
    return {name for file in ("bridge.txt", "hub.txt") for name in (folder / file).read_text().split()}


WALKS = {"blocked event": _block, "approval": _approve, "journal record": _record}


def _home(folder: Path, script: str) -> Path:
    """Make a home with one hook, and install Tenterhook into Claude Code there."""
    home = folder / "home"
    hook = home / ".config/agents/hooks/one"
    (hook / "scripts").mkdir(parents=True)
    (home / ".claude").mkdir()
    (hook / "HOOK.md").write_text("---\nname: one\ndescription: one\ntrigger: pre-tool-call\n---\n")
    (hook / "scripts/run.sh").write_text(f"#!/bin/sh\n{script}\n")
    (hook / "scripts/run.sh").chmod(0o755)
    install = [sys.executable, "-m", "tenterhook", "install", "claude-code"]
    subprocess.run(install, check=True, capture_output=True, env=_env(home), cwd=home)
    time.sleep(0.2)  # no index is written while files have just changed
    return home


def _agent(home: Path, out: Path, event: str = "PreToolUse") -> subprocess.Popen[bytes]:
    """Start an agent that sends two events; the first writes the index and marks the agent, the second is traced."""
    record = next((home / ".local/state/tenterhook/installed").glob("claude-code*.json"))
    sent = {**_PAYLOAD, "cwd": str(home)}
    bridge = [str(SOURCE / "bridge.py"), "--host", "claude-code", "--record", str(record), "--event"]
    first = [sys.executable, "-I", "-S", *bridge, "PreToolUse"]
    command = [sys.executable, "-c", _AGENT, json.dumps(sent), json.dumps(first), *_traced(out, *bridge, event)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=_env(home), cwd=home)


_AGENT = """
import json, subprocess, sys
sent, first, then = sys.argv[1].encode(), json.loads(sys.argv[2]), sys.argv[3:]
subprocess.run(first, input=sent, stdout=subprocess.DEVNULL)
sys.exit(subprocess.run(then, input=sent).returncode)
"""


def _traced(out: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(Path(__file__)), "traced", str(out), *arguments]


def _env(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}


def _ask(url: str, token: str, path: str, body: dict[str, Any] | None = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/v1{path}", data, headers), timeout=30) as answer:
        return json.load(answer)


def _until(asking: Any, seconds: float = 60) -> Any:
    ends, wrong = time.monotonic() + seconds, ""
    while True:
        try:
            if found := asking():
                return found
        except OSError as error:
            wrong = str(error)
        if time.monotonic() > ends:
            raise SystemExit(f"the hub did not answer as it should: {wrong or 'nothing was asked'}")
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
