"""Codex's settings: the hooks that it trusts, what switches hooks off, and how it is run headless."""

from __future__ import annotations

import os

from . import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from ..basics.model_script import ScriptedCall

MACHINE = "/etc/codex"  # the administrator's settings, in three files
_MODEL = "gpt-6-sol"  # Codex offers its patch tool only to models that it knows by name
_WITHOUT_MATCHER = ("PreModelRequest", "UserPromptSubmit", "Stop", "Interrupt")


class CodexSettings(protocol.Agent):
    """The part of Codex that reads and writes its settings; `codex` names the files."""

    def trusted_hashes(self, settings: str, hooks: Mapping[str, Any]) -> dict[str, str]:
        """Return the hashes of our entries, without which Codex skips them silently.

        A key names the file, the event and the entry's position: inserting an entry before ours makes ours untrusted.
        """
        from ..formats.own_entries import own_groups

        # the path as Codex writes it if `CODEX_HOME` is set
        resolved = os.path.join(os.path.realpath(os.path.dirname(settings)), os.path.basename(settings))
        return {
            f"{spelling}:{_snake_case(event)}:{number}:{position}": _hash(event, group, handler)
            for event, groups in own_groups(hooks).items()
            for number, group in groups
            for position, handler in enumerate(group["hooks"])
            if {"command", "timeout"} <= handler.keys()  # else it was edited, and is not trusted
            for spelling in dict.fromkeys((settings, resolved))
        }

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        yield "Codex skips hooks it does not trust; ours are trusted in its config.toml, for exactly this line"
        if in_project:
            yield "Codex ignores a project's hooks if the project is marked as untrusted"

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import ASK_ADMIN, read_json, read_toml

        config = os.path.join(self.home(), "config.toml")
        required = f"{MACHINE}/requirements.toml"
        if read_toml(required).get("allow_managed_hooks_only") is True:
            yield f"allow_managed_hooks_only in {required} switches off every hook that is not managed", ASK_ADMIN
        is_read = _reads_project(config, root)
        if not is_read and settings != self.settings():
            what = f"{config} says that {root} is not trusted: Codex ignores the project's hooks"
            yield what, "trust it there, or install for every project: tenterhook install codex"
        project = [os.path.join(root, ".codex", "config.toml")] if is_read else []
        files = [f"{MACHINE}/config.toml", config, *project, f"{MACHINE}/managed_config.toml"]
        found = _switch([required]) or _switch(files)
        if found is not None and not found[2]:
            file, switch, _ = found
            remedy = ASK_ADMIN if file.startswith(MACHINE) else "remove it"
            yield f"features.{switch} = false in {file} switches every hook off", remedy
        hooks = read_toml(config).get("hooks")
        state = hooks.get("state") if isinstance(hooks, dict) else None
        known: dict[str, Any] = state if isinstance(state, dict) else {}
        entries = read_json(settings).get("hooks")
        for key in self.trusted_hashes(settings, entries if isinstance(entries, dict) else {}):
            if isinstance(known.get(key), dict) and known[key].get("enabled") is False:
                yield f"{config} switches off the hook {key}", "switch it on in Codex: /hooks"

    headless_settings = ".codex/config.toml"
    shell_tool = "exec_command"

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, edited_toml, table

        with edited_toml(home / self.headless_settings) as settings:
            drop(settings, "profile", "profiles", "mcp_servers", "otel", "openai_base_url", "chatgpt_base_url")
            drop(settings, "forced_login_method", "forced_chatgpt_workspace_id", "oss_provider")
            settings["model"] = _MODEL
            settings["model_provider"] = protocol.PROVIDER
            settings["model_providers"] = {
                protocol.PROVIDER: {
                    "name": protocol.PROVIDER,
                    "base_url": f"{url}/v1",
                    "wire_api": "responses",
                    "env_key": "TENTERHOOK_TRIAL_KEY",
                    "request_max_retries": 0,
                    "stream_max_retries": 0,
                }
            }
            table(settings, "analytics")["enabled"] = False

    def copy_trust(self, home: Path, root: str | None, project: Path) -> None:
        config = home / self.directory / "config.toml"
        if not config.is_file():
            return
        own, copy = self.settings(), home / self.directory / self.file
        moved = {f'"{spelling}:': f'"{copy}:' for spelling in (own, os.path.realpath(own))}
        if root is not None:
            moved |= {f'"{root}"': f'"{project}"', f'"{root}/': f'"{project}/'}
        text = config.read_text(encoding="utf-8")
        for before, after in moved.items():
            text = text.replace(before, after)
        config.write_text(text, encoding="utf-8")

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"TENTERHOOK_TRIAL_KEY": protocol.KEY}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = ["--skip-git-repo-check", "--disable", "apps", "--disable", "plugins"]  # those need the network
        if mode == protocol.PLAIN:
            flags += ["-c", 'approval_policy="never"', "-c", 'sandbox_mode="danger-full-access"']
        else:
            flags += ["--dangerously-bypass-approvals-and-sandbox"]
        return [str(executable), "exec", *(["resume", "--last"] if resume else []), *flags, prompt]

    def shell_call(self, command: str) -> ScriptedCall:
        return protocol.call(self.shell_tool, {"cmd": command})

    def write_call(self, path: str, content: str) -> ScriptedCall:
        added = "".join(f"+{line}\n" for line in content.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
        return protocol.call("apply_patch", patch)._replace(custom=True)

    def subagent_call(self) -> ScriptedCall:
        given = {"task_name": "scripted", "message": protocol.TASK, "fork_turns": "none"}
        return protocol.call("spawn_agent", given)._replace(namespace="collaboration")


def _hash(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    import hashlib
    import json

    command = {"type": "command", "command": handler["command"], "timeout": handler["timeout"], "async": False}
    hashed: dict[str, Any] = {"event_name": _snake_case(event), "hooks": [command]}
    if group.get("matcher") is not None and event not in _WITHOUT_MATCHER:
        hashed["matcher"] = group["matcher"]
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _snake_case(event: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


def _reads_project(config: str, root: str) -> bool:
    """Whether Codex reads a project's own settings: it does unless the user marked the project as untrusted."""
    from .settings_files import read_toml

    known = read_toml(config).get("projects")
    project = known.get(root) if isinstance(known, dict) else None
    return not (isinstance(project, dict) and project.get("trust_level") == "untrusted")


def _switch(files: Sequence[str]) -> tuple[str, str, bool] | None:
    """Return the file, name and value of the switch in effect: later files go first, then the switch's older name."""
    from .settings_files import read_toml

    for switch in ("hooks", "codex_hooks"):
        for file in reversed(files):
            features = read_toml(file).get("features")
            if isinstance(features, dict) and isinstance(value := features.get(switch), bool):
                return file, switch, value
    return None
