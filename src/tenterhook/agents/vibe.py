"""Mistral Vibe: three events, answered with JSON. Exit status 2 blocks only in an entry that is `strict`."""

from __future__ import annotations

import os

from ..basics import light_json
from . import codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall
    from ..model import Verdict

_MOST_READ = 1_000_000  # bytes of an answer that Vibe reads: a longer one is cut off, which makes it a failure
_TRUSTED = "trusted_folders.toml"
_KEY = "TENTERHOOK_MODEL_KEY"  # the variable that names the scripted model's key
_FAILURE = "post-tool-call-failure"
_CLOSED = "|| exit 2"  # the end of a line that blocks if Tenterhook cannot answer


class Vibe(protocol.Agent):
    name = "vibe"
    title = "Mistral Vibe"

    events: ClassVar = {
        "pre_tool": "pre-tool-call",
        "post_tool": "post-tool-call",
        "post_agent": "pre-agent-turn-stop",
    }
    variants: ClassVar = {"post_tool": _FAILURE, "post_agent": "post-subagent"}
    tells_stops = False
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn-stop", "post-subagent")),
        context=frozenset(("post-tool-call", _FAILURE)),
        modifies=True,
        messages=True,
        replaces_output=True,
        replaces_error=True,
    )
    tools = (
        *("process.output", "process.write", "process.list", "process.stop", "agents.list_configs", "agents.list"),
        *("agents.send_message", "agents.interrupt", "self.wait", "self.sleep", "skill.read"),
    )
    mcp_spelling = ("mcp_", ".")

    def read_event(self, payload: dict[str, Any], native: str) -> codec.Received:
        meant, renamed = self.events, {_FIELDS.get(key, key): value for key, value in payload.items()}
        if native == "post_tool":
            renamed["tool_output"] = _output(payload.get("tool_output"), payload.get("tool_output_text"))
            meant = self.variants if payload.get("tool_status") == "failure" else self.events
        elif native == "post_agent" and payload.get("parent_session_id"):
            meant = self.variants
        return self.received(codec.read_array(renamed, native, meant), native, payload)

    def native_output(self, received: codec.Received, output: Any) -> Any | None:
        # the error of a call by the model's program (`run_typescript`) cannot be replaced
        return None if _is_in_program(received) and received.event.canonical == _FAILURE else output

    def write_verdict(self, received: codec.Received, verdict: Verdict) -> codec.HookOutput:
        # context would replace an error, so the error is sent with it
        has_text = bool(verdict.additional_context) or verdict.denied
        is_failure = received.event.canonical == _FAILURE and not _is_in_program(received)
        if is_failure and has_text and verdict.modified_output is None:
            verdict = verdict._replace(modified_output=received.event.fields.get("error"))
        return super().write_verdict(received, verdict)

    def answer(self, reply: codec.Reply) -> dict[str, Any]:
        content = self._content(reply)
        if len(light_json.encode(content)) <= _MOST_READ:
            return content
        if reply.tool_input is not None:
            reason = f"{self.title} takes no input of this length from a hook"
            return self._content(reply._replace(deny=reason, tool_input=None, context=None, message=None))
        texts = {name: getattr(reply, name) for name in ("deny", "output", "context", "message")}
        cut: dict[str, Any] = {
            name: light_json.text(text)[: _MOST_READ // 50] for name, text in texts.items() if text is not None
        }
        return self._content(reply._replace(**cut))

    def _content(self, reply: codec.Reply) -> dict[str, Any]:
        content: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if reply.deny is not None:
            content |= {"decision": "deny", "reason": reply.deny}
        elif reply.output is not None:  # a deny after the tool call replaces what the model sees
            content |= {"decision": "deny", "reason": codec.output_text(reply.output)}
        if reply.tool_input is not None:
            specific["tool_input"] = reply.tool_input
        if reply.context is not None:
            specific["additional_context"] = reply.context
        if specific:
            content["hook_specific_output"] = specific
        if reply.message is not None and not (reply.deny is not None and reply.event == "pre-tool-call"):
            content["system_message"] = reply.message
        return content

    executables = ("vibe",)
    variable_prefix = "VIBE_"
    directory = ".vibe"
    variable = "VIBE_HOME"
    file = "hooks.toml"
    project_file = ".vibe/hooks.toml"
    toml = True
    event_key = "type"
    needs_project_trust = True

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        # `strict` blocks on any failure, also if our process is killed or missing. An open entry must not be strict, or
        # every call would be blocked where Tenterhook is missing.
        is_strict = {"strict": True} if line.endswith(_CLOSED) else {}
        return {"name": _name(line), "type": event, "command": line, "timeout": seconds, **is_strict}

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        yield from super().install_notes(in_project=in_project)
        if in_project:
            yield f"{self.title} reads a project's hooks only if it is started in that very folder, not in one below it"

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        of_project = self.settings(root)
        if settings == of_project:
            if not self._trusts(root):
                what = f"{self.title} does not trust {root}: it ignores the project's hooks"
                yield what, "start it there and trust the folder, or: tenterhook install vibe"
        elif os.path.realpath(settings) != os.path.realpath(of_project):
            for name in sorted(_names(settings) & _names(of_project)):
                what = f"the hook {name!r} of {of_project} replaces that of {settings} where the folder is trusted"
                yield what, "rename or remove it"

    def _trusts(self, root: str) -> bool:
        """Whether Vibe trusts a folder, by the user's decision about it or its nearest parent."""
        from .settings_files import read_toml

        known = read_toml(os.path.join(self.home(), _TRUSTED))
        lists = ((kind, known.get(kind)) for kind in ("untrusted", "trusted"))
        decisions = {
            folder: kind for kind, folders in lists if isinstance(folders, list) for folder in map(str, folders)
        }
        folder = os.path.realpath(root)
        while folder not in decisions and folder != "/":
            folder = os.path.dirname(folder)
        return decisions.get(folder) == "trusted"

    headless_settings = ".vibe/config.toml"
    shell_tool = "bash"
    write_tool = "write_file"

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, edited_toml, table

        with edited_toml(home / self.headless_settings) as settings:
            drop(settings, "mcp_servers", "connectors", "default_agent", "installed_agents", "otel_endpoint")
            off = ("enable_telemetry", "enable_update_checks", "enable_notifications", "enable_otel")
            at = {"api_base": f"{url}/v1", "api_key_env_var": _KEY, "api_style": "openai", "backend": "generic"}
            model = {"name": protocol.MODEL, "provider": protocol.PROVIDER, "alias": protocol.MODEL}
            wanted: dict[str, Any] = {"active_model": protocol.MODEL, **dict.fromkeys(off, False)}
            wanted |= {"providers": [{"name": protocol.PROVIDER, **at}], "models": [model]}
            settings.update({key: value for key, value in wanted.items() if settings.get(key) != value})
            table(settings, "experiments")["enable"] = False  # else they are fetched
            for tool in (self.shell_tool, self.write_tool):
                table(settings, "tools", tool)["permission"] = "always"

    def copy_trust(self, home: Path, root: str | None, project: Path) -> None:
        import json

        if root is not None and self._trusts(root):
            copy = home / self.directory
            copy.mkdir(parents=True, exist_ok=True)
            (copy / _TRUSTED).write_text(f"trusted = [{json.dumps(str(project.resolve()))}]\nuntrusted = []\n")

    def environment(self, home: Path, url: str) -> dict[str, str]:
        # without this, it looks for keys in the keyring
        return {_KEY: protocol.KEY, "VIBE_HOME": str(home / self.directory), "VIBE_TEST_DISABLE_KEYRING": "1"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = [] if mode == protocol.PLAIN else ["--auto-approve"]
        flags += ["--continue"] if resume else []
        return [str(executable), *flags, "--prompt", prompt]

    def write_call(self, path: str, content: str) -> ScriptedCall:
        return protocol.call(self.write_tool, {"path": path, "content": content})

    def subagent_call(self) -> ScriptedCall:
        given = f"{{name: 'scripted', message: '{protocol.TASK}'}}"
        code = f"async function main() {{ return await tools.agents.spawn({given}) }}"
        return protocol.call("run_typescript", {"code": code})


# Fields with another name here.
_FIELDS = {"tool_error": "error"}


def _is_in_program(received: codec.Received) -> bool:
    """Whether a program that the model wrote (`run_typescript`) made the call."""
    return str(received.payload.get("tool_call_id")).startswith("typescript:")


def _output(structured: Any, text: Any) -> Any:
    """Return a result as its value or its text, or both if they differ.

    The model is shown the text; a program of the model (`run_typescript`) gets the value. If a result has no text, Vibe
    sends hooks one made from the value, with a line for each key.
    """
    if not isinstance(text, str) or not text:
        return structured
    if isinstance(structured, dict) and text == "\n".join(f"{key}: {value}" for key, value in structured.items()):
        return structured
    return text if structured is None else {"content": text, "structuredContent": structured}


def _name(line: str) -> str:
    """Return the name of the entry for a line; it contains the launcher's arguments, so that installations differ."""
    return " ".join(("tenterhook", *line.partition('/bin/sh "$t" ')[2].split()[:2]))


def _names(file: str) -> set[str]:
    """Return the names of the hooks in a file."""
    from .settings_files import read_toml

    hooks = read_toml(file).get("hooks")
    return {str(hook.get("name")) for hook in hooks if isinstance(hook, dict)} if isinstance(hooks, list) else set()


AGENT = Vibe()
