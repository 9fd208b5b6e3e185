"""Hermes with our plug-in: where calls come from, what becomes of results, and what leaves the plug-in out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from hosts.real import results_with, shown, told
from tenterhook.agents.hermes import Hermes
from tenterhook.agents.protocol import DONE, call
from tenterhook.basics.model_script import Turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600), pytest.mark.parametrize("name", ["hermes"])]
SECRET = "c4n4ry-in-the-output"
MCP = """
from mcp.server.fastmcp import FastMCP
server = FastMCP("echo")
@server.tool()
def echo(text: str) -> str:
    return "heard " + text
server.run()
"""


def with_settings(guarded: Guarded, **more: Any) -> Guarded:
    """The agent with more in its settings, which a trial would leave out."""

    class Configured(Hermes):
        def prepare(self, home: Path, url: str) -> None:
            super().prepare(home, url)
            file = home / self.headless_settings
            settings = yaml.safe_load(file.read_text())
            for key, value in more.items():
                settings[key] = value(settings) if callable(value) else value
            file.write_text(yaml.safe_dump(settings, sort_keys=False))

    return guarded._replace(live=Configured())


def with_mcp(guarded: Guarded) -> Guarded:
    server = guarded.home / "server.py"
    server.write_text(MCP)
    python = guarded.executable.with_name("python")
    return with_settings(guarded, mcp_servers={"echo": {"command": str(python), "args": [str(server)]}})


def test_calls_of_programs_servers_and_patches_are_guarded_like_others(name: str, guarded: Guarded) -> None:
    in_shell = guarded.guard("in-shell", pattern="forbidden")
    in_server = guarded.guard("in-server", tool="mcp__echo__echo", pattern="forbidden")
    in_file = guarded.guard("in-file", tool="WriteFile", pattern=r"secret\.txt")
    guarded.install()
    guarded = with_mcp(guarded)
    code = f"from hermes_tools import terminal\nprint(terminal('touch {guarded.project}/for' + 'bidden'))"
    patch = f"*** Begin Patch\n*** Add File: {guarded.project}/secret.txt\n+x\n*** End Patch"
    came = guarded.run(
        Turn(calls=(call("execute_code", {"code": code}),)),
        Turn(calls=(call("mcp__echo__echo", {"text": "forbidden"}), call("mcp__echo__echo", {"text": "harmless"}))),
        Turn(calls=(call("patch", {"mode": "patch", "patch": patch}),)),
        Turn(text=DONE),
    )
    assert not guarded.left("forbidden"), shown(came)
    assert not guarded.left("secret.txt"), shown(came)
    assert not results_with(came, "heard forbidden"), shown(came)
    assert results_with(came, "heard harmless"), shown(came)
    assert all(results_with(came, reason) for reason in (in_shell, in_server, in_file)), shown(came)


REDACT = f"""#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
seen = event.get("tool_output", event.get("error"))
print(json.dumps({{"modified_output": json.loads(json.dumps(seen).replace({SECRET!r}, "[redacted]"))}}))
"""


def test_a_secret_in_a_result_reaches_no_model_by_any_channel(name: str, guarded: Guarded) -> None:
    for event in ("post-tool-call", "post-tool-call-failure"):
        guarded.hook(f"redact-{event}", REDACT, event, file="run.py")
    guarded.install()
    guarded = with_mcp(guarded)
    halves = f"{SECRET[:8]}%s", SECRET[8:]  # the calls themselves do not contain it
    (guarded.project / "kept.txt").write_text(f"a {SECRET} b\n")
    (guarded.project / SECRET).mkdir()
    printed = f"printf '{halves[0]}' '{halves[1]}'"
    came = guarded.run(
        Turn(calls=(guarded.shell(printed), guarded.shell(f"{printed} >&2; exit 3"))),
        Turn(calls=(call("read_file", {"path": str(guarded.project / "kept.txt")}),)),
        Turn(calls=(call("search_files", {"pattern": "c4n4ry", "path": str(guarded.project)}),)),
        Turn(calls=(call("execute_code", {"code": f"print('{halves[0]}' % '{halves[1]}')"}),)),
        Turn(calls=(call("mcp__echo__echo", {"text": "x"}), call("read_file", {"path": str(guarded.project)}))),
        Turn(text=DONE),
    )
    assert not told(came, SECRET), shown(came)
    assert len(results_with(came, "[redacted]")) >= 5, shown(came)


def test_hooks_see_the_directory_that_the_last_command_went_to(name: str, guarded: Guarded) -> None:
    (guarded.project / "inner").mkdir()
    guarded.hook(
        "note", f'pwd >>{guarded.home}/directories; grep -o \'"work_dir": *"[^"]*"\' >>{guarded.home}/directories'
    )
    guarded.install()
    guarded.run(Turn(calls=(guarded.shell("cd inner"),)), Turn(calls=(guarded.shell("true"),)), Turn(text=DONE))
    seen = (guarded.home / "directories").read_text()
    assert f'{guarded.project}/inner"' in seen, seen


def test_a_block_counts_though_another_plug_in_wants_the_person_asked(name: str, guarded: Guarded) -> None:
    reason = guarded.guard()
    guarded.install()
    other = guarded.home / ".hermes" / "plugins" / "aaa"
    other.mkdir()
    (other / "plugin.yaml").write_text("name: aaa\nversion: '1'\ndescription: asks first\n")
    asks = "lambda **given: {'action': 'approve', 'message': 'aaa'}"
    (other / "__init__.py").write_text(f"def register(ctx):\n    ctx.register_hook('pre_tool_call', {asks})\n")
    guarded = with_settings(guarded, plugins={"enabled": ["aaa", "tenterhook"]})
    came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"))
    assert not guarded.left("forbidden"), shown(came)
    assert guarded.left("harmless"), shown(came)
    assert results_with(came, reason), shown(came)


def not_enabled(home: Path) -> None:
    (home / ".hermes" / "config.yaml").write_text("plugins: {enabled: []}\n")


def disabled(home: Path) -> None:
    (home / ".hermes" / "config.yaml").write_text("plugins: {enabled: [tenterhook], disabled: [tenterhook]}\n")


def safe_mode_in_its_env_file(home: Path) -> None:
    (home / ".hermes" / ".env").write_text("HERMES_SAFE_MODE=1\n")


def another_profile(home: Path) -> None:
    profile = home / ".hermes" / "profiles" / "coder"
    profile.mkdir(parents=True)
    (home / ".hermes" / "active_profile").write_text("coder\n")
    (profile / "config.yaml").symlink_to("../../config.yaml")


@pytest.mark.parametrize("switch", [not_enabled, disabled, safe_mode_in_its_env_file, another_profile])
def test_what_doctor_says_leaves_the_plug_in_out_does(
    name: str, guarded: Guarded, switch: Callable[[Path], None]
) -> None:
    guarded.guard()
    guarded.install()
    assert guarded.doctor()[0] == 0
    switch(guarded.home)
    status, said = guarded.doctor()
    assert status == 1, said
    came = guarded.calls(guarded.touch("forbidden"))
    assert guarded.left("forbidden"), shown(came)
