"""Tools of MCP servers in the real agents: a guard finds them as mcp:server/tool in each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hosts import agents
from hosts.mcp import WITHOUT_SERVER, tool_call, with_server
from hosts.real import results_with, shown
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

# What the model reads instead of the reason: Vibe does not pass it on to programs, in which alone it calls these tools.
REASONS = {"vibe": "Tool execution was skipped by Runtime policy."}


@pytest.mark.parametrize("name", agents.PACKAGES)
def test_a_guard_refuses_a_call_of_a_servers_tool_and_lets_the_rest_run(name: str, guarded: Guarded) -> None:
    names = (
        () if AGENTS[name].mcp_spelling is None else (f"mcp:{'unknown' if name in WITHOUT_SERVER else 'canary'}/echo",)
    )
    reason = guarded.guard(tool=f"^{names[0] if names else 'echo'}$", pattern="forbidden")
    guarded.hook("record", f"cat >>{guarded.project / 'sent'}; echo >>{guarded.project / 'sent'}")
    guarded.install()
    guarded = guarded._replace(live=with_server(guarded.live))
    came = guarded.calls(*(tool_call(guarded.live, "echo", text=text) for text in ("harmless", "forbidden")))
    assert results_with(came, "returned: harmless"), shown(came)
    assert not results_with(came, "returned: forbidden"), shown(came)
    assert results_with(came, REASONS.get(name, reason)), shown(came)
    sent = [json.loads(line) for line in (guarded.project / "sent").read_text().splitlines() if line]
    of_server = [each for each in sent if each["tool_name"] != "run_typescript"]
    assert {tuple(each.get("mcp_names", ())) for each in of_server} == {names}
