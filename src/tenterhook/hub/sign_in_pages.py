"""The pages to sign in, by password or one-time link; their script calls `/api/v1/sign-in` and `/api/v1/enter`."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response  # noqa: TC002  # FastAPI reads it when it runs

from .page_auth import PageRoute
from .rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/sign-in")
def show_sign_in(request: Request, next: str = "/") -> Response:  # noqa: A002  # the field's name in the address
    """Show the form for name and password."""
    return page(request, None, "sign_in.html", next=_local(next))


@router.get("/enter")
def show_enter(request: Request) -> Response:
    """Show the page of the one-time link; its script sends the fragment after the #, which no log has."""
    return page(request, None, "enter.html")


def _local(path: str) -> str:
    """Return a path of this hub to go to: the given one, or / if it could be on another site."""
    is_ours = path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path
    return path if is_ours else "/"
