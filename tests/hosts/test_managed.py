"""A managed guard in real agents, run by a person who tries switches, variables and other settings.

The agents run as an account without rights, in a mount namespace with files of root's (install/machines.py).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from hosts import agents
from install import machines
from install.machines import HOME, PERSON, PROJECT, Machine
from support import folder_hook
from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import AUTO_APPROVE, DONE
from tenterhook.basics.model_script import Turn
from tenterhook.doctor.live.model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable

FORBIDDEN = "prod-file"
REASON = "not in production"
TRUE = "/bin/true"


class Attempt(NamedTuple):
    """What a person tries: words on the command line, variables, settings in a home."""

    agent: str
    words: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    settings: Callable[[Path], object] = lambda home: None


def in_claude(**given: object) -> Callable[[Path], object]:
    return lambda home: (home / ".claude" / "settings.json").write_text(json.dumps(given))


def other_codex_home(home: Path) -> object:
    return shutil.copytree(home / ".codex", home / "other")


def hooks_off_in_codex(home: Path) -> object:
    config = home / ".codex" / "config.toml"
    return config.write_text(config.read_text() + "\n[features]\nhooks = false\n")


def hooks_off_in_gemini(home: Path) -> object:
    file = home / ".gemini" / "settings.json"
    return file.write_text(json.dumps({**json.loads(file.read_text()), "hooksConfig": {"enabled": False}}))


_OFF = '{"disableAllHooks": true}'
_PREFIX = {"CLAUDE_CODE_SHELL_PREFIX": TRUE}
ATTEMPTS = {
    "claude-code": Attempt("claude-code"),
    "claude-code --settings": Attempt("claude-code", ("--settings", _OFF)),
    "claude-code --setting-sources": Attempt("claude-code", ("--setting-sources", "")),
    "claude-code --bare": Attempt("claude-code", ("--bare",)),
    "claude-code --safe-mode": Attempt("claude-code", ("--safe-mode",)),
    "claude-code, another configuration": Attempt("claude-code", (), {"CLAUDE_CONFIG_DIR": f"{HOME}/other"}),
    "claude-code, disableAllHooks": Attempt("claude-code", settings=in_claude(disableAllHooks=True)),
    "claude-code, a shell prefix": Attempt("claude-code", (), _PREFIX),
    "claude-code, a shell prefix in settings": Attempt("claude-code", settings=in_claude(env=_PREFIX)),
    "claude-code, simple": Attempt("claude-code", (), {"CLAUDE_CODE_SIMPLE": "1", "CLAUDE_CODE_SAFE_MODE": "1"}),
    "claude-code, our variables": Attempt("claude-code", (), {"XDG_STATE_HOME": HOME, "PYTHONPATH": HOME}),
    "codex": Attempt("codex"),
    "codex --disable": Attempt("codex", ("--disable", "hooks")),
    "codex -c features": Attempt("codex", ("-c", "features.hooks=false")),
    "codex -c hooks": Attempt("codex", ("-c", "hooks={}")),
    "codex, another configuration": Attempt("codex", (), {"CODEX_HOME": f"{HOME}/other"}, other_codex_home),
    "codex, hooks = false": Attempt("codex", settings=hooks_off_in_codex),
    "gemini": Attempt("gemini"),
    "gemini, hooksConfig": Attempt("gemini", settings=hooks_off_in_gemini),
}


def results(machine: Machine, attempt: Attempt) -> list[str]:
    """What the model is told of its call, which would write a file."""
    agent = AGENTS[attempt.agent]
    home = machine.path(HOME)
    with ScriptedModel([Turn(calls=(agent.shell_call(f"touch {FORBIDDEN}"),)), Turn(text=DONE)]) as model:
        (home / Path(agent.headless_settings).parent).mkdir()
        agent.prepare(home, model.url)
        attempt.settings(home)
        machine.root("chown", "-R", f"{PERSON}:{PERSON}", HOME)
        program = agents.executable(attempt.agent).relative_to(agents.FOLDER)
        command = agent.command(Path("/opt/agents", program), "go", Path(PROJECT), AUTO_APPROVE)
        flags = command.index("exec") + 1 if "exec" in command else 1
        node = Path("/opt/agents", agents.node().relative_to(agents.FOLDER))
        variables = {"PATH": f"{node}:/usr/bin:/bin", "TERM": "dumb", "SHELL": "/bin/sh", "NO_COLOR": "1"}
        variables |= {**agent.environment(home, model.url), **attempt.variables}
        ended = machine.person("timeout", "100", *command[:flags], *attempt.words, *command[flags:], env=variables)
        model.settle()
        told = model.tool_results()
    assert told, ended.said
    return told


@pytest.fixture
def managed(tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    machines.needs_root()
    name = ATTEMPTS[request.getfixturevalue("what")].agent if "what" in request.fixturenames else "gemini"
    if name in agents.skipped():
        pytest.skip(f"{name}: {agents.skipped()[name]}")
    machine = Machine(tmp_path)
    machine.mount(agents.FOLDER, "/opt/agents")
    guard = f"grep -q {FORBIDDEN} && {{ echo {REASON} >&2; exit 2; }}; exit 0"
    folder_hook(machine.path("/etc/agents/hooks"), "no-prod", guard)
    ended = machine.tenterhook("install", "--managed", name, "--yes")
    assert not ended.status, ended.said
    return machine


@pytest.mark.agents
@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ATTEMPTS)
def test_a_managed_guard_blocks_whatever_the_person_tries(what: str, managed: Machine) -> None:
    told = results(managed, ATTEMPTS[what])
    assert REASON in told[0]
    assert not managed.path(f"{PROJECT}/{FORBIDDEN}").exists()


@pytest.mark.agents
@pytest.mark.timeout(300)
def test_gemini_reads_other_system_settings_that_a_variable_names(managed: Machine) -> None:
    """Not stopped, as docs/teams.md says: when this fails, it can say so no more."""
    elsewhere = Attempt("gemini", (), {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": f"{HOME}/none.json"})
    results(managed, elsewhere)
    assert managed.path(f"{PROJECT}/{FORBIDDEN}").exists()
