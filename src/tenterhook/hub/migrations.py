"""The schema of the database, as numbered migrations."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from ..errors import HookError
from .database import MIGRATING_TURN

if TYPE_CHECKING:
    from .database import Connection, Database


# `serial` and `moment` are replaced by the types of each database. Booleans are integers, JSON is text.
_STEPS: tuple[tuple[str, ...], ...] = (
    (
        """create table people (
            name text primary key, password_hash text, role text not null, created moment not null,
            disabled integer not null default 0)""",
        """create table tokens (
            id serial, name text not null, kind text not null, person text references people (name),
            hash text not null unique, created moment not null, last_used moment, revoked moment)""",
        """create table sign_ins (
            hash text primary key, person text not null references people (name), created moment not null,
            expires moment not null, csrf text not null)""",
        """create table links (
            hash text primary key, person text not null references people (name), created moment not null,
            expires moment not null, used moment)""",
        "create table attempts (who text primary key, failures integer not null, next moment not null)",
        """create table requests (
            id text primary key, agent_token bigint not null references tokens (id), machine text not null,
            agent text not null, session text not null, work_dir text not null, tool_name text not null,
            tool_input text not null, display text not null, action text not null, why text, hash text not null,
            grant_key text, opened moment not null, expires moment not null, lease moment not null,
            state text not null, approved integer, answered_by text, answered_via text, scope text, message text,
            answered moment)""",
        "create index requests_state on requests (state, opened)",
        "create index requests_answered on requests (answered)",
        """create table answers (
            number serial, attempt text not null unique, request text not null, who text not null, via text not null,
            approved integer not null, scope text not null, message text, hash text not null, at moment not null,
            became text not null)""",
        "create index answers_request on answers (request)",
        """create table grants (
            agent_token bigint not null references tokens (id), machine text not null, session text not null,
            grant_key text not null, who text not null, at moment not null,
            primary key (agent_token, machine, session, grant_key))""",
        """create table records (
            number serial, agent_token bigint not null references tokens (id), machine text not null,
            segment text not null, line bigint not null, hash text not null, time moment not null, type text, by text,
            session text, event text, decision text, tool text, waited moment, body text not null,
            unique (agent_token, machine, hash))""",
        "create index records_session on records (machine, session, number)",
        """create table sessions (
            machine text not null, session text not null, by text, records bigint not null, denied bigint not null,
            first moment not null, last moment not null, primary key (machine, session))""",
        "create index sessions_last on sessions (last)",
        "create index records_time on records (time)",
        """create table runs (
            record bigint not null references records (number), time moment not null, hook text not null,
            source text, event text, outcome text, meaning text, decision text, shadow integer not null,
            duration moment, changes integer not null, tells integer not null)""",
        "create index runs_time on runs (time)",
        "create index runs_record on runs (record)",
        """create table rules (
            number serial, answer text not null, tool text, command text, pattern text, directory text, agent text,
            reason text, expires moment, created_by text not null, created moment not null)""",
        """create table changes (
            number serial, kind text not null, about text not null, what text not null, time moment not null)""",
        "create index changes_time on changes (time)",
        """create table webhooks (
            number serial, kind text not null, url text not null, created_by text not null, created moment not null)""",
        """create table deliveries (
            webhook bigint not null references webhooks (number) on delete cascade,
            request text not null references requests (id), tries integer not null, due moment not null,
            primary key (webhook, request))""",
    ),
    (
        # A sign-in needs a key besides its cookie: earlier ones without a key end.
        "drop table sign_ins",
        """create table sign_ins (
            hash text primary key, key_hash text not null, person text not null references people (name),
            created moment not null, expires moment not null)""",
        # The hub computes what an approval for a session covers; before, the agent sent it.
        "delete from grants",
        "update requests set grant_key = null",
        "alter table tokens add column agent text",
    ),
    (
        """create table machines (
            agent_token bigint primary key references tokens (id), agents text not null, reported moment not null)""",
    ),
)
VERSION = len(_STEPS)


def bring_up_to_date(database: Database) -> None:
    """Run the migrations that this database lacks. Other hubs that start at the same time wait."""
    database.write(_migrate)


def _migrate(connection: Connection) -> None:
    connection.take_turns(MIGRATING_TURN)
    connection.run("create table if not exists hub (key text primary key, value text not null)")
    kept = connection.one("select value from hub where key = 'version'")
    version = int(kept["value"]) if kept else 0
    if version > VERSION:
        raise HookError("the hub's database is of a newer version", "use that version of Tenterhook, or a newer one")
    for step in _STEPS[version:]:
        for statement in step:
            connection.run(_with_types(connection.kind, statement))
    if version < VERSION:
        connection.run("delete from hub where key = 'version'")
        connection.run("insert into hub (key, value) values ('version', ?)", str(VERSION))
    if connection.one("select 1 as found from hub where key = 'id'") is None:
        connection.run("insert into hub (key, value) values ('id', ?)", secrets.token_hex(16))


def hub_id(connection: Connection) -> str:
    """Return the public identifier of the inbox, the same for all hubs on one database."""
    row = connection.one("select value from hub where key = 'id'")
    assert row is not None
    return str(row["value"])


def _with_types(kind: str, statement: str) -> str:
    serial, moment = {
        "sqlite": ("integer primary key autoincrement", "real"),
        "postgresql": ("bigint generated by default as identity primary key", "double precision"),
    }[kind]
    return statement.replace(" serial", f" {serial}").replace(" moment", f" {moment}")
