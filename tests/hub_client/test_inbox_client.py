"""`tenterhook inbox list|approve|deny|sign-in`: for scripts, and for people who type."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from bundled_agent.playing import Play, shell
from hub import hubs
from hub_client import relays
from support import close_terminal, tenterhook, until
from tenterhook.hub_client import inbox_client, inbox_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

USAGE = 64
HOSTILE = "echo '\x1b[2J\u202egnp.exe' \u200b# [red]<b>\nrm -rf x"
pytestmark = pytest.mark.usefixtures("me")


def stands(agent: httpx.Client, asked: dict[str, Any]) -> dict[str, Any]:
    """How a request stands, for who asked."""
    found: dict[str, Any] = agent.get(f"/requests/{asked['id']}/answer?wait=0").json()
    return found


@contextlib.contextmanager
def terminal(*arguments: str) -> Iterator[pexpect.spawn[str]]:
    """The command with a person before it."""
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "tenterhook", "inbox", *arguments],
        encoding="utf-8",
        timeout=30,
        dimensions=(50, 160),
        use_poll=True,
    )
    child.delaybeforesend = None
    try:
        yield child
    finally:
        close_terminal(child)


def ends(child: pexpect.spawn[str]) -> int:
    """Wait for its end; its exit status."""
    child.expect(pexpect.EOF)
    return int(child.wait())


# ------------------------------------------------------------------ list


def test_what_waits_is_listed_with_everything_in_it_made_visible(inbox_hub: hubs.Hub) -> None:
    asked = hubs.opened(inbox_hub.agent("desk\x07"), HOSTILE)
    listed = tenterhook("inbox", "list")
    assert listed.returncode == 0
    (line,) = [line for line in listed.stdout.splitlines() if asked["id"].removeprefix("permission_") in line]
    assert r"echo '\x1b[2J\u202egnp.exe' \u200b# [red]<b>\nrm -rf x" in line
    assert r"desk\x07" in line
    assert "  time left  " in listed.stdout.splitlines()[0]
    assert all(each.isprintable() for each in listed.stdout.splitlines())


def test_for_programs_the_list_is_data_in_ascii(agent: httpx.Client) -> None:
    given = hubs.request("cat \udcff")  # as Python has a file name that is no UTF-8
    made = agent.post("/requests", content=json.dumps(given), headers={"content-type": "application/json"})
    assert made.status_code == 201, made.text
    listed = tenterhook("inbox", "list", "--json")
    assert listed.stdout.isascii()
    (found,) = [each for each in json.loads(listed.stdout)["requests"] if each["id"] == given["id"]]
    assert found["tool_input"] == given["tool_input"]
    assert r"cat \xff" in tenterhook("inbox", "list").stdout
    assert tenterhook("inbox", "approve", given["id"], "--yes").returncode == 0


@pytest.mark.slow
def test_with_all_the_list_has_what_was_answered_too(agent: httpx.Client, bob: httpx.Client) -> None:
    asked = hubs.opened(agent, "make answered")
    assert hubs.answered(bob, asked, approved=False).status_code == 200
    assert "make answered" not in tenterhook("inbox", "list").stdout
    lines = tenterhook("inbox", "list", "--all").stdout.splitlines()
    assert any("make answered" in line and "denied" in line for line in lines)


# ------------------------------------------------------------------ approve and deny


@pytest.mark.parametrize("spelled", ["whole", "beginning", "short", "last"])
def test_an_approval_reaches_who_asked(agent: httpx.Client, spelled: str) -> None:
    asked = hubs.opened(agent, "make it")
    number = asked["id"].removeprefix("permission_")
    said = {"whole": asked["id"], "beginning": asked["id"][:-2], "short": number[:8], "last": "last"}[spelled]
    ended = tenterhook("inbox", "approve", said, "--yes")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[0] == "make it"
    answer = stands(agent, asked)["answer"]
    assert (answer["approved"], answer["scope"], answer["via"]) == (True, "once", "inbox")


def test_an_approval_for_the_session_says_so(agent: httpx.Client) -> None:
    asked = hubs.opened(agent)
    assert tenterhook("inbox", "approve", asked["id"], "--session", "--yes").returncode == 0
    assert stands(agent, asked)["answer"]["scope"] == "session"


def test_a_denial_carries_its_message(agent: httpx.Client) -> None:
    asked = hubs.opened(agent)
    assert tenterhook("inbox", "deny", asked["id"], "--message", "use the copy", "--yes").returncode == 0
    answer = stands(agent, asked)["answer"]
    assert (answer["approved"], answer["message"]) == (False, "use the copy")


@pytest.mark.parametrize("command", ["approve", "deny"])
def test_whoever_answered_first_is_named(agent: httpx.Client, bob: httpx.Client, command: str) -> None:
    asked = hubs.opened(agent)
    assert hubs.answered(bob, asked, approved=False, message="no\x1b[2J").status_code == 200
    ended = tenterhook("inbox", command, asked["id"], "--yes")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert r"denied by bob (api): no\x1b[2J" in ended.stderr
    assert stands(agent, asked)["answer"]["by"] == "bob"


@pytest.mark.slow
def test_of_several_who_answer_at_once_one_wins_and_the_others_say_who(agent: httpx.Client) -> None:
    asked = hubs.opened(agent, expires_in=600)
    line = [sys.executable, "-m", "tenterhook", "inbox"]
    answers = [["approve", asked["id"], "--yes"], ["deny", asked["id"], "--yes"]] * 2
    racing = [
        subprocess.Popen([*line, *each], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for each in answers
    ]
    said = [each.communicate(timeout=60) for each in racing]
    assert sorted(each.returncode for each in racing) == [0, 1, 1, 1]
    ending = inbox_text.ending(stands(agent, asked))
    assert all(ending in stdout + stderr for stdout, stderr in said)


@pytest.mark.slow
def test_a_request_whose_time_is_over_is_not_answered(agent: httpx.Client) -> None:
    asked = hubs.opened(agent, expires_in=0.2)
    until(lambda: stands(agent, asked)["state"] == "expired")
    ended = tenterhook("inbox", "approve", asked["id"], "--yes")
    assert ended.returncode == 1
    assert "expired: nobody answered in time" in ended.stderr


@pytest.mark.slow
def test_a_request_that_its_agent_took_back_is_not_answered(agent: httpx.Client) -> None:
    asked = hubs.opened(agent)
    agent.post(f"/requests/{asked['id']}/withdraw", json={"by": "terminal", "approved": True})
    ended = tenterhook("inbox", "approve", asked["id"], "--yes")
    assert ended.returncode == 1
    assert "approved: in the terminal" in ended.stderr


def test_an_answer_to_another_call_than_the_one_that_was_seen_does_not_count(
    agent: httpx.Client, me: inbox_client.Credentials
) -> None:
    asked = hubs.opened(agent)
    result = inbox_client.answer(me, {**asked, "hash": "0" * 64}, approved=True)
    assert inbox_text.result_line(result) == "not answered: the request has changed; read it again"
    assert stands(agent, asked)["state"] == "open"


def test_the_same_answer_again_is_said_to_be_the_same(agent: httpx.Client, me: inbox_client.Credentials) -> None:
    asked = hubs.opened(agent)
    results = [inbox_client.answer(me, asked, approved=True) for _ in range(2)]
    assert [each.won for each in results] == [True, False]
    assert inbox_text.result_line(results[1]).startswith("you had already answered: ")


@pytest.mark.slow
def test_a_beginning_that_several_have_is_not_answered(agent: httpx.Client) -> None:
    both = [hubs.opened(agent, id=f"twin_{number}") for number in range(2)]
    ended = tenterhook("inbox", "approve", "twin_", "--yes")
    assert ended.returncode == 1
    assert "2 requests begin with 'twin_'" in ended.stderr
    assert {stands(agent, each)["state"] for each in both} == {"open"}


@pytest.mark.slow
def test_an_id_that_begins_another_means_itself(agent: httpx.Client) -> None:
    short, long = hubs.opened(agent, id="begins"), hubs.opened(agent, id="begins_it")
    assert tenterhook("inbox", "approve", "begins", "--yes").returncode == 0
    assert (stands(agent, short)["state"], stands(agent, long)["state"]) == ("approved", "open")


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "status"), [(["approve"], USAGE), (["approve", ""], USAGE), (["deny"], USAGE)])
def test_without_an_id_nothing_is_answered(agent: httpx.Client, arguments: list[str], status: int) -> None:
    asked = hubs.opened(agent)
    assert tenterhook("inbox", *arguments, "--yes").returncode == status
    assert stands(agent, asked)["state"] == "open"


@pytest.mark.slow
@pytest.mark.parametrize("unknown", ["nothing", "../rules", "x y", "\x1b[2J"])
def test_an_unknown_id_is_said(unknown: str) -> None:
    ended = tenterhook("inbox", "approve", unknown, "--yes")
    assert ended.returncode == 1
    assert "waits" in ended.stderr
    assert "\x1b" not in ended.stderr


@pytest.mark.parametrize("command", [["approve", "last"], ["deny", "last"], ["sign-in", "http://127.0.0.1:1"], []])
def test_without_a_terminal_nobody_is_asked(agent: httpx.Client, command: list[str]) -> None:
    asked = hubs.opened(agent)
    ended = tenterhook("inbox", *command, stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "terminal" in ended.stderr
    assert stands(agent, asked)["state"] == "open"


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "state", "status"), [("y", "approved", 0), ("n", "open", 1), ("", "open", 1)])
def test_a_person_sees_all_of_it_and_is_asked(agent: httpx.Client, typed: str, state: str, status: int) -> None:
    asked = hubs.opened(agent, "rm -rf / ; echo \x1b[31m", why="a hook wants a person to look")
    with terminal("approve", asked["id"]) as child:
        child.expect_exact("Approve it? [y/N]")
        shown = child.before or ""
        child.sendline(typed)
        assert ends(child) == status
    assert r"rm -rf / ; echo \x1b[31m" in shown
    assert "a hook wants a person to look" in shown
    assert hubs.WORK_DIR in shown
    assert "  ! " in shown  # it is dangerous
    assert stands(agent, asked)["state"] == state


# ------------------------------------------------------------------ who one is


def kept(home: Path) -> Path:
    return home / ".local/state/tenterhook/hub/person.json"


def test_without_a_hub_and_a_sign_in_the_remedy_is_said(home: Path) -> None:
    kept(home).unlink()
    ended = tenterhook("inbox", "list")
    assert ended.returncode == 1
    assert "tenterhook inbox sign-in URL" in ended.stderr


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"url": "http://x"}', '{"url": 3, "token": "x"}', '{"url": "file:///x", "token": "x"}']
)
def test_a_broken_file_is_said_to_be_broken(home: Path, content: str) -> None:
    kept(home).write_text(content)
    ended = tenterhook("inbox", "list")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "Traceback" not in ended.stderr
    assert "sign-in" in ended.stderr or "address of a hub" in ended.stderr


def test_a_file_that_others_could_have_written_is_not_believed(home: Path) -> None:
    kept(home).chmod(0o622)
    assert tenterhook("inbox", "list").returncode == 1


def test_a_hub_that_is_away_is_said_to_be(home: Path, me: inbox_client.Credentials) -> None:
    inbox_client.save(me._replace(url="http://127.0.0.1:1"))
    ended = tenterhook("inbox", "approve", "last", "--yes")
    assert ended.returncode == 1
    assert "http://127.0.0.1:1: Connection refused" in ended.stderr


def test_a_person_signs_in_by_password_and_answers(
    inbox_hub: hubs.Hub, agent: httpx.Client, bob: httpx.Client, home: Path
) -> None:
    kept(home).unlink()
    with terminal("sign-in", inbox_hub.url) as child:
        child.expect_exact("Name")
        child.sendline("bob")
        child.expect_exact("Password")
        child.waitnoecho()
        child.sendline("bob's own password")
        assert ends(child) == 0
        assert "own password" not in (child.before or "")
    assert stat.S_IMODE(kept(home).stat().st_mode) == 0o600
    asked = hubs.opened(agent)
    assert tenterhook("inbox", "approve", asked["id"], "--yes").returncode == 0
    assert stands(agent, asked)["answer"]["by"] == "bob"


def test_without_tls_nothing_is_sent_to_another_machine_unless_it_is_confirmed(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("th_person_x")
    with socket.create_server(("127.0.0.2", 0)) as other:  # not one of the names of this machine
        other.settimeout(0.1)
        url = f"http://127.0.0.2:{other.getsockname()[1]}"
        with terminal("sign-in", url, "--token-file", os.fspath(file)) as child:
            child.expect_exact("others on the network can read")
            child.expect_exact("anyway? [y/N]")
            child.sendline("")
            assert ends(child) == 1
        with pytest.raises(TimeoutError):
            other.accept()


@pytest.mark.slow
def test_a_wrong_password_leaves_everything_as_it_was(inbox_hub: hubs.Hub, home: Path) -> None:
    before = kept(home).read_text()
    with terminal("sign-in", inbox_hub.url) as child:
        child.expect_exact("Name")
        child.sendline("nobody")
        child.expect_exact("Password")
        child.waitnoecho()
        child.sendline("wrong")
        child.expect_exact("wrong name or password")
        assert ends(child) == 1
    assert kept(home).read_text() == before


@pytest.mark.slow
def test_a_person_signs_in_by_a_token(inbox_hub: hubs.Hub, bob: httpx.Client, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(inbox_hub.token("bob's phone", kind="person", person="bob") + "\n")
    ended = tenterhook("inbox", "sign-in", inbox_hub.url, "--token-file", file, "--yes")
    assert ended.stdout == f"signed in at {inbox_hub.url} as bob\n"
    assert stat.S_IMODE(kept(home).stat().st_mode) == 0o600


@pytest.mark.parametrize("token", ["an agent's", "th_person_wrong", "", "two words", "new\nline", "ä"])
def test_what_is_no_token_of_a_person_is_refused(inbox_hub: hubs.Hub, home: Path, tmp_path: Path, token: str) -> None:
    before = kept(home).read_text()
    file = tmp_path / "token"
    file.write_text(inbox_hub.token("sly") if token == "an agent's" else token)
    ended = tenterhook("inbox", "sign-in", inbox_hub.url, "--token-file", file, "--yes")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert kept(home).read_text() == before


@pytest.mark.slow
def test_behind_tls_only_a_certificate_that_one_vouches_for_is_believed(
    inbox_hub: hubs.Hub, agent: httpx.Client, bob: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(inbox_hub.token("bob's", kind="person", person="bob"))
    certificate, key = relays.certificate(tmp_path)
    with relays.with_tls(int(inbox_hub.url.rpartition(":")[2]), certificate, key) as url:
        refused = tenterhook("inbox", "sign-in", url, "--token-file", file, "--yes")
        assert refused.returncode == 1
        assert "certificate" in refused.stderr.lower()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert tenterhook("inbox", "sign-in", url, "--token-file", file, "--yes").returncode == 0
        monkeypatch.delenv("SSL_CERT_FILE")
        asked = hubs.opened(agent)
        assert tenterhook("inbox", "approve", asked["id"], "--yes").returncode == 0
        stream = inbox_client.EventStream(inbox_client.signed_in())
        assert next(iter(stream)).kind == inbox_client.CONNECTED
        stream.close()
        inbox_client.save(inbox_client.signed_in()._replace(ca_file=None))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))  # a repository may have set it
        assert "certificate" in tenterhook("inbox", "list").stderr.lower()


# ------------------------------------------------------------------ agents


@pytest.fixture
def play(tmp_path: Path, home: Path, project: Path) -> Play:
    return Play(tmp_path, home, project)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["approve last --yes", "deny last --yes", "approve {id} --session --yes", "sign-in {url} --yes", ""]
)
def test_an_agent_does_not_answer_for_its_person(
    inbox_hub: hubs.Hub, agent: httpx.Client, play: Play, line: str
) -> None:
    asked = hubs.opened(agent, expires_in=600)
    command = f"{sys.executable} -m tenterhook inbox {line.format(id=asked['id'], url=inbox_hub.url)}"
    session = play.run([shell(f"{command}; echo status $?")], "done")
    (result,) = session.last.results
    assert "was called from an agent that Tenterhook guards" in result["content"]
    assert "status 1" in result["content"]
    assert stands(agent, asked)["state"] == "open"


@pytest.mark.slow
def test_an_agent_may_look_at_what_waits(agent: httpx.Client, play: Play) -> None:
    hubs.opened(agent, "make seen")
    session = play.run([shell(f"{sys.executable} -m tenterhook inbox list")], "done")
    assert "make seen" in session.last.results[0]["content"]


def test_the_commands_need_none_of_the_hubs_packages(agent: httpx.Client, tmp_path: Path) -> None:
    asked = hubs.opened(agent)
    blocked = "import sys; sys.modules.update(dict.fromkeys(('fastapi', 'markupsafe', 'textual', 'rich', 'httpx')))"
    code = f"{blocked}; from tenterhook.cli import run; sys.exit(run(sys.argv[1:]))"
    line = [sys.executable, "-c", code, "inbox", "approve", asked["id"], "--yes"]
    ended = subprocess.run(line, capture_output=True, text=True, env=os.environ)
    assert (ended.returncode, ended.stderr) == (0, "")
