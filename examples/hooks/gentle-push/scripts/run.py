#!/usr/bin/env python3
import json
import sys

event = json.load(sys.stdin)
tool_input = event["tool_input"]
words = tool_input["command"].split(" ")
gentle = " ".join("--force-with-lease" if word == "--force" else word for word in words)
print(json.dumps({"modified_input": {**tool_input, "command": gentle}, "reason": "--force became --force-with-lease"}))
