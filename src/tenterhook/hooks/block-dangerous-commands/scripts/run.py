#!/usr/bin/env -S python3 -I
"""Refuse a shell line that would destroy something, or ask; say which part of it, why, and what to do instead."""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # an isolated Python leaves it out
if sys.flags.isolated:  # it does not look where byte code is to be, either
    sys.pycache_prefix = os.environ.get("PYTHONPYCACHEPREFIX")

import danger_words
import dangers


def main() -> int:
    event = json.load(sys.stdin)
    tool_input = event.get("tool_input")
    command = tool_input.get("command") if isinstance(tool_input, dict) else tool_input
    if isinstance(command, list):  # a program with its arguments, as some agents have it
        command = [str(word) for word in command]
    if not command or not isinstance(command, (str, list)):
        return 0
    directory = event.get("work_dir") or os.getcwd()
    for key in ("workdir", "cwd", "directory", "dir_path"):
        where = tool_input.get(key) if isinstance(tool_input, dict) else None
        if isinstance(where, str) and where:
            directory = os.path.join(directory, where)
    allowed = json.loads(os.environ.get("TENTERHOOK_METADATA") or "{}").get("allow", ())
    found = dangers.judge(command, os.path.abspath(directory), os.environ, allowed)
    if not found:
        return 0
    reason = "\n".join(f"`{each.shown}`: {each.why} [{each.rule}]. Instead: {each.instead}." for each in found[:3])
    if found[0].decision == danger_words.ASK:
        print(json.dumps({"decision": "ask", "reason": reason}))
        return 0
    print(reason, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
