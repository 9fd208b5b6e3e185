"""Env files: `NAME=value` lines that pre-session hooks write for the rest of the session (PROTOCOL 5).

A session's own env file is private. A project's (`.kimi/env`) is in the repository, which must not set variables: its
lines only count if a hook has just added them, or a hook added them at the start of an earlier session. Hashes of such
lines are kept in our state directory, by the file that defines the hook.
"""

from __future__ import annotations

import os

from . import env_policy, light_json, places, private_files, protected_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_LONGEST = 1024 * 1024  # bytes that are read
_MOST_KEPT = 1000  # lines of one defining file
_A_YEAR = 365 * 86400  # seconds

# Names that a hook may not set for later hooks, besides those of `env_policy`.
_REFUSED = r"PATH|ENV|TENTERHOOK_.*|KIMI_.*"
_ASSIGNMENT = r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)"


def of_project(work_dir: str) -> str:
    """Return the env file of a project, which hooks for other programs write to."""
    return os.path.join(work_dir, ".kimi", "env")


def lines(file: str) -> list[str]:
    """Return the lines of an env file; the last one is the text after the last line end, usually empty."""
    data = private_files.read_regular(file, _LONGEST)
    return [] if data is None else data.decode("utf-8", "surrogateescape").split("\n")


def end_last_line(file: str) -> None:
    """Add a missing line end to a file, so that the next hook's output begins on a new line."""
    try:
        with open(file, "r+b") as stream:
            if stream.seek(0, os.SEEK_END) and stream.seek(-1, os.SEEK_END) >= 0 and stream.read(1) != b"\n":
                stream.write(b"\n")
    except OSError:
        pass


def added(old: list[str], new: list[str]) -> list[str]:
    """Return the lines of a file that were not in it before."""
    whole, rest = old[:-1], "".join(old[-1:])
    if old and len(new) >= len(old) and new[: len(whole)] == whole and new[len(whole)].startswith(rest):
        # only appended to: if the last line had no line end, what follows it was added
        return [new[len(whole)][len(rest) :], *new[len(old) :]]
    from collections import Counter

    left = Counter(old)
    found = []
    for line in new:
        if left[line] > 0:
            left[line] -= 1
        else:
            found.append(line)
    return found


def assignment(line: str) -> tuple[str | None, str, str | None]:
    """Return the name and value that a line sets, and why it is refused, if it is; no name and reason for a comment."""
    line = line.strip()
    if not line or line.startswith("#"):
        return None, "", None
    import re

    found = re.fullmatch(_ASSIGNMENT, line)
    if not found or "\0" in line:
        return None, "", f"env file: not NAME=value: {line[:60]!r}"
    name, value = found[1], found[2]
    moves_settings = name in protected_places.MOVED  # guards would protect the wrong files
    if moves_settings or re.fullmatch(_REFUSED, name) or env_policy.is_from_record(name.encode()):
        return None, "", f"env file: {name} may not be set by a hook"
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return name, value, None


def left_out(file: str, known: dict[str, str]) -> list[str]:
    """Return the names that a project's env file sets to values that the session does not have."""
    set_there = (assignment(line)[:2] for line in lines(file))
    return list(dict.fromkeys(name for name, value in set_there if name and known.get(name) != value))


def accepted_lines(file: str, old: list[str], sources: Collection[str]) -> list[str]:
    """Return the lines of a project's env file that count after hooks defined in `sources` have run, and store them.

    `old` are the lines before the hooks have run.
    """
    new = lines(file)
    if not new or not sources:
        return added(old, new)
    directory = os.path.join(places.state(), "env-lines")
    kept_in = os.path.join(directory, places.file_name(os.path.realpath(os.path.dirname(file))))
    try:
        places.make_private(directory)
        from .processes import Lock

        with Lock(f"{directory}.lock"):
            if os.path.exists(kept_in):
                os.utime(kept_in)  # still in use: keep it from being removed as old
            private_files.forget_old(directory, _A_YEAR)
            return _accepted_lines(kept_in, old, new, sources)
    except OSError:  # nothing can be stored: only lines just added count
        return added(old, new)


def _accepted_lines(kept_in: str, old: list[str], new: list[str], sources: Collection[str]) -> list[str]:
    kept = _kept(kept_in)
    known = {digest for source in sources for digest in kept.get(source, ())}
    if known.issuperset(_digests(old[-1:])):  # a last line without its end is a hook's: it was replaced, not extended
        old = [*old[:-1], *([""] if old else [])]
    just_added = added(old, new)
    fresh, present = _digests(just_added), _digests(new)
    after = {**kept, **{source: [*kept.get(source, ()), *fresh] for source in sources}}
    after = {source: [each for each in dict.fromkeys(digests) if each in present] for source, digests in after.items()}
    after = {source: digests[-_MOST_KEPT:] for source, digests in after.items() if digests}
    if after != kept:
        places.replace_file(kept_in, light_json.dumps({"schema": 1, "written": after}).encode())
    earlier = {text for digest, text in present.items() if digest in known and digest not in fresh}
    return [*(line for line in new if line.strip() in earlier), *just_added]


def _kept(kept_in: str) -> dict[str, list[str]]:
    """Return the hashes of lines that hooks have added, by the file that defines the hook."""
    written = private_files.read_json(kept_in).get("written")
    if not isinstance(written, dict):
        return {}
    return {source: [str(each) for each in found] for source, found in written.items() if isinstance(found, list)}


def _digests(of: Iterable[str]) -> dict[str, str]:
    """Return lines by their hashes, which are stored since lines may contain secrets."""
    import hashlib

    texts = (line.strip() for line in of)
    return {hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(): text for text in texts if text}
