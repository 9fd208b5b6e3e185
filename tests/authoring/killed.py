"""A replacement of a hook's folder that was killed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tenterhook.authoring import folders

if TYPE_CHECKING:
    from pathlib import Path


def left_by_a_kill(folder: Path) -> folders.Interrupted:
    """Replace a folder in a process that is killed between the two renames."""
    code = """
import os, signal, sys
from tenterhook.authoring import folders
from tenterhook.authoring.templates import File

def kill_before_second_rename(event, arguments):
    if event == "os.rename" and arguments[0].endswith("/new"):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill_before_second_rename)
folders.write(sys.argv[1], {"HOOK.md": File("")}, replace=True)
"""
    subprocess.run([sys.executable, "-c", code, str(folder)], check=False)
    (lost,) = folders.interrupted()
    return lost
