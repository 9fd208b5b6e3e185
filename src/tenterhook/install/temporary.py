"""Whether the environment we run from will still be there tomorrow."""

from __future__ import annotations

import os
import sys
import tempfile

from .launcher import BRIDGE

_PASSING = (
    *("/uv/archive-v", "/uv/environments-v", "/uv/builds-v"),
    *("/.cache/pipx/", "/pipx/.cache/"),  # what `pipx run` makes, today and before
    *("/build/", "/.tox/", "/.nox/"),
)


def temporary() -> str | None:
    """Why the line that `install` writes would soon lead nowhere; None if nothing speaks for that."""
    for path in (sys.executable, BRIDGE):
        real = os.path.realpath(os.path.dirname(path))
        for part in _PASSING:
            if part in path or part in real:
                return f"{path} belongs to an environment that is thrown away"
        for place in dict.fromkeys(("/tmp", "/var/tmp", tempfile.gettempdir())):  # noqa: S108  # where things do not last
            if (path + "/").startswith(place.rstrip("/") + "/"):
                return f"{path} is in a temporary directory"
    return None
