"""Records real agents for docs/pictures, refused by a guard and approved on the hub's page: `make recordings`.

    python tests/hosts/recordings.py [FOLDER]

Claude Code and Kimi Code run on a terminal of 80 columns against a scripted model, in a home of their own. Waiting is
shortened, the name of the temporary directory and three signs that many fonts lack are replaced; all else is as the
programs drew it.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pyte

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from hosts import agents
from hub.browser.claude import answer_first_questions
from hub.browser.joined import card_of, joined, live
from hub.browser.running import browsing, running, signed_in
from support import tenterhook
from tenterhook.agents import AGENTS
from tenterhook.basics.model_script import Turn
from tenterhook.doctor.live.model import ScriptedModel
from tools.moving_picture import Frame, Line, Picture, played, screen_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
COLUMNS, ROWS = 80, 25
PHONE = {"viewport": {"width": 360, "height": 677}, "is_mobile": True, "has_touch": True, "device_scale_factor": 1.25}
REFUSED = "rm -rf ~/projects"  # never run: the guard refuses it; and there is no such folder in the recording's home
ANSWER = "The guard refused that. I will list what is there first, and ask you which to delete."
_PATIENCE = 60  # seconds
_QUIET = 0.08  # seconds without output: the screen is drawn
_LONGEST_GAP = 0.7  # seconds between two frames of a recording
_UNKNOWN = re.compile(rb"\x1b\[[<>=?][0-9;]*[a-gi-km-zA-Z]")  # what the emulator takes for something else
_RARE = str.maketrans(
    {"\N{DENTISTRY SYMBOL LIGHT VERTICAL AND BOTTOM RIGHT}": "└", "\N{DOUBLE VERTICAL BAR}": "‖", "✨": "* "}
)
_ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c", b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\"}


class Recording:
    """An agent on a terminal, and the frames that it drew."""

    def __init__(self, child: pexpect.spawn[bytes], home: Path) -> None:
        self._child = child
        self._home = home
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._moment, self._heard = 0.0, time.monotonic()
        self.frames: list[Frame] = []
        self.pictures: list[Picture] = []

    def sees(self, text: str) -> None:
        """Wait until a text is on the screen, and the screen is quiet."""
        end = time.monotonic() + _PATIENCE
        while not self._read() or text not in "\n".join(self._screen.display):
            if time.monotonic() > end:
                raise TimeoutError(f"{text!r} is not on the screen:\n" + "\n".join(self._screen.display))

    def type(self, text: str) -> None:
        """Type a line, a key at a time: keys that come all at once count as pasted."""
        for key in text:
            self._child.send(key)
            self.sees("")
            self.hold(0.02)
        self.hold(0.4)
        self._child.send("\r")

    def press(self, key: str) -> None:
        self._child.send(key)

    def restart(self) -> None:
        """Begin the recording here."""
        self._moment = 0.0
        self.frames.clear()
        self._draw()

    def hold(self, seconds: float) -> None:
        """Show the screen as it is for a while."""
        self._moment += seconds

    def show(self, page: Page) -> None:
        """Show a page beside the terminal from now on."""
        page.wait_for_timeout(1_300)  # a new card is marked for so long
        for element in page.locator(".facts .mono").all():
            element.evaluate(
                "(it, home) => it.textContent = it.textContent.replace(home, '/home/anna')", str(self._home)
            )
        data = base64.b64encode(page.screenshot(type="jpeg", quality=75)).decode()
        self.pictures.append(Picture(self._moment, f"data:image/jpeg;base64,{data}"))

    def save(self, file: Path, title: str) -> None:
        file.write_text(played(self.frames, self.pictures, COLUMNS, title) + "\n")
        print(f"{file.name}: {len(self.frames)} frames, {self._moment:.0f} s, {file.stat().st_size // 1024} kB")

    def _read(self) -> bool:
        """Read what the program draws; whether it has drawn all of it."""
        data = b""
        with contextlib.suppress(pexpect.TIMEOUT):
            while len(data) < 1_000_000:
                data += self._child.read_nonblocking(65536, _QUIET)
        for question, answer in _ANSWERS.items():
            if question in data:
                self._child.send(answer)
        if data:
            self._stream.feed(_UNKNOWN.sub(b"", data).replace(b"\x1b[2m", b"\x1b[90m"))
            self._draw()
        return not data

    def _draw(self) -> None:
        now = time.monotonic()
        self._moment += min(now - self._heard, _LONGEST_GAP)
        self._heard = now
        lines = [self._public(line) for line in screen_lines(self._screen)]
        if not self.frames or self.frames[-1].lines != lines:
            self.frames.append(Frame(self._moment, lines))

    def _public(self, line: Line) -> Line:
        """Return a line without the name of the temporary directory; what is at the right stays where it is."""

        def shorter(found: re.Match[str]) -> str:
            text = found[0].replace(str(self._home.parent), "/home")
            return text if len(found[2]) < 2 else text.ljust(len(found[0]))

        path = re.compile(rf"({re.escape(str(self._home.parent))}\S*)( *)")
        return Line([piece._replace(text=path.sub(shorter, piece.text.translate(_RARE))) for piece in line.pieces])


@contextlib.contextmanager
def recording(name: str, *turns: Turn) -> Iterator[Recording]:
    """An agent that is ready for its first prompt, in ~/shop of the home that HOME names."""
    home, agent, executable = Path.home(), AGENTS[name], agents.executable(name)
    project = home / "shop"
    with ScriptedModel(turns) as model:
        agent.prepare(home, model.url)
        answer_first_questions(home, project)
        path = os.pathsep.join((str(executable.parent), str(agents.node()), "/usr/bin", "/bin"))
        variables = {"PATH": path, "HOME": str(home), "TMPDIR": str(home.parent), "SHELL": "/bin/sh"}
        variables |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        variables |= agent.environment(home, model.url)
        command = [str(executable), *(["--permission-mode", "default"] if name == "claude-code" else [])]
        child: pexpect.spawn[bytes] = pexpect.spawn(
            command[0], command[1:], cwd=str(project), env=variables, dimensions=(ROWS, COLUMNS)
        )
        try:
            recorded = Recording(child, home)
            if name == "kimi-code":
                recorded.sees("Trust this folder")
                recorded.press("\r")
                recorded.sees("Welcome to Kimi Code!")
            else:
                recorded.sees("? for shortcuts")
            recorded.restart()
            recorded.hold(0.8)
            yield recorded
        finally:
            child.kill(signal.SIGKILL)
            child.wait()
            child.close()


def prepare(name: str) -> None:
    """Make the project, and put the guard in force."""
    project = Path.home() / "shop"
    project.mkdir()
    (project / "Makefile").write_text("deploy:\n\t@echo 'version 41 is live'\n")
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(project)], check=True)
    for words in (["add", "block-dangerous-commands"], ["install", name]):
        ended = tenterhook(*words, cwd=project)
        assert ended.returncode == 0, ended.stdout + ended.stderr


def refused(name: str, folder: Path) -> None:
    """An agent whose model wants to delete too much."""
    call = AGENTS[name].shell_call(REFUSED)
    turns = (Turn(text="I will delete the old projects.", calls=(call,), delay=0.7), Turn(text=ANSWER, delay=1.2))
    prepare(name)
    with recording(name, *turns) as recorded:
        recorded.type("Free some disk space.")
        recorded.sees("outside")
        recorded.hold(2.5)
        recorded.sees("which")
        recorded.hold(1)
        title = f"{AGENTS[name].title}: a guard refuses {REFUSED}, and the model reads the reason"
        recorded.save(folder / f"{name}.svg", title)


def approved(folder: Path) -> None:
    """Claude Code asks; an answer on the hub's page closes its dialog."""
    call = AGENTS["claude-code"].shell_call("make deploy")
    prepare("claude-code")
    turns = (Turn(text="The tests pass. I will deploy.", calls=(call,), delay=0.7), Turn(text="Version 41 is live."))
    home = Path.home()
    with running(home.parent) as hub, browsing(home.parent) as browser, joined(hub, "laptop"):
        assert tenterhook("install", "claude-code").returncode == 0
        hub.person("anna")
        page = signed_in(hub, browser.new_context(**PHONE), "anna")  # type: ignore[arg-type]
        live(page)
        with recording("claude-code", *turns) as recorded:
            recorded.show(page)
            recorded.type("Deploy it.")
            recorded.sees("Do you want to proceed?")
            button = card_of(page, "make deploy").get_by_role("button", name="Approve once")
            recorded.hold(1.2)
            recorded.show(page)
            recorded.hold(2.5)
            button.focus()
            recorded.show(page)
            recorded.hold(0.8)
            button.tap()
            page.locator(".outcome").get_by_text("Approved once by anna").wait_for()
            recorded.show(page)
            recorded.sees("Version 41 is live.")
            recorded.hold(1)
            title = (
                "Claude Code asks before make deploy; an approval on a phone closes its dialog, and the command runs"
            )
            recorded.save(folder / "approval.svg", title)


def main(folder: Path) -> int:
    for name in ("claude-code", "kimi-code"):
        agents.install(name)
    for variable in [each for each in os.environ if each.startswith(("XDG_", "TENTERHOOK_", "CLAUDE_", "KIMI_"))]:
        del os.environ[variable]
    os.environ["PATH"] = os.pathsep.join((str(agents.node()), os.environ["PATH"]))
    for film in (partial(refused, "claude-code"), partial(refused, "kimi-code"), approved):
        with tempfile.TemporaryDirectory(prefix="t-") as temporary:
            os.environ["HOME"] = os.path.join(temporary, "anna")
            Path.home().mkdir()
            film(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES))
