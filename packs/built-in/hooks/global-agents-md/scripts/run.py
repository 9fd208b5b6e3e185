#!/usr/bin/env -S python3 -I
"""Add the person's own AGENTS.md to the context of a session."""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Iterator

LONGEST = 32 * 1024


def main() -> None:
    event = json.load(sys.stdin)
    longest = json.loads(os.environ.get("TENTERHOOK_METADATA") or "{}").get("longest", LONGEST)
    for path in places(event.get("work_dir") or os.getcwd()):
        try:
            with open(path, "rb") as file:
                data = file.read(longest + 1)
        except OSError:
            continue
        text = data[:longest].decode("utf-8", "replace").strip()
        if len(data) > longest:
            text += f"\n\n(cut after {longest} bytes; the rest is in {path})"
        if text:
            print(json.dumps({"additional_context": f"The person's own instructions, from {path}:\n\n{text}"}))
        return


def places(work_dir: str) -> Iterator[str]:
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(config) or (config + "/").startswith(os.path.abspath(work_dir) + "/"):
        config = os.path.join(home, ".config")  # what a project sets is not the person's own
    yield os.path.join(config, "agents", "AGENTS.md")
    yield os.path.join(home, ".agents", "AGENTS.md")


if __name__ == "__main__":
    main()
