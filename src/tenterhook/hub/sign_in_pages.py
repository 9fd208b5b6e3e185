"""Signing in, by password or by the link that works once, and out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import Response  # noqa: TC002  # FastAPI reads it when it runs

from . import access, accounts
from .access import hub_of
from .api_people import set_cookie
from .page_auth import Fields, PageRoute, Writer, to
from .rendering import page

if TYPE_CHECKING:
    from .accounts import SignIn

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/sign-in")
def show_sign_in(request: Request, next: str = "/") -> Response:  # noqa: A002  # the field's name in the address
    """The form for name and password."""
    return page(request, None, "sign_in.html", trouble="", name="", next=_local(next))


@router.post("/sign-in")
def sign_in(request: Request, fields: Fields) -> Response:
    """Name and password, against a cookie."""
    access.check_sign_in(request)
    name, after = fields.get("name", ""), _local(fields.get("next", "/"))
    try:
        found = accounts.sign_in(hub_of(request).database, name, fields.get("password", ""), access.client_of(request))
    except accounts.SlowDown as slow:
        wait = f"{slow.seconds:.0f}"
        trouble = f"Too many tries. Wait {wait} s, then try again."
        told = page(request, None, "sign_in.html", 429, trouble=trouble, name=name, next=after)
        told.headers["Retry-After"] = wait
        return told
    if found is None:
        trouble = "Name and password do not go together."
        return page(request, None, "sign_in.html", 403, trouble=trouble, name=name, next=after)
    return _welcome(request, found, after)


@router.get("/enter")
def show_enter(request: Request) -> Response:
    """Where the one-time link leads; the script sends what follows its #, which is in no log."""
    return page(request, None, "enter.html", trouble="")


@router.post("/enter")
def enter(request: Request, fields: Fields) -> Response:
    """The code of a one-time link, against a cookie."""
    access.check_sign_in(request)
    code = fields.get("code", "")
    found = hub_of(request).database.write(lambda connection: accounts.enter(connection, code))
    if found is None:
        trouble = "This link has been used, or is too old. Start the hub again, or sign in with a password."
        return page(request, None, "enter.html", 403, trouble=trouble)
    return _welcome(request, found, "/")


@router.post("/sign-out")
def sign_out(request: Request, caller: Writer) -> Response:
    """Make the cookie worthless."""
    if caller.sign_in is not None:
        cookie = caller.sign_in.cookie
        hub_of(request).database.write(lambda connection: accounts.sign_out(connection, cookie))
    done = to("/sign-in")
    done.delete_cookie(access.COOKIE, path="/")
    return done


def _welcome(request: Request, found: SignIn, after: str) -> Response:
    done = to(after)
    set_cookie(done, found, hub_of(request))
    return done


def _local(path: str) -> str:
    """A place of ours to go on to; nobody is sent elsewhere."""
    is_ours = path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path
    return path if is_ours else "/"
