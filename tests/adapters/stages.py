"""The same small agent on each framework: a tool that leaves a file, one that breaks, a scripted model over HTTP."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

from tenterhook import Answer, Event, Request, Verdict
from tenterhook.doctor.live.model import MODEL, ScriptedCall, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from openai import AsyncOpenAI

    from tenterhook import Engine
    from tenterhook.adapters.agent_session import AgentSession

BROKE = "it broke"


class Stage(NamedTuple):
    """One framework: how it takes an engine, runs an agent for one prompt, and names our tools."""

    name: str
    hooks: Callable[..., AgentSession]
    run: Callable[[Any, str, str], Any]  # hooks, the model's address, the prompt → the answer
    prefix: str = ""

    def note(self, name: str) -> ScriptedCall:
        """A call that leaves a file of this name in the project."""
        return ScriptedCall(f"{self.prefix}note", {"name": name})

    def broken(self) -> ScriptedCall:
        return ScriptedCall(f"{self.prefix}broken", {"why": "why not"})


class Person:
    """A surface that answers every question alike."""

    def __init__(self, approved: bool, *, ends_turn: bool = False) -> None:
        self.answer = Answer(approved, "person", reason=None if approved else "I say no.", ends_turn=ends_turn)
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        return self.answer


class Played:
    """What came of a run: the answer, the events with their verdicts, what the model was sent."""

    def __init__(self) -> None:
        self.answer = ""
        self.told: list[tuple[Event, Verdict]] = []
        self.results: list[str] = []
        self.requests = 0
        self.model: ScriptedModel

    def hear(self, event: Event, verdict: Verdict) -> None:
        self.told.append((event, verdict))

    @property
    def names(self) -> list[str]:
        return [event.canonical for event, _ in self.told]

    def events(self, name: str) -> list[Event]:
        return [event for event, _ in self.told if event.canonical == name]


def saying(**said: Any) -> Callable[[Event], dict[str, Any]]:
    return lambda event: said


def note(name: str) -> str:
    """Leave a file."""
    with open(name, "w") as file:
        file.write("noted")
    return f"noted {name}"


def openai_client(url: str) -> AsyncOpenAI:
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


async def run_pydantic_ai(hooks: Any, url: str, prompt: str) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def broken(why: str) -> str:
        """Break."""
        raise ToolFailed(BROKE)

    async with openai_client(url) as client:
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
        agent = Agent(model, capabilities=[hooks], tools=[note, broken])
        return str((await agent.run(prompt)).output)


async def run_openai_agents(hooks: Any, url: str, prompt: str) -> str:
    from agents import Agent, OpenAIResponsesModel, RunConfig, function_tool

    @function_tool
    def broken(why: str) -> str:
        """Break."""
        raise ValueError(BROKE)

    async with openai_client(url) as client:
        model = OpenAIResponsesModel(MODEL, client)
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note), broken], model=model)
        return str((await hooks.run(agent, prompt, run_config=RunConfig(tracing_disabled=True))).final_output)


def langchain_agent(hooks: Any, url: str, **clients: Any) -> Any:
    from langchain.agents import create_agent
    from langchain_core.tools import StructuredTool, ToolException
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    def broken(why: str) -> str:
        """Break."""
        raise ToolException(BROKE)

    breaking = StructuredTool.from_function(broken, handle_tool_error=True)
    model = ChatOpenAI(model=MODEL, base_url=f"{url}/v1", api_key=SecretStr("none"), **clients)
    return create_agent(model, [note, breaking], middleware=[hooks])


async def run_langchain(hooks: Any, url: str, prompt: str) -> str:
    async with httpx.AsyncClient() as client:
        agent = langchain_agent(hooks, url, http_async_client=client)
        result = await agent.ainvoke({"messages": [("user", prompt)]})
    return str(result["messages"][-1].text)


async def run_langchain_in_a_thread(hooks: Any, url: str, prompt: str) -> str:
    with httpx.Client() as client:
        agent = langchain_agent(hooks, url, http_client=client)
        result = await asyncio.to_thread(agent.invoke, {"messages": [("user", prompt)]})
    return str(result["messages"][-1].text)


def claude_options(url: str, **more: Any) -> Any:
    from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, tool

    @tool("note", "Leave a file.", {"name": str})
    async def noting(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": note(given["name"])}]}

    @tool("broken", "Break.", {"why": str})
    async def broken(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": BROKE}], "is_error": True}

    environment = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "HOME": os.environ["HOME"],
    }
    given: dict[str, Any] = {
        "mcp_servers": {"t": create_sdk_mcp_server("t", tools=[noting, broken])},
        "allowed_tools": ["mcp__t__note", "mcp__t__broken", "Agent"],
    }
    return ClaudeAgentOptions(setting_sources=[], env=environment, cwd=os.getcwd(), **{**given, **more})


async def run_claude_agent(hooks: Any, url: str, prompt: str) -> str:
    from claude_agent_sdk import ClaudeSDKClient, ResultMessage

    answer = ""
    async with ClaudeSDKClient(hooks.options(claude_options(url))) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                answer = message.result or ""
    return answer


def _pydantic_ai(engine: Engine, **life: Any) -> AgentSession:
    from tenterhook.adapters.pydantic_ai import HooksCapability

    return HooksCapability(engine, **life)


def _openai_agents(engine: Engine, **life: Any) -> AgentSession:
    from tenterhook.adapters.openai_agents import HooksRunner

    return HooksRunner(engine, **life)


def _langchain(engine: Engine, **life: Any) -> AgentSession:
    from tenterhook.adapters.langchain import HooksMiddleware

    return HooksMiddleware(engine, **life)


def _claude_agent(engine: Engine, **life: Any) -> AgentSession:
    from tenterhook.adapters.claude_agent import HooksCallbacks

    return HooksCallbacks(engine, **life)


PYDANTIC_AI = Stage("pydantic-ai", _pydantic_ai, run_pydantic_ai)
OPENAI_AGENTS = Stage("openai-agents", _openai_agents, run_openai_agents)
LANGCHAIN = Stage("langchain", _langchain, run_langchain)
LANGCHAIN_SYNC = Stage("langchain-sync", _langchain, run_langchain_in_a_thread)
CLAUDE_AGENT = Stage("claude-agent", _claude_agent, run_claude_agent, prefix="mcp__t__")
