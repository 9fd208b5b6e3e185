"""An agent of LangChain with hooks in it. With --offline, a script replaces the model."""

import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain.messages import HumanMessage

from tenterhook import Engine, Event
from tenterhook.adapters.langchain import HooksMiddleware
from tenterhook.doctor.live.model import ScriptedCall, ScriptedModel, Turn

engine = Engine.load(".")  # your hooks and the project's


@engine.on("pre-tool-call", tool="deploy", pattern="production")
def not_there(event: Event) -> dict[str, str]:
    return {"decision": "deny", "reason": "Production is not yours; deploy to staging."}


def deploy(to: str) -> str:
    """Deploy it somewhere."""
    return f"deployed to {to}"


async def main() -> None:
    hooks = HooksMiddleware(engine, told=lambda event, verdict: print(event.canonical, verdict.decision))
    if (await hooks.begin()).denied:
        return
    agent = create_agent("openai:gpt-5", [deploy], middleware=[hooks])  # pip install langchain-openai
    print((await agent.ainvoke({"messages": [HumanMessage("Ship it.")]}))["messages"][-1].text)
    await hooks.end()


if "--offline" in sys.argv:
    tries = [Turn(calls=(ScriptedCall("deploy", {"to": to}),)) for to in ("production", "staging")]
    os.environ |= {"OPENAI_BASE_URL": ScriptedModel([*tries, Turn("It is on staging.")]).url, "OPENAI_API_KEY": "none"}
asyncio.run(main())
