"""`tenterhook hub start` and `stop`: a hub in the background, for whoever wants quick hooks and an inbox at hand."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..basics.shown import visible
from ..dispatching import keeping_hub
from ..errors import HookError
from .hub import check_url, need_extra, say, serving_options
from .loading import json_option
from .printing import print_json, short_path
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from subprocess import Popen

_PATIENCE = 30.0  # seconds for a hub to begin


@click.command(short_help="Run a hub in the background, until `hub stop`.")
@serving_options
@click.option("--no-pages", is_flag=True, help="Answer agents' events and nothing else: it listens on no network.")
@json_option
@click.pass_context
def start(
    context: click.Context,
    listen: str,
    database: str | None,
    public_url: str | None,
    keep_days: int,
    insecure: bool,
    no_pages: bool,
    as_json: bool,
) -> int:
    """Run a hub in the background. If it is not there when an agent begins a session, it is started again.

    While it runs, the agents of this machine hand their events over to it, and hooks answer about three times as fast.

    \b
    tenterhook hub start
    tenterhook hub start --no-pages
    tenterhook hub stop
    """
    refuse_below_agent("hub start")
    need_linux()
    check_url(public_url)
    if no_pages:
        _refuse_others(context)
        said = begin()
    else:
        need_extra()
        said = _begin_with_pages(listen, database, public_url, keep_days, insecure)
    if as_json:
        print_json(said)
        return 0
    if no_pages:
        click.echo(f"{click.style('hub', bold=True)}     no pages: it answers the events of this account's agents")
    else:
        say(said)
    click.echo(
        "it runs in the background, and again whenever an agent begins a session; end it with: tenterhook hub stop"
    )
    return 0


def begin(
    listen: str | None = None,
    database: str | None = None,
    public_url: str | None = None,
    keep_days: int = 90,
    *,
    insecure: bool = False,
) -> dict[str, Any]:
    """Have a hub run from now on, by default one without pages; what it says first."""
    _refuse_if_there()
    asked = keeping_hub.want(listen, database, public_url, keep_days, insecure=insecure)
    before = os.path.getsize(keeping_hub.log()) if os.path.exists(keeping_hub.log()) else 0
    process = None
    try:
        process = keeping_hub.start(asked)
        return _begun(process, before)
    except BaseException:  # what could not begin would not at the next session either
        if process is not None:
            process.terminate()
            process.wait()
        _refuse_if_there()  # somebody else was quicker, and is to stay
        keeping_hub.forget()
        raise


def _refuse_others(context: click.Context) -> None:
    for name in ("listen", "database", "public_url", "keep_days", "insecure"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} is for a hub with pages, --no-pages for one without")


def _begin_with_pages(
    listen: str, database: str | None, public_url: str | None, keep_days: int, insecure: bool
) -> dict[str, Any]:
    """A hub with pages takes the place of one without, which comes back if the other cannot begin."""
    before = keeping_hub.end_without_pages()
    try:
        return begin(listen, database, public_url, keep_days, insecure=insecure)
    except BaseException:  # whatever it was: quick hooks stay quick
        if before is not None:
            keeping_hub.want_again(before)
        raise


def need_linux() -> None:
    """Refuse to go on where there can be no hub in the background."""
    if sys.platform != "linux":
        raise HookError("a hub in the background needs Linux", "run it in a terminal: tenterhook hub")


def _refuse_if_there() -> None:
    if keeping_hub.process_id() is not None:
        known = "it runs in the background" if keeping_hub.wanted() else "it was started by hand"
        raise HookError(f"a hub runs already: {known}", "end it first: tenterhook hub stop")


def _begun(process: Popen[bytes], before: int) -> dict[str, Any]:
    """What the hub says first, after what was in its log before."""
    with open(keeping_hub.log(), "rb") as log:
        log.seek(before if before <= os.fstat(log.fileno()).st_size else 0)  # else it was begun anew
        said = b""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            ended = process.poll() is not None
            said += log.read()
            for line in said.split(b"\n")[:-1]:
                if line.startswith(b"{"):
                    found: dict[str, Any] = json.loads(line)
                    return found
            if ended:
                break
            time.sleep(0.02)
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    raise HookError(
        f"the hub did not begin: {visible(last) or 'it said nothing'}", f"see {short_path(keeping_hub.log())}"
    )


@click.command(short_help="End the hub that runs here.")
def stop() -> int:
    """End the hub that runs on this machine; none is started again."""
    refuse_below_agent("hub stop")
    need_linux()
    was_wanted = keeping_hub.forget()
    if keeping_hub.stop():
        click.echo("the hub has ended")
    else:
        click.echo("no hub runs; none will be started" if was_wanted else "no hub runs")
    return 0
