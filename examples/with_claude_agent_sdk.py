"""An agent of the Claude Agent SDK with hooks in it. With --offline, a script replaces the model."""

import asyncio
import os
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from tenterhook import Engine, Event
from tenterhook.adapters.claude_agent import HooksCallbacks
from tenterhook.doctor.live.model import ScriptedCall, ScriptedModel, Turn

engine = Engine.load(".")  # your hooks and the project's


@engine.on("pre-tool-call", tool="Shell", pattern="production")
def not_there(event: Event) -> dict[str, str]:
    return {"decision": "deny", "reason": "Production is not yours; deploy to staging."}


async def main() -> None:
    hooks = HooksCallbacks(engine, told=lambda event, verdict: print(event.canonical, verdict.decision))
    if (await hooks.begin()).denied:
        return
    options = hooks.options(ClaudeAgentOptions(allowed_tools=["Bash"], setting_sources=[]))
    async for message in query(prompt="Ship it.", options=options):
        if isinstance(message, ResultMessage):
            print(message.result)
    await hooks.end()


if "--offline" in sys.argv:
    tries = [
        Turn(calls=(ScriptedCall("Bash", {"command": f"echo deployed to {to}"}),)) for to in ("production", "staging")
    ]
    model = ScriptedModel([*tries, Turn("It is on staging.")])
    os.environ |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"}
    os.environ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
asyncio.run(main())
