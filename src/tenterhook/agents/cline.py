"""Cline. Hook files decide tool calls, since they have two minutes; a plug-in has three seconds for each call.

A hook file that cancels ends the whole run without telling the model why. To refuse a call, it therefore replaces the
input with one that no tool accepts, and leaves its answer in a private file for the plug-in, which skips the call with
the reason. Without the plug-in (Cline loads none if it finds no `node`, or if one is slow to load) the tool fails for
lack of an input, and the reason is shown to the model with the result.
"""

from __future__ import annotations

import os

from ..basics import light_json, places, private_files
from . import claude_json, codec, nested_payloads, plugin_json, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall

_IN_PLUGIN = ("SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SubagentStart", "SubagentStop")
_IN_HOOK_FILES = ("PreToolUse", "PostToolUse")
_EVENTS = {name: claude_json.EVENTS[name] for name in (*_IN_HOOK_FILES, *_IN_PLUGIN)}
_FAILURE = "PostToolUseFailure"
_REFUSED = "tenterhook_refused"  # the only key of an input that no tool accepts; also in plugins/cline.js and cline.sh
_KEPT = 3600  # seconds for which an answer is kept if the plug-in does not read it
_TEAM = "spawn_teammate shutdown_teammate status task run_task cancel_run list_runs await_runs send_message broadcast"
_TEAM += " read_mailbox mission_log cleanup create_outcome attach_outcome_fragment review_outcome_fragment"


class Cline(plugin_json.PluginAgent):
    name = "cline"
    title = "Cline"

    events: ClassVar = _EVENTS
    variants: ClassVar = {"PostToolUse": claude_json.EVENTS[_FAILURE]}
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-session", "pre-agent-turn", "pre-agent-turn-stop", "pre-subagent")),
        context=frozenset(
            (
                *("pre-session", "pre-agent-turn", "pre-subagent", "pre-tool-call", "post-tool-call"),
                "post-tool-call-failure",
            )
        ),
        approves=True,
        modifies=True,
        replaces_output=True,
        replaces_error=True,
    )
    dialect = claude_json.Dialect(
        "cline", {**_EVENTS, _FAILURE: claude_json.EVENTS[_FAILURE]}, tool_response=claude_json.text_response
    )
    input_keys: ClassVar = {"command": "commands", "file_path": "path", "content": "new_text"}
    tools = (
        *("ask_question", "skills", "submit_and_exit"),
        *(f"team_{name}" for name in f"{_TEAM} finalize_outcome list_outcomes".split()),
    )
    mcp_spelling = ("", "__")

    def read_event(self, payload: dict[str, Any], native: str) -> codec.Received:
        from ..formats import agent_payloads

        flat = nested_payloads.flat(payload)
        error = _error(flat) if native == "PostToolUse" else None
        if native not in self.events:
            event = codec.unknown_event(native, flat)
        elif error is None:
            event = agent_payloads.read(self.dialect, {**flat, "hook_event_name": native})
        else:
            event = agent_payloads.read(self.dialect, {**flat, "hook_event_name": _FAILURE, "error": error})
        return self.received(event, native, payload)

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        """Return the answer for the plug-in; from a hook file, also with the keys that Cline itself knows."""
        said = super().answer(reply)
        if reply.native not in _IN_HOOK_FILES:
            return said
        if said is None:
            return {"deny": reply.deny, "contextModification": reply.deny, "overrideInput": {_REFUSED: reply.deny}}
        for key, known in (("context", "contextModification"), ("input", "overrideInput")):
            if key in said:
                said[known] = said[key]
        return said

    def hand_over(self, received: codec.Received, answer: codec.HookOutput) -> None:
        if received.native not in _IN_HOOK_FILES or not answer.stdout:
            return
        import hashlib

        sent = nested_payloads.flat(received.payload)
        key = f"{received.native}/{sent.get('taskId')}/{sent.get('tool_use_id')}".encode("utf-8", "replace")
        # with the input, so that an answer left over from another call with the same ID is not used
        content = light_json.dumps({**light_json.loads(answer.stdout), "given": sent.get("tool_input")})
        private_files.write(os.path.join(_answers(), hashlib.sha256(key).hexdigest()), content.encode())
        private_files.forget_old(_answers(), _KEPT)

    executables = ("cline",)
    variable_prefix = "CLINE_"
    directory = ".cline"
    variable = "CLINE_DIR"
    file = "plugins/tenterhook.js"
    project_file = ".cline/plugins/tenterhook.js"
    plugin = "cline.js"
    plugin_files: ClassVar = {f"../hooks/{event}.zsh": "cline.sh" for event in _IN_HOOK_FILES}
    timeouts: ClassVar = dict.fromkeys(_IN_HOOK_FILES, 120)  # not to be changed

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        own = super().entry(event, line, seconds)
        return {**own, "answers": _answers()} if event in _IN_HOOK_FILES else own

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import read_json

        yield from _without_node()
        file = os.path.join(self.home(), "data/settings/global-settings.json")
        disabled = read_json(file).get("disabledPlugins")
        if isinstance(disabled, list) and settings in disabled:
            yield f"disabledPlugins in {file} switches our plug-in off", "remove it there"

    headless_settings = ".cline/data/settings/providers.json"
    modes = (protocol.PLAIN, protocol.AUTO_APPROVE, protocol.SUBAGENT)
    missing_modes: ClassVar = {protocol.RESUMED: "it resumes a session only on a terminal"}
    write_tool = "editor"

    def prepare(self, home: Path, url: str) -> None:
        from .headless import edited_json

        provider = "openai-compatible"
        with edited_json(home / self.headless_settings) as settings:
            model = {"provider": provider, "apiKey": protocol.KEY, "model": protocol.MODEL, "baseUrl": f"{url}/v1"}
            known = {"settings": model, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
            settings.clear()
            settings |= {"version": 1, "lastUsedProvider": provider, "providers": {provider: known}}
        with edited_json(home / ".cline/data/settings/global-settings.json") as settings:
            settings |= {"telemetryOptOut": True, "autoUpdateEnabled": False}

    def environment(self, home: Path, url: str) -> dict[str, str]:
        # without the proxy, it asks a server for feature flags even though it is told not to
        off = {"CLINE_NO_AUTO_UPDATE": "1", "DO_NOT_TRACK": "1", "HTTPS_PROXY": "http://127.0.0.1:9"}
        # on a busy machine, plug-ins may take longer to load than the default of four seconds
        return {**off, "CLINE_PLUGIN_IMPORT_TIMEOUT_MS": "60000"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = ["--auto-approve", "true"] if mode == protocol.AUTO_APPROVE else []
        return [str(executable), "--json", *flags, prompt]

    def shell_call(self, command: str) -> ScriptedCall:
        return protocol.call("run_commands", {"commands": [command]})

    def subagent_call(self) -> ScriptedCall:
        return protocol.call("spawn_agent", {"systemPrompt": "You do a part.", "task": protocol.TASK})


def _error(payload: dict[str, Any]) -> str | None:
    """Return the error that the model sees of a call that was refused or failed, in whole or in part; else None.

    The result of a command that fails, or of a file that cannot be read, has `success: false`.
    """
    output = payload.get("tool_response")
    items = [each for each in (output if isinstance(output, list) else [output]) if isinstance(each, dict)]
    if "error" not in payload and not any(each.get("success") is False for each in items):
        return None
    texts = [light_json.text(each.get("result") or each.get("error") or "") for each in items]
    return "\n".join(filter(None, texts)) or light_json.text(payload.get("error", ""))


def _answers() -> str:
    """Return the directory of the answers that hook files leave for the plug-in."""
    return os.path.join(places.state(), "answers")


def _without_node() -> Iterator[tuple[str, str]]:
    import shutil

    if not shutil.which("node"):
        what = "Cline finds no `node` on the PATH and runs no plug-in: it tells the model a refusal beside the result"
        yield f"{what}, and hooks cannot replace a tool's output or see a prompt", "put node on the PATH"


AGENT = Cline()
