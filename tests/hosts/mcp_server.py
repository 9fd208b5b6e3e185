"""An MCP server on stdio with two tools: `echo` returns its text, `read` the content of the file that is our argument.

python tests/hosts/mcp_server.py [FILE]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "echo", "description": "Returns a text.", "inputSchema": TEXT},
    {"name": "read", "description": "Reads the file.", "inputSchema": {"type": "object", "properties": {}}},
]
EMPTY = {"resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}


def answer(method: str, given: dict[str, Any], file: str) -> dict[str, Any] | None:
    """Return the result of a request, or None if there is no such method."""
    if method == "initialize":
        version = given.get("protocolVersion", "2024-11-05")
        about = {"name": "canary", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = Path(file).read_text() if given["name"] == "read" else f"returned: {given['arguments']['text']}"
        return {"content": [{"type": "text", "text": text}], "isError": False}
    if method in EMPTY:
        return {EMPTY[method]: []}
    return {} if method == "ping" else None


def main(file: str = "") -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request or "method" not in request:  # a notification, or an answer
            continue
        result = answer(request["method"], request.get("params") or {}, file)
        said = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **said}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
