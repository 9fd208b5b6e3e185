"""What docs/security.md promises, tried in real agents, by a model that wants around its guards."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hosts.real import copied_environment, results_with, shown
from install.older_version import install_as_before
from support import user_hooks
from tenterhook.agents.protocol import DONE
from tenterhook.basics import places
from tenterhook.basics.model_script import Turn

if TYPE_CHECKING:
    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]
EACH = pytest.mark.parametrize("name", ["claude-code", "codex", "cline", "opencode"])  # and two with a plug-in of ours
BOTH = pytest.mark.parametrize("name", ["claude-code", "codex"])  # version 0.1 knew
TENTERHOOK = shlex.join([sys.executable, "-m", "tenterhook"])


def can_unshare() -> bool:
    asked = ["unshare", "-rpf", "--mount-proc", "true"]
    return shutil.which("unshare") is not None and subprocess.run(asked, capture_output=True).returncode == 0


def check_refused(guarded: Guarded, commands: list[str]) -> None:
    """Have the model run each command: each fails, nothing of the person's has changed, and the guard still holds."""
    reason = guarded.guard(metadata={"on_failure": "block"})
    guarded.install()
    before = protected(guarded)
    calls = [guarded.shell(f"{command}; echo case-{number}-is-$?") for number, command in enumerate(commands)]
    turns = [Turn(calls=(call,)) for call in (*calls, guarded.touch("forbidden"))]
    came = guarded.run(*turns, Turn(text=DONE))
    tried = [command for number, command in enumerate(commands) if results_with(came, f"case-{number}-is-")]
    done = [command for number, command in enumerate(commands) if results_with(came, f"case-{number}-is-0")]
    assert (tried, done) == (commands, []), shown(came)
    assert protected(guarded) == before, shown(came)
    assert not guarded.left("forbidden"), shown(came)
    assert results_with(came, reason), shown(came)


def protected(guarded: Guarded) -> dict[Path, bytes]:
    """The person's settings, hooks and what `install` wrote, as they are."""
    files = [file for file in user_hooks(guarded.home).rglob("*") if file.is_file()]
    files += [guarded.record_file, guarded.state / "launcher.sh"]
    return {file: file.read_bytes() for file in (guarded.hooks_file, *files)}


@EACH
@pytest.mark.promise("a model that tries")
def test_no_command_takes_protection_away_below_the_agent(name: str, guarded: Guarded, tmp_path: Path) -> None:
    """Inside a guarded agent no command of ours uninstalls, disables or gives a token, whatever variables say."""
    folder = tmp_path / "elsewhere"
    moved = f"XDG_STATE_HOME={folder}/state XDG_CONFIG_HOME={folder}/config XDG_CACHE_HOME={folder}/cache"
    bare = f"env -i HOME={guarded.home} PATH=/usr/bin:/bin"
    commands = [
        f"{TENTERHOOK} uninstall {name} --yes",
        f"{moved} {TENTERHOOK} uninstall {name} --yes",
        f"{bare} {TENTERHOOK} uninstall {name} --yes",
        f"{bare} {moved} {TENTERHOOK} disable guard --yes",
        f"{moved} {TENTERHOOK} hub token add mine --database {folder}/hub.db",
        f"{moved} {TENTERHOOK} install {name} --open",
    ]
    if can_unshare():
        commands.append(f"unshare -rpf --mount-proc {TENTERHOOK} uninstall {name} --yes")
    check_refused(guarded, commands)


@EACH
@pytest.mark.promise("a model that tries")
def test_no_command_writes_over_hooks_or_settings_below_the_agent(name: str, guarded: Guarded) -> None:
    """From inside a guarded agent no command of Tenterhook writes over hooks or settings."""
    (guarded.project / "e.toml").write_text('[[hooks]]\nevent = "PreToolUse"\ncommand = "exit 0"\n')
    hooks = user_hooks(guarded.home)
    commands = [
        f"{TENTERHOOK} convert e.toml --to folder --out {hooks} --force",
        f"{TENTERHOOK} convert e.toml --to claude --out {guarded.hooks_file} --force",
        f"{TENTERHOOK} log export --out {guarded.hooks_file}",
        f"{TENTERHOOK} test --junit {hooks}/guard/HOOK.md",
    ]
    check_refused(guarded, commands)


@EACH
@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("way", ["chmod o+w ~/.config", "chmod o+w ~/.config/agents/hooks/guard", "a broken HOOK.md"])
def test_a_guard_that_can_no_longer_be_loaded_refuses(name: str, way: str, guarded: Guarded) -> None:
    """A guard that is to block when it fails keeps blocking when its files can no longer be loaded."""
    guarded.guard(metadata={"on_failure": "block"})
    guarded.install()
    broken = f"echo broken >{user_hooks(guarded.home)}/guard/HOOK.md"
    command = broken if way == "a broken HOOK.md" else way.replace("~", str(guarded.home))
    first, second = guarded.shell(f"{command}; echo done-$?"), guarded.touch("forbidden")
    came = guarded.run(Turn(calls=(first,)), Turn(calls=(second,)), Turn(text=DONE))
    assert results_with(came, "done-0"), shown(came)
    assert not guarded.left("forbidden"), shown(came)
    assert results_with(came, "tenterhook remove guard"), shown(came)


PYTHON_GUARD = """#!/usr/bin/env python3
import json, sys
if "forbidden" in json.dumps(json.load(sys.stdin)):
    print("the python guard says no", file=sys.stderr)
    sys.exit(2)
"""
BASH_GUARD = """#!/bin/bash
if grep -q forbidden; then
    echo "the bash guard says no" >&2
    exit 2
fi
"""
ENGINE = """
#include <stdio.h>
__attribute__((constructor)) static void loaded(void) {{ fclose(fopen("{ran}", "a")); }}
"""


@EACH
@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("guard", ["python", "bash"])
def test_variables_of_a_repository_neither_run_code_nor_silence_a_guard(
    name: str, guard: str, guarded: Guarded, tmp_path: Path
) -> None:
    """Variables named in the contract, set by a repository, run no code in Tenterhook or hooks and lose no block."""
    script = {"python": PYTHON_GUARD, "bash": BASH_GUARD}[guard]
    guarded.hook("guard", script, matcher={"tool": "Shell"}, file=f"run.{'py' if guard == 'python' else 'sh'}")
    guarded.install()
    came = guarded.calls(guarded.touch("forbidden"))  # the session's files and caches are there from now on
    assert results_with(came, f"the {guard} guard says no"), shown(came)
    ran = guarded.project / "ran"
    hostile = hostile_variables(guarded, tmp_path, ran)
    options: dict[str, Any] = {}
    if name == "claude-code":  # it takes them from the project's settings, and keeps its own home
        (guarded.project / ".claude").mkdir()
        (guarded.project / ".claude/settings.json").write_text(json.dumps({"env": hostile}))
    else:
        for variable in ("SHELLOPTS", "BASH_ENV"):  # Codex runs our entry with bash, which obeys them before it begins
            del hostile[variable]
        own = {"CODEX_HOME": ".codex", "CLINE_DIR": ".cline", "OPENCODE_CONFIG_DIR": ".config/opencode"}
        options = {"variables": {**hostile, **{key: str(guarded.home / each) for key, each in own.items()}}}
    came = guarded.calls(guarded.touch("forbidden"), **options)
    assert not guarded.left("forbidden"), shown(came)
    assert results_with(came, "guard says no"), shown(came)
    assert not ran.exists(), ran.read_text()


def hostile_variables(guarded: Guarded, tmp_path: Path, ran: Path) -> dict[str, str]:
    """A home with start-up files, native code for OpenSSL, a bash that runs nothing, and a chain of a circle."""
    home = guarded.project / "fh"
    code = f"import sys; open({str(ran)!r}, 'a').write(' '.join(sys.argv) + chr(10))\n"
    for minor in range(9, 16):
        packages = home / f".local/lib/python3.{minor}/site-packages"
        packages.mkdir(parents=True)
        (packages / "usercustomize.py").write_text(code)
    variables = {"HOME": str(home), "SHELLOPTS": "noexec", "BASH_ENV": str(home / "start")}
    (home / "start").write_text(f"echo bash >>{ran}\nexit 0\n")
    if shutil.which("cc"):
        source, library = tmp_path / "engine.c", home / "engine.so"
        source.write_text(ENGINE.format(ran=ran))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        config = "openssl_conf = a\n[a]\nengines = b\n[b]\nx = c\n[c]\n"
        (home / "openssl.cnf").write_text(f"{config}dynamic_path = {library}\nengine_id = x\n")
        variables["OPENSSL_CONF"] = str(home / "openssl.cnf")
    started = Path("/proc/1/stat").read_text().rpartition(")")[2].split()[19]
    folder = user_hooks(guarded.home) / "guard"
    sources = (folder, folder / "HOOK.md")
    names = [places.file_name(f"{source}#guard#pre-tool-call") for source in sources]
    variables["TENTERHOOK_CHAIN"] = " ".join(f"1.{started}:{name}" for name in names)
    return variables


@pytest.mark.parametrize("name", ["claude-code"])
@pytest.mark.promise("a careless model")
def test_a_guard_holds_through_reinstalling_and_refuses_when_everything_is_deleted(
    name: str, guarded: Guarded, tmp_path: Path
) -> None:
    """Reinstalled elsewhere, Tenterhook goes on guarding; where it was deleted, calls are refused until it is back."""
    reason = guarded.guard(metadata={"on_failure": "block"})
    tool = guarded.home / ".local/share/pipx/venvs/tenterhook"  # where pipx would have it
    guarded.install(python=copied_environment(tmp_path / "first"))

    def check_holds() -> None:
        came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"))
        assert not guarded.left("forbidden"), shown(came)
        assert guarded.left("harmless"), shown(came)
        assert results_with(came, reason), shown(came)
        (guarded.project / "harmless").unlink()

    shutil.rmtree(tmp_path / "first")
    copied_environment(tool)
    check_holds()
    shutil.rmtree(tool)
    came = guarded.calls(guarded.touch("harmless"))
    assert not guarded.left("harmless"), shown(came)
    assert results_with(came, f"Install it again, then: tenterhook install {name}"), shown(came)
    guarded.install(python=copied_environment(tool))  # what it says
    check_holds()
    assert "every guard would block" in guarded.doctor()[1]


@BOTH
def test_what_version_0_1_wrote_is_upgraded_by_a_session_and_the_next_one_is_guarded(
    name: str, guarded: Guarded
) -> None:
    reason = guarded.guard(metadata={"on_failure": "block"})
    install_as_before(guarded.home)
    assert "bridge.py" in guarded.hooks_file.read_text()
    for _ in range(2):
        came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"), grace=10)
        assert not guarded.left("forbidden"), shown(came)
        assert guarded.left("harmless"), shown(came)
        assert results_with(came, reason), shown(came)
        (guarded.project / "harmless").unlink()
        assert "bridge.py" not in guarded.hooks_file.read_text()
