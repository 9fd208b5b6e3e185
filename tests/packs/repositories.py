"""Packs in real git repositories, and SSH keys that sign their revisions."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PERSON = {"NAME": "me", "EMAIL": "me@example.org"}
ENVIRONMENT = {
    **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _PERSON.items()},
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": os.environ["PATH"],
}
HOOK = """\
---
name: {name}
description: Refuses {word}
trigger: pre-tool-call
matcher:
  tool: Shell
  pattern: {word}
metadata: {{{metadata}}}
---
"""


def git(directory: Path, *arguments: str, **more: str) -> str:
    """Run git in a directory with an identity of its own, and return what it prints."""
    ended = subprocess.run(
        ["git", "-C", str(directory), *arguments],
        env={**ENVIRONMENT, "HOME": str(directory), **more},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.strip()


def write_hook(folder: Path, word: str, *, reason: str = "not this", metadata: str = "") -> Path:
    """A hook that refuses shell lines with a word in them."""
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    (folder / "HOOK.md").write_text(HOOK.format(name=folder.name, word=word, metadata=metadata))
    script = folder / "scripts" / "run.sh"
    script.write_text(f"#!/bin/sh\necho {reason} >&2\nexit 2\n")
    script.chmod(0o755)
    return folder


class PackRepository:
    """A git repository with hooks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main")

    @property
    def source(self) -> str:
        return str(self.path)

    def hook(self, name: str, word: str, *, reason: str = "not this", metadata: str = "") -> Path:
        return write_hook(self.path / "hooks" / name, word, reason=reason, metadata=metadata)

    def commit(self, tag: str = "", *, key: Path | None = None, **dates: str) -> str:
        """Commit everything, tag it, and sign both with a key; return the commit."""
        signing = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}") if key else ()
        git(self.path, "add", "-A")
        git(self.path, *signing, "commit", "-q", "--allow-empty", "-m", "x", *(["-S"] if key else []), **dates)
        if tag:
            git(self.path, *signing, "tag", "-f", *(["-s"] if key else ["-a"]), "-m", tag, tag, **dates)
        return git(self.path, "rev-parse", "HEAD")


def new_key(path: Path) -> Path:
    """Make an SSH key; its public half is beside it, with `.pub`."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path
