"""The project that a directory belongs to, and the identity that its trust is bound to."""

from __future__ import annotations

import os

from ..basics import places, private_files


def project_root(directory: str) -> str:
    """Return the directory or its nearest parent with `.git`, `.agents/hooks` or `.agents/hooks.toml`, up to home."""
    start = os.path.realpath(directory)
    home = os.path.realpath(places.home())
    current = start
    while True:
        hooks = os.path.join(current, ".agents", "hooks")
        if os.path.exists(os.path.join(current, ".git")) or os.path.isdir(hooks) or os.path.isfile(f"{hooks}.toml"):
            return current
        parent = os.path.dirname(current)
        if current == home or parent == current:
            return start
        current = parent


def repository_can_reach(path: str, root: str) -> bool:
    """Whether a path is inside a repository, this project's or another, and so could have come with it."""
    path = os.path.realpath(path)
    ends = {os.path.realpath(places.account_home()), "/"}
    while path not in ends:
        if path == os.path.realpath(root) or os.path.exists(os.path.join(path, ".git")):
            return True
        path = os.path.dirname(path)
    return path == os.path.realpath(root)


def identity(root: str) -> str:
    """Return what trust is bound to: the git directory, which a repository shares with its worktrees, else the path."""
    directory = _git_directory(root)
    return f"git:{directory}" if directory else "path:" + os.path.realpath(root)


def identity_files(root: str) -> list[str]:
    """Return the files that an identity is read from."""
    dot_git = os.path.join(root, ".git")
    private = None if os.path.isdir(dot_git) else _pointer(dot_git, "gitdir: ")
    return [dot_git, *(os.path.join(private, name) for name in ("gitdir", "commondir") if private)]


def repository_id(root: str) -> str | None:
    """Return an ID that tells a repository from another one at the same path; None if it has none yet.

    A git directory has a random ID, which no clone contains. Where `.git` is a link, or a file as in a submodule, the
    ID is its inode and change time. Without git, all directories have the same ID.
    """
    directory = _git_directory(root)
    if directory is not None:
        # neither symbolic nor hard links, which could lead to the ID of another repository
        found_id = private_files.read_regular(os.path.join(directory, _ID_FILE), 64, no_links=True)
        return found_id.decode("ascii", "replace") if found_id else None
    try:
        found = os.lstat(os.path.join(root, ".git"))
    except OSError:
        return "no repository"
    return f"{found.st_ino} {found.st_ctime_ns}"


def renew_repository_id(root: str) -> str | None:
    """Give a repository a new ID, and return it. An existing ID may have come with an archive."""
    directory = _git_directory(root)
    if directory is not None:
        places.replace_file(os.path.join(directory, _ID_FILE), os.urandom(16).hex().encode())
    return repository_id(root)


_ID_FILE = "tenterhook-id"


def _git_directory(root: str) -> str | None:
    """Return the git directory of a repository, or of the repository that lists a worktree; else None.

    A repository lists its worktrees in `worktrees/NAME/gitdir`, where only its owner can write. Git itself trusts any
    `.git` file and the `commondir` of the directory it names, both of which an archive can contain.
    """
    dot_git = os.path.join(os.path.realpath(root), ".git")
    if os.path.islink(dot_git):  # it could lead to a worktree of another repository
        return None
    if os.path.isdir(dot_git):
        return dot_git
    private = _pointer(dot_git, "gitdir: ")
    if private is None:
        return None
    worktrees = os.path.dirname(private)
    common = os.path.dirname(worktrees)
    is_listed = (
        os.path.basename(worktrees) == "worktrees"
        and _pointer(os.path.join(private, "commondir"), "") == common
        and _pointer(os.path.join(private, "gitdir"), "") == dot_git
    )
    return common if is_listed else None


def _pointer(file: str, prefix: str) -> str | None:
    data = private_files.read_regular(file, 4096)
    line = os.fsdecode(data).strip() if data is not None else None
    if line is None or not line.startswith(prefix):
        return None
    return os.path.realpath(os.path.join(os.path.dirname(file), line[len(prefix) :]))
