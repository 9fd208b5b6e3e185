"""The `tenterhook` command. What an agent waits for comes first and loads nothing else."""

from __future__ import annotations

import sys


def main() -> None:
    if sys.argv[1:2] == ["dispatch"]:
        from .dispatch import dispatch

        dispatch.main(sys.argv[2:])
    from .cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
