"""`tenterhook inbox`: answer the hub's requests, in a terminal or from scripts."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from ..basics.display_text import one_line
from ..errors import HookError
from .groups import Group
from .loading import json_option, yes_option
from .printing import print_presented, print_table, print_text
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..hub_client.inbox_client import Credentials

_MOST_ENDED = 50
_EXPOSED = "The URL is not https: others on the network can read the requests, and answer in your place."


@click.group(cls=Group, invoke_without_command=True, short_help="Answer agents' requests in this terminal.")
@click.pass_context
def inbox(context: click.Context) -> int | None:
    """Answer agents' requests on a screen that shows each one waiting at the hub, as it arrives.

    A hub that runs on this machine needs no sign-in. Where a command takes an ID, its first characters are enough;
    `last` is the newest request.

    \b
    tenterhook inbox
    tenterhook inbox list
    tenterhook inbox approve last
    tenterhook inbox deny 3f2a --message "use the test database"
    """
    if context.invoked_subcommand is not None:
        return None
    refuse_below_agent("inbox")
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise HookError("'tenterhook inbox' needs a terminal", "for scripts: tenterhook inbox list, approve, deny")
    if importlib.util.find_spec("textual") is None:
        from ..basics.install_hints import install_command

        raise HookError("the screen's packages are not installed", f"install them with: {install_command('hub')}")
    from ..hub_client import inbox_client, inbox_screen

    inbox_screen.InboxApp(inbox_client.signed_in()).run()
    return 0


@inbox.command("list")
@click.option("--all", "everything", is_flag=True, help="Also recently answered requests.")
@json_option
def list_requests(everything: bool, as_json: bool) -> int:
    """List the requests that wait for an answer, oldest first."""
    from ..hub_client import inbox_client, inbox_text

    person = inbox_client.signed_in()
    found = inbox_client.requests(person, "open")
    if everything:
        found = [*reversed(inbox_client.requests(person, "answered", _MOST_ENDED)), *found]
    if as_json:
        click.echo(json.dumps({"schema": 1, "requests": found}))  # in ASCII: file names need not be UTF-8
    elif not found:
        print_text("no request waits for an answer")
    else:
        rows = []
        for each in found:
            state = inbox_text.time_left(each) if each["state"] == "open" else str(each["state"])
            who = one_line(each["agent"]), one_line(each["machine"])
            rows.append((inbox_text.short_id(each), state, *who, inbox_text.summary(each)))
        print_table(("id", "time left", "agent", "machine", "what"), rows)
    return 0


@inbox.command()
@click.argument("request_id", metavar="ID")
@click.option("--session", is_flag=True, help="Also allow the same call for the rest of the session.")
@yes_option
def approve(request_id: str, session: bool, yes: bool) -> int:
    """Approve a call: it then runs. Shows the call and asks, unless --yes is given.

    Exit status 1 if it no longer waits for an answer; it then prints who answered.
    """
    return _answer("approve", request_id, yes=yes, approved=True, scope="session" if session else "once")


@inbox.command()
@click.argument("request_id", metavar="ID")
@click.option("--message", metavar="TEXT", help="A message for the model, which then continues.")
@yes_option
def deny(request_id: str, message: str | None, yes: bool) -> int:
    """Deny a call: it does not run. Shows the call and asks, unless --yes is given.

    Exit status 1 if it no longer waits for an answer; it then prints who answered.
    """
    return _answer("deny", request_id, yes=yes, approved=False, message=message)


def _answer(command: str, request_id: str, *, yes: bool, **answer: Any) -> int:
    from ..hub_client import inbox_client, inbox_text

    refuse_below_agent(f"inbox {command}")
    need_terminal(f"inbox {command}", yes=yes)
    if not request_id:
        raise click.UsageError("which request? `tenterhook inbox list` shows them")
    person = inbox_client.signed_in()
    asked = _named(person, request_id)
    if asked["state"] != "open":
        print_text(f"{inbox_text.short_id(asked)}: {inbox_text.ending(asked)}", err=True)
        return 1
    if yes:
        click.echo(inbox_text.summary(asked))
    elif not _confirmed(asked, command):
        return 1
    result = inbox_client.answer(person, asked, **answer)
    print_text(f"{inbox_text.short_id(asked)}: {inbox_text.result_line(result)}", err=not result.won)
    return 0 if result.won else 1


def _named(person: Credentials, request_id: str) -> dict[str, Any]:
    """Return the request with this id, the beginning of an id, or `last`. Raises `HookError` if there is none."""
    from ..hub_client import inbox_client, inbox_text
    from ..hub_client.connection import HubRefused

    found = inbox_client.requests(person, "open")
    if request_id == "last":
        if not found:
            raise HookError("no request waits for an answer")
        return max(found, key=lambda each: float(each["opened"]))
    meant = [each for each in found if inbox_text.is_called(each, request_id)]
    meant = [each for each in meant if each["id"] == request_id] or meant
    if len(meant) > 1:
        raise HookError(f"{len(meant)} requests begin with {request_id!r}", "give more characters of the ID")
    if meant:
        return meant[0]
    try:
        return inbox_client.request(person, request_id)
    except HubRefused as error:
        if error.status != 404:
            raise
        raise HookError(f"no request {request_id!r} waits", "tenterhook inbox list shows those that do") from None


def _confirmed(request: dict[str, Any], command: str) -> bool:
    """Show the whole request and ask; return whether it is confirmed."""
    from ..hub_client import inbox_text

    facts = [*inbox_text.facts(request), ("time left", inbox_text.time_left(request))]
    print_presented(inbox_text.presented(request), facts)
    return click.confirm(f"{command.capitalize()} it?", default=False)


@inbox.command("sign-in")
@click.argument("url")
@click.option(
    "--token-file", metavar="FILE", type=click.File(), help="File with your token (default: ask for a password)."
)
@yes_option
def sign_in(url: str, token_file: Any, yes: bool) -> int:
    """Sign in at a hub on another machine, with a name and password or a token.

    This is not needed on the machine where the hub runs.
    """
    from ..hub_client import inbox_client, membership

    refuse_below_agent("inbox sign-in")
    need_terminal("inbox sign-in", yes=yes, also="" if token_file else "--token-file FILE")
    address = membership.checked_url(url)
    if membership.Membership(address, "", "").is_exposed:
        print_text(_EXPOSED, err=True)
        if not yes and not click.confirm("Send your password or token anyway?", default=False, err=True):
            return 1
    if token_file is not None:
        person = inbox_client.with_token(address, _token(token_file.read()))
    else:
        if not sys.stdin.isatty():
            raise HookError("there is no terminal to ask for a name and a password", "use --token-file FILE")
        name, password = click.prompt("Name"), click.prompt("Password", hide_input=True)
        person = inbox_client.with_password(address, name, password)
    inbox_client.save(person)
    print_text(f"signed in at {one_line(address)} as {one_line(person.name)}")
    return 0


def _token(text: str) -> str:
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise HookError(
            "there is no token in this file", "an admin creates one: tenterhook hub token add NAME --person YOU"
        )
    return token
