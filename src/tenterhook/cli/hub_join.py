"""`tenterhook hub join`, `leave`, `status` and `test`: have people elsewhere answer requests of agents here."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..approvals import configured
from ..basics.display_text import one_line
from ..errors import HookError
from ..install import sync
from . import hub_machine
from .loading import json_option
from .printing import counted, print_json, print_text
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..hub_client.connection import HubConnection
    from ..hub_client.membership import Membership

_WHAT_IT_MEANS = """\
{url} will receive what agents here want to run and what your journal records from now on.
People who may answer there decide what runs here, and its rules apply here."""
_EXPOSED = "The URL is not https: others on the network can read the requests, and answer in its place."

_START_TIMEOUT = 15.0  # seconds: the hub may have just been started


@click.command(short_help="Have the requests of this machine's agents answered at a hub.")
@click.argument("url")
@click.option("--token-file", metavar="FILE", type=click.File(), help="File with the token (default: ask for it).")
@click.option("--name", metavar="MACHINE", hidden=True)
@click.option("-y", "--yes", is_flag=True, help="Do not ask; for scripts. The token may then come on stdin.")
def join(url: str, token_file: Any, name: str | None, yes: bool) -> int:
    """Join a hub: requests of agents here can be answered there, and journal records are sent there.

    It needs a token for agents, created with `tenterhook hub token add MACHINE` on the hub's machine; the token's name
    is this machine's name at the hub. It is stored in a file that only you can read. If the hub cannot be reached,
    agents go on without it. Your own hub on this machine needs no token; `tenterhook hub start` joins it automatically.

    \b
    tenterhook hub join http://127.0.0.1:7717
    tenterhook hub join https://hub.example.org --token-file token --yes
    """
    refuse_below_agent("hub join")
    need_terminal("hub join", yes=yes, also="" if token_file else "--token-file FILE")
    from ..hub_client import membership

    address = membership.checked_url(url)
    ca_file = os.environ.get("SSL_CERT_FILE") if address.startswith("https:") else None
    machine = name or socket.gethostname()
    joined = membership.Membership(address, _token(token_file, address, machine), machine, ca_file or None)
    if joined.is_exposed:
        print_text(_EXPOSED, err=True)
        if not yes and not click.confirm("Send the token anyway?", default=False, err=True):
            return 1
    joined = joined._replace(name=_check(joined))
    if name not in (None, joined.name):
        print_text(f"--name is ignored: its token calls this machine {one_line(joined.name)}", err=True)
    print_text(_WHAT_IT_MEANS.format(url=one_line(address)))
    if not yes and not click.confirm("Join it?", default=False):
        return 1
    connected = Connected(joined, *_save(joined))
    print_text(f"joined as {one_line(joined.name)}; leave it with: tenterhook hub leave")
    for line in connected.lines:
        print_text(line)
    return 0


def _save(joined: Membership) -> tuple[list[str], list[dict[str, Any]]]:
    """Save a membership and make it effective; return what was changed in agents' settings, and the agents here."""
    from ..hub_client import membership, uploader
    from ..hub_client.uploader_start import ensure_uploader_running

    uploader.skip_existing(joined)
    membership.save(joined)
    ensure_uploader_running()
    changed = [str(each) for each in sync.wire(())]  # on the events at which they would ask their user
    return changed, hub_machine.report(joined)


class Connected(NamedTuple):
    """The membership of this machine, its agents, what was changed in their settings, or why it is not connected."""

    joined: Membership | None
    changes: list[str]
    agents: list[dict[str, Any]]
    why_not: str = ""
    remedy: str = ""

    @property
    def lines(self) -> list[str]:
        """The lines to print: the changes, and which agents do not ask at the hub."""
        return [*self.changes, *hub_machine.not_connected(self.agents)]


def connect_own(url: str, public_url: str) -> Connected:
    """Join this account's hub on this machine, unless it is joined already or this machine has joined one elsewhere."""
    from ..hub_client import membership

    try:
        before = membership.load()
        if before is not None and (before.url in (url, public_url) or not membership.is_loopback_url(before.url)):
            if before.url not in (url, public_url):
                why = f"it has joined {one_line(before.url)}"
                return Connected(None, [], [], why, f"tenterhook hub leave, then: tenterhook hub join {url}")
            before = before._replace(name=_check(before))
            return Connected(before, [], hub_machine.report(before))
    except HookError:  # its file is broken, or its token was of another database
        pass
    try:
        machine = socket.gethostname()
        token = _own_token(url, machine)
        if token is None:
            return Connected(None, [], [], "you are not an admin of this hub", f"tenterhook hub join {url}")
        joined = membership.Membership(url, token, machine)
        joined = joined._replace(name=_check(joined))
        return Connected(joined, *_save(joined))
    except HookError as error:
        return Connected(None, [], [], one_line(error.message), f"tenterhook hub join {url}")


def _as_person(url: str) -> HubConnection | None:
    """Return a connection to the hub as the person who is signed in there in the terminal, if there is one."""
    from ..hub_client import inbox_client
    from ..hub_client.connection import HubConnection

    try:
        person = inbox_client.signed_in()
    except HookError:
        return None
    return HubConnection(person) if person.url == url else None


def _own_token(url: str, machine: str) -> str | None:
    """Create a token for this machine at the hub of this account on this machine; None if it is not one."""
    from ..hub_client.connection import HubRefused
    from ..hub_client.membership import is_loopback_url

    if not is_loopback_url(url) or (hub := _as_person(url)) is None:
        return None
    try:
        known = hub.call("GET", "/tokens", timeout=_START_TIMEOUT).body["tokens"]
        taken = {each["name"] for each in known if each["kind"] == "agent"}
        names = (machine[:50], *(f"{machine[:50]} ({number})" for number in range(2, len(taken) + 3)))
        name = next(each for each in names if each not in taken)
        return str(hub.call("POST", "/tokens", {"name": name, "kind": "agent"}, timeout=_START_TIMEOUT).body["token"])
    except HubRefused:  # not an admin
        return None


def _token(file: Any, url: str, machine: str) -> str:
    token = file.read() if file is not None else "" if sys.stdin.isatty() else sys.stdin.read()
    if file is None and not token.strip():
        token = _own_token(url, machine) or ""
        if not token and sys.stdin.isatty():
            token = click.prompt("Token", hide_input=True)
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise HookError("no token was given", "create one on the hub's machine: tenterhook hub token add NAME")
    return str(token)


def _check(joined: Membership) -> str:
    """Return what the token calls this machine.

    Raise `HookError` if the hub cannot be reached or does not accept the token as an agent's.
    """
    from ..hub_client.connection import HubConnection, HubRefused

    try:
        HubConnection(joined).call("GET", "/health")
        HubConnection(joined).call("POST", "/records", {"machine": joined.name, "records": []})
        return str(HubConnection(joined).call("GET", "/me").body.get("name") or joined.name)
    except HubRefused as error:
        raise HookError(
            error.message, error.remedy or "use a token for agents: tenterhook hub token add NAME"
        ) from None


@click.command(short_help="Leave the hub that this machine has joined.")
@click.option("-y", "--yes", is_flag=True, expose_value=False, help="Accepted for scripts: it never asks.")
def leave() -> int:
    """Leave the hub: requests and records no longer go there, and its rules no longer apply here.

    If the hub is on this machine and you are an admin there, the token of this machine is revoked, too.
    """
    refuse_below_agent("hub leave")
    from ..hub_client import membership, uploader

    try:
        joined = membership.load()
    except HookError:  # broken, or not ours: it is deleted anyway
        joined = None
    if not membership.delete():
        print_text("this machine has not joined a hub")
        return 0
    if joined is None:
        print_text("left")
        return 0
    uploader.UploadCursor(joined).delete()
    print_text(f"left {one_line(joined.url)}")
    if not _is_revoked(joined):
        print_text(
            f"its token is valid until an admin revokes it: tenterhook hub token list  ({one_line(joined.name)})"
        )
    return 0


def _is_revoked(joined: Membership) -> bool:
    """Revoke a token that has been given up, if this account is an admin of the hub and the hub is on this machine."""
    from ..hub_client.connection import HubConnection, HubRefused
    from ..hub_client.membership import is_loopback_url

    try:
        HubConnection(joined).call("PUT", "/machine", {"agents": []})  # no agent asks there any more
        if not is_loopback_url(joined.url) or (hub := _as_person(joined.url)) is None:
            return False
        known = hub.call("GET", "/tokens").body["tokens"]
        own = [each["id"] for each in known if each["kind"] == "agent" and each["name"] == joined.name]
        for number in own:
            hub.call("DELETE", f"/tokens/{number}")
        return bool(own)
    except HookError as error:
        return isinstance(error, HubRefused) and error.status == 401  # revoked before


@click.command(short_help="Show whether a hub runs here, which one was joined, and whether it can be reached.")
@json_option
def status(as_json: bool) -> int:
    """Show whether a hub runs on this machine, which one was joined, whether it is reachable, and what is unsent."""
    from ..hub.service import SERVICE
    from ..hub_client import membership, uploader

    running = SERVICE.process_id()
    is_kept = SERVICE.config() is not None
    if not as_json:
        print_text(_running(running, is_kept=is_kept))
    joined = membership.load()
    if joined is None:
        if as_json:
            print_json({"schema": 1, "running": running, "background": is_kept, "joined": False})
        else:
            print_text("this machine has not joined a hub; join one with: tenterhook hub join URL")
        return 0
    trouble = None
    try:
        _check(joined)
        hub_machine.report(joined)
    except HookError as error:
        trouble = error.message
    waiting = uploader.pending(joined)
    if as_json:
        about = {"url": joined.url, "name": joined.name, "reachable": trouble is None, "why_not": trouble}
        here = {"running": running, "background": is_kept}
        print_json({"schema": 1, **here, "joined": True, **about, "undelivered": waiting})
    else:
        print_text(f"joined {one_line(joined.url)} as {one_line(joined.name)}  ({configured.hub_file()})")
        leave = "to leave it: tenterhook hub leave"
        print_text("it is reachable" if trouble is None else f"it cannot be used: {one_line(trouble)}; {leave}")
        click.echo(f"{counted(waiting, 'record')} waiting to be sent")
    return 0 if trouble is None else 1


def _running(pid: int | None, *, is_kept: bool) -> str:
    if pid is not None:
        return "a hub is running on this machine" + (", in the background" if is_kept else "")
    again = "it is started again when an agent starts a session" if is_kept else "start one with: tenterhook hub start"
    return f"no hub is running on this machine; {again}"


@click.command(short_help="Send a test request to the hub and wait for the answer.")
@json_option
def test(as_json: bool) -> int:
    """Send the hub a request as an agent would, and wait for the answer. Nothing is run; Ctrl-C withdraws the request.

    The exit status is 0 if it was answered, yes or no, and 1 if not.

    \b
    tenterhook hub test
    tenterhook inbox approve last    # in another terminal, or answer on the hub's page
    """
    from ..hub_client import membership, trial

    joined = membership.load()
    if joined is None:
        raise HookError("this machine has not joined a hub", "tenterhook hub start, or: tenterhook hub join URL")
    _check(joined)
    request = trial.new_request(joined)
    if not as_json:
        where = f"{one_line(joined.url)} as {one_line(joined.name)}"
        print_text(f"sent a request to {where}; answer it there, or: tenterhook inbox")
        sys.stdout.flush()
    answer, seconds = trial.ask(joined, request, by="terminal")
    if as_json:
        about = {"approved": answer.approved, "by": answer.by, "scope": answer.scope} if answer else None
        print_json({"schema": 1, "url": joined.url, "name": joined.name, "id": request.id, "answer": about})
    elif answer is None:
        print_text(f"no answer within {seconds:.0f} s", err=True)
    else:
        word = "approved" if answer.approved else "denied"
        print_text(f"{word} by {one_line(answer.by)} after {seconds:.1f} s; nothing was run")
    return 0 if answer is not None else 1
