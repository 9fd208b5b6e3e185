"""A pydantic-ai agent with hooks in it, and a subagent. It runs offline: the models are functions."""

import asyncio

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tenterhook import Engine, Event
from tenterhook.adapters.pydantic_ai import HooksCapability

engine = Engine.load(".")  # your hooks and the project's


@engine.on("pre-tool-call", tool="deploy", pattern="production")
def not_there(event: Event) -> dict[str, str]:
    return {"decision": "deny", "reason": "Production is not yours; deploy to staging."}


def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """What a model would say: it tries production, then staging, then has the result looked at."""
    calls = [
        ToolCallPart("deploy", {"to": "production"}),
        ToolCallPart("deploy", {"to": "staging"}),
        ToolCallPart("review", {"what": "the staging deployment"}),
    ]
    answered = sum(isinstance(message, ModelResponse) for message in messages)
    return ModelResponse([calls[answered] if answered < len(calls) else TextPart("It is on staging.")])


hooks = HooksCapability(engine, told=lambda event, verdict: print(event.canonical, verdict.decision))
agent = Agent(FunctionModel(say), capabilities=[hooks])


@agent.tool_plain
def deploy(to: str) -> str:
    return f"deployed to {to}"


@agent.tool
async def review(ctx: RunContext[None], what: str) -> str:
    own = hooks.for_subagent("reviewer", f"review {what}", number="task_1")
    reviewer = Agent(FunctionModel(lambda messages, info: ModelResponse([TextPart("Fine.")])), capabilities=[own])
    return (await reviewer.run(f"Review {what}.")).output


async def main() -> None:
    if (await hooks.begin(model="a function")).denied:
        return
    print((await agent.run("Ship it.")).output)
    await hooks.end()


asyncio.run(main())
