#!/usr/bin/env python3
import json
import os
import sys

event = json.load(sys.stdin)
language = os.environ.get("PROJECT_LANGUAGE", "unknown")
with open("changes.log", "a") as log:
    print(f"{event['timestamp']} {event['tool_input']['file_path']} ({language})", file=log)
