"""`tenterhook allow`: allow a call once that was refused because nobody could be asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from ..approvals import presenter, single_use
from ..approvals.requests import Answer, Request
from ..basics.display_text import one_line
from ..errors import HookError
from ..journal.journal import Journal
from .loading import json_option, offered, yes_option
from .printing import in_home, print_json, print_presented, print_table, print_text
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..approvals.single_use import RefusedCall

_LISTED = "`tenterhook allow` lists what can be allowed"


def _ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return offered([refused.id for refused in single_use.waiting()], incomplete)


@click.command(short_help="Allow a call once that was refused because nobody could be asked.")
@click.argument("name", metavar="[ID]", required=False, shell_complete=_ids)
@yes_option
@json_option
def allow(name: str | None, yes: bool, as_json: bool) -> int:
    """Allow a call once that needed a person's approval and was refused because nobody could be asked.

    Such a refusal ends with this command and an ID. The command shows the call and allows exactly that one: the same
    tool, input, directory, agent and session, once, within ten minutes. The agent has to retry it. A call that a hook
    denied cannot be allowed. Without an ID, it lists the calls refused in the last hour.

    It needs a terminal or --yes and cannot be run by a guarded agent. Exit status 0: allowed; 1: the ID is unknown,
    used or expired, or you declined.

    \b
    tenterhook allow
    tenterhook allow k7mq3xwd
    """
    refuse_below_agent("allow")
    if name is None:
        return _list(as_json=as_json)
    refused = _find(name.strip().lower())
    if refused.state == single_use.ALLOWED:
        return _tell(refused, as_json=as_json)
    need_terminal("allow", yes=yes)
    if not yes and not _is_confirmed(refused, err=as_json):
        return 1
    if single_use.allow(refused):
        Journal("allow").add_approval(Request(refused.id, refused.call, refused.why), Answer(True, "allow"), 0.0)
        return _tell(refused._replace(state=single_use.ALLOWED, since=time.time()), as_json=as_json)
    refused = _find(refused.id)  # another process may have allowed it meanwhile
    if refused.state != single_use.ALLOWED:
        raise HookError(f"{refused.id} cannot be allowed: its file cannot be renamed", "tenterhook doctor")
    return _tell(refused, as_json=as_json)


def _find(name: str) -> RefusedCall:
    """Return the call with this ID. Raise HookError if there is none, or if it can no longer be allowed."""
    refused = single_use.find(name)
    if refused is None:
        raise HookError(f"no refused call has the ID {name!r}", _LISTED)
    again = "if you still want it, let the agent retry it: the refusal gets a new ID"
    if refused.state == single_use.USED:
        raise HookError(f"{refused.id} was used at {_clock(refused.since)}: it allowed one call", again)
    if refused.state == single_use.EXPIRED:
        raise HookError(f"{refused.id} has expired", again)
    return refused


def _is_confirmed(refused: RefusedCall, *, err: bool) -> bool:
    """Show the whole call and ask."""
    call = refused.call
    facts = [("agent", one_line(call.agent)), ("in", in_home(call.work_dir)), ("session", one_line(call.session_id))]
    print_presented(presenter.present(call, call.display), [*facts, ("asked", one_line(refused.why or ""))], err=err)
    return click.confirm("Allow it once?", default=False, err=err)


def _tell(refused: RefusedCall, *, as_json: bool) -> int:
    if as_json:
        print_json({"schema": 1, **_as_json(refused)})
    else:
        print_text(f"{refused.id}: {presenter.summary(refused.call)}")
        print_text(f"allowed once, until {_clock(refused.until)}: let the agent retry it in the same session")
    return 0


def _list(*, as_json: bool) -> int:
    found = single_use.waiting()
    if as_json:
        print_json({"schema": 1, "waiting": [_as_json(refused) for refused in found]})
    elif not found:
        print_text("no call was refused in the last hour because nobody could be asked")
    else:
        rows = [
            (
                each.id,
                _clock(each.since),
                one_line(each.call.agent),
                in_home(each.call.work_dir),
                presenter.summary(each.call),
            )
            for each in found
        ]
        print_table(("id", "refused", "agent", "in", "what"), rows)
    return 0


def _as_json(refused: RefusedCall) -> dict[str, Any]:
    call = refused.call
    return {
        "id": refused.id,
        "state": refused.state,
        "since": refused.since,
        "until": refused.until,
        "agent": call.agent,
        "session_id": call.session_id,
        "work_dir": call.work_dir,
        "tool_name": call.tool_name,
        "tool_input": call.tool_input,
        "why": refused.why,
    }


def _clock(moment: float) -> str:
    return time.strftime("%H:%M", time.localtime(moment))
