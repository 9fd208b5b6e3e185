"""Settings of an agent, not ours, that keep our entries from running: switches, and entries the agent cannot read."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any

from ..errors import HookError
from ..formats import commented_json
from ..installing import codex_trust, lines
from .findings import Finding, bad

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..installing.agents import Agent

# Where whoever manages a machine puts settings that outrank a person's.
_MANAGED = {
    "claude-code": ("/etc/claude-code/managed-settings.json",),
    "gemini": ("/etc/gemini-cli/settings.json",),
    "qwen": ("/etc/qwen-code/settings.json",),
}
_CODEX = "/etc/codex"  # the same for Codex, in three files
_ASK = "ask whoever manages this machine"
_KEYS_OF_KIMI = {"event", "matcher", "command", "timeout"}


def findings(agent: Agent, settings: str, root: str) -> Iterator[Finding]:
    """Everything that switches our entries off."""
    if agent.name in ("claude-code", "qwen"):
        yield from _disabled(agent, settings, root)
    elif agent.name == "gemini":
        yield from _gemini(settings, root)
    elif agent.name == "codex":
        yield from _codex(agent, settings, root)
    elif agent.name == "copilot":
        yield from _copilot(agent, settings, root)
    else:
        yield from _kimi(agent, settings)


def _disabled(agent: Agent, settings: str, root: str) -> Iterator[Finding]:
    # A project's settings switch off the person's own hooks as well.
    folder = os.path.join(root, agent.directory)
    projects = [os.path.join(folder, name) for name in ("settings.json", "settings.local.json")]
    for file in (settings, *projects, *_MANAGED[agent.name]):
        if read_json(file).get("disableAllHooks"):
            yield bad(f"disableAllHooks in {file} switches every hook off", "take it out")
    for file in _MANAGED[agent.name]:
        if read_json(file).get("allowManagedHooksOnly"):
            what = f"allowManagedHooksOnly in {file} switches off every hook that is not in it"
            yield bad(what, f"{_ASK}; ours would have to be there")


def _gemini(settings: str, root: str) -> Iterator[Finding]:
    for file in (settings, os.path.join(root, ".gemini", "settings.json"), *_MANAGED["gemini"]):
        switches = read_json(file).get("hooksConfig")
        if not isinstance(switches, dict):
            continue
        if switches.get("enabled") is False:
            yield bad(f"hooksConfig.enabled in {file} switches every hook off", "take it out")
        disabled = switches.get("disabled")
        if isinstance(disabled, list) and any(lines.is_ours({"command": each}) for each in disabled):
            yield bad(f"hooksConfig.disabled in {file} names our line", "take it out: /hooks enable")


def _our_keys(settings: str) -> list[str]:
    try:
        with open(settings, "rb") as file:
            return list(codex_trust.wanted(settings, file.read()))
    except (OSError, HookError):
        return []


def _codex(agent: Agent, settings: str, root: str) -> Iterator[Finding]:
    config = os.path.join(agent.home(), "config.toml")
    required = f"{_CODEX}/requirements.toml"
    if _toml(required).get("allow_managed_hooks_only") is True:
        what = f"allow_managed_hooks_only in {required} switches off every hook that is not managed"
        yield bad(what, f"{_ASK}; ours would have to be there")
    is_read = _codex_reads_project(config, root)
    if not is_read and settings != agent.settings():
        what = f"{config} says that {root} is not trusted: Codex leaves out the project's hooks"
        yield bad(what, "trust it there, or install for every project: tenterhook install codex")
    project = [os.path.join(root, ".codex", "config.toml")] if is_read else []
    files = [f"{_CODEX}/config.toml", config, *project, f"{_CODEX}/managed_config.toml"]
    said = _codex_switch([required]) or _codex_switch(files)
    if said is not None and not said[2]:
        file, switch, _ = said
        remedy = _ASK if file.startswith(_CODEX) else "take it out"
        yield bad(f"features.{switch} = false in {file} switches every hook off", remedy)
    hooks = _toml(config).get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    known: dict[str, Any] = state if isinstance(state, dict) else {}
    for key in _our_keys(settings):
        if isinstance(known.get(key), dict) and known[key].get("enabled") is False:
            yield bad(f"{config} switches off the hook {key}", "switch it on in Codex: /hooks")


def _codex_reads_project(config: str, root: str) -> bool:
    """Whether a project's own settings count: they do unless the person said that the project is not trusted."""
    known = _toml(config).get("projects")
    project = known.get(root) if isinstance(known, dict) else None
    return not (isinstance(project, dict) and project.get("trust_level") == "untrusted")


def _codex_switch(files: Sequence[str]) -> tuple[str, str, bool] | None:
    """The file, the name and the value that count: the later file outranks, the older name only stands in."""
    for switch in ("hooks", "codex_hooks"):
        for file in reversed(files):
            features = _toml(file).get("features")
            if isinstance(features, dict) and isinstance(value := features.get(switch), bool):
                return file, switch, value
    return None


def _copilot(agent: Agent, settings: str, root: str) -> Iterator[Finding]:
    if read_json(settings).get("disableAllHooks"):
        yield bad(f"disableAllHooks in {settings} switches this file off", "take it out")
    if settings != agent.settings() and not copilot_trusts(agent, root):
        what = f"Copilot CLI does not trust {root}: run with -p, it leaves out the project's hooks"
        yield bad(what, "start it there and trust the folder, or: tenterhook install copilot")


def copilot_trusts(agent: Agent, root: str) -> bool:
    """Whether the person has said that a folder, or one around it, is trusted."""
    known = read_json(os.path.join(agent.home(), "config.json"))
    folders = known.get("trustedFolders", known.get("trusted_folders"))
    trusted = [each for each in folders if isinstance(each, str)] if isinstance(folders, list) else []
    return any(f"{root}/".startswith(f"{each.rstrip('/')}/") for each in trusted)


def _kimi(agent: Agent, settings: str) -> Iterator[Finding]:
    """One entry that it cannot read, and Kimi Code drops every hook; Kimi CLI does not even start."""
    hooks = _toml(settings).get("hooks")
    for number, hook in enumerate(hooks if isinstance(hooks, list) else (), start=1):
        wrong = _wrong(agent, hook)
        if wrong:
            what = "drops every hook" if agent.name == "kimi-code" else "does not start"
            yield bad(f"{settings}, [[hooks]] number {number}: {wrong}; {agent.title} {what}", "fix or remove it")


def _wrong(agent: Agent, hook: Any) -> str | None:
    if not isinstance(hook, dict):
        return "it is not a table"
    if hook.get("event") not in agent.events:
        return f"unknown event {hook.get('event')!r}"
    if unknown := set(hook) - _KEYS_OF_KIMI - {"fail_mode"}:
        return f"unknown key {min(unknown)!r}"
    timeout = hook.get("timeout", 30)
    if not isinstance(timeout, int) or not 1 <= timeout <= 600:
        return f"timeout {timeout!r} is not between 1 and 600"
    return None if isinstance(hook.get("command"), str) and hook["command"].strip() else "no command"


def read_json(file: str) -> dict[str, Any]:
    """The object in a settings file; empty if there is none."""
    try:
        with open(file, encoding="utf-8-sig") as stream:
            value = commented_json.loads(stream.read())
    except (OSError, ValueError, RecursionError):  # said elsewhere, where it matters
        return {}
    return value if isinstance(value, dict) else {}


def _toml(file: str) -> dict[str, Any]:
    try:
        with open(file, encoding="utf-8-sig") as stream:
            return tomllib.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return {}
