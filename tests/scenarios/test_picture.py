"""The picture of the demo, of today's demo, and one that a page can show; and the recordings, of today's guard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from support import tenterhook
from tools.moving_picture import Line, Piece, drawn

ROOT = Path(__file__).parent.parent.parent
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"


def words(picture: str) -> str:
    return " ".join(" ".join(ElementTree.fromstring(picture).itertext()).split())


def test_the_picture_shows_the_demo_as_it_is_now() -> None:
    demo = (ROOT / "examples" / "demo.py").read_text()
    scenes = re.findall(r'^    "(.+)": [A-Z]+,$', demo, re.MULTILINE)
    said = re.findall(r'Turn\(\s*"(.+?)"', demo)
    shown = words(PICTURE.read_text())
    missing = [text for text in (*scenes, *said) if text not in shown]
    assert (len(scenes), len(said)) == (4, 9)
    assert missing == ["Then I will not deploy it."], "make picture"  # it is answered with yes
    assert shown.endswith("tenterhook setup")


def test_the_recordings_show_what_the_guard_says_now(home: Path, project: Path) -> None:
    tenterhook("add", "block-dangerous-commands")
    command = json.dumps({"command": "rm -rf ~/projects"})
    ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", command, "--json")
    reason = json.loads(ended.stdout)["reason"].replace(str(home), "/home/anna")
    assert reason in words((PICTURE.parent / "kimi-code.svg").read_text()), "make recordings"  # Claude Code shortens it


def test_a_page_can_show_it_without_asking_anybody_else() -> None:
    text = PICTURE.read_text()
    assert len(text) < 150_000
    assert "<script" not in text
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "https://setup.example.invalid/x.sh",
    }


def test_no_name_of_this_machine_is_in_it() -> None:
    assert not re.search(r"/tmp/|/home/|/root/", PICTURE.read_text())


def test_the_last_lines_stay_and_nothing_takes_long() -> None:
    picture = drawn([Line([Piece(0, f"line {n}")]) for n in range(200)], 80, "many lines")
    delays = [float(each) for each in re.findall(r"animation-delay: ([\d.]+)s", picture)]
    assert delays == sorted(delays)
    assert delays[-1] <= 25
    assert "line 199" in words(picture)


def test_what_is_code_in_a_picture_is_shown_as_it_was_typed() -> None:
    assert "echo <b> & true" in words(drawn([Line([Piece(0, "echo <b> & true")])], 80, "<"))
