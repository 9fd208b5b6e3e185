"""Who visits the pages: people who have signed in; and what they see who have not, or may not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, quote

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute

from ..errors import HookError
from . import access, accounts, rendering
from .access import AccessRefused, Principal
from .database import DatabaseAway

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class PageRoute(APIRoute):
    """A route whose refusals are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_for_people(request: Request) -> Response:
            try:
                return await handle(request)
            except HookError as error:
                return refusal(request, error)
            except RequestValidationError:
                return refusal(request, not_found("page"))

        return handle_for_people


def refusal(request: Request, error: HookError) -> Response:
    """What a person sees who may not do something, or asks for what is not there."""
    status = error.status if isinstance(error, AccessRefused) else 503 if isinstance(error, DatabaseAway) else 422
    if status == 401 and not rendering.is_fragment(request):
        if (
            request.headers.get("sec-fetch-site") == "cross-site"
        ):  # a link in a chat: a strict cookie does not come along
            return rendering.part(None, "again.html")
        place = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
        return to(f"/sign-in?next={quote(place, safe='')}" if request.method == "GET" else "/sign-in")
    title = {401: "You are signed out", 403: "Not allowed", 404: "Not found"}.get(status, "That did not work")
    message = error.message[:1].upper() + error.message[1:]
    return rendering.page(request, None, "error.html", status, title=title, message=message, remedy=error.remedy)


def not_found(what: str) -> AccessRefused:
    return AccessRefused(404, "not-found", f"there is no such {what}")


def to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)


async def _fields(request: Request) -> dict[str, str]:
    """What a form sent."""
    body = (await request.body()).decode("utf-8", "replace")
    return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=50))


Fields = Annotated[dict[str, str], Depends(_fields)]


def _visitor(request: Request) -> Principal:
    caller = access.caller_of(request)
    if caller is None:
        raise AccessRefused(401, "not-signed-in", "this needs a sign-in")
    if caller.kind != accounts.PERSON:
        raise AccessRefused(403, "people-only", "an agent's token can ask and report, and nothing else")
    return caller


def _writer(request: Request, fields: Fields) -> Principal:
    """Somebody who sends one of our forms."""
    caller = _visitor(request)
    if caller.sign_in is not None:
        access.check_origin(request, needed=True)
        access.check_csrf(caller.sign_in, fields.get("csrf"))
    return caller


def _admin(caller: Principal) -> Principal:
    if not caller.is_admin:
        raise AccessRefused(403, "admins-only", f"{caller.name} is not an admin", "Ask an admin to do it.")
    return caller


def _visiting_admin(request: Request) -> Principal:
    return _admin(_visitor(request))


def _writing_admin(request: Request, fields: Fields) -> Principal:
    return _admin(_writer(request, fields))


Visitor = Annotated[Principal, Depends(_visitor)]
Writer = Annotated[Principal, Depends(_writer)]
VisitingAdmin = Annotated[Principal, Depends(_visiting_admin)]
WritingAdmin = Annotated[Principal, Depends(_writing_admin)]
