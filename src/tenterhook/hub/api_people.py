"""`/api/v1`: signing in, and what admins look after: people, tokens, rules and webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from . import access, accounts, rules, webhooks
from . import schemas as shapes
from .access import AccessRefused, Principal, check_sign_in, client_of
from .api import Anybody, Here, Person, PlainJSON, failures

if TYPE_CHECKING:
    from .access import Hub

Admin = Annotated[Principal, Depends(access.admin)]
router = APIRouter(prefix="/api/v1", default_response_class=PlainJSON)


@router.post("/sign-in", response_model=shapes.Me, tags=["everybody"], responses=failures(401, 403, 429))
def sign_in(given: shapes.SignInGiven, request: Request, hub: Here, response: Response) -> shapes.Me:
    """Sign in by name and password; the answer sets a cookie."""
    check_sign_in(request)
    try:
        found = accounts.sign_in(hub.database, given.name, given.password, client_of(request))
    except accounts.SlowDown as error:
        raise slowed_down(error) from None
    if found is None:
        raise AccessRefused(401, "wrong-password", "the name or the password is wrong", "try again")
    return _welcome(found, hub, response)


def slowed_down(error: accounts.SlowDown) -> AccessRefused:
    """Too many tries, as an answer."""
    return AccessRefused(
        429, "too-many-tries", error.message, error.remedy, {"Retry-After": str(int(error.seconds) + 1)}
    )


@router.post("/enter", response_model=shapes.Me, tags=["everybody"], responses=failures(401, 403))
def enter(given: shapes.EnterGiven, request: Request, hub: Here, response: Response) -> shapes.Me:
    """Sign in by a one-time link, which holds for a few minutes and for one person; the answer sets a cookie."""
    check_sign_in(request)
    found = hub.database.write(lambda connection: accounts.enter(connection, given.link))
    if found is None:
        raise AccessRefused(
            401, "used-link", "this link has been used, or is too old", "start the hub again for a new one"
        )
    return _welcome(found, hub, response)


def _welcome(found: accounts.SignIn, hub: Hub, response: Response) -> shapes.Me:
    set_cookie(response, found, hub)
    return shapes.Me.model_validate({"kind": "person", "name": found.person, "role": found.role, "csrf": found.csrf})


def set_cookie(response: Response, found: accounts.SignIn, hub: Hub) -> None:
    """Let a browser remember a sign-in."""
    response.set_cookie(
        access.COOKIE,
        found.cookie,
        max_age=int(accounts.SIGN_IN_LASTS),
        path="/",
        secure=hub.address.is_tls,
        httponly=True,
        samesite="strict",
    )


@router.post("/sign-out", status_code=204, tags=["people"], responses=failures(401, 403))
def sign_out(caller: Person, hub: Here, response: Response) -> None:
    """End a sign-in."""
    if caller.sign_in is not None:
        cookie = caller.sign_in.cookie
        hub.database.write(lambda connection: accounts.sign_out(connection, cookie))
    response.delete_cookie(access.COOKIE, path="/", httponly=True, samesite="strict", secure=hub.address.is_tls)


@router.get("/me", response_model=shapes.Me, tags=["everybody"], responses=failures(401))
def me(caller: Anybody) -> dict[str, Any]:
    """Who you are."""
    csrf = caller.sign_in.csrf if caller.sign_in else None
    return {"kind": caller.kind, "name": caller.name, "role": caller.role, "csrf": csrf}


@router.get("/people", response_model=shapes.People, tags=["admins"], responses=failures(401, 403))
def list_people(_: Admin, hub: Here) -> dict[str, Any]:
    """Everybody who may answer."""
    return {"people": hub.database.read(accounts.listed)}


@router.post("/people", response_model=shapes.People, status_code=201, tags=["admins"], responses=failures(401, 403))
def add_person(given: shapes.PersonGiven, _: Admin, hub: Here) -> dict[str, Any]:
    """Add a person."""
    kept = accounts.hashed(given.password) if given.password is not None else None
    hub.database.write(lambda connection: accounts.add(connection, given.name, given.role, kept))
    return {"people": hub.database.read(accounts.listed)}


@router.put("/people/{name}/password", status_code=204, tags=["admins"], responses=failures(401, 403))
def set_password(name: str, given: shapes.PasswordGiven, _: Admin, hub: Here) -> None:
    """Give a person a new password."""
    kept = accounts.hashed(given.password)
    hub.database.write(lambda connection: accounts.set_password(connection, name, kept))


@router.delete("/people/{name}", status_code=204, tags=["admins"], responses=failures(401, 403))
def remove_person(name: str, _: Admin, hub: Here) -> None:
    """Send a person away."""
    hub.database.write(lambda connection: accounts.remove(connection, name))


@router.get("/tokens", response_model=shapes.Tokens, tags=["admins"], responses=failures(401, 403))
def list_tokens(_: Admin, hub: Here) -> dict[str, Any]:
    """The tokens that count, without what is secret about them."""
    return {"tokens": hub.database.read(accounts.tokens)}


@router.post("/tokens", response_model=shapes.TokenMade, status_code=201, tags=["admins"], responses=failures(401, 403))
def add_token(given: shapes.TokenGiven, _: Admin, hub: Here) -> dict[str, Any]:
    """Make a token; it is shown this once."""
    number, secret = hub.database.write(
        lambda connection: accounts.new_token(connection, given.name, given.kind, given.person)
    )
    return {"id": number, "token": secret}


@router.delete("/tokens/{number}", status_code=204, tags=["admins"], responses=failures(401, 403, 404))
def revoke_token(number: shapes.Number, _: Admin, hub: Here) -> None:
    """Make a token worthless."""
    _expect(hub.database.write(lambda connection: accounts.revoke(connection, number)), "token")


@router.post("/rules", response_model=shapes.Rule, status_code=201, tags=["admins"], responses=failures(401, 403))
def add_rule(given: shapes.RuleGiven, caller: Admin, hub: Here) -> dict[str, Any]:
    """Add a rule for every agent that has joined."""
    return hub.database.write(lambda connection: rules.add(connection, given.model_dump(), caller.name))


@router.delete("/rules/{number}", status_code=204, tags=["admins"], responses=failures(401, 403, 404))
def remove_rule(number: shapes.Number, _: Admin, hub: Here) -> None:
    """Take a rule back."""
    _expect(hub.database.write(lambda connection: rules.remove(connection, number)), "rule")


@router.get("/webhooks", response_model=shapes.Webhooks, tags=["admins"], responses=failures(401, 403))
def list_webhooks(_: Admin, hub: Here) -> dict[str, Any]:
    """Whom the hub calls when something waits."""
    return {"webhooks": [_shown(row) for row in hub.database.read(webhooks.listed)]}


@router.post("/webhooks", response_model=shapes.Webhook, status_code=201, tags=["admins"], responses=failures(401, 403))
def add_webhook(given: shapes.WebhookGiven, caller: Admin, hub: Here) -> dict[str, Any]:
    """Have somebody called for each request that waits."""
    return _shown(hub.database.write(lambda connection: webhooks.add(connection, given.kind, given.url, caller.name)))


@router.delete("/webhooks/{number}", status_code=204, tags=["admins"], responses=failures(401, 403, 404))
def remove_webhook(number: shapes.Number, _: Admin, hub: Here) -> None:
    """Call somebody no longer."""
    _expect(hub.database.write(lambda connection: webhooks.remove(connection, number)), "webhook")


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "url": webhooks.shown_url(row["url"])}


def _expect(was_there: bool, what: str) -> None:
    if not was_there:
        raise AccessRefused(404, f"no-such-{what}", f"there is no such {what}", "list them for those that are there")
