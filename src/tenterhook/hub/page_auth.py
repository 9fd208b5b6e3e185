"""Authorization of the pages' visitors, and error pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, quote

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute

from ..errors import HookError
from . import access, rendering
from .access import AccessRefused, Principal
from .database import DatabaseUnavailable
from .request_html import capitalized

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class PageRoute(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_show_error(request: Request) -> Response:
            try:
                return await handle(request)
            except HookError as error:
                return refusal(request, error)
            except RequestValidationError:
                return refusal(request, not_found("page"))

        return handle_or_show_error


def refusal(request: Request, error: HookError) -> Response:
    """Return the page of an error; the page to sign in if that is missing."""
    status = (
        error.status if isinstance(error, AccessRefused) else 503 if isinstance(error, DatabaseUnavailable) else 422
    )
    if status == 401 and not rendering.is_fragment(request):
        # a link from another site, such as a chat: the browser does not send a strict cookie
        if request.headers.get("sec-fetch-site") == "cross-site":
            return rendering.part(None, "again.html")
        place = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
        return redirect(f"/sign-in?next={quote(place, safe='')}" if request.method == "GET" else "/sign-in")
    title = {401: "You are signed out", 403: "Not allowed", 404: "Not found"}.get(status, "That did not work")
    texts = {"message": capitalized(error.message), "remedy": capitalized(error.remedy)}
    return rendering.page(request, None, "error.html", status, title=title, **texts)


def not_found(what: str) -> AccessRefused:
    return AccessRefused(404, "not-found", f"there is no such {what}")


def redirect(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)


async def _fields(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    body = (await request.body()).decode("utf-8", "replace")
    return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=50))


Fields = Annotated[dict[str, str], Depends(_fields)]


def _visitor(request: Request) -> Principal:
    return access.required_person(access.authenticated(request))


def _writer(request: Request, fields: Fields) -> Principal:
    """Return the person who sends a form of ours."""
    caller = _visitor(request)
    if caller.sign_in is not None:
        access.check_origin(request, needed=True)
        access.check_csrf(caller.sign_in, fields.get("csrf"))
    return caller


def _visiting_admin(request: Request) -> Principal:
    return access.required_admin(_visitor(request))


def _writing_admin(request: Request, fields: Fields) -> Principal:
    return access.required_admin(_writer(request, fields))


Visitor = Annotated[Principal, Depends(_visitor)]
Writer = Annotated[Principal, Depends(_writer)]
VisitingAdmin = Annotated[Principal, Depends(_visiting_admin)]
WritingAdmin = Annotated[Principal, Depends(_writing_admin)]
