"""Records reach the hub later, once and in order, whatever happens to the uploader."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hub_client import hubs
from hub_client.hubs import MACHINE, BadHub, RealHub, joined, said
from support import alive, until
from tenterhook.basics import places
from tenterhook.hub_client import membership, uploader
from tenterhook.hub_client.connection import HubUnavailable
from tenterhook.hub_client.membership import Membership
from tenterhook.journal import writer
from tenterhook.journal.redact_stored import Redaction
from tenterhook.journal.redacted_records import ByText

if TYPE_CHECKING:
    from collections.abc import Callable

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]


def write(session: str, count: int, first: int = 0, **more: Any) -> None:
    """Append records to the journal, numbered."""
    for number in range(first, first + count):
        record = {"schema": 1, "type": "verdict", "time": time.time(), "by": "test", "session_id": session}
        writer.append(places.journal(), {**record, "event": "pre-tool-call", "n": number, **more})


def numbers(hub: RealHub, session: str) -> list[int]:
    return [record["n"] for record in hub.records(session)]


class Forwarding:
    """Hands records on to a real hub, and does something else after so many batches."""

    def __init__(self, hub: RealHub, then: Callable[[int, bytes], bytes | None]) -> None:
        self._hub = hub
        self._then = then
        self._number = 0
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, connection: socket.socket) -> None:
        data = hubs.read_request(connection)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
        while len(body) < length:
            body += connection.recv(65536)
        self.bodies.append(json.loads(body))
        with socket.create_connection(("127.0.0.1", int(self._hub.url.rpartition(":")[2]))) as real:
            real.sendall(head + b"\r\n\r\n" + body)
            answer = b""
            while piece := real.recv(65536):
                answer += piece
        self._number += 1
        reply = self._then(self._number, answer)
        if reply is not None:
            connection.sendall(reply)
        connection.shutdown(socket.SHUT_RDWR)


def test_records_are_delivered_in_order_and_once(hub: RealHub, session: str) -> None:
    member = joined(hub)
    write(session, 30)
    assert uploader.upload(member)
    assert not uploader.upload(member)
    write(session, 5, 30)
    assert uploader.upload(member)
    assert numbers(hub, session) == list(range(35))
    assert uploader.pending(member) == 0


def test_what_was_there_before_joining_stays_here(hub: RealHub, session: str) -> None:
    write(session, 3)
    member = joined(hub)
    write(session, 2, 3)
    uploader.upload(member)
    assert numbers(hub, session) == [3, 4]


def test_joining_again_with_another_token_goes_on_where_it_was(hub: RealHub, session: str) -> None:
    joined(hub)
    write(session, 3)
    uploader.upload(joined(hub))
    assert numbers(hub, session) == [0, 1, 2]


@pytest.mark.slow
def test_every_segment_is_delivered_also_those_written_aside(
    hub: RealHub, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = joined(hub)
    monkeypatch.setattr(writer, "_LARGEST_SEGMENT", 2000)
    write(session, 40)
    holder = os.open(os.path.join(places.journal(), "lock"), os.O_RDWR)
    held = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os,sys,time; os.lockf(0, os.F_LOCK, 0); print('held', flush=True); time.sleep(60)",
        ],
        stdin=holder,
        stdout=subprocess.PIPE,
    )
    try:
        assert held.stdout is not None
        held.stdout.readline()
        write(session, 1, 40)
    finally:
        held.kill()
        held.communicate()
        os.close(holder)
    names = os.listdir(places.journal())
    assert sum(name.startswith("0") for name in names) > 2
    assert any(name.startswith("aside-") for name in names)
    uploader.upload(member)
    assert numbers(hub, session) == list(range(41))


def test_many_records_go_in_batches(hub: RealHub, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    member = joined(hub)
    monkeypatch.setattr(uploader, "_BATCH_RECORDS", 7)
    write(session, 30)
    uploader.upload(member)
    assert numbers(hub, session) == list(range(30))


def test_a_record_too_large_for_any_batch_arrives_without_what_is_large(
    hub: RealHub, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploader, "_BATCH_BYTES", 10_000)
    member = joined(hub)
    write(session, 1, large="x" * 20_000)
    write(session, 1, 1)
    uploader.upload(member)
    first, second = hub.records(session)
    assert (first["n"], first["payload"], second["n"]) == (0, "cut", 1)
    assert "large" not in first


def test_strange_texts_arrive(hub: RealHub, session: str) -> None:
    member = joined(hub)
    write(session, 1, reason="\0 \ud800 \u202e \x1b[31m", tool_name="a\0b\ud800")
    write(session, 1, 1)
    uploader.upload(member)
    assert numbers(hub, session) == [0, 1]


def test_a_line_that_is_none_of_ours_is_passed_over(hub: RealHub, session: str) -> None:
    member = joined(hub)
    write(session, 1)
    segment = Path(places.journal(), "000001.jsonl")
    with segment.open("ab") as file:
        file.write(b"not a record\n[1]\n\xff\n")
    write(session, 1, 1)
    uploader.upload(member)
    assert numbers(hub, session) == [0, 1]
    assert uploader.pending(member) == 0


def test_half_a_line_is_not_delivered_before_it_is_intact(hub: RealHub, session: str) -> None:
    member = joined(hub)
    write(session, 2)
    segment = Path(places.journal(), "000001.jsonl")
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-20])
    uploader.upload(member)
    assert numbers(hub, session) == [0]
    segment.write_bytes(whole)
    uploader.upload(member)
    assert numbers(hub, session) == [0, 1]


@pytest.mark.slow
def test_records_written_while_the_hub_is_away_are_delivered_later(
    tmp_path: Path, session: str, deliverer: Callable[..., subprocess.Popen[bytes]]
) -> None:
    first = RealHub(tmp_path / "hub")
    listen = first.listen
    try:
        member = joined(first)
        write(session, 3)
        uploader.upload(member)
    finally:
        first.kill()
    write(session, 4, 3)
    assert uploader.pending(member) == 4
    with pytest.raises(HubUnavailable):
        uploader.upload(member)
    process = deliverer(idle=30)
    second = RealHub(tmp_path / "hub", listen)
    try:
        until(lambda: numbers(second, session) == list(range(7)))
        assert alive(process.pid)
    finally:
        second.stop()


def test_a_batch_whose_answer_is_lost_is_not_delivered_twice(
    hub: RealHub, bad_hub: BadHubs, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub has taken it, and died before it could say so."""
    monkeypatch.setattr(uploader, "_BATCH_RECORDS", 5)
    between = Forwarding(hub, lambda number, answer: None if number == 2 else answer)
    member = Membership(bad_hub(between).url, hub.agent_token(), MACHINE)
    membership.save(member)
    write(session, 20)
    with pytest.raises(HubUnavailable):
        uploader.upload(member)
    uploader.upload(member)
    assert numbers(hub, session) == list(range(20))


@pytest.mark.slow
def test_killed_in_the_middle_it_is_delivered_once_and_in_order(
    hub: RealHub, bad_hub: BadHubs, session: str, deliverer: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """SIGKILL between what the hub has taken and our note of it, again and again."""
    victims: list[subprocess.Popen[bytes]] = []
    began = threading.Event()

    def then(number: int, answer: bytes) -> bytes | None:
        began.wait(20)
        if number <= 3:
            victims[-1].send_signal(signal.SIGKILL)
            return None
        return answer

    between = Forwarding(hub, then)
    member = Membership(bad_hub(between).url, hub.agent_token(), MACHINE)
    membership.save(member)
    for round_ in range(4):
        write(session, 10, round_ * 10)
        began.clear()
        victims.append(deliverer())
        began.set()
        if round_ < 3:
            assert victims[-1].wait(30) == -signal.SIGKILL
        else:
            assert victims[-1].wait(30) == 0
    assert numbers(hub, session) == list(range(40))
    assert len(between.bodies) > 3


def test_one_that_the_hub_refuses_does_not_keep_the_others(bad_hub: BadHubs, session: str) -> None:
    taken: list[int] = []

    def serve(connection: socket.socket) -> None:
        data = hubs.read_request(connection)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(65536)
        found = [each["record"].get("n") for each in json.loads(body)["records"]]
        refused = 2 in found
        if not refused:
            taken.extend(found)
        connection.sendall(said({"taken": 1} if not refused else {"error": {}}, 422 if refused else 200))
        connection.shutdown(socket.SHUT_WR)

    member = bad_hub(serve).member()
    write(session, 5)
    uploader.upload(member)
    assert taken == [None, 0, 1, 3, 4]  # the segment's own first line, too
    assert uploader.pending(member) == 0


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_what_the_hub_does_not_take_for_now_is_kept(bad_hub: BadHubs, session: str, status: int) -> None:
    member = bad_hub(hubs.says(said({"error": {"message": "no"}}, status))).member()
    write(session, 5)
    with pytest.raises(HubUnavailable):
        uploader.upload(member)
    assert uploader.pending(member) == 6


def test_whoever_leaves_is_not_reported_any_more(
    hub: RealHub, session: str, deliverer: Callable[..., subprocess.Popen[bytes]]
) -> None:
    joined(hub)
    process = deliverer(idle=60)
    write(session, 1)
    until(lambda: numbers(hub, session) == [0])
    membership.delete()
    assert process.wait(20) == 0
    write(session, 1, 1)
    assert numbers(hub, session) == [0]


# ---- redacted


def redact(text: str) -> None:
    assert Redaction(places.journal(), ByText(text, "password")).run()


def test_lines_that_are_redacted_are_replaced_at_the_hub(hub: RealHub, session: str) -> None:
    member = joined(hub)
    write(session, 3, reason="hunter2 again")
    uploader.upload(member)
    redact("hunter2")
    write(session, 2, 3)
    assert uploader.upload(member)
    assert numbers(hub, session) == [0, 1, 2, 3, 4]
    assert [each.get("reason") for each in hub.records(session)] == ["[redacted: password] again"] * 3 + [None] * 2
    redact("again")
    assert uploader.upload(member)
    assert [each.get("reason") for each in hub.records(session)[:3]] == [
        "[redacted: password] [redacted: password]"
    ] * 3
    assert not uploader.upload(member)


def test_redacting_does_not_deliver_what_was_there_before_joining(hub: RealHub, session: str) -> None:
    write(session, 3, reason="hunter2")
    member = joined(hub)
    write(session, 2, 3, reason="hunter2")
    uploader.upload(member)
    redact("hunter2")
    uploader.upload(member)
    assert numbers(hub, session) == [3, 4]
    assert [each["reason"] for each in hub.records(session)] == ["[redacted: password]"] * 2


def test_lines_that_were_redacted_before_their_delivery_arrive_once(hub: RealHub, session: str) -> None:
    member = joined(hub)
    write(session, 3, reason="hunter2")
    redact("hunter2")
    uploader.upload(member)
    assert [each["reason"] for each in hub.records(session)] == ["[redacted: password]"] * 3


def test_many_redacted_lines_are_replaced(hub: RealHub, session: str) -> None:
    member = joined(hub)
    write(session, 90, reason="hunter2" + "x" * 60_000)
    uploader.upload(member)
    redact("hunter2")
    uploader.upload(member)
    assert numbers(hub, session) == list(range(90))
    assert {each["reason"][:20] for each in hub.records(session)} == {"[redacted: password]"}
