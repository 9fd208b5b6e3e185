"""The machines that have a token: whether they are connected, which of their agents ask here, and which do not."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

from . import accounts, change_feed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .database import Connection, Row
    from .schemas import AgentGiven

CONNECTED, SILENT, NEVER = "connected", "silent", "never"
_SILENT_AFTER = 86400.0  # seconds
_HEARD_WITHIN = 7 * 86400.0  # seconds
_OWN_COMMAND = re.compile(r"tenterhook( [a-z0-9][a-z0-9-]*)+")  # what a machine may have people type


def store(connection: Connection, token: int, name: str, agents: Sequence[AgentGiven]) -> None:
    """Store which agents the machine of a token has, as it reports them; as a remedy only a command of ours."""
    given = [each.model_dump() for each in agents]
    reported = json.dumps([{**each, "remedy": _own_command(each["remedy"])} for each in given])
    before = connection.one("select agents from machines where agent_token = ?", token)
    connection.run(
        "insert into machines (agent_token, agents, reported) values (?, ?, ?) on conflict (agent_token)"
        " do update set agents = excluded.agents, reported = excluded.reported",
        *(token, reported, time.time()),
    )
    if before is None or before["agents"] != reported:
        change_feed.add(connection, change_feed.MACHINE, name, "reported")


def _own_command(remedy: str) -> str:
    return remedy if _OWN_COMMAND.fullmatch(remedy) else ""


def listed(connection: Connection, limit: int) -> list[dict[str, Any]]:
    """Return the machines, the most recently heard from first."""
    now = time.time()
    rows = connection.all(
        "select name, last_used, agents from tokens"
        " left join machines on machines.agent_token = tokens.id where kind = ? and revoked is null"
        " order by coalesce(last_used, 0) desc, tokens.id desc limit ?",
        *(accounts.AGENT, limit),
    )
    heard = connection.all(
        "select machine, by, max(last) as last from sessions where last > ? group by machine, by", now - _HEARD_WITHIN
    )
    last = {(row["machine"], row["by"]): row["last"] for row in heard}
    return [_machine(row, now, last) for row in rows]


def _machine(row: Row, now: float, last: dict[tuple[str, str | None], float]) -> dict[str, Any]:
    used = row["last_used"]
    state = NEVER if used is None else SILENT if now - used > _SILENT_AFTER else CONNECTED
    agents = None
    if row["agents"] is not None:
        agents = [{**each, "heard": last.get((row["name"], each["name"]))} for each in json.loads(row["agents"])]
    return {"name": row["name"], "state": state, "heard": used, "agents": agents}
