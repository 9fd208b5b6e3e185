"""The pages of rules, people, tokens and webhooks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response  # noqa: TC002  # FastAPI reads it when it runs

from ..errors import HookError
from . import accounts, rules, webhooks
from .access import Principal, hub_of
from .page_auth import ContentRoute, Fields, VisitingAdmin, Visitor, not_found, redirect
from .rendering import page
from .request_html import capitalized
from .schemas import Number

if TYPE_CHECKING:
    from collections.abc import Callable

    from .database import Connection, Row

router = APIRouter(route_class=ContentRoute, include_in_schema=False)
_NAMED = ("tool", "command", "pattern", "directory", "agent")
_GIVEN = ("answer", *_NAMED, "reason", "days")
_TONES = {"approve": "good", "deny": "bad", "ask": "warn"}


@router.get("/rules")
def show_rules(request: Request, caller: Visitor) -> Response:
    """Show the hub's rules."""
    return _rules(request, caller)


@router.post("/rules")
def add_rule(request: Request, caller: VisitingAdmin, fields: Fields) -> Response:
    """Add a rule, or show the form again with an error."""
    given: dict[str, Any] = {key: fields[key].strip() for key in ("answer", *_NAMED, "reason") if fields.get(key)}
    if fields.get("days", "").isdecimal():
        given["expires"] = time.time() + min(int(fields["days"][:4]), 3650) * 86400
    try:
        hub_of(request).database.write(lambda connection: rules.add(connection, given, caller.name))
    except HookError as error:
        return _rules(request, caller, fields, _said(error))
    return redirect("/rules")


@router.post("/rules/{number}/remove")
def remove_rule(request: Request, caller: VisitingAdmin, number: Number) -> Response:
    """Remove a rule."""
    if not hub_of(request).database.write(lambda connection: rules.remove(connection, number)):
        raise not_found("rule")
    return redirect("/rules")


def _rules(request: Request, caller: Principal, given: dict[str, str] | None = None, trouble: str = "") -> Response:
    rows = [_shown_rule(row) for row in hub_of(request).database.read(rules.listed)]
    form = {key: (given or {"answer": "ask"}).get(key, "") for key in _GIVEN}
    live, status = ("", 422) if trouble else ("rules", 200)
    return page(request, caller, "rules.html", status, live=live, rules=rows, given=form, trouble=trouble)


def _shown_rule(row: Row) -> Row:
    named = [(key, row[key]) for key in _NAMED if row[key]]
    return {**row, "named": named or [("everything", "*")], "tone": _TONES.get(row["answer"], "")}


@router.get("/people")
def show_people(request: Request, caller: VisitingAdmin) -> Response:
    """Show people, tokens and webhooks."""
    return _people(request, caller)


@router.post("/people")
def add_person(request: Request, caller: VisitingAdmin, fields: Fields) -> Response:
    """Add a person with a password and a role."""
    name, role = fields.get("name", ""), fields.get("role", "")
    try:
        kept = accounts.hashed(fields.get("password", ""))
    except HookError as error:
        return _people(request, caller, trouble=_said(error))
    return _changed(request, caller, lambda connection: accounts.add(connection, name, role, kept))


@router.post("/people/{name}/remove")
def remove_person(request: Request, caller: VisitingAdmin, name: str) -> Response:
    """Remove a person."""
    return _changed(request, caller, lambda connection: accounts.remove(connection, name))


@router.post("/tokens")
def add_token(request: Request, caller: VisitingAdmin, fields: Fields) -> Response:
    """Create a token for a machine's agents, or for the person's own programs; only this response shows it."""
    kind = accounts.PERSON if fields.get("kind") == accounts.PERSON else accounts.AGENT
    name = fields.get("name", "").strip()[:64]
    if not name:
        return _people(request, caller, trouble="A token needs a name.")
    whose = caller.name if kind == accounts.PERSON else None
    try:
        _, secret = hub_of(request).database.write(lambda connection: accounts.new_token(connection, name, kind, whose))
    except HookError as error:
        return _people(request, caller, trouble=_said(error))
    return _people(request, caller, secret=secret)


@router.post("/tokens/{number}/revoke")
def revoke_token(request: Request, caller: VisitingAdmin, number: Number) -> Response:
    """Revoke a token."""
    if not hub_of(request).database.write(lambda connection: accounts.revoke(connection, number)):
        raise not_found("token")
    return redirect("/people")


@router.post("/webhooks")
def add_webhook(request: Request, caller: VisitingAdmin, fields: Fields) -> Response:
    """Add a webhook."""
    kind, url = fields.get("kind", ""), fields.get("url", "").strip()
    return _changed(request, caller, lambda connection: webhooks.add(connection, kind, url, caller.name))


@router.post("/webhooks/{number}/remove")
def remove_webhook(request: Request, caller: VisitingAdmin, number: Number) -> Response:
    """Remove a webhook."""
    if not hub_of(request).database.write(lambda connection: webhooks.remove(connection, number)):
        raise not_found("webhook")
    return redirect("/people")


def _changed(request: Request, caller: Principal, work: Callable[[Connection], object]) -> Response:
    try:
        hub_of(request).database.write(work)
    except HookError as error:
        return _people(request, caller, trouble=_said(error))
    return redirect("/people")


def _people(request: Request, caller: Principal, *, secret: str = "", trouble: str = "") -> Response:
    database = hub_of(request).database
    hooks = [{**row, "url": webhooks.shown_url(row["url"])} for row in database.read(webhooks.listed)]
    return page(
        *(request, caller, "people.html", 422 if trouble else 200),
        live="" if secret or trouble else "people webhooks",  # a refresh would remove what is shown once
        people=database.read(accounts.listed),
        tokens=database.read(accounts.tokens),
        webhooks=hooks,
        secret=secret,
        trouble=trouble,
    )


def _said(error: HookError) -> str:
    return f"{capitalized(error.message)}: {error.remedy}."
