"""Replaced outputs in the shape of Claude Code's tools."""

from __future__ import annotations

from typing import Any

import pytest

from tenterhook.agents.claude_outputs import shaped

BASH = {"stdout": "a", "stderr": "b", "interrupted": False, "isImage": False}
READ = {"type": "text", "file": {"filePath": "/x", "content": "a", "numLines": 1, "startLine": 7, "totalLines": 9}}
NOTEBOOK = {"type": "notebook", "file": {"filePath": "/x.ipynb", "cells": [{"source": "a"}]}}
GREP = {"mode": "files_with_matches", "filenames": ["a"], "numFiles": 1}
MCP = [{"type": "text", "text": "a"}, {"type": "image", "source": {"type": "base64"}}]
WRITE = {"type": "create", "filePath": "/x", "content": "a", "structuredPatch": []}


def file(path: str, text: str, first: int = 1) -> dict[str, Any]:
    lines = len(text.splitlines())
    about = {"filePath": path, "content": text, "numLines": lines, "startLine": first, "totalLines": lines}
    return {"type": "text", "file": about}


@pytest.mark.parametrize(
    ("original", "expected"),
    [
        pytest.param("text", "new\nline", id="text"),
        pytest.param(None, "new\nline", id="nothing"),
        pytest.param(MCP, [{"type": "text", "text": "new\nline"}], id="blocks"),
        pytest.param(BASH, {**BASH, "stdout": "new\nline", "stderr": ""}, id="Bash"),
        pytest.param(READ, file("/x", "new\nline", 7), id="Read"),
        pytest.param(NOTEBOOK, file("/x.ipynb", "new\nline"), id="notebook"),
        pytest.param(
            GREP,
            {"mode": "content", "numFiles": 0, "filenames": [], "content": "new\nline", "numLines": 2},
            id="Grep",
        ),
        pytest.param({"filenames": ["a"], "numFiles": 1}, {"filenames": ["new", "line"], "numFiles": 1}, id="Glob"),
        pytest.param({"url": "u", "result": "a"}, {"url": "u", "result": "new\nline"}, id="WebFetch"),
        pytest.param({"query": "q", "results": [{}]}, {"query": "q", "results": ["new\nline"]}, id="WebSearch"),
        pytest.param(
            {"status": "completed", "content": [], "agentId": "1"},
            {"status": "completed", "content": [{"type": "text", "text": "new\nline"}], "agentId": "1"},
            id="Agent",
        ),
        pytest.param(WRITE, None, id="Write"),
        pytest.param(3, None, id="number"),
    ],
)
def test_a_text_is_put_into_the_shape_of_the_tools_output(original: object, expected: object) -> None:
    assert shaped(original, "new\nline") == expected


def test_the_file_with_the_whole_of_a_long_output_is_not_named() -> None:
    long = {**BASH, "persistedOutputPath": "/f", "persistedOutputSize": 1}
    assert shaped(long, "new") == {**BASH, "stdout": "new", "stderr": ""}


@pytest.mark.parametrize("original", [BASH, READ, NOTEBOOK, GREP, MCP, WRITE])
def test_an_output_of_the_same_shape_is_used_as_it_is(original: Any) -> None:
    def redacted(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: redacted(each) for key, each in value.items()}
        if isinstance(value, list):
            return [redacted(each) for each in value]
        return value.replace("a", "[redacted]") if isinstance(value, str) else value

    assert shaped(original, redacted(original)) == redacted(original)


@pytest.mark.parametrize(
    "output", [{"stdout": "new"}, {**BASH, "stdout": 3}, {**BASH, "more": 1}, ["new"], 5], ids=repr
)
def test_an_output_of_another_shape_becomes_text(output: object) -> None:
    became: Any = shaped(BASH, output)
    assert became.keys() == BASH.keys()
    assert isinstance(became["stdout"], str)
    assert became["stderr"] == ""
