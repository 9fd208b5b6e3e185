"""`tenterhook hub join`, `leave` and `status`: have people elsewhere answer what agents on this machine ask."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Any

import click

from ..approvals import presence
from ..basics.display_text import one_line
from ..errors import HookError
from ..install import sync
from .loading import json_option
from .printing import counted, print_json
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..hub_client.membership import Membership

_WHAT_IT_MEANS = """\
{url} will receive what agents here want to run and what your journal records from now on.
People who may answer there decide what runs here, and its rules apply here."""
_EXPOSED = "It is not https: others on the network can read the requests, and answer in its place."


@click.command(short_help="Have requests of this machine's agents answered at a hub.")
@click.argument("url")
@click.option("--token-file", metavar="FILE", type=click.File(), help="File with the token (default: ask for it).")
@click.option("--name", metavar="MACHINE", help="What this machine is called there (default: its host name).")
@click.option("--yes", is_flag=True, help="Do not ask; for scripts. The token may then come on stdin.")
def join(url: str, token_file: Any, name: str | None, yes: bool) -> int:
    """Join a hub: what agents here ask can be answered there, and the journal's records go there.

    The token is one for agents, created with `tenterhook hub token add` on the hub's machine. It is stored in a file
    that only you can read. If the hub cannot be reached, agents go on without it.

    \b
    tenterhook hub join http://127.0.0.1:7717
    tenterhook hub join https://hub.example.org --token-file token --name laptop --yes
    """
    refuse_below_agent("hub join")
    need_terminal("hub join", yes=yes, also="" if token_file else "--token-file FILE")
    from ..hub_client import membership, uploader
    from ..hub_client.uploader_start import ensure_uploader_running

    address = membership.checked_url(url)
    ca_file = os.environ.get("SSL_CERT_FILE") if address.startswith("https:") else None
    joined = membership.Membership(address, _token(token_file), name or socket.gethostname(), ca_file or None)
    _check(joined)
    click.echo(_WHAT_IT_MEANS.format(url=one_line(address)))
    if joined.is_exposed:
        click.echo(_EXPOSED, err=True)
    if not yes and not click.confirm("Join it?", default=False):
        return 1
    uploader.skip_existing(joined)
    membership.save(joined)
    ensure_uploader_running()
    click.echo(f"joined as {one_line(joined.name)}; leave it with: tenterhook hub leave")
    for changed in sync.wire(()):  # where they would ask their person
        click.echo(str(changed))
    return 0


def _token(file: Any) -> str:
    if file is not None:
        token = file.read()
    elif sys.stdin.isatty():
        token = click.prompt("Token", hide_input=True)
    else:
        token = sys.stdin.read()
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise HookError("there is no token", "make one where the hub runs: tenterhook hub token add NAME")
    return str(token)


def _check(joined: Membership) -> None:
    """Raise `HookError` if the hub cannot be reached or does not accept the token as an agent's."""
    from ..hub_client.connection import HubConnection, HubRefused

    try:
        HubConnection(joined).call("GET", "/health")
        HubConnection(joined).call("POST", "/records", {"machine": joined.name, "records": []})
    except HubRefused as error:
        raise HookError(
            error.message, error.remedy or "use a token for agents: tenterhook hub token add NAME"
        ) from None


@click.command(short_help="Leave the hub that was joined.")
def leave() -> int:
    """Leave the hub: nothing is asked or reported there any more, and its rules no longer apply here."""
    refuse_below_agent("hub leave")
    from ..hub_client import membership, uploader

    try:
        joined = membership.load()
    except HookError:  # broken, or not ours: it is deleted anyway
        joined = None
    if not membership.delete():
        click.echo("no hub was joined")
        return 0
    if joined is not None:
        uploader.UploadCursor(joined).delete()
    click.echo("left" + (f" {one_line(joined.url)}" if joined is not None else ""))
    return 0


@click.command(short_help="Whether a hub runs here, which one was joined, and whether it can be reached.")
@json_option
def status(as_json: bool) -> int:
    """Say whether a hub runs on this machine, which one was joined, whether it can be reached, and what it lacks."""
    from ..hub.service import SERVICE
    from ..hub_client import membership, uploader

    running = SERVICE.process_id()
    is_kept = SERVICE.config() is not None
    if not as_json:
        click.echo(_running(running, is_kept=is_kept))
    joined = membership.load()
    if joined is None:
        if as_json:
            print_json({"schema": 1, "running": running, "background": is_kept, "joined": False})
        else:
            click.echo("no hub was joined; join one with: tenterhook hub join URL")
        return 0
    trouble = None
    try:
        _check(joined)
    except HookError as error:
        trouble = error.message
    waiting = uploader.pending(joined)
    if as_json:
        about = {"url": joined.url, "name": joined.name, "reachable": trouble is None, "why_not": trouble}
        here = {"running": running, "background": is_kept}
        print_json({"schema": 1, **here, "joined": True, **about, "undelivered": waiting})
    else:
        click.echo(f"joined {one_line(joined.url)} as {one_line(joined.name)}  ({presence.hub_file()})")
        click.echo("it can be reached" if trouble is None else f"it cannot be used: {one_line(trouble)}")
        click.echo(f"{counted(waiting, 'record')} to be delivered")
    return 0 if trouble is None else 1


def _running(pid: int | None, *, is_kept: bool) -> str:
    if pid is not None:
        return "a hub runs on this machine" + (", in the background" if is_kept else "")
    again = "it is started again when an agent begins a session" if is_kept else "start one with: tenterhook hub start"
    return f"no hub runs on this machine; {again}"
