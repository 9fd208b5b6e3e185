"""The examples run, the table of events is true, and what is missing says how to get it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tenterhook.events import EVENTS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
FRAMEWORKS = {
    "pydantic-ai": "tenterhook.adapters.pydantic_ai",
    "OpenAI Agents SDK": "tenterhook.adapters.openai_agents",
    "Claude Agent SDK": "tenterhook.adapters.claude_agent",
    "LangChain": "tenterhook.adapters.langchain",
}


@pytest.mark.parametrize("name", ["with_openai_agents", "with_langchain", "with_claude_agent_sdk"])
def test_an_example_finds_another_way(name: str, project: Path) -> None:
    file = ROOT / "examples" / f"{name}.py"
    assert len(file.read_text().splitlines()) <= 40
    ended = subprocess.run([sys.executable, file, "--offline"], capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        *("pre-session none", "turn-started none", "pre-agent-turn none"),
        *("pre-tool-call deny", "post-tool-call-failure none", "pre-tool-call none", "post-tool-call none"),
        *("pre-agent-turn-stop none", "post-agent-turn-stop none", "post-agent-turn none"),
        "It is on staging.",
        "post-session none",
    ]


def test_the_page_says_which_framework_gives_which_event() -> None:
    page = (ROOT / "docs" / "embedding.md").read_text()
    table = page.partition("\n## Which events a framework gives\n\n")[2].partition("\n\n")[0]
    head, _, *rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
    assert head == ["event", *FRAMEWORKS]
    given = [import_module(module).EVENTS for module in FRAMEWORKS.values()]
    assert rows == [[f"`{spec.name}`", *(events.get(spec.name, "–") for events in given)] for spec in EVENTS]
    for events in given:
        assert set(events) <= {spec.name for spec in EVENTS}


@pytest.mark.parametrize(
    ("module", "package", "remedy"),
    [
        ("openai_agents", "agents", "pip install openai-agents"),
        ("claude_agent", "claude_agent_sdk", "pip install claude-agent-sdk"),
        ("langchain", "langchain", "pip install langchain"),
    ],
)
def test_a_missing_framework_says_how_to_get_it(module: str, package: str, remedy: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; import tenterhook.adapters.{module}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = ended.stderr.splitlines()[-1]
    assert re.fullmatch(rf"ImportError: tenterhook\.adapters\.{module} needs .*: {remedy}", last)


def test_the_package_itself_loads_no_framework() -> None:
    code = "import sys, tenterhook.adapters; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"agents", "claude_agent_sdk", "langchain", "pydantic_ai"} & set(loaded)
