"""Extends the table by which `tenterhook update` recognises hooks that earlier versions wrote.

python -m tools.released_hooks COMMIT...    add the files of the built-in hooks at these commits; a release adds its own
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

from tenterhook.authoring import released_hooks

HOOKS = "src/tenterhook/hooks"


def shipped(commit: str) -> dict[str, dict[str, bytes]]:
    """Return the files of each built-in hook at a commit, with links resolved as in a wheel."""
    packed = subprocess.run(["git", "archive", commit, "src/tenterhook"], check=True, capture_output=True).stdout
    found: dict[str, dict[str, bytes]] = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            content = (
                archive.extractfile(member) if member.name.startswith(f"{HOOKS}/") and not member.isdir() else None
            )
            if content is not None:
                name, _, path = member.name.removeprefix(f"{HOOKS}/").partition("/")
                found.setdefault(name, {})[path] = content.read()
    return found


def add(table: dict[str, released_hooks.Released], hooks: dict[str, dict[str, bytes]]) -> None:
    """Add the digests of files and the fields of front matter that the table does not have yet."""
    for name, files in hooks.items():
        known = table.setdefault(name, {"files": {}, "fields": []})
        for path, content in files.items():
            fields, text = released_hooks.parts(content) if path == "HOOK.md" else (None, content)
            known["fields"] += [fields] if fields and fields not in known["fields"] else []
            digests = known["files"].setdefault(path, [])
            digest = released_hooks.digest(text)
            digests += [digest] if digest not in digests else []


def main(commits: list[str]) -> None:
    table = released_hooks.table()
    for commit in commits:
        add(table, shipped(commit))
    Path(released_hooks.FILE).write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
