"""Opening a one-time link in the person's browser, without showing it to other accounts of the machine."""

from __future__ import annotations

import html
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_TIMEOUT = 20.0  # seconds for a browser to start and use the link
_INTERVAL = 0.1
_PAGE = """<!doctype html><meta charset="utf-8"><title>Tenterhook</title>
<meta http-equiv="refresh" content="0; url={link}"><p><a href="{link}">Sign in</a></p>
"""


def is_there() -> bool:
    """Return whether a browser can be opened: stdin and stdout are a terminal of a local desktop session."""
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return has_display and "SSH_CONNECTION" not in os.environ and sys.stdin.isatty() and sys.stdout.isatty()


def open_link(link: str, is_used: Callable[[], bool]) -> bool:
    """Open a link that signs in once; return whether it was used within a few seconds.

    Every account can read the arguments of a process, so the browser is given a file that only this account can read
    and that redirects to the link. The file is in the home directory itself: a browser installed as a snap cannot read
    hidden directories.
    """
    file = Path.home() / f"tenterhook-sign-in-{secrets.token_hex(4)}.html"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as page:
            page.write(_PAGE.format(link=html.escape(link)))
        subprocess.Popen(
            [sys.executable, "-m", "webbrowser", file.as_uri()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until = time.monotonic() + _TIMEOUT
        while time.monotonic() < until:
            if is_used():
                return True
            time.sleep(_INTERVAL)
        return False
    finally:
        file.unlink(missing_ok=True)
