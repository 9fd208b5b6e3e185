"""`tenterhook hub`: one inbox for the approvals of every agent; people, tokens, and the hub as a background service."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from ..basics.display_text import one_line
from ..dispatch import daemon
from ..errors import HookError
from ..hub.service import OPTIONS, SERVICE
from . import services
from .daemon import RUNS
from .groups import Group
from .loading import json_option
from .printing import print_json, print_table, print_text
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..hub.database import PostgreSQL, SQLite
    from .hub_join import Connected

F = TypeVar("F", bound="Callable[..., Any]")
LISTEN = "127.0.0.1:7717"
KEEP_DAYS = 90


database_option: Callable[[F], F] = click.option(
    "--database",
    metavar="FILE|URL",
    envvar="TENTERHOOK_HUB_DATABASE",
    help="A file, or postgresql://… for several hubs that share one inbox.",
)


class _Hub(Group):
    """The subcommands; those of the client side are imported when they are used."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*super().list_commands(context), *_JOINING, "share"})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name == "share":
            from .hub_share import share

            return share
        if name not in _JOINING:
            return super().get_command(context, name)
        from . import hub_join

        command: click.Command = getattr(hub_join, name)
        return command


_JOINING = ("join", "leave", "status", "test")


def serving_options(function: F) -> F:
    """Add the options of a hub that serves, in the foreground or in the background."""
    for option in reversed(_SERVING):
        function = option(function)
    return function


_SERVING = (
    click.option("--listen", metavar="HOST:PORT", default=LISTEN, show_default=True, help="Address to listen on."),
    database_option,
    click.option("--public-url", metavar="URL", help="The hub's public address, if it is behind a reverse proxy."),
    click.option(
        "--keep-days",
        default=KEEP_DAYS,
        show_default=True,
        type=click.IntRange(1, 36500),
        help="How long to keep answers and records.",
    ),
    click.option("--insecure", is_flag=True, help="Let people sign in from other machines without TLS."),
    click.option(
        "--trusted-proxy",
        "trusted_proxies",
        metavar="ADDRESS",
        multiple=True,
        callback=lambda _, __, given: [_network(each) for each in given],
        help="Address of a reverse proxy on another machine, or its network, such as 10.0.0.0/24.",
    ),
)


def _network(given: str) -> str:
    import ipaddress

    try:
        return str(ipaddress.ip_network(given))
    except ValueError:
        raise click.BadParameter(f"{given!r} is not an address or a network") from None


@click.group(cls=_Hub, invoke_without_command=True, short_help="One inbox for the approvals of every agent.")
@serving_options
@json_option
@click.pass_context
def hub(
    context: click.Context,
    listen: str,
    database: str | None,
    public_url: str | None,
    keep_days: int,
    insecure: bool,
    trusted_proxies: list[str],
    as_json: bool,
) -> None:
    """Run the hub: agents send it requests; people answer on its page, on a phone or in a terminal. Ctrl-C stops it.

    \b
    tenterhook hub
    tenterhook hub start
    tenterhook hub --public-url https://hub.example.org  # behind a reverse proxy
    tenterhook hub person add alice --admin
    tenterhook hub token add build-machine
    """
    if context.invoked_subcommand not in (*_JOINING, "start", "stop"):
        need_extra()
    if context.invoked_subcommand is not None:
        context.obj = database
        return
    refuse_below_agent("hub")
    check_url(public_url)
    from ..hub import server, service

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
    with service.SERVICE.claimed():  # by the first of several hubs
        say_it = _say_json if as_json else _say_here
        server.run(listen, database, public_url, keep_days, insecure, say_it, trusted_proxies)


def check_url(public_url: str | None) -> None:
    if public_url is not None and not re.fullmatch(r"https?://[^/?#@\s]+/?", public_url):
        raise HookError(f"{public_url!r} is not the address of a hub", "write it like https://hub.example.org")


def need_extra() -> None:
    """Raise `HookError` if the packages of the `hub` extra are not installed."""
    import importlib.util

    if not all(map(importlib.util.find_spec, ("fastapi", "uvicorn", "argon2", "segno"))):
        from ..basics.install_hints import install_command

        raise HookError("the hub's packages are not installed", f"install them with: {install_command('hub')}")


def _say_json(said: dict[str, Any]) -> None:
    click.echo(json.dumps(said))
    sys.stdout.flush()


def say(said: dict[str, Any]) -> None:
    """Print the address of the hub and how to sign in."""
    click.echo(f"{click.style('hub', bold=True)}     {said['url']}  ({said['database']})")
    if "enter" in said:
        click.echo(f"sign in {said['enter']}")
        click.echo(click.style(f"        as {one_line(said['person'])}; the link works once", dim=True))
    else:
        print_text("sign in by name and password: tenterhook hub person add NAME, the first one with --admin")
    if not said["url"].startswith("https://"):
        what = "others on the network can read everything" if said["insecure"] else "sign-in from this machine only"
        click.echo(click.style(f"        no TLS: {what}", dim=True))
    sys.stdout.flush()


def _say_here(said: dict[str, Any]) -> None:
    """Print the same, and how to connect this machine if it is not connected."""
    from ..hub_client import membership

    say(said)
    joined = membership.read()
    if "enter" in said and (joined is None or joined.url not in (said["listen"], said["url"])):
        print_text(f"agents here do not use it until you run: tenterhook hub join {said['listen']}")
        sys.stdout.flush()


@contextlib.contextmanager
def _opened(context: click.Context, database: str | None, command: str = "") -> Iterator[SQLite | PostgreSQL]:
    """Open the hub's database. With `command`, refuse if a guarded agent calls it: it changes who may answer."""
    if command:
        refuse_below_agent(f"hub {command}")
    from ..hub.database import opened

    is_named = context.get_parameter_source("database") is ParameterSource.COMMANDLINE  # not by the variable
    kept = opened(database if is_named else context.obj)
    try:
        yield kept
    finally:
        kept.close()


@hub.group(cls=Group)
def person() -> None:
    """People who may answer requests."""


@person.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="Let them change rules, people and tokens too.")
@click.option("--no-password", is_flag=True, help="Let them sign in with a token only.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@database_option
@click.pass_context
def add_person(
    context: click.Context, name: str, admin: bool, no_password: bool, password_stdin: bool, database: str | None
) -> None:
    """Add a person; asks for a password."""
    from ..hub import accounts

    with _opened(context, database, "person add") as kept:
        password = None if no_password else accounts.hashed(_password(from_stdin=password_stdin))
        role = accounts.ADMIN if admin else accounts.APPROVER
        kept.write(lambda connection: accounts.add(connection, name, role, password))
    print_text(f"{one_line(name)} may answer now" + (" and is an admin" if admin else ""))


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return password


@person.command("list")
@database_option
@json_option
@click.pass_context
def list_people(context: click.Context, database: str | None, as_json: bool) -> None:
    """List the people who may answer."""
    from ..hub import accounts

    with _opened(context, database) as kept:
        found = kept.read(accounts.listed)
    if as_json:
        print_json([{**each, "has_password": bool(each["has_password"])} for each in found])
        return
    rows = [(each["name"], each["role"], "password" if each["has_password"] else "token only") for each in found]
    print_table(("name", "role", "signs in with"), rows)


@person.command("remove")
@click.argument("name")
@database_option
@click.pass_context
def remove_person(context: click.Context, name: str, database: str | None) -> None:
    """Remove a person: their password, tokens and sessions stop working."""
    from ..hub import accounts

    with _opened(context, database, "person remove") as kept:
        kept.write(lambda connection: accounts.remove(connection, name))
    print_text(f"{one_line(name)} may no longer answer")


@person.command("password")
@click.argument("name")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@database_option
@click.pass_context
def set_password(context: click.Context, name: str, password_stdin: bool, database: str | None) -> None:
    """Set a new password for a person; their sessions end."""
    from ..hub import accounts

    with _opened(context, database, "person password") as kept:
        password = accounts.hashed(_password(from_stdin=password_stdin))
        kept.write(lambda connection: accounts.set_password(connection, name, password))
    print_text(f"{one_line(name)} has a new password")


@hub.group(cls=Group)
def token() -> None:
    """Tokens for agents, which ask and report, and for people's own programs."""


@token.command("add")
@click.argument("name")
@click.option("--person", "whose", metavar="PERSON", help="Create a token for this person instead of a machine.")
@click.option("--agent", metavar="AGENT", help="Only for this agent on the machine, such as claude-code.")
@database_option
@json_option
@click.pass_context
def add_token(
    context: click.Context, name: str, whose: str | None, agent: str | None, database: str | None, as_json: bool
) -> None:
    """Create a token and print it; it cannot be shown again.

    NAME is the machine's name at the hub: clients with the token ask and report as this machine.
    """
    from ..hub import accounts

    with _opened(context, database, "token add") as kept:
        kind = accounts.AGENT if whose is None else accounts.PERSON
        number, secret = kept.write(lambda connection: accounts.new_token(connection, name, kind, whose, agent))
    if as_json:
        print_json({"id": number, "token": secret})
    else:
        click.echo(secret)


@token.command("list")
@database_option
@json_option
@click.pass_context
def list_tokens(context: click.Context, database: str | None, as_json: bool) -> None:
    """List the valid tokens, without their secrets."""
    from ..hub import accounts

    with _opened(context, database) as kept:
        found = kept.read(accounts.tokens)
    if as_json:
        print_json(found)
        return
    rows = []
    for each in found:
        used = each["last_used"]
        when = "never" if used is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(used))
        rows.append((str(each["id"]), each["kind"], when, each["person"] or "", one_line(each["name"])))
    print_table(("id", "kind", "last used", "person", "name"), rows)


@token.command("revoke")
@click.argument("number", metavar="ID", type=int)
@database_option
@click.pass_context
def revoke_token(context: click.Context, number: int, database: str | None) -> None:
    """Revoke a token."""
    from ..hub import accounts

    with _opened(context, database, "token revoke") as kept:
        was_there = kept.write(lambda connection: accounts.revoke(connection, number))
    if not was_there:
        raise HookError(f"there is no token {number}", "tenterhook hub token list shows them")
    click.echo(f"token {number} is revoked")


@hub.command(short_help="Run a hub in the background, until `hub stop`, and connect this machine.")
@serving_options
@click.option("--no-join", is_flag=True, help="Do not connect this machine to it.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
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
    trusted_proxies: list[str],
    no_join: bool,
    no_open: bool,
    no_pages: bool,
    as_json: bool,
) -> int:
    """Run a hub in the background, connect this machine to it, and open its page, signed in.

    It prints a link that signs you in once and, on a terminal, its QR code. The browser is opened only from a terminal
    of a desktop session. If the hub is not running when an agent starts a session, it is started again. If it is
    already running, `hub start` connects this machine if necessary and prints a new link.

    \b
    tenterhook hub start
    tenterhook hub start --no-open
    tenterhook hub share             # reach it from a phone
    tenterhook hub stop
    """
    refuse_below_agent("hub start")
    if no_pages:
        return _start_daemon(context, as_json=as_json)
    check_url(public_url)
    need_extra()
    if database is not None and "://" not in database:
        database = os.path.abspath(database)
    options: dict[str, Any] = {"listen": listen, "database": database, "public_url": public_url}
    options |= {"keep_days": keep_days, "insecure": insecure, "trusted_proxies": trusted_proxies}
    is_given = any(context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in OPTIONS)
    is_new = is_given or SERVICE.config() is None or SERVICE.process_id() is None
    said = services.start(SERVICE, options) if is_new else _running()
    connected = None if no_join else _connect(said)
    if as_json:
        joined = connected and connected.joined
        about = {"name": joined.name, "url": joined.url, "agents": connected.agents} if connected and joined else None
        print_json({**said, "connected": about, "why_not": connected.why_not or None if connected else None})
        return 0
    if "enter" in said and sys.stdout.isatty():
        _print_code(said)  # before the link, which would scroll away
    say(said)
    _say_connected(connected, said)
    print_text(
        "it runs in the background and is restarted when an agent starts a session; stop it with: tenterhook hub stop"
        if is_new
        else "it was already running; stop it with: tenterhook hub stop"
    )
    if "enter" in said and sys.stdout.isatty() and not no_open:
        _open_browser(said)
    return 0


def _running() -> dict[str, Any]:
    """Return what starting the hub would print, for one that is already running, with a new link."""
    from ..hub import accounts
    from . import own_hub

    found = own_hub.find()
    insecure = bool((SERVICE.config() or {}).get("insecure"))
    about = {"url": found.url, "listen": found.listen, "database": found.database, "insecure": insecure}
    name = found.person
    if name is None:
        return about
    with own_hub.opened(found, None) as kept:
        link = kept.write(lambda connection: accounts.new_link(connection, name))
    return {**about, "person": name, "enter": f"{found.listen}/enter#{link}"}


def _connect(said: dict[str, Any]) -> Connected:
    from . import hub_join

    if "enter" not in said:  # others are its admins
        return hub_join.Connected(
            None, [], [], "the hub is not for this machine alone", "tenterhook hub token add NAME"
        )
    return hub_join.connect_own(said["listen"], said["url"])


def _say_connected(connected: Connected | None, said: dict[str, Any]) -> None:
    if connected is None:
        print_text(f"agents here do not use it until you run: tenterhook hub join {said['listen']}")
    elif connected.joined is None:
        print_text(f"agents here do not use it: {connected.why_not}; {connected.remedy}")
    else:
        print_text(
            f"agents here use it, as {one_line(connected.joined.name)}, and its rules apply here;"
            " disconnect with: tenterhook hub leave"
        )
        for line in connected.lines:
            print_text(line)


def _print_code(said: dict[str, Any]) -> None:
    """Print the link as a QR code."""
    from . import qr_code

    is_public = said["url"].startswith("https://")
    qr_code.print_code(said["enter"].replace(said["listen"], said["url"]) if is_public else said["enter"])
    if not is_public:
        click.echo(click.style("the code opens on this machine only; for a phone: tenterhook hub share", dim=True))


def _open_browser(said: dict[str, Any]) -> None:
    """Open the link in a browser, if there is one."""
    from . import browsers

    if not browsers.is_there():
        return
    click.echo("opening your browser …")
    from ..hub import accounts
    from . import own_hub

    with own_hub.opened(own_hub.find(), None) as kept:
        secret = said["enter"].partition("#")[2]
        is_used = browsers.open_link(
            said["enter"], lambda: kept.read(lambda connection: accounts.link_was_used(connection, secret))
        )
    print_text("signed in there" if is_used else "no browser has used the link yet; open it yourself")


def _start_daemon(context: click.Context, *, as_json: bool) -> int:
    """`hub start --no-pages`, the old spelling of `daemon start`."""
    for name in OPTIONS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} is for a hub, --no-pages for the daemon")
    print_text("`hub start --no-pages` is now: tenterhook daemon start", err=True)
    said = services.start(daemon.SERVICE, {})
    if as_json:
        print_json({**said, "url": None, "listen": None})
    else:
        print_text(RUNS)
    return 0


@hub.command(short_help="Stop the hub on this machine.")
def stop() -> int:
    """Stop the hub on this machine; it is not started again."""
    refuse_below_agent("hub stop")
    config = SERVICE.config()
    said = None if config and config["listen"] is None else services.stop(SERVICE)  # None: of an earlier version
    if said is None and (said := services.stop(daemon.SERVICE)):
        print_text("no hub is running; to stop the daemon: tenterhook daemon stop", err=True)
    print_text(said or "no hub is running")
    return 0


from .hub_redact import redact  # noqa: E402  # it imports from this module

hub.add_command(redact)
