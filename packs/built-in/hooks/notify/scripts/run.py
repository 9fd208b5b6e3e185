#!/usr/bin/env -S python3 -I
"""Show a notification on the desktop, or ring the terminal's bell; say it aloud if that is wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from typing import Any

# AppleScript that takes its texts as arguments, so that none of them can become code.
SHOW = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"


def main() -> None:
    event = json.load(sys.stdin)
    title, body = texts(event)
    if program("notify-send"):
        start(["notify-send", "--app-name=Tenterhook", "--", title, body])
    elif program("osascript"):
        start(["osascript", "-e", SHOW, title, body])
    else:
        ring()
    if json.loads(os.environ.get("TENTERHOOK_METADATA") or "{}").get("speak"):
        speaker = next((name for name in ("say", "spd-say", "espeak-ng", "espeak") if program(name)), None)
        if speaker:
            start([speaker, title + ". " + body])


def texts(event: dict[str, Any]) -> tuple[str, str]:
    """A title and a body, whichever event it is; without control characters."""
    where = os.path.basename(event.get("work_dir") or "")
    title = event.get("title") or "The agent in " + where
    said = event.get("final_message") or event.get("response") or event.get("notification_type")
    if isinstance(said, dict):
        said = said.get("content")
    body = event.get("body") or said or "has finished"
    title, body = ("".join(char if char.isprintable() else " " for char in str(text)) for text in (title, body))
    return title.strip().lstrip("-")[:100], body.strip().lstrip("-")[:300]


def program(name: str) -> bool:
    return any(os.access(os.path.join(place, name), os.X_OK) for place in os.environ.get("PATH", "").split(os.pathsep))


def start(words: list[str]) -> None:
    """Start a program and leave it alone."""
    nowhere = subprocess.DEVNULL
    try:
        subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
    except OSError:
        ring()


def ring() -> None:
    try:
        with open("/dev/tty", "w") as terminal:
            terminal.write("\a")
    except OSError:  # there is no terminal: nobody would hear it
        pass


if __name__ == "__main__":
    main()
