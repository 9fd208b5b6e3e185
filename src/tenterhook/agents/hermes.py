"""Hermes: our Python plug-in (plugins/hermes.py) runs our entries in its process. Prompts cannot be blocked."""

from __future__ import annotations

import os

from ..basics import places
from . import claude_json, codec, protocol
from .plugin_json import PluginAgent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall
    from ..model import Event

_EVENTS = {
    "on_session_start": "pre-session",
    "on_session_finalize": "post-session",
    "pre_llm_call": "pre-agent-turn",
    "post_llm_call": "post-agent-turn",
    "api_request_error": "post-agent-turn-failure",
    "pre_tool_call": "pre-tool-call",
    "post_tool_call": "post-tool-call",
    "post_tool_call_error": "post-tool-call-failure",  # sent by the plug-in for a `post_tool_call` with an error
    "pre_approval_request": "permission-request",
    "post_approval_response": "permission-result",
    "pre_verify": "pre-agent-turn-stop",
    "subagent_start": "pre-subagent",
    "subagent_stop": "post-subagent",
}
_RESULT = {**claude_json.TOOL_FIELDS, "decision": "decision", "scope": "scope"}
# A proxy that does not exist: Hermes looks for a newer version at each start.
_OFFLINE = {"HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1"}
ASK_ADMIN = "ask the administrator of this machine to enable it"
_TRUE = ("1", "true", "yes", "on")
_HEADERS = (["Update", "File"], ["Add", "File"], ["Delete", "File"], ["Move", "File"])


class Hermes(PluginAgent):
    name = "hermes"
    title = "Hermes"

    events: ClassVar = {**_EVENTS, "on_session_end": codec.OTHER, "on_session_reset": codec.OTHER}
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn-stop")),
        context=frozenset(
            (
                *("pre-session", "pre-agent-turn", "pre-subagent"),
                *("pre-tool-call", "post-tool-call", "post-tool-call-failure"),
            )
        ),
        asks=True,
        modifies=True,
        replaces_output=True,
        replaces_error=True,
    )
    dialect = claude_json.Dialect(
        "hermes",
        _EVENTS,
        fields={"post-agent-turn": {"prompt": "prompt", "response": "response"}, "permission-result": _RESULT},
        tool_response=claude_json.text_response,
    )
    input_keys: ClassVar = {"file_path": "path"}
    tools = (
        *("browser_back", "browser_click", "browser_console", "browser_navigate", "browser_press", "browser_scroll"),
        *("browser_snapshot", "browser_type", "clarify", "cronjob", "execute_code", "image_generate", "memory"),
        *("process", "send_message", "session_search", "skill_manage", "skill_view", "skills_list", "text_to_speech"),
        *("todo", "vision_analyze"),
    )
    unattended = (b"HERMES_UNATTENDED", b"1")  # set by the plug-in if Hermes would not ask

    def received(self, event: Event, native: str, payload: dict[str, Any]) -> codec.Received:
        """Return the event with the files that a patch names added, and `~` in a path expanded, as Hermes does."""
        received = super().received(event, native, payload)
        given = received.event.tool_input
        if not isinstance(given, dict):
            return received
        added, renamed = {}, dict(received.renamed)
        if event.tool_name == "patch" and given.get("mode") == "patch" and isinstance(given.get("patch"), str):
            if paths := list(_patched(given["patch"])):
                added = {"file_path": paths[0], "file_paths": paths}
                renamed |= {"file_path": "", "file_paths": ""}
        elif "file_path" in renamed and str(given["file_path"]).startswith("~/"):
            added = {"file_path": places.home() + given["file_path"][1:]}
        if not added:
            return received
        return received._replace(event=received.event.replace(tool_input={**given, **added}), renamed=renamed)

    def native_output(self, received: codec.Received, output: Any) -> Any:
        """Return the output; a text in place of the one in the tool's own object, without its other texts."""
        original = received.event.tool_output
        if not isinstance(output, str) or not isinstance(original, dict):
            return output
        place = next((key for key in ("output", "content", "result") if isinstance(original.get(key), str)), None)
        kept = {key: each for key, each in original.items() if key == place or not isinstance(each, (str, list, dict))}
        return output if place is None else {**kept, place: output}

    executables = ("hermes",)
    variable_prefix = "HERMES_"
    directory = ".hermes"
    variable = "HERMES_HOME"
    file = "plugins/tenterhook/__init__.py"
    plugin = "hermes.py"
    plugin_files: ClassVar = {"plugin.yaml": "hermes.yaml"}
    enabled_in = protocol.EnabledList("config.yaml", ("plugins", "enabled"), "tenterhook")

    def version(self) -> str | None:
        from . import headless

        program = self.executable()
        return headless.version(program, **_OFFLINE) if program else None

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        yield "Hermes with --safe-mode loads no plug-ins, and so runs no hooks"
        if os.path.isdir(os.path.join(self.home(), "profiles")):
            command = f"HERMES_HOME={self.home()}/profiles/NAME tenterhook install hermes"
            yield f"each profile has plug-ins of its own: {command}"

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        own = os.path.join(self.home(), "config.yaml")
        managed = os.path.join(os.environ.get("HERMES_MANAGED_DIR") or "/etc/hermes", "config.yaml")
        for file, remedy in ((own, "remove tenterhook from it"), (managed, ASK_ADMIN)):
            if "tenterhook" in _plugins(file, "disabled"):
                yield f"`plugins.disabled` in {file} switches our plug-in off", remedy
        if (listed := _plugins(managed, "enabled")) and "tenterhook" not in listed:
            yield f"`plugins.enabled` in {managed} replaces the list in {own}", ASK_ADMIN
        if os.environ.get("HERMES_SAFE_MODE", "").lower() in _TRUE:
            yield "HERMES_SAFE_MODE is set: Hermes loads no plug-ins", "unset HERMES_SAFE_MODE"
        for line in _lines(env_file := os.path.join(self.home(), ".env")):
            name, _, value = line.removeprefix("export ").partition("=")
            if name.strip() == "HERMES_SAFE_MODE" and value.strip(" '\"").lower() in _TRUE:
                yield f"HERMES_SAFE_MODE in {env_file}: Hermes loads no plug-ins", "remove it"
        profile = "".join(_lines(os.path.join(self.home(), "active_profile"))).strip()
        home = os.path.join(self.home(), "profiles", profile)
        if profile not in ("", "default") and not os.path.exists(os.path.join(home, self.file)):
            remedy = f"HERMES_HOME={home} tenterhook install hermes"
            yield f"Hermes starts with the profile {profile}, which does not have our plug-in", remedy

    headless_settings = ".hermes/config.yaml"
    shell_tool = "terminal"
    write_tool = "write_file"
    modes = protocol.MODES

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, edited_yaml, table

        with edited_yaml(home / self.headless_settings) as settings:
            drop(
                settings,
                "fallback_providers",
                "fallback_model",
                "custom_providers",
                "providers",
                "auxiliary",
                "mcp_servers",
            )
            settings["model"] = {
                "provider": "custom",
                "default": protocol.MODEL,
                "base_url": f"{url}/v1",
                "api_key": protocol.KEY,
                "context_length": 200_000,
            }
            table(settings, "security")["tirith_enabled"] = False  # else it is downloaded
            table(settings, "lsp")["enabled"] = False  # the same
            # no requests beyond those of the script
            table(settings, "agent")["verify_on_stop"] = False
            table(settings, "memory")["nudge_interval"] = table(settings, "skills")["creation_nudge_interval"] = 0

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"HERMES_DISABLE_LAZY_INSTALLS": "1", **_OFFLINE}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = [] if mode == protocol.PLAIN else ["--yolo"]
        flags += ["--continue"] if resume else []
        return [str(executable), "chat", "-Q", *flags, "-q", prompt]

    def subagent_call(self) -> ScriptedCall:
        return protocol.call("delegate_task", {"goal": protocol.TASK})


def _plugins(file: str, key: str) -> list[Any]:
    """Return the list of plug-ins below a key of a settings file; empty if there is none."""
    from .settings_files import read_yaml

    plugins = read_yaml(file).get("plugins")
    listed = plugins.get(key) if isinstance(plugins, dict) else None
    return listed if isinstance(listed, list) else []


def _lines(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read().splitlines()
    except (OSError, ValueError):
        return []


def _patched(patch: str) -> Iterator[str]:
    """Yield the files that a patch names: `*** Update File: a`, `*** Move File: a -> b`, with spaces as in Hermes."""
    for line in patch.split("\n"):
        head, _, path = line.strip().partition(":")
        if head.startswith("***") and head[3:].split() in _HEADERS:
            moved = path.split("->", 1) if "Move" in head else [path]
            yield from (each.strip() for each in moved)


AGENT = Hermes()
