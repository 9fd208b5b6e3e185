"""`/api/v1`: agents' requests and records, the inbox, and people's answers."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from .. import __version__
from . import access, accounts, inbox, machines, migrations, records, rules, schemas
from .access import AccessRefused, Hub, Principal

if TYPE_CHECKING:
    from .database import Connection, Row

Agent = Annotated[Principal, Depends(access.agent)]
Person = Annotated[Principal, Depends(access.person)]
AnyCaller = Annotated[Principal, Depends(access.api_caller)]
Here = Annotated[Hub, Depends(access.here)]
Limit = Annotated[int, Query(ge=1, le=1000)]
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class PlainJSON(JSONResponse):
    """JSON in ASCII: a file name that is not UTF-8 cannot be sent otherwise."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors of an endpoint, for its OpenAPI description."""
    return {status: {"model": schemas.ErrorResponse} for status in (400, *statuses, 413, 421, 422, 503)}


router = APIRouter(prefix="/api/v1", default_response_class=PlainJSON)


@router.get("/health", response_model=schemas.Health, tags=["everybody"], responses=error_responses())
def health(hub: Here, request: Request) -> dict[str, Any]:
    """Check that the hub and its database are available."""
    here = {"schema": migrations.VERSION, "version": __version__, "database": hub.database.kind}
    about = {"id": hub.database.read(migrations.hub_id), "url": hub.address.public_url}
    return {**here, **about, "tls": request.url.scheme == "https"}


# For agents


@router.post(
    "/requests",
    response_model=schemas.Request,
    status_code=201,
    tags=["agents"],
    responses={200: {"model": schemas.Request, "description": "it was already open"}, **error_responses(401, 403, 409)},
)
async def open_request(given: schemas.RequestGiven, caller: Agent, hub: Here) -> PlainJSON:
    """Open a request for the approval of a call."""
    asker = inbox.RequestSource(caller.token or 0, caller.name, caller.agent)
    try:
        inbox.check_hash(given)
        row, is_new = await hub.writes.do(inbox.open_requests, inbox.NewRequest(asker, given))
    except inbox.IdTaken as error:
        raise AccessRefused(409, "id-taken", error.message, error.remedy) from None
    except inbox.WrongHash as error:
        raise AccessRefused(422, "wrong-hash", error.message, error.remedy) from None
    return PlainJSON(request_json(row), 201 if is_new else 200)


@router.get(
    "/requests/{request_id}/answer",
    response_model=schemas.RequestState,
    tags=["agents"],
    responses=error_responses(401, 403, 404),
)
async def wait_for_answer(
    request_id: str,
    request: Request,
    caller: Agent,
    hub: Here,
    wait: Annotated[float, Query(ge=0, le=inbox.LONGEST_WAIT)] = 25.0,
) -> dict[str, Any]:
    """Wait for the answer; each call keeps the request open."""
    return await answer_or_state(request_id, request, caller, hub, wait)


async def answer_or_state(
    request_id: str, request: Request, caller: Principal, hub: Hub, wait: float
) -> dict[str, Any]:
    """Return the state of a request once it has ended, or after so many seconds."""
    token = caller.token or 0
    with hub.feed.watching(request_id) as changed:
        row = await _renewed(hub, request_id, token, wait)
        if row["state"] == inbox.OPEN and wait:
            has_changed = await _has_changed(request, changed, wait)
            if has_changed is None:
                row = await _renewed(hub, request_id, token, 0)
            elif has_changed:
                row = await run_in_threadpool(
                    hub.database.read, lambda connection: _existing(inbox.found(connection, request_id, token))
                )
    return {"state": row["state"], "answer": None if row["state"] == inbox.OPEN else _answer(row)}


async def _renewed(hub: Hub, request_id: str, token: int, seconds: float) -> Row:
    return _existing(await hub.renewals.do(inbox.renew, inbox.Renewal(request_id, token, seconds)))


async def _has_changed(request: Request, changed: asyncio.Future[bool], seconds: float) -> bool | None:
    """Wait for a change, at most so many seconds; return whether there was one, or None if the client disconnects.

    Thousands wait here: there is one future, one timer and one task for each.
    """
    leaving = asyncio.ensure_future(_disconnected(request, changed))
    timer = asyncio.get_running_loop().call_later(seconds, _end, changed)
    try:
        await changed
        return None if leaving.done() and not changed.result() else changed.result()
    finally:
        timer.cancel()
        leaving.cancel()


async def _disconnected(request: Request, changed: asyncio.Future[bool]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    _end(changed)


def _end(changed: asyncio.Future[bool]) -> None:
    if not changed.done():
        changed.set_result(False)


@router.post(
    "/requests/{request_id}/withdraw",
    response_model=schemas.Request,
    tags=["agents"],
    responses=error_responses(401, 403, 404),
)
def withdraw(request_id: str, given: schemas.WithdrawGiven, caller: Agent, hub: Here) -> PlainJSON:
    """Withdraw a request; if a person has already answered it, the answer stands."""
    token = caller.token or 0
    row = hub.database.write(lambda connection: inbox.withdraw(connection, request_id, token, given.by, given.approved))
    return PlainJSON(request_json(_existing(row)))


@router.post("/records", response_model=schemas.UploadResult, tags=["agents"], responses=error_responses(401, 403))
async def upload_records(given: schemas.RecordsGiven, caller: Agent, hub: Here) -> schemas.UploadResult:
    """Upload lines of the journal of the token's machine, in order; known lines are ignored."""
    upload = records.Upload(caller.token or 0, caller.name, given, caller.agent)
    taken, known = await hub.uploads.do(records.store, upload)
    return schemas.UploadResult(taken=taken, known=known)


@router.put("/machine", response_model=schemas.MachineGiven, tags=["agents"], responses=error_responses(401, 403))
def report_machine(given: schemas.MachineGiven, caller: Agent, hub: Here) -> schemas.MachineGiven:
    """Report which agents of the token's machine ask here, and why the others do not."""
    agents = [each for each in given.agents if caller.agent in (None, each.name)]
    hub.database.write(lambda connection: machines.store(connection, caller.token or 0, caller.name, agents))
    return schemas.MachineGiven(agents=agents)


@router.get(
    "/rules",
    response_model=schemas.Rules,
    tags=["agents", "people"],
    responses={304: {"description": "not modified"}, **error_responses(401, 403)},
)
def list_rules(
    _: AnyCaller, hub: Here, response: Response, if_none_match: Annotated[str | None, Header()] = None
) -> Any:
    """List the rules for every agent that has joined."""
    found = hub.database.read(rules.listed)
    tag = f'"{rules.version(found)}"'
    if if_none_match == tag:
        return Response(status_code=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return {"rules": found}


# For people


@router.get("/inbox", response_model=schemas.Inbox, tags=["people"], responses=error_responses(401, 403))
def list_inbox(
    _: Person, hub: Here, state: Annotated[str, Query(pattern="^(open|answered)$")] = "open", limit: Limit = 200
) -> PlainJSON:
    """List open requests, oldest first, or ended ones, newest first."""
    rows = hub.database.read(lambda connection: inbox.listed(connection, state, limit))
    return PlainJSON({"requests": [request_json(row) for row in rows]})


@router.get(
    "/requests/{request_id}",
    response_model=schemas.RequestWithAnswers,
    tags=["people"],
    responses=error_responses(401, 403, 404),
)
def show_request(request_id: str, _: Person, hub: Here) -> PlainJSON:
    """Show a request and every answer to it, including late ones."""

    def read(connection: Connection) -> tuple[Row | None, list[Row]]:
        return inbox.found(connection, request_id), inbox.answers_to(connection, request_id)

    row, answers = hub.database.read(read)
    tried = [{**each, "approved": bool(each["approved"])} for each in answers]
    return PlainJSON({**request_json(_existing(row)), "answers": tried})


@router.post(
    "/requests/{request_id}/answer",
    response_model=schemas.AnswerResult,
    tags=["people"],
    responses={
        409: {"model": schemas.AnswerResult, "description": "already answered, or the request has changed"},
        **error_responses(401, 403, 404),
    },
)
async def answer(request_id: str, given: schemas.AnswerGiven, caller: AnyCaller, hub: Here) -> PlainJSON:
    """Approve or deny; the first valid answer wins."""
    via = given.via if given.via not in (None, *inbox.OWN_WAYS) else "page" if caller.sign_in else "api"
    answered = inbox.NewAnswer(
        *(uuid.uuid4().hex, request_id, caller.name, via, given.approved, given.scope, given.message, given.hash)
    )
    if caller.kind != accounts.PERSON:
        await run_in_threadpool(
            hub.database.write, lambda connection: inbox.record_answer(connection, answered, inbox.REFUSED)
        )
    access.required_person(caller)
    became, row = await hub.writes.do(inbox.answer_each, answered)
    request = request_json(_existing(row))
    if became == inbox.WON:
        return PlainJSON({"won": True, "why": None, "request": request})
    has_ended = became == inbox.LATE and request["state"] in (inbox.EXPIRED, inbox.WITHDRAWN)
    return PlainJSON({"won": False, "why": request["state"] if has_ended else became, "request": request}, 409)


@router.get("/machines", response_model=schemas.Machines, tags=["people"], responses=error_responses(401, 403))
def list_machines(_: Person, hub: Here, limit: Limit = 100) -> dict[str, Any]:
    """List the machines that have a token, and their agents."""
    return {"machines": hub.database.read(lambda connection: machines.listed(connection, limit))}


@router.get("/sessions", response_model=schemas.Sessions, tags=["people"], responses=error_responses(401, 403))
def list_sessions(_: Person, hub: Here, limit: Limit = 100) -> dict[str, Any]:
    """List the sessions that have records, the latest first."""
    return {"sessions": hub.database.read(lambda connection: records.sessions(connection, limit))}


@router.get(
    "/sessions/{machine}/{session}/timeline",
    response_model=schemas.Timeline,
    tags=["people"],
    responses=error_responses(401, 403),
)
def show_timeline(
    machine: str,
    session: str,
    _: Person,
    hub: Here,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Limit = 500,
) -> PlainJSON:
    """List a session's records: events, hooks, decisions, durations."""
    found = hub.database.read(lambda connection: records.timeline(connection, machine, session, after, limit))
    return PlainJSON({"records": found})


@router.get("/hooks", response_model=schemas.Hooks, tags=["people"], responses=error_responses(401, 403))
def list_hooks(
    _: Person, hub: Here, since: Annotated[str, Query(pattern="^[0-9]{1,4}[smhdw]$")] = "7d"
) -> dict[str, Any]:
    """Show statistics of hooks, and time series for plots."""
    begin = time.time() - int(since[:-1]) * _UNITS[since[-1]]
    found = hub.database.read(lambda connection: records.hooks(connection, begin))
    hooks = [{**each._asdict(), "series": found.series[each.hook, each.source]} for each in found.hooks]
    return {"since": found.since, "until": found.until, "hooks": hooks, "total": found.total}


def request_json(row: Row) -> dict[str, Any]:
    """Return a request as the schema `schemas.Request`."""
    same = ("id", "state", "tool_name", "hash", "action", "why", "machine", "agent", "work_dir", "opened", "expires")
    withdrawn = None
    if row["state"] == inbox.WITHDRAWN:
        by = {"by": row["answered_via"], "machine": row["machine"]}
        withdrawn = {**by, "approved": _yes_or_no(row["approved"]), "at": row["answered"]}
    return {
        **{key: row[key] for key in same},
        "session_id": row["session"],
        "tool_input": json.loads(row["tool_input"]),
        "display": json.loads(row["display"]),
        "answer": _answer(row),
        "withdrawn": withdrawn,
    }


def _answer(row: Row) -> dict[str, Any] | None:
    if row["answered_by"] is None:
        return None
    same = {"scope": "scope", "message": "message", "by": "answered_by", "via": "answered_via", "at": "answered"}
    return {"approved": _yes_or_no(row["approved"]), **{key: row[column] for key, column in same.items()}}


def _yes_or_no(kept: int | None) -> bool | None:
    return None if kept is None else bool(kept)


def _existing(row: Row | None) -> Row:
    if row is None:
        raise AccessRefused(404, "no-such-request", "there is no such request", "the inbox lists the open ones")
    return row
