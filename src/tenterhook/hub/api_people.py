"""`/api/v1`: signing in, and the administration of people, tokens, rules and webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from . import access, accounts, rules, schemas, webhooks
from .access import AccessRefused, Principal, check_sign_in, client_of
from .api import AnyCaller, Here, Person, PlainJSON, error_responses

if TYPE_CHECKING:
    from .access import Hub

Admin = Annotated[Principal, Depends(access.admin)]
router = APIRouter(prefix="/api/v1", default_response_class=PlainJSON)


@router.post("/sign-in", response_model=schemas.SignedIn, tags=["everybody"], responses=error_responses(401, 403, 429))
def sign_in(given: schemas.SignInGiven, request: Request, hub: Here, response: Response) -> schemas.SignedIn:
    """Sign in with a name and password; the response sets a cookie and has the key that must be sent with it."""
    check_sign_in(request)
    try:
        found = accounts.sign_in(hub.database, given.name, given.password, client_of(request))
    except accounts.TooManyAttempts as error:
        headers = {"Retry-After": str(int(error.seconds) + 1)}
        raise AccessRefused(429, "too-many-tries", error.message, error.remedy, headers) from None
    if found is None:
        raise AccessRefused(401, "wrong-password", "wrong name or password", "try again")
    return _signed_in(found, hub, response)


@router.post("/enter", response_model=schemas.SignedIn, tags=["everybody"], responses=error_responses(401, 403, 409))
def enter(given: schemas.EnterGiven, request: Request, hub: Here, response: Response) -> schemas.SignedIn:
    """Sign in with a one-time link, which is valid for a few minutes; otherwise like `/sign-in`.

    It does not replace the sign-in of another person, who would then answer in the name of the one who sent the link.
    """
    check_sign_in(request)
    # the key is enough to tell who that is: another server on this host could have overwritten the cookie
    if (key := request.headers.get(access.KEY)) is not None:
        before = hub.database.read(lambda connection: accounts.by_key(connection, key))
        person = hub.database.read(lambda connection: accounts.link_person(connection, given.link))
        if before is not None and person not in (None, before):
            message = f"you are signed in as {before}, and this link is for {person}"
            raise AccessRefused(409, "other-person", message, "sign out first, if you want to use it")
    found = hub.database.write(lambda connection: accounts.redeem_link(connection, given.link))
    if found is None:
        raise AccessRefused(
            401, "used-link", "this link was used or has expired", "get a new one: tenterhook hub start"
        )
    return _signed_in(found, hub, response)


def _signed_in(found: accounts.SignIn, hub: Hub, response: Response) -> schemas.SignedIn:
    response.set_cookie(
        access.COOKIE,
        found.cookie,
        max_age=int(accounts.SIGN_IN_LASTS),
        path="/",
        secure=hub.address.is_tls,
        httponly=True,
        samesite="strict",
    )
    about = {"kind": accounts.PERSON, "name": found.person, "role": found.role, "key": found.key}
    return schemas.SignedIn.model_validate(about)


@router.post("/sign-out", status_code=204, tags=["people"], responses=error_responses(401, 403))
def sign_out(caller: Person, hub: Here, response: Response) -> None:
    """End a sign-in."""
    if caller.sign_in is not None:
        cookie = caller.sign_in.cookie
        hub.database.write(lambda connection: accounts.sign_out(connection, cookie))
    response.delete_cookie(access.COOKIE, path="/", httponly=True, samesite="strict", secure=hub.address.is_tls)


@router.get("/me", response_model=schemas.Me, tags=["everybody"], responses=error_responses(401))
def me(caller: AnyCaller) -> dict[str, Any]:
    """Show who is signed in."""
    return {"kind": caller.kind, "name": caller.name, "role": caller.role}


@router.get("/people", response_model=schemas.People, tags=["admins"], responses=error_responses(401, 403))
def list_people(_: Admin, hub: Here) -> dict[str, Any]:
    """List people."""
    return {"people": hub.database.read(accounts.listed)}


@router.post(
    "/people", response_model=schemas.People, status_code=201, tags=["admins"], responses=error_responses(401, 403)
)
def add_person(given: schemas.PersonGiven, _: Admin, hub: Here) -> dict[str, Any]:
    """Add a person."""
    kept = accounts.hashed(given.password) if given.password is not None else None
    hub.database.write(lambda connection: accounts.add(connection, given.name, given.role, kept))
    return {"people": hub.database.read(accounts.listed)}


@router.put("/people/{name}/password", status_code=204, tags=["admins"], responses=error_responses(401, 403))
def set_password(name: str, given: schemas.PasswordGiven, _: Admin, hub: Here) -> None:
    """Set a person's password."""
    kept = accounts.hashed(given.password)
    hub.database.write(lambda connection: accounts.set_password(connection, name, kept))


@router.delete("/people/{name}", status_code=204, tags=["admins"], responses=error_responses(401, 403))
def remove_person(name: str, _: Admin, hub: Here) -> None:
    """Remove a person."""
    hub.database.write(lambda connection: accounts.remove(connection, name))


@router.get("/tokens", response_model=schemas.Tokens, tags=["admins"], responses=error_responses(401, 403))
def list_tokens(_: Admin, hub: Here) -> dict[str, Any]:
    """List the valid tokens, without their secrets."""
    return {"tokens": hub.database.read(accounts.tokens)}


@router.post(
    "/tokens", response_model=schemas.NewToken, status_code=201, tags=["admins"], responses=error_responses(401, 403)
)
def add_token(given: schemas.TokenGiven, _: Admin, hub: Here) -> dict[str, Any]:
    """Create a token; it is only shown in this response."""
    number, secret = hub.database.write(
        lambda connection: accounts.new_token(connection, given.name, given.kind, given.person, given.agent)
    )
    return {"id": number, "token": secret}


@router.delete("/tokens/{number}", status_code=204, tags=["admins"], responses=error_responses(401, 403, 404))
def revoke_token(number: schemas.Number, _: Admin, hub: Here) -> None:
    """Revoke a token."""
    _expect(hub.database.write(lambda connection: accounts.revoke(connection, number)), "token")


@router.post(
    "/rules", response_model=schemas.Rule, status_code=201, tags=["admins"], responses=error_responses(401, 403)
)
def add_rule(given: schemas.RuleGiven, caller: Admin, hub: Here) -> dict[str, Any]:
    """Add a rule for every agent that has joined."""
    return hub.database.write(lambda connection: rules.add(connection, given.model_dump(), caller.name))


@router.delete("/rules/{number}", status_code=204, tags=["admins"], responses=error_responses(401, 403, 404))
def remove_rule(number: schemas.Number, _: Admin, hub: Here) -> None:
    """Remove a rule."""
    _expect(hub.database.write(lambda connection: rules.remove(connection, number)), "rule")


@router.get("/webhooks", response_model=schemas.Webhooks, tags=["admins"], responses=error_responses(401, 403))
def list_webhooks(_: Admin, hub: Here) -> dict[str, Any]:
    """List webhooks."""
    return {"webhooks": [_shown(row) for row in hub.database.read(webhooks.listed)]}


@router.post(
    "/webhooks", response_model=schemas.Webhook, status_code=201, tags=["admins"], responses=error_responses(401, 403)
)
def add_webhook(given: schemas.WebhookGiven, caller: Admin, hub: Here) -> dict[str, Any]:
    """Add a webhook, which is called for each new request."""
    return _shown(hub.database.write(lambda connection: webhooks.add(connection, given.kind, given.url, caller.name)))


@router.delete("/webhooks/{number}", status_code=204, tags=["admins"], responses=error_responses(401, 403, 404))
def remove_webhook(number: schemas.Number, _: Admin, hub: Here) -> None:
    """Remove a webhook."""
    _expect(hub.database.write(lambda connection: webhooks.remove(connection, number)), "webhook")


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "url": webhooks.shown_url(row["url"])}


def _expect(was_there: bool, what: str) -> None:
    if not was_there:
        raise AccessRefused(404, f"no-such-{what}", f"there is no such {what}", f"list the {what}s")
