"""An agent in a plain loop, with hooks at every step. It runs offline: a function replaces the model."""

import asyncio
import os
import subprocess

from tenterhook import Answer, Call, Engine, Event, Gate, Request


class Person:
    async def ask(self, request: Request) -> Answer:  # here a prompt, a window or a message would be
        print(f"may it {request.call.action}? {request.call.display['command']}")
        return Answer(approved=True, by="person")


def model(messages: list[str]) -> str:  # the next command; none when it is done
    return ["cat secret.txt", "echo made it", ""][sum(each.startswith("result: ") for each in messages)]


engine = Engine.load(".")  # your hooks and the project's
gate = Gate(engine.adecide, mode="ask", surfaces=[Person()])


def use_shell(command: str) -> list[str]:
    permit = asyncio.run(gate.permit(Call("Shell", {"command": command}, os.getcwd())))
    given = permit.call.tool_input  # as hooks have left it
    refused = (None, permit.reason or "refused")
    status, result = subprocess.getstatusoutput(given["command"]) if permit.allowed else refused
    if status == 0:
        event = Event("post-tool-call", tool_name="Shell", tool_input=given, tool_output=result)
    else:
        event = Event("post-tool-call-failure", tool_name="Shell", tool_input=given, error=result, exit_code=status)
    after = engine.decide(event)
    objection = [after.reason or ""] if after.denied else []  # what runs after a call cannot undo it
    return [f"result: {result}", *permit.context, *after.additional_context, *objection]


def turn(messages: list[str], prompt: str) -> list[str]:
    before = engine.decide(Event("pre-agent-turn", prompt=prompt))
    if before.denied:
        return [*messages, f"answer: {before.reason}"]
    messages += [prompt, *before.additional_context]
    sent_back = 0
    while True:
        if command := model(messages):
            messages += use_shell(command)
            continue
        stop = engine.decide(Event("pre-agent-turn-stop", stop_reason="no_tool_calls"))
        if not stop.denied or sent_back == 3:
            return messages
        sent_back += 1
        messages.append(f"[Hook blocked stop: {stop.reason}]")


start = engine.decide(Event("pre-session", source="startup"))
if not start.denied:
    print(*turn([*start.additional_context], "Make it."), sep="\n")
    engine.decide(Event("post-session", reason="exit"))
