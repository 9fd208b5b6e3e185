"""A companion of the hub in fifty lines: shows each request that waits, and answers it. A chat bot is no longer.

Where the hub runs:         python examples/companion.py
On another machine, first:  tenterhook inbox sign-in URL --token-file FILE
"""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

STATE = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
with open(f"{STATE}/tenterhook/hub/person.json") as file:
    PERSON = json.load(file)


def policy(request: dict[str, Any]) -> bool | None:
    """Return whether the call may run; None leaves it to others. Your rule, dialog or chat message goes here."""
    print(f"{request['agent']!a} on {request['machine']!a} wants to use {request['tool_name']!a}")
    print(f"{json.dumps(request['tool_input'])} in {request['work_dir']!a}")  # nothing in it moves the cursor
    return {"y": True, "n": False}.get(input("may it? y, n, or nothing: ").strip())


def call(path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {PERSON['token']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(f"{PERSON['url']}/api/v1{path}", data, headers), timeout=60)


def requests() -> Iterator[dict[str, Any]]:
    with call("/stream") as stream:  # listen first, then look: nothing is missed in between
        yield from json.load(call("/inbox"))["requests"]
        for line in stream:
            if line.startswith(b"data:") and (event := json.loads(line[5:]))["kind"] == "request":
                yield json.load(call(f"/requests/{event['id']}"))


while True:
    try:
        for each in requests():
            if each["state"] == "open" and (approved := policy(each)) is not None:
                call(f"/requests/{each['id']}/answer", {"approved": approved, "hash": each["hash"], "via": "companion"})
    except OSError as error:  # answered elsewhere, which is status 409; or the hub is away
        print(error.read().decode() if isinstance(error, urllib.error.HTTPError) else error)
        time.sleep(1)
