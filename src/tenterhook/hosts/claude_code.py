"""Claude Code. It puts the whole command line before the reason of an exit status 2, so blocks are said in JSON."""

from __future__ import annotations

import os

from ..basics import callers, places
from ..formats import agent_payloads
from . import claude_words, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_OTHERS = (
    *("PostToolBatch", "UserPromptExpansion", "PreModelSwitch", "PostModelSwitch", "PermissionDenied", "Setup"),
    *("TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange"),
    *("InstructionsLoaded", "CwdChanged", "DirectoryAdded", "MessageDisplay"),
)
EVENTS = {**agent_payloads.EVENTS_OF["claude"], **dict.fromkeys(_OTHERS, wire.OTHER)}
MANNERS = wire.Manners(
    "Claude Code",
    blocks=frozenset(
        (
            *("pre-tool-call", "permission-request", "pre-agent-turn", "pre-agent-turn-stop", "post-subagent"),
            "pre-context-compact",
        )
    ),
    context=frozenset(
        ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "post-tool-call-failure", "pre-subagent")
    ),
    asks=True,
    approves=True,
    modifies=True,
    answers_permission=True,
    messages=True,
)


def _body(said: wire.Said) -> dict[str, Any] | None:
    if said.deny is None or said.event == "permission-request":
        return claude_words.body(said)
    message = {"systemMessage": said.message} if said.message is not None else {}
    if said.event != "pre-tool-call":
        return {"decision": "block", "reason": said.deny, **message}
    specific = {"permissionDecision": "deny", "permissionDecisionReason": said.deny}
    return {"hookSpecificOutput": {"hookEventName": said.native, **specific}, **message}


def hand_over(variables: Mapping[str, str], agent_home: str) -> None:
    """Give what pre-session hooks have set to the agent's tools, through the file it names for that.

    Only inside the agent's own folder: a repository can set variables, and must not choose what we write to.
    """
    file = os.fsdecode(callers.environ().get(b"CLAUDE_ENV_FILE", b""))
    if not variables or not places.is_inside(file, os.path.join(agent_home, "session-env")):
        return
    quoted = {name: value.replace("'", "'\\''") for name, value in variables.items()}
    with open(file, "a", encoding="utf-8", errors="surrogateescape") as stream:
        stream.writelines(f"export {name}='{value}'\n" for name, value in quoted.items())


CODEC = wire.Codec("claude", EVENTS, MANNERS, _body, hand_over=hand_over)
