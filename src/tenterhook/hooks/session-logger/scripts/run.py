#!/usr/bin/env -S python3 -I
"""Append a JSON line about a session's beginning or end to a log in the hook's state directory."""

import json
import os
import sys

FIELDS = ("source", "model", "args", "duration_seconds", "total_steps", "exit_reason")
LARGEST = 8 * 1024 * 1024


def main() -> None:
    event = json.load(sys.stdin)
    agent = (event.get("context") or {}).get("agent") or {}
    line = {
        "time": event.get("timestamp"),
        "event": "end" if event.get("event_type") in ("post-session", "session_end", "SessionEnd") else "start",
        "session_id": event.get("session_id"),
        "work_dir": event.get("work_dir"),
        "agent": agent.get("name"),
    }
    line.update({field: event[field] for field in FIELDS if event.get(field) is not None})
    append(log_file(), json.dumps(line))


def log_file() -> str:
    chosen = json.loads(os.environ.get("TENTERHOOK_METADATA") or "{}").get("file")
    if chosen:
        return os.path.expanduser(str(chosen))
    return os.path.join(os.environ["TENTERHOOK_STATE_DIR"], "sessions.jsonl")


def append(path: str, line: str) -> None:
    """Add a line in one write, so that two sessions never mix; a log that grew too large is begun anew."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if os.path.exists(path) and os.path.getsize(path) > LARGEST:
        os.replace(path, path + ".1")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, line.encode() + b"\n")
    os.close(descriptor)


if __name__ == "__main__":
    main()
