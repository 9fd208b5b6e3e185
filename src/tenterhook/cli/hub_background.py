"""`tenterhook hub start` and `stop`: the hub as a service in the background."""

from __future__ import annotations

import os

import click
from click.core import ParameterSource

from ..dispatch import daemon
from ..hub.background import OPTIONS, SERVICE
from . import services
from .daemon import RUNS
from .hub import check_url, need_extra, say, serving_options
from .loading import json_option
from .printing import print_json
from .refusals import refuse_below_agent


@click.command(short_help="Run a hub in the background, until `hub stop`.")
@serving_options
@click.option("--no-pages", is_flag=True, hidden=True)
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
    """Run a hub in the background. If it does not run when an agent begins a session, it is started again.

    \b
    tenterhook hub start
    tenterhook hub stop
    """
    refuse_below_agent("hub start")
    if no_pages:
        return _start_daemon(context, as_json=as_json)
    check_url(public_url)
    need_extra()
    if database is not None and "://" not in database:
        database = os.path.abspath(database)
    options = {"listen": listen, "database": database, "public_url": public_url}
    said = services.start(SERVICE, {**options, "keep_days": keep_days, "insecure": insecure})
    if as_json:
        print_json(said)
        return 0
    say(said)
    click.echo(
        "it runs in the background, and again whenever an agent begins a session; stop it with: tenterhook hub stop"
    )
    return 0


def _start_daemon(context: click.Context, *, as_json: bool) -> int:
    """What `hub start --no-pages` did before there was a command for it."""
    for name in OPTIONS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} is for a hub, --no-pages for the daemon")
    click.echo("`hub start --no-pages` is now: tenterhook daemon start", err=True)
    said = services.start(daemon.SERVICE, {})
    if as_json:
        print_json({**said, "url": None, "listen": None})
    else:
        click.echo(RUNS)
    return 0


@click.command(short_help="Stop the hub that runs here.")
def stop() -> int:
    """Stop the hub that runs on this machine; none is started again."""
    refuse_below_agent("hub stop")
    config = SERVICE.config()
    said = None if config and config["listen"] is None else services.stop(SERVICE)  # None: of an earlier version
    if said is None and (said := services.stop(daemon.SERVICE)):
        click.echo("no hub runs; to stop the daemon, say: tenterhook daemon stop", err=True)
    click.echo(said or "no hub runs")
    return 0
