"""Whether a browser is opened at all; how: hub/browser/test_first_start.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pexpect
import pytest

_ASK = [sys.executable, "-c", "from tenterhook.cli import browsers; print('there', browsers.is_there())"]


def on_a_terminal(**variables: str) -> bool:
    known = {key: value for key, value in os.environ.items() if key not in _DESKTOP}
    shown = pexpect.spawn(_ASK[0], _ASK[1:], env={**known, **variables}, encoding="utf-8", timeout=60).read()
    return "there True" in str(shown)


_DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION")


@pytest.mark.parametrize(
    ("variables", "is_there"),
    [
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({}, False),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, False),
    ],
)
def test_a_browser_is_there_at_a_terminal_of_a_desktop(variables: dict[str, str], is_there: bool) -> None:
    assert on_a_terminal(**variables) is is_there


def test_none_is_there_for_a_pipe() -> None:
    piped = subprocess.run(_ASK, env={**os.environ, "DISPLAY": ":0"}, capture_output=True, text=True, check=True)
    assert piped.stdout == "there False\n"
