"""The project a directory belongs to, and the identity its trust is bound to."""

from __future__ import annotations

import os

from ..basics import places


def project_root(directory: str) -> str:
    """The directory or its nearest ancestor with `.git` or `.agents/hooks`; from inside HOME the search ends there."""
    start = os.path.realpath(directory)
    home = os.path.realpath(places.home())
    current = start
    while True:
        if os.path.exists(os.path.join(current, ".git")) or os.path.isdir(os.path.join(current, ".agents", "hooks")):
            return current
        parent = os.path.dirname(current)
        if current == home or parent == current:
            return start
        current = parent


def repository_can_reach(path: str, root: str) -> bool:
    """Whether what lies at a path could have come with a repository: this project's, or the one around it."""
    path = os.path.realpath(path)
    ends = {os.path.realpath(places.account_home()), "/"}
    while path not in ends:
        if path == os.path.realpath(root) or os.path.exists(os.path.join(path, ".git")):
            return True
        path = os.path.dirname(path)
    return path == os.path.realpath(root)


def identity(root: str) -> str:
    """What trust is bound to: the git common directory, so that worktrees share it, else the path itself."""
    dot_git = os.path.join(root, ".git")
    if os.path.isdir(dot_git) and not os.path.islink(dot_git):
        return "git:" + os.path.realpath(dot_git)
    common = _common_directory(dot_git)
    return f"git:{common}" if common else "path:" + os.path.realpath(root)


def identity_files(root: str) -> list[str]:
    """The files that an identity is read from."""
    dot_git = os.path.join(root, ".git")
    private = None if os.path.isdir(dot_git) else _pointer(dot_git, "gitdir: ")
    return [dot_git, *(os.path.join(private, name) for name in ("gitdir", "commondir") if private)]


def _common_directory(dot_git: str) -> str | None:
    """Follow a worktree's `.git` file, but only if the repository it names points back.

    Otherwise anyone could write a file that claims to belong to a trusted repository.
    """
    private = _pointer(dot_git, "gitdir: ")
    if private is None:
        return None
    back = _pointer(os.path.join(private, "gitdir"), "")
    common = _pointer(os.path.join(private, "commondir"), "")
    if back is None or common is None or os.path.realpath(back) != os.path.realpath(dot_git):
        return None
    return common


def _pointer(file: str, prefix: str) -> str | None:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as stream:
            line = stream.read(4096).strip()
    except OSError:
        return None
    if not line.startswith(prefix):
        return None
    return os.path.realpath(os.path.join(os.path.dirname(file), line[len(prefix) :]))
