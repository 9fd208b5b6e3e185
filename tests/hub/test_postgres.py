"""PostgreSQL goes away and comes back: nobody is approved by it, and everything goes on."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from hub import hubs
from hub.hubs import answered, opened
from hub.listening import Listener
from support import until
from tenterhook.errors import HookError
from tenterhook.hub import accounts, database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tenterhook.hub.database import Connection


@pytest.fixture
def server() -> Iterator[hubs.PostgreSQL]:
    """A server that may be stopped."""
    server = hubs.PostgreSQL()
    yield server
    server.remove()


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_after_a_restart_waiting_agents_and_pages_go_on(tmp_path: Path, server: hubs.PostgreSQL, how: str) -> None:
    with hubs.running(tmp_path / "hub", database=server.new_database()) as hub:
        agent, admin = hub.agent(), hub.admin
        assert admin is not None
        asked = opened(agent)
        with Listener(hub.client(hub.person_file["token"])) as listener, ThreadPoolExecutor() as pool:
            waiting = pool.submit(agent.get, f"/requests/{asked['id']}/answer", params={"wait": 50})
            server.stop(how)
            answering = pool.submit(answered, admin, asked)
            server.start()
            assert answering.result(40).json()["won"]
            assert waiting.result(40).json()["state"] == "approved"
            until(lambda: listener.saw("request", asked["id"], "approved"))
            other = opened(agent)
            until(lambda: listener.saw("request", other["id"], "open"))


def test_a_crash_of_the_server_undoes_no_renewal_of_a_request(tmp_path: Path) -> None:
    """Its agent goes on waiting at the hub, which has not crashed, and would find the request withdrawn."""
    server = hubs.PostgreSQL("wal_writer_delay = 10s\n")
    try:
        address = server.new_database()
        with hubs.running(tmp_path / "hub", database=address) as hub, ThreadPoolExecutor() as pool:
            agent = hub.agent()
            asked = opened(agent)
            first = lease(address)
            waiting = pool.submit(agent.get, f"/requests/{asked['id']}/answer", params={"wait": 50})
            until(lambda: lease(address) != first)
            renewed = lease(address)
            server.stop("immediate")
            server.start()
            assert lease(address) == renewed
            assert hub.admin is not None
            assert answered(hub.admin, asked).json()["won"]
            assert waiting.result(40).json()["state"] == "approved"
    finally:
        server.remove()


def lease(address: str) -> float:
    """Until when the only request stays open without another poll."""
    kept = database.opened(address)
    try:
        (row,) = kept.read(lambda connection: connection.all("select lease from requests"))
    finally:
        kept.close()
    return float(row["lease"])


def test_while_it_is_away_a_hub_says_so_and_approves_nothing(tmp_path: Path, server: hubs.PostgreSQL) -> None:
    with hubs.running(tmp_path / "hub", database=server.new_database()) as hub:
        agent = hub.agent()
        asked = opened(agent)
        server.stop()
        refused = agent.get(f"/requests/{asked['id']}/answer?wait=1")
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "database-away"
        assert refused.headers["retry-after"]
        server.start()
        assert hub.admin is not None
        assert hub.admin.get(f"/requests/{asked['id']}").json()["state"] in ("open", "withdrawn")


def test_migrations_run_once_however_many_hubs_start_together(tmp_path: Path, postgresql: hubs.PostgreSQL) -> None:
    database = postgresql.new_database()

    def start(number: int) -> str:
        with hubs.running(tmp_path / str(number), database=database) as hub:
            return str(hub.client().get("/health").json()["database"])

    with ThreadPoolExecutor() as pool:
        assert list(pool.map(start, range(4))) == ["postgresql"] * 4


def test_hubs_that_make_a_token_at_the_same_time_give_it_different_names(postgresql: hubs.PostgreSQL) -> None:
    address = postgresql.new_database()
    sharing = [database.opened(address) for _ in range(4)]
    sharing[0].write(lambda connection: accounts.add(connection, "ada", accounts.ADMIN, None))

    def add(connection: Connection) -> None:
        name = accounts.unused_token_name(connection, "inbox", accounts.PERSON, "ada")
        accounts.new_token(connection, name, accounts.PERSON, "ada")

    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: sharing[number % 4].write(add), range(80)))
        names = {token["name"] for token in sharing[0].read(accounts.tokens)}
        assert names == {"inbox", *(f"inbox ({number})" for number in range(2, 81))}
    finally:
        for each in sharing:
            each.close()


def test_of_two_admins_who_remove_each_other_at_the_same_time_one_stays(postgresql: hubs.PostgreSQL) -> None:
    shared = database.opened(postgresql.new_database())

    def add_both(connection: Connection) -> None:
        for name in ("ada", "bob"):
            accounts.add_if_missing(connection, name, accounts.ADMIN)

    def remove(name: str) -> None:
        with contextlib.suppress(HookError):  # the only admin
            shared.write(lambda connection: accounts.remove(connection, name))

    try:
        for _ in range(20):
            shared.write(add_both)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(remove, ("ada", "bob")))
            assert len(shared.read(accounts.listed)) == 1
    finally:
        shared.close()


def test_a_server_that_is_not_there_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    import subprocess
    import sys

    line = [sys.executable, "-m", "tenterhook", "hub", "--database", f"postgresql:///x?host={tmp_path}"]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "--database" in ended.stderr
    assert "Traceback" not in ended.stderr
