"""The routes of the pages: the response to a navigation, access to a page's content, and error pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl

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


class ContentRoute(PageRoute):
    """A route of a page with content, which only its script gets.

    A navigation cannot carry the key of a sign-in. It gets the same empty page for everyone, with or without a cookie;
    the script of that page fetches the content with the key.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_show_shell(request: Request) -> Response:
            if request.method == "GET" and not access.has_credentials(request):
                return rendering.page(request, None, "shell.html")
            return await handle(request)

        return handle_or_show_shell


def refusal(request: Request, error: HookError) -> Response:
    """Return the page of an error."""
    status = (
        error.status if isinstance(error, AccessRefused) else 503 if isinstance(error, DatabaseUnavailable) else 422
    )
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
Visitor = Annotated[Principal, Depends(access.person)]
VisitingAdmin = Annotated[Principal, Depends(access.admin)]
