"""Qwen Code. It supports `ask`, but no modified input."""

from __future__ import annotations

import os

from . import claude_json, codec, gemini_settings, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

_OTHERS = (
    *("PostToolBatch", "UserPromptExpansion", "SessionDelete", "MessageDisplay", "PermissionDenied", "TodoCreated"),
    *("TodoCompleted", "InstructionsLoaded"),
)


class Qwen(gemini_settings.GeminiLike):
    name = "qwen"
    title = "Qwen Code"

    events: ClassVar = {**claude_json.EVENTS, **dict.fromkeys(_OTHERS, codec.OTHER)}
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop", "post-subagent")),
        context=frozenset(
            ("pre-session", "pre-agent-turn", "post-tool-call", "post-tool-call-failure", "pre-context-compact")
        ),
        asks=True,
        replaces_output=True,
    )
    dialect = claude_json.Dialect(
        "qwen",
        claude_json.EVENTS,
        tools=(
            *("run_shell_command", "write_file", "read_file", "edit", "glob", "grep_search", "agent", "task"),
            *("web_fetch", "web_search"),
        ),
        fields={
            "pre-tool-call": {**claude_json.TOOL_FIELDS, "tool_call_id": "tool_call_id"},
            "post-tool-call": {**claude_json.RESULT_FIELDS, "tool_call_id": "tool_call_id"},
            "post-tool-call-failure": {**claude_json.FAILURE_FIELDS, "tool_call_id": "tool_call_id"},
        },
        defaults={"pre-context-compact": {"custom_instructions": ""}},
        has_timestamp=True,
        tool_response=claude_json.llm_response,
        variables=dict.fromkeys(("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), "work_dir"),
        text_is_context=("pre-session", "pre-agent-turn"),
        milliseconds_from=1000,  # earlier versions used milliseconds; such values are still accepted
        strips_matchers=True,
        splits_matchers=True,
    )

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        if reply.output is not None:  # after a tool call this does not stop: the model sees the text as the result
            return {"continue": False, "stopReason": claude_json.output_and_context(reply)}
        return claude_json.answer(reply)

    executables = ("qwen",)
    variable_prefix = "QWEN_"
    directory = ".qwen"
    project_file = ".qwen/settings.json"

    env_settings = (".qwen/settings.json",)
    env_files = (".qwen/.env", ".env")

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import disabled_hooks

        yield from disabled_hooks(settings, os.path.join(root, self.directory), "/etc/qwen-code/settings.json")

    headless_settings = ".qwen/settings.json"
    subagent_tool = "agent"
    auth_type = "openai"
    model = protocol.MODEL

    def adjust(self, settings: dict[str, Any]) -> None:
        from .headless import table

        table(settings, "memory")["enableManagedAutoMemory"] = False  # else it runs a second agent in the background

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": protocol.KEY, "OPENAI_MODEL": self.model}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        # an allowed shell tool is still refused what looks like an edit, such as a redirection, without `auto-edit`
        plain = ["--approval-mode", "auto-edit", "--allowed-tools=run_shell_command"]
        flags = plain if mode == protocol.PLAIN else ["--yolo"]
        flags += ["--continue"] if resume else []
        return [str(executable), *flags, "--prompt", prompt]


AGENT = Qwen()
