"""The command that installs an extra's packages into this copy of Tenterhook.

pipx, uv and pip manage environments differently, and this copy may come from an index, a wheel or a checkout, which may
no longer exist. pip and uv do not look for a version that is already installed; pipx would forget where it came from,
and gets the extra's requirements by name.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any

_NAME = "tenterhook"
_SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


def install_command(extra: str) -> str:
    """Return the command that installs an extra's packages into this environment."""
    receipt = os.path.join(sys.prefix, "uv-receipt.toml")
    if os.path.exists(receipt):
        return shlex.join(_uv_tool(extra, receipt))
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return shlex.join(["pipx", "inject", os.path.basename(sys.prefix), *_requirements(extra)])
    once = _run_once(extra)
    return shlex.join(once or [*_pip(), *_what(extra)])


def _uv_tool(extra: str, receipt: str) -> list[str]:
    """Return the command for a tool of uv: one that installs it with the extra, or one that adds to its environment."""
    try:
        again = _uv_tool_again(extra, receipt)
    except (OSError, AttributeError, KeyError, TypeError, ValueError):  # a receipt that another version of uv wrote
        again = None
    return again or ["uv", "pip", "install", "--python", sys.prefix, _this_version(extra)]


def _uv_tool_again(extra: str, receipt: str) -> list[str] | None:
    """Return the command that installs the tool anew with the extra added; None if that cannot be determined."""
    with open(receipt, "rb") as file:
        ours, *others = tomllib.load(file)["tool"]["requirements"]
    if not all(map(_is_plain, others)):
        return None
    extras = ",".join(dict.fromkeys((*ours.get("extras", ()), extra)))
    local = ours.get("path") or ours.get("directory") or ours.get("editable")
    if isinstance(local, str) and os.path.exists(local):
        editable = ["--editable"] if ours.get("editable") else []
        wanted = [*editable, f"{local}[{extras}]"]
    elif local or not _is_plain(ours):
        return None
    else:
        wanted = [f"{_NAME}[{extras}]{ours.get('specifier', '')}"]
    kept = [word for each in others for word in ("--with", _as_text(each))]
    return ["uv", "tool", "install", *wanted, *kept]


def _is_plain(requirement: dict[str, Any]) -> bool:
    """Whether a requirement is only a name from an index, with extras and versions."""
    return requirement.keys() <= {"name", "extras", "specifier"}


def _as_text(requirement: dict[str, Any]) -> str:
    extras = ",".join(requirement.get("extras", ()))
    return f"{requirement['name']}{f'[{extras}]' if extras else ''}{requirement.get('specifier', '')}"


def _run_once(extra: str) -> list[str] | None:
    """Return `uvx` or `pipx run` with the extra, if this environment was made for one run."""
    source = _local_source() or _NAME
    if re.search(r"/uv/(?:archive|environments|builds)-v", sys.prefix):
        return ["uvx", "--from", f"{source}[{extra}]", _NAME]
    if "/.cache/pipx/" in sys.prefix or "/pipx/.cache/" in sys.prefix:
        return ["pipx", "run", "--spec", f"{source}[{extra}]", _NAME]
    return None


def _pip() -> list[str]:
    """Return the pip command for this environment."""
    if find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", sys.executable]
    command = [sys.executable, "-m", "pip", "install"]
    import sysconfig

    in_venv = sys.prefix != sys.base_prefix
    if not in_venv and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")):
        command.append("--break-system-packages")  # which was needed for Tenterhook itself
    return command


def _what(extra: str) -> list[str]:
    """Return pip's arguments: an editable checkout with the extra, else the version that is installed with it."""
    if _distribution() is None and os.path.exists(os.path.join(_SOURCE, "pyproject.toml")):
        return ["-e", f"{_SOURCE}[{extra}]"]
    source = _local_source()
    about = _direct_url().get("dir_info")
    if source and isinstance(about, dict) and about.get("editable"):
        return ["-e", f"{source}[{extra}]"]
    return [_this_version(extra)]


def _this_version(extra: str) -> str:
    """Return the requirement of the extra of the installed version: its packages are added, and it stays as it is."""
    found = _distribution()
    return f"{_NAME}[{extra}]" + (f"=={found.version}" if found else "")


def _local_source() -> str | None:
    """Return the checkout or wheel that this copy was installed from; None if it was not, or it no longer exists."""
    url = _direct_url().get("url")
    if not isinstance(url, str) or not url.startswith("file://"):
        return None
    from urllib.parse import unquote

    path = unquote(url.removeprefix("file://"))
    return path if os.path.exists(path) else None


def _direct_url() -> dict[str, Any]:
    """Return the installer's record of the source of this copy; empty if it came from an index."""
    found = _distribution()
    try:
        about = json.loads((found.read_text("direct_url.json") if found else None) or "{}")
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}


def _requirements(extra: str) -> list[str]:
    """Return the requirements of an extra by name; the extra itself if they are unknown."""
    found = _distribution()
    wanted = re.compile(rf"\bextra\s*==\s*['\"]{re.escape(extra)}['\"]").search
    parts = [each.partition(";") for each in (found.requires if found else None) or ()]
    named = [requirement.strip() for requirement, _, marker in parts if wanted(marker)]
    return named or [f"{_NAME}[{extra}]"]


def _distribution() -> Distribution | None:
    try:
        return distribution(_NAME)
    except PackageNotFoundError:
        return None
