"""Gives a replaced output the shape of Claude Code's tools: in any other shape, the model is shown the original.

Tested for Bash, Read and tools of MCP servers; the other shapes are taken from the program's own checks.
"""

from __future__ import annotations

from ..basics import light_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shaped(original: Any, output: Any) -> Any | None:
    """Return a replaced output in the shape of the original; None if that shape has no place for a text."""
    if not isinstance(output, str) and _has_shape(original, output):
        return output
    return _with_text(original, light_json.text(output))


def _has_shape(original: Any, output: Any) -> bool:
    if isinstance(original, dict) and isinstance(output, dict):
        return original.keys() == output.keys() and all(_has_shape(original[key], output[key]) for key in original)
    if isinstance(original, list) and isinstance(output, list):
        return all(any(_has_shape(each, item) for each in original) for item in output)
    return type(original) is type(output)


def _with_text(original: Any, text: str) -> Any | None:
    """Return an output in the original's shape of which the model sees only this text."""
    lines = text.count("\n") + 1
    if original is None or isinstance(original, str):  # an MCP server's, as is the next
        return text
    if isinstance(original, list):
        return [{"type": "text", "text": text}]
    if not isinstance(original, dict):
        return None
    if "stdout" in original:  # Bash; the full text of a long output is in a file
        kept = {key: value for key, value in original.items() if not key.startswith("persistedOutput")}
        return {**kept, "stdout": text, "stderr": "", "isImage": False}
    file = original.get("file")
    if isinstance(file, dict):  # Read; notebooks, images and PDFs become text
        first = file.get("startLine", 1)
        about = {"filePath": file.get("filePath", ""), "numLines": lines, "startLine": first, "totalLines": lines}
        return {"type": "text", "file": {**about, "content": text}}
    if "filenames" in original and "mode" in original:  # Grep
        return {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": lines}
    if "filenames" in original:  # Glob
        return {**original, "filenames": text.splitlines()}
    if "url" in original and "result" in original:  # WebFetch
        return {**original, "result": text}
    if "query" in original and "results" in original:  # WebSearch
        return {**original, "results": [text]}
    if original.get("status") == "completed" and isinstance(original.get("content"), list):  # Agent
        return {**original, "content": [{"type": "text", "text": text}]}
    return None
