"""The agents that can be run against a scripted model: one class and one row of `LIVE` each."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, ClassVar

from .model import MODEL
from .script import Call, Turn
from .settings import drop, edited_json, edited_toml, table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLAIN = "plain"  # nothing is approved beforehand but the tools themselves: what blocks is the hook
AUTO_APPROVE = "auto-approve"  # the agent asks nobody
SUBAGENT = "subagent"  # the call is made by a subagent
RESUMED = "resumed"  # the call is made by a second process that takes up the session of a first
MODES = (PLAIN, AUTO_APPROVE, SUBAGENT, RESUMED)

PROMPT = "Please do the scripted task."
TASK = "Please do your part of the scripted task."  # what a subagent is told
DONE = "All done."

_OURS = "tenterhook"  # the name of our provider in a settings file
_KEY = "not-a-key"


class LiveAgent:
    """One agent: how it is found, made to talk to a scripted model, and run headless."""

    name: str
    executables: tuple[str, ...]
    settings: str  # the file that `prepare` changes, below the home
    modes: tuple[str, ...] = MODES
    not_modes: ClassVar[Mapping[str, str]] = {}  # why it does not have the others

    shell_tool = "Bash"
    subagent_tool = "Agent"
    subagent_type = "general-purpose"

    def is_this(self, executable: Path) -> bool:
        """Whether an executable of this name is this agent: two agents are called `kimi`."""
        return True

    def version(self, executable: Path) -> str | None:
        """The version it says it has, or None if it says nothing of the kind."""
        found = re.search(r"\d+\.\d+\.\d+[\w.+-]*", asked_for_version(executable))
        return found[0].rstrip(".") if found else None

    def prepare(self, home: Path, url: str) -> None:
        """Make a temporary home talk to a model at `url`; what its settings say about hooks is kept.

        Other models, their keys and MCP servers are taken out: a trial must not reach them.
        """
        raise NotImplementedError

    def environment(self, home: Path, url: str) -> dict[str, str]:
        """What it needs beside what every agent gets."""
        return {}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        """The command line of one headless turn, of the newest session in this home if it is to be resumed."""
        raise NotImplementedError

    def shell_call(self, command: str) -> Call:
        return Call(self.shell_tool, {"command": command})

    def write_call(self, path: str, content: str) -> Call:
        return Call("Write", {"file_path": path, "content": content})

    def subagent_call(self) -> Call:
        return Call(
            self.subagent_tool, {"description": "scripted", "prompt": TASK, "subagent_type": self.subagent_type}
        )

    def subagent_turns(self, *calls: Call, prompt: str = PROMPT) -> tuple[Turn, ...]:
        """A script in which a subagent makes the calls. Only the main agent's requests hold the prompt."""
        return (
            Turn(calls=(self.subagent_call(),), when=prompt),
            Turn(calls=calls, unless=prompt),
            self.subagent_end()._replace(unless=prompt),
            Turn(text=DONE, when=prompt, last=True),
        )

    def subagent_end(self) -> Turn:
        return Turn(text=DONE)

    def script(self, mode: str, *calls: Call, prompt: str = PROMPT) -> tuple[Turn, ...]:
        """A script for a mode: the calls are made at once by whoever makes them there, then all is done."""
        if mode == SUBAGENT:
            return self.subagent_turns(*calls, prompt=prompt)
        if mode == RESUMED:
            return Turn(text="Ready."), Turn(calls=calls, when=prompt), Turn(text=DONE, when=prompt)
        return Turn(calls=calls), Turn(text=DONE)


class _Kimi(LiveAgent):
    """What the two programs called `kimi` share."""

    executables = ("kimi",)
    subagent_type = "coder"
    provider_type: str
    capabilities: tuple[str, ...] = ()

    def prepare(self, home: Path, url: str) -> None:
        with edited_toml(home / self.settings) as settings:
            drop(settings, "services", "mcp")
            settings["default_model"] = _OURS
            settings["telemetry"] = False
            model: dict[str, Any] = {"provider": _OURS, "model": MODEL, "max_context_size": 200_000}
            if self.capabilities:
                model["capabilities"] = list(self.capabilities)
            settings["models"] = {_OURS: model}
            settings["providers"] = {_OURS: {"type": self.provider_type, "base_url": f"{url}/v1", "api_key": _KEY}}

    def write_call(self, path: str, content: str) -> Call:
        return Call("Write", {"path": path, "content": content})


class KimiCli(_Kimi):
    name = "kimi-cli"
    settings = ".kimi/config.toml"
    provider_type = "openai_legacy"
    shell_tool = "Shell"

    def is_this(self, executable: Path) -> bool:
        return asked_for_version(executable).startswith("kimi, version")

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"KIMI_CLI_NO_AUTO_UPDATE": "1"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = [] if mode == PLAIN else ["--yolo"]
        flags += ["--continue"] if resume else []
        return [str(executable), "--print", "--work-dir", str(project), *flags, "--prompt", prompt]

    def write_call(self, path: str, content: str) -> Call:
        return Call("WriteFile", {"path": path, "content": content})


class KimiCode(_Kimi):
    name = "kimi-code"
    settings = ".kimi-code/config.toml"
    provider_type = "openai"
    capabilities = ("tool_use",)

    def is_this(self, executable: Path) -> bool:
        return re.match(r"\d+\.\d+", asked_for_version(executable)) is not None

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"KIMI_DISABLE_TELEMETRY": "1", "KIMI_CODE_NO_AUTO_UPDATE": "1"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        return [str(executable), *(["--continue"] if resume else []), "--prompt", prompt]


class ClaudeCode(LiveAgent):
    name = "claude-code"
    executables = ("claude",)
    settings = ".claude/settings.json"

    def prepare(self, home: Path, url: str) -> None:
        with edited_json(home / self.settings) as settings:
            drop(settings, "model", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper")
            drop(settings, "forceLoginMethod", "forceLoginOrgUUID", "availableModels")
            _drop_credentials(settings)

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # as root it refuses to approve everything unless told so
        }

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = ["--dangerously-skip-permissions"]
        if mode == PLAIN:
            flags = ["--permission-mode", "default", "--allowed-tools=Bash,Read,Write,Edit,Agent"]
        flags += ["--continue"] if resume else []
        return [str(executable), *flags, "--print", prompt]


# It knows its models by name, and offers a tool for patches only to those.
_CODEX_MODEL = "gpt-6-sol"


class Codex(LiveAgent):
    name = "codex"
    executables = ("codex",)
    settings = ".codex/config.toml"
    shell_tool = "exec_command"

    def prepare(self, home: Path, url: str) -> None:
        with edited_toml(home / self.settings) as settings:
            drop(settings, "profile", "profiles", "mcp_servers", "otel", "openai_base_url", "chatgpt_base_url")
            drop(settings, "forced_login_method", "forced_chatgpt_workspace_id", "oss_provider")
            settings["model"] = _CODEX_MODEL
            settings["model_provider"] = _OURS
            settings["model_providers"] = {
                _OURS: {
                    "name": _OURS,
                    "base_url": f"{url}/v1",
                    "wire_api": "responses",
                    "env_key": "TENTERHOOK_TRIAL_KEY",
                    "request_max_retries": 0,
                    "stream_max_retries": 0,
                }
            }
            table(settings, "analytics")["enabled"] = False

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"TENTERHOOK_TRIAL_KEY": _KEY}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = ["--skip-git-repo-check", "--disable", "apps", "--disable", "plugins"]  # those are on the network
        if mode == PLAIN:
            flags += ["-c", 'approval_policy="never"', "-c", 'sandbox_mode="danger-full-access"']
        else:
            flags += ["--dangerously-bypass-approvals-and-sandbox"]
        return [str(executable), "exec", *(["resume", "--last"] if resume else []), *flags, prompt]

    def shell_call(self, command: str) -> Call:
        return Call(self.shell_tool, {"cmd": command})

    def write_call(self, path: str, content: str) -> Call:
        added = "".join(f"+{line}\n" for line in content.splitlines())
        return Call("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n", custom=True)

    def subagent_call(self) -> Call:
        given = {"task_name": "scripted", "message": TASK, "fork_turns": "none"}
        return Call("spawn_agent", given, namespace="collaboration")


class _GeminiLike(LiveAgent):
    """Gemini CLI, and Qwen Code which was made from it."""

    auth_type: str
    model: str
    shell_tool = "run_shell_command"

    def write_call(self, path: str, content: str) -> Call:
        return Call("write_file", {"file_path": path, "content": content})

    def prepare(self, home: Path, url: str) -> None:
        with edited_json(home / self.settings) as settings:
            drop(settings, "mcpServers", "modelProviders")
            _drop_credentials(settings)
            auth = table(settings, "security", "auth")
            auth.clear()
            auth["selectedType"] = self.auth_type
            table(settings, "security", "folderTrust")["enabled"] = False
            table(settings, "privacy")["usageStatisticsEnabled"] = False
            table(settings, "general").update(enableAutoUpdate=False, disableAutoUpdate=True)
            table(settings, "telemetry").clear()
            table(settings, "model")["name"] = self.model
            self.adjust(settings)

    def adjust(self, settings: dict[str, Any]) -> None:
        """What only one of the two needs."""


# Without auto-approval it refuses the shell before any hook is asked; a flag that allows it stops at redirections.
_GEMINI_POLICY = """\
[[rule]]
toolName = ["run_shell_command", "write_file", "invoke_agent"]
decision = "allow"
priority = 900
allowRedirection = true
"""


class Gemini(_GeminiLike):
    name = "gemini"
    executables = ("gemini",)
    settings = ".gemini/settings.json"
    auth_type = "gemini-api-key"
    model = "gemini-2.5-flash"  # it knows its models by name

    def prepare(self, home: Path, url: str) -> None:
        super().prepare(home, url)
        policies = home / ".gemini" / "policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "tenterhook-trial.toml").write_text(_GEMINI_POLICY)

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": _KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = [] if mode == PLAIN else ["--yolo"]
        flags += ["--resume", "latest"] if resume else []
        return [str(executable), "--model", self.model, *flags, "--prompt", prompt]

    def subagent_call(self) -> Call:
        return Call("invoke_agent", {"agent_name": "generalist", "prompt": TASK})

    def subagent_end(self) -> Turn:
        return Turn(calls=(Call("complete_task", {"result": {"response": DONE}}),))


class Qwen(_GeminiLike):
    name = "qwen"
    executables = ("qwen",)
    settings = ".qwen/settings.json"
    subagent_tool = "agent"
    auth_type = "openai"
    model = MODEL

    def adjust(self, settings: dict[str, Any]) -> None:
        table(settings, "memory")["enableManagedAutoMemory"] = False  # an agent beside the conversation

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": _KEY, "OPENAI_MODEL": self.model}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        # an allowed shell is still refused what looks like an edit, say a redirection, unless edits are approved
        plain = ["--approval-mode", "auto-edit", "--allowed-tools=run_shell_command"]
        flags = plain if mode == PLAIN else ["--yolo"]
        flags += ["--continue"] if resume else []
        return [str(executable), *flags, "--prompt", prompt]


class Copilot(LiveAgent):
    name = "copilot"
    executables = ("copilot",)
    settings = ".copilot/settings.json"
    shell_tool = "bash"

    def prepare(self, home: Path, url: str) -> None:
        own = home / ".copilot"
        own.mkdir(parents=True, exist_ok=True)
        (own / "mcp-config.json").unlink(missing_ok=True)
        # the model is named by the environment; what is here may be a login
        for file in (home / self.settings, own / "config.json"):
            if file.exists():
                with edited_json(file) as settings:
                    drop(settings, "model", "copilotTokens", "copilot_tokens")
                    drop(settings, "loggedInUsers", "logged_in_users", "lastLoggedInUser", "last_logged_in_user")

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_MODEL": MODEL,
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": _KEY,
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_HOME": str(home / ".copilot"),
        }

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = ["--allow-tool=shell", "--allow-tool=write", "--allow-all-paths"] if mode == PLAIN else ["--allow-all"]
        flags += ["--continue"] if resume else []
        return [str(executable), "--no-auto-update", *flags, "--prompt", prompt]

    def shell_call(self, command: str) -> Call:
        return Call(self.shell_tool, {"command": command, "description": "scripted"})

    def write_call(self, path: str, content: str) -> Call:
        return Call("create", {"path": path, "file_text": content})

    def subagent_call(self) -> Call:
        return Call(
            "task", {"name": "scripted", "description": "scripted", "prompt": TASK, "agent_type": "general-purpose"}
        )


_OTHER_MODELS = ("ANTHROPIC_", "CLAUDE_", "OPENAI_", "GEMINI_", "GOOGLE_", "QWEN_", "AWS_", "VERTEX_", "OTEL_")
_CREDENTIALS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PROXY")


def _drop_credentials(settings: dict[str, Any]) -> None:
    """Settings may hold an environment, which outranks ours; hooks may need the rest of it."""
    for name in list(table(settings, "env")):
        if name.startswith(_OTHER_MODELS) or name.upper().endswith(_CREDENTIALS):
            del settings["env"][name]
    if not settings["env"]:
        del settings["env"]


_ALL = (KimiCli(), KimiCode(), ClaudeCode(), Codex(), Gemini(), Qwen(), Copilot())
LIVE: dict[str, LiveAgent] = {agent.name: agent for agent in _ALL}


def asked_for_version(executable: Path) -> str:
    """What a program prints when asked for its version, from a home where it finds nothing; empty if it fails."""
    with tempfile.TemporaryDirectory(prefix="tenterhook-") as home:
        try:
            asked = subprocess.run(
                [executable, "--version"],
                env={"PATH": search_path(executable), "HOME": home, "TMPDIR": home, "NO_COLOR": "1", "TERM": "dumb"},
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    return asked.stdout.strip()


def search_path(executable: Path) -> str:
    """A PATH with the executable's folder, Node's as it is found here, and the system's."""
    import shutil

    node = shutil.which("node")
    folders = [str(executable.parent), os.path.dirname(node) if node else "", "/usr/local/bin", "/usr/bin", "/bin"]
    return os.pathsep.join(dict.fromkeys(filter(None, folders)))
