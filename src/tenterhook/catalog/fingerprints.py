"""The fingerprint of a hook's folder: one hash over every file, mode and link."""

from __future__ import annotations

import hashlib
import os
import stat

from ..basics.named_tuples import NamedTuple
from ..errors import HookError


class Untrustable(HookError):
    """A folder that cannot be trusted, since its content may change unnoticed."""


class FileFingerprint(NamedTuple):
    """One file of a folder; `digest` is that of its content or, for a link, of its target's path."""

    path: str
    mode: int
    digest: str


class Fingerprint(NamedTuple):
    """All files of a folder, and the hash over them."""

    hash: str
    entries: tuple[FileFingerprint, ...]


def of_folder(folder: str) -> Fingerprint:
    """Return the fingerprint of a folder. Raises `Untrustable` for a link that leads out, or for a special file."""
    entries = sorted(_walk(folder))
    return Fingerprint(_hash(entries), tuple(entries))


def of_file(file: str) -> Fingerprint:
    """Return the fingerprint of a single file. Raises `Untrustable` for a link: its target is not read."""
    if os.path.islink(file):
        raise Untrustable(f"{file} is a link", "put the file itself there")
    entry = _entry(file, os.path.basename(file), os.path.dirname(file))
    return Fingerprint(_hash([entry]), (entry,))


def touched_since(folder: str, moment: float) -> bool:
    """Whether anything in a folder has changed since a `time.time`, according to `stat`."""
    earliest = round((moment - _CLOCK_TICK) * 1e9)
    # What cannot be read counts as changed.
    return any(not inode or changed > earliest for _, inode, changed in stats_of(folder))


def stats_of(folder: str) -> list[tuple[str, int, int]]:
    """Return what changes whenever something below a folder does: each inode, and when it was last changed."""
    found: list[tuple[str, int, int]] = []
    left = [folder]
    while left:
        directory = left.pop()
        try:
            about = os.lstat(directory)
            found.append((directory, about.st_ino, about.st_ctime_ns))
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    else:
                        about = entry.stat(follow_symlinks=False)
                        found.append((entry.path, about.st_ino, about.st_ctime_ns))
        except OSError:
            found.append((directory, 0, 0))
    return sorted(found)


_CLOCK_TICK = 0.05  # seconds, with room to spare


def _hash(entries: list[FileFingerprint]) -> str:
    total = hashlib.sha256()
    for path, mode, digest in entries:
        name = path.encode("utf-8", "surrogateescape")
        total.update(b"%d:%s %o %s\n" % (len(name), name, mode, digest.encode()))
    return total.hexdigest()


def _walk(folder: str) -> list[FileFingerprint]:
    """Return every file and directory below a folder. Raises `Untrustable` for more than a person can review."""
    if os.path.islink(folder):
        raise Untrustable(f"{folder} is a link", "put the files themselves there")
    found: list[FileFingerprint] = []
    left = [""]
    size = 0
    while left:
        below = left.pop()
        try:
            names = os.listdir(os.path.join(folder, below))
        except OSError as error:
            raise Untrustable(
                f"cannot read {os.path.join(folder, below)}: {error.strerror}", "make it readable"
            ) from None
        for name in names:
            relative = os.path.join(below, name)
            full = os.path.join(folder, relative)
            if os.path.isdir(full) and not os.path.islink(full):
                found.append(FileFingerprint(relative + "/", stat.S_IMODE(os.lstat(full).st_mode), "directory"))
                left.append(relative)
            else:
                size += os.lstat(full).st_size
                if size > _LARGEST:
                    raise Untrustable(
                        f"{folder} holds more than {_LARGEST >> 20} MiB", "keep data outside a hook's folder"
                    )
                found.append(_entry(full, relative, folder))
            if len(found) > _MOST or relative.count("/") > _DEEPEST:
                raise Untrustable(f"{folder} holds too many files or levels", "keep data outside a hook's folder")
    return found


_LARGEST = 64 * 1024 * 1024
_MOST = 5000
_DEEPEST = 32


def _entry(full: str, relative: str, folder: str) -> FileFingerprint:
    try:
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            target = os.readlink(full)
            if _leads_out(full, target, folder):
                raise Untrustable(f"{full} is a link that leads out of the folder", "put the file itself there")
            return FileFingerprint(relative, 0, "link:" + hashlib.sha256(os.fsencode(target)).hexdigest())
        if not stat.S_ISREG(mode):
            raise Untrustable(f"{full} is not a regular file", "remove it")
        with open(full, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Untrustable(f"cannot read {full}: {error.strerror}", "make it readable") from None
    return FileFingerprint(relative, stat.S_IMODE(mode), digest)


def _leads_out(link: str, target: str, folder: str) -> bool:
    """Whether a link leads out of a folder, even if it leads back in: what is outside may change."""
    inside = os.path.realpath(folder) + "/"
    if os.path.isabs(target) or not os.path.realpath(link).startswith(inside):
        return True
    place = os.path.realpath(os.path.dirname(link))
    for name in target.split("/"):
        place = os.path.realpath(os.path.join(place, name))
        if not f"{place}/".startswith(inside):
            return True
    return False
