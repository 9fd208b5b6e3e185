"""`tenterhook daemon`: a process with everything loaded, which answers the events of this account's agents."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import click

from ..basics.display_text import visible
from ..dispatch import daemon as daemon_
from . import services
from .groups import Group
from .loading import json_option
from .printing import print_json, print_text, short_path
from .refusals import refuse_below_agent

RUNS = "the daemon is running in the background; stop it with: tenterhook daemon stop"


@click.group(cls=Group, short_help="Answer events faster, from a background process.")
def daemon() -> None:
    """Run a background process that has everything loaded: hooks answer about three times as fast.

    It answers the events of this account's agents over a socket in the state directory, not over the network.
    Without it, or if it does not answer, each event is answered by a process of its own, with the same result.
    The inbox for approvals is a separate program: `tenterhook hub`.

    \b
    tenterhook daemon start
    tenterhook daemon status
    tenterhook daemon stop
    """


@daemon.command()
@click.option("--foreground", is_flag=True, help="Run in the foreground until a signal, like `daemon run`.")
@json_option
def start(foreground: bool, as_json: bool) -> int:
    """Start the daemon in the background. If it is not running when an agent starts a session, it is started again.

    After an upgrade of Tenterhook, it is replaced at the next session.
    """
    refuse_below_agent("daemon start")
    if foreground:
        return _run(as_json)
    said = services.start(daemon_.SERVICE, {})
    if as_json:
        print_json(said)
    else:
        print_text(RUNS)
    return 0


@daemon.command()
@json_option
def run(as_json: bool) -> int:
    """Run the daemon in the foreground until a signal: for service managers, which restart it themselves.

    Restart it after an upgrade of Tenterhook: events are not sent to a daemon of another version.
    """
    refuse_below_agent("daemon run")
    return _run(as_json)


def _run(as_json: bool) -> int:
    services.need_linux()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")

    def say(said: dict[str, Any]) -> None:
        click.echo(json.dumps(said) if as_json else f"the daemon answers on {visible(said['socket'])}")
        sys.stdout.flush()

    daemon_.migrate(leave=daemon_.SERVICE)
    daemon_.run(say)
    return 0


@daemon.command()
def stop() -> int:
    """Stop the daemon; it is not started again."""
    refuse_below_agent("daemon stop")
    print_text(services.stop(daemon_.SERVICE) or "the daemon is not running")
    return 0


@daemon.command()
@json_option
def status(as_json: bool) -> int:
    """Show whether the daemon is running and whether the next session starts it; exit status 1 if it is not running."""
    service, is_enabled = daemon_.SERVICE, daemon_.is_enabled()
    pid, is_outdated = service.process_id(), service.is_outdated()
    if as_json:
        about = {"running": pid, "enabled": is_enabled, "outdated": is_outdated, "log": service.log}
        print_json({"schema": 1, **about})
    elif pid is None:
        start = "it is started when an agent starts a session" if is_enabled else "start it: tenterhook daemon start"
        print_text(f"the daemon is not running; {start}")
    else:
        how = f"in the background ({short_path(service.log)})" if is_enabled else "started by hand"
        later = "; another version is installed and replaces it at the next session" if is_outdated else ""
        print_text(f"the daemon is running as process {pid}, {how}{later}")
    return 0 if pid is not None else 1
