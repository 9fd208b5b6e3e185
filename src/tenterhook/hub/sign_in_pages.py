"""The pages to sign in, by password or one-time link, and to sign out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import Response  # noqa: TC002  # FastAPI reads it when it runs

from . import access, accounts
from .access import hub_of
from .api_people import set_cookie
from .page_auth import Fields, PageRoute, Writer, redirect
from .rendering import page

if TYPE_CHECKING:
    from .accounts import SignIn

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/sign-in")
def show_sign_in(request: Request, next: str = "/") -> Response:  # noqa: A002  # the field's name in the address
    """Show the form for name and password."""
    return page(request, None, "sign_in.html", trouble="", name="", next=_local(next))


@router.post("/sign-in")
def sign_in(request: Request, fields: Fields) -> Response:
    """Sign in by name and password."""
    access.check_sign_in(request)
    name, after = fields.get("name", ""), _local(fields.get("next", "/"))
    try:
        found = accounts.sign_in(hub_of(request).database, name, fields.get("password", ""), access.client_of(request))
    except accounts.TooManyAttempts as slow:
        wait = f"{slow.seconds:.0f}"
        trouble = f"Too many attempts. Wait {wait} s, then try again."
        response = page(request, None, "sign_in.html", 429, trouble=trouble, name=name, next=after)
        response.headers["Retry-After"] = wait
        return response
    if found is None:
        trouble = "Wrong name or password."
        return page(request, None, "sign_in.html", 403, trouble=trouble, name=name, next=after)
    return _signed_in(request, found, after)


@router.get("/enter")
def show_enter(request: Request) -> Response:
    """Show the page of the one-time link; its script sends what follows the #, which is in no log."""
    return page(request, None, "enter.html", trouble="")


@router.post("/enter")
def enter(request: Request, fields: Fields) -> Response:
    """Sign in by the code of a one-time link."""
    access.check_sign_in(request)
    code = fields.get("code", "")
    found = hub_of(request).database.write(lambda connection: accounts.redeem_link(connection, code))
    if found is None:
        trouble = "This link has been used, or has expired. Start the hub again, or sign in with a password."
        return page(request, None, "enter.html", 403, trouble=trouble)
    return _signed_in(request, found, "/")


@router.post("/sign-out")
def sign_out(request: Request, caller: Writer) -> Response:
    """End the sign-in."""
    if caller.sign_in is not None:
        cookie = caller.sign_in.cookie
        hub_of(request).database.write(lambda connection: accounts.sign_out(connection, cookie))
    done = redirect("/sign-in")
    done.delete_cookie(access.COOKIE, path="/")
    return done


def _signed_in(request: Request, found: SignIn, after: str) -> Response:
    done = redirect(after)
    set_cookie(done, found, hub_of(request))
    return done


def _local(path: str) -> str:
    """Return a path of this hub to redirect to: the given one, or / if it could lead to another site."""
    is_ours = path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path
    return path if is_ours else "/"
