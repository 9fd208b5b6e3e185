"""An agent of the OpenAI Agents SDK with hooks in it. With --offline, a script replaces the model."""

import asyncio
import os
import sys

from agents import Agent, function_tool, set_tracing_disabled

from tenterhook import Engine, Event
from tenterhook.adapters.openai_agents import HooksRunner
from tenterhook.doctor.live.model import ScriptedCall, ScriptedModel, Turn

engine = Engine.load(".")  # your hooks and the project's


@engine.on("pre-tool-call", tool="deploy", pattern="production")
def not_there(event: Event) -> dict[str, str]:
    return {"decision": "deny", "reason": "Production is not yours; deploy to staging."}


@function_tool
def deploy(to: str) -> str:
    return f"deployed to {to}"


async def main() -> None:
    hooks = HooksRunner(engine, told=lambda event, verdict: print(event.canonical, verdict.decision))
    if (await hooks.begin()).denied:
        return
    print((await hooks.run(Agent("shipper", tools=[deploy]), "Ship it.")).final_output)
    await hooks.end()


if "--offline" in sys.argv:
    tries = [Turn(calls=(ScriptedCall("deploy", {"to": to}),)) for to in ("production", "staging")]
    os.environ |= {"OPENAI_BASE_URL": ScriptedModel([*tries, Turn("It is on staging.")]).url, "OPENAI_API_KEY": "none"}
    set_tracing_disabled(True)
asyncio.run(main())
