"""OpenHands: exit status 2 blocks. Calls of its subagents reach no hook, and a project's file replaces the user's."""

from __future__ import annotations

import os

from ..events import EDITOR
from . import codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall

_EDITOR = tuple(EDITOR)  # the commands of its editor; not a dict, since a payload's value may not be hashable
_FIELDS = {"message": "prompt", "tool_response": "tool_output"}
_SUBAGENTS = "the tool calls of its subagents (`task`) reach no hook; a rule or hook on the tool `Task` can refuse it"


class OpenHands(protocol.Agent):
    name = "openhands"
    title = "OpenHands"

    events: ClassVar = {
        "pre_tool_use": "pre-tool-call",
        "post_tool_use": "post-tool-call",
        "user_prompt_submit": "pre-agent-turn",
        "session_start": "pre-session",
        "session_end": "post-session",
        "stop": "pre-agent-turn-stop",
    }
    variants: ClassVar = {"post_tool_use": "post-tool-call-failure"}
    tells_stops = False
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop")),
        context=frozenset(("pre-agent-turn",)),
    )
    input_keys: ClassVar = {"file_path": "path", "content": "file_text"}
    tools = ("file_editor", "finish", "task_tracker", "think")

    mcp_prefix = ""

    def mcp_names(self, tool: str, payload: dict[str, Any]) -> list[str]:
        """Return the name with `unknown` as the server, which the payload does not name."""
        given = payload.get("tool_input")
        is_mcp = isinstance(given, dict) and given.get("kind") == "MCPToolAction"
        return [f"mcp:unknown/{tool}"] if is_mcp else []

    def read_event(self, payload: dict[str, Any], native: str) -> codec.Received:
        meant, renamed = self.events, {_FIELDS.get(key, key): value for key, value in payload.items()}
        renamed["cwd"] = payload.get("working_dir")
        response, tool_input = payload.get("tool_response"), payload.get("tool_input")
        if native == "post_tool_use" and isinstance(response, dict) and response.get("is_error") is True:
            meant, renamed["error"] = self.variants, _text(response)
        if payload.get("tool_name") == "file_editor" and isinstance(tool_input, dict):
            command = tool_input.get("command")
            renamed["tool_name"] = f"file_editor.{command}" if command in _EDITOR else "file_editor"
        return self.received(codec.read_array(renamed, native, meant), native, payload)

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        if reply.deny is not None:
            return None
        return {"additionalContext": reply.context} if reply.context is not None else {}

    executables = ("openhands",)
    variable_prefix = "OPENHANDS_"
    directory = ".openhands"
    file = "hooks.json"
    project_file = ".openhands/hooks.json"
    hooks_at_top = True
    knows_no_others = True
    project_replaces = True

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        # `finish` ends the turn. If it were refused, by a guard or because Tenterhook cannot answer, the agent would
        # call it forever. Stop hooks can send the agent back instead, as often as the limit allows.
        matcher = "(?!finish$).*" if event == "pre_tool_use" else "*"
        return {"matcher": matcher, "hooks": [{"type": "command", "command": line, "timeout": seconds}]}

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        yield f"{self.title}: {_SUBAGENTS}"
        if in_project:
            yield f"{self.title} reads this file only if it is started in that very folder, and then no other"

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        of_project = self.settings(root)
        is_another = os.path.lexists(of_project) and os.path.realpath(settings) != os.path.realpath(of_project)
        if is_another and not _is_ours(of_project):
            remedy = "tenterhook install openhands --project, or remove the file"
            yield f"{of_project} replaces {settings} in this project: none of our hooks runs here", remedy
        if os.path.lexists(settings) and (wrong := self._wrong(settings)):
            yield f"{settings}: {wrong}; {self.title} ends every conversation at once, and says nothing", "fix it"

    def _wrong(self, file: str) -> str | None:
        """Return why OpenHands cannot read a settings file, or None. It does not allow comments."""
        import json

        try:
            with open(file, encoding="utf-8") as stream:
                found = json.load(stream)
        except (OSError, ValueError, RecursionError) as error:
            return f"it is not JSON: {error}"
        hooks = found.get("hooks", found) if isinstance(found, dict) else None
        if not isinstance(hooks, dict):
            return "it is not an object of events"
        unknown = [event for event in hooks if _snake_case(event) not in self.events]
        return f"unknown event {unknown[0]!r}" if unknown else None

    headless_settings = ".openhands/agent_settings.json"
    modes = (protocol.PLAIN, protocol.AUTO_APPROVE, protocol.RESUMED)
    missing_modes: ClassVar = {protocol.SUBAGENT: _SUBAGENTS}
    shell_tool = "terminal"
    subagent_tool = "task"
    subagent_type = "default"

    def prepare(self, home: Path, url: str) -> None:
        from .headless import edited_json

        settings = home / self.headless_settings
        with edited_json(settings):  # raises if the file is broken
            pass
        # the model is in the environment; these files may have a key, and servers to connect to
        for file in (settings, settings.with_name("mcp.json")):
            file.unlink(missing_ok=True)

    def environment(self, home: Path, url: str) -> dict[str, str]:
        nowhere = "http://127.0.0.1:9"  # else it looks for a newer version of itself
        return {
            "LLM_MODEL": f"openai/{protocol.MODEL}",
            "LLM_BASE_URL": f"{url}/v1",
            "LLM_API_KEY": protocol.KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "OPENHANDS_SUPPRESS_BANNER": "1",
            "DO_NOT_TRACK": "1",
            "TMUX_TMPDIR": str(home),  # a server of its own, which ends with the run
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere),
            **dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1"),
        }

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = [] if mode == protocol.PLAIN else ["--always-approve"]
        flags += ["--resume", "--last"] if resume else []
        return [str(executable), "--headless", "--override-with-envs", *flags, "--task", prompt]

    def shell_call(self, command: str) -> ScriptedCall:
        return protocol.call(self.shell_tool, {"command": command, **_ABOUT})

    def write_call(self, path: str, content: str) -> ScriptedCall:
        return protocol.call("file_editor", {"command": "create", "path": path, "file_text": content, **_ABOUT})


_ABOUT = {"security_risk": "LOW", "summary": "scripted"}


def _text(response: dict[str, Any]) -> str:
    """Return the text of a tool's response."""
    content = response.get("content")
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)


def _snake_case(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() and at else each.lower() for at, each in enumerate(name))


def _is_ours(file: str) -> bool:
    """Whether a file has entries that `install` wrote."""
    from ..formats.own_entries import own_groups
    from .settings_files import read_json

    found = read_json(file)
    hooks = found.get("hooks", found)
    return isinstance(hooks, dict) and bool(own_groups(hooks))


AGENT = OpenHands()
