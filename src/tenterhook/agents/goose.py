"""Goose, by the source of version 1.35: a plug-in folder in `.agents/plugins`. Only tool calls can be blocked."""

from __future__ import annotations

import os

from . import codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar

_PLUGIN = ".agents/plugins/tenterhook"


class Goose(protocol.Agent):
    name = "goose"
    title = "Goose"
    proven = False

    # It has more events: `BeforeShellExecution`, `AfterFileEdit` and others follow `PreToolUse` and `PostToolUse` of
    # the same call; the two for subagents are never sent.
    events: ClassVar = {
        "PreToolUse": "pre-tool-call",
        "PostToolUse": "post-tool-call",
        "PostToolUseFailure": "post-tool-call-failure",
        "UserPromptSubmit": "pre-agent-turn",
        "Stop": "pre-agent-turn-stop",
        "SessionStart": "pre-session",
        "SessionEnd": "post-session",
    }
    tells_stops = False
    capabilities = codec.Capabilities(blocks=frozenset(("pre-tool-call",)), context=frozenset())
    input_keys: ClassVar = {"file_path": "path"}
    tools = ("analyze", "load", "tree")
    mcp_spelling = ("", "__")

    def read_event(self, payload: dict[str, Any], native: str) -> codec.Received:
        renamed = {"prompt" if key == "message" else key: value for key, value in payload.items()}
        renamed["cwd"] = payload.get("working_dir")  # not sent with a session's events: then it is our own directory
        return self.received(codec.read_array(renamed, native, self.events), native, payload)

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        return None if reply.deny is not None else {}

    executables = ("goose",)
    variable_prefix = "GOOSE_"
    directory = _PLUGIN
    variable = "GOOSE_PATH_ROOT"
    variable_adds = f"/{_PLUGIN}"
    file = "hooks/hooks.json"
    project_file = f"{_PLUGIN}/hooks/hooks.json"
    project_replaces = True

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        yield "Goose has hooks that can refuse a call since version 1.35; at other events it only tells of them"
        if in_project:
            yield "Goose reads this file only if it is started in that very folder, and then not the one in your home"

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import read_json

        of_project = os.path.join(root, _PLUGIN)
        is_another = not os.path.realpath(settings).startswith(f"{os.path.realpath(of_project)}/")
        if is_another and os.path.isdir(of_project):
            remedy = f"tenterhook install {self.name} --project, or remove the folder"
            yield f"{of_project} replaces {settings} in this project", remedy
        home = self.home().removesuffix(f"/{_PLUGIN}")
        named = [os.path.join(root, ".config/goose", name) for name in ("settings.local.json", "settings.json")]
        for file in (*named, os.path.join(home, ".config/goose/settings.json")):
            found = read_json(file)
            if "tenterhook" in _names(found.get("disabledPlugins")):
                yield f"disabledPlugins in {file} switches our plug-in off", "remove `tenterhook` from it"
                return
            if "tenterhook" in _names(found.get("enabledPlugins")):
                return  # later files do not count

    modes = ()
    missing_modes: ClassVar = dict.fromkeys(protocol.MODES, protocol.UNPROVEN)
    shell_tool = "shell"
    write_tool = "write"
    subagent_tool = "delegate"


def _names(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


AGENT = Goose()
