"""python -m tools.walks NAME FOLDER: the files that an event enters on its way, traced in real processes.

`block`: an agent's call that a hook refuses. `approve`: one that the agent would ask about, which a hub approves;
the bridge and the hub are traced. A file is entered when a function in it runs; importing it is not enough.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tenterhook"
BRIDGE = SOURCE / "bridge.py"
_FUNCTION = 1  # a code flag: neither a module nor the body of a class
_PAYLOAD = {
    "session_id": "walk",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "one",
}


def main() -> int:
    name, folder = sys.argv[1], Path(sys.argv[2])
    if name == "traced":
        _trace(folder, sys.argv[3:])
    found = {"block": _block, "approve": _approve}[name](folder)
    print(*sorted(found), sep="\n")
    return 0


def _trace(out: Path, arguments: list[str]) -> NoReturn:
    """Run a script, or `-m` a module, and write which of our files it entered since the last SIGUSR1."""
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
    _bridge(home, folder / "bridge.txt").wait(60)  # the first event makes the index
    process = _bridge(home, folder / "bridge.txt")
    said, _ = process.communicate(timeout=60)
    if b'"deny"' not in said:
        raise SystemExit(f"the bridge should have refused the call, and said {said.decode()!r}")
    return set((folder / "bridge.txt").read_text().split())


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
        bridge = _bridge(home, folder / "bridge.txt", "PermissionRequest")
        asked = _until(lambda: _ask(url, token, "/inbox")["requests"])[0]
        _ask(url, token, f"/requests/{asked['id']}/answer", {"approved": True, "hash": asked["hash"]})
        said, _ = bridge.communicate(timeout=60)
        if b'"allow"' not in said:
            raise SystemExit(f"the bridge should have let the call run, and said {said.decode()!r}")
    finally:
        leave = [sys.executable, "-m", "tenterhook", "hub", "leave"]  # so that what uploads records ends
        subprocess.run(leave, check=False, capture_output=True, env=_env(home))
        hub.terminate()
        hub.wait(60)
    return {name for file in ("bridge.txt", "hub.txt") for name in (folder / file).read_text().split()}


def _home(folder: Path, script: str) -> Path:
    """A home with one hook and Tenterhook installed into Claude Code."""
    home = folder / "home"
    hook = home / ".config/agents/hooks/one"
    (hook / "scripts").mkdir(parents=True)
    (home / ".claude").mkdir()
    (hook / "HOOK.md").write_text("---\nname: one\ndescription: one\ntrigger: pre-tool-call\n---\n")
    (hook / "scripts/run.sh").write_text(f"#!/bin/sh\n{script}\n")
    (hook / "scripts/run.sh").chmod(0o755)
    install = [sys.executable, "-m", "tenterhook", "install", "claude-code"]
    subprocess.run(install, check=True, capture_output=True, env=_env(home), cwd=home)
    return home


def _bridge(home: Path, out: Path, event: str = "PreToolUse") -> subprocess.Popen[bytes]:
    """Run an agent that sends one event, in a separate process: it is marked as a guarded agent."""
    record = next((home / ".local/state/tenterhook/installed").glob("claude-code*.json"))
    line = _traced(out, str(BRIDGE), "--host", "claude-code", "--event", event, "--record", str(record))
    sent = json.dumps({**_PAYLOAD, "hook_event_name": event, "cwd": str(home)})
    play = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[2:], input=sys.argv[1].encode()).returncode)"
    command = [sys.executable, "-c", play, sent, *line]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=_env(home), cwd=home)


def _traced(out: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(Path(__file__)), "traced", str(out), *arguments]


def _env(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}


def _ask(url: str, token: str, path: str, body: dict[str, Any] | None = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/v1{path}", data, headers), timeout=30) as answer:
        return json.load(answer)


def _until(asking: Any, seconds: float = 30) -> Any:
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
