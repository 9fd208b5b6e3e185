"""Templates filled in: whatever comes out of one has been made visible and harmless, even if its author forgot."""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import access, request_html

if TYPE_CHECKING:
    from fastapi import Request

    from .access import Principal

_HERE = os.path.dirname(__file__)
_TYPES = {"style.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_PAGES = (("/", "Inbox"), ("/sessions", "Sessions"), ("/hooks", "Hooks"), ("/rules", "Rules"))
_FOR_ADMINS = (("/people", "People"),)
_KEPT_FOR = 365 * 86400  # seconds; what changes gets another address


def _visible(value: Any) -> Any:
    return request_html.plain(value, "\n\t") if isinstance(value, str) and not isinstance(value, Markup) else value


@functools.cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(os.path.join(_HERE, "templates")),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for shown in (
        request_html.one_line,
        request_html.lines,
        request_html.duration,
        request_html.moment,
        request_html.clock,
    ):
        environment.filters[shown.__name__] = shown
    return environment


class _File(NamedTuple):
    content: bytes
    packed: bytes


@functools.cache
def _files() -> dict[str, _File]:
    files = {}
    for name in _TYPES:
        with open(os.path.join(_HERE, "static", name), "rb") as file:
            content = file.read()
        files[name] = _File(content, gzip.compress(content, mtime=0))
    return files


@functools.cache
def _stamp() -> str:
    """What changes whenever the style or the script does."""
    return hashlib.sha256(b"".join(file.content for file in _files().values())).hexdigest()[:10]


def is_fragment(request: Request) -> bool:
    """Whether the page's script asks, which has everything around the content already."""
    return request.headers.get("x-fragment") == "1"


def _here(path: str) -> str:
    """Which of the pages in the list this is, or belongs to."""
    first = "/" + path.split("/")[1]
    return "/" if first == "/requests" else first


def page(request: Request, caller: Principal | None, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page, or its content alone for the script."""
    address = access.hub_of(request).address
    values = {
        "layout": "fragment.html" if is_fragment(request) else "layout.html",
        "person": caller,
        "pages": (*_PAGES, *(_FOR_ADMINS if caller and caller.is_admin else ())),
        "here": _here(request.url.path),
        "live": "",
        "stamp": _stamp(),
        "now": time.time(),
        "insecure": not address.is_tls and not address.is_loopback,
        **values,
    }
    return part(caller, template, status, **values)


def part(caller: Principal | None, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template by itself."""
    csrf = caller.sign_in.csrf if caller and caller.sign_in else ""
    return HTMLResponse(_templates().get_template(template).render(csrf=csrf, **values), status)


def static(request: Request, name: str) -> Response | None:
    """The style sheet, the script or the icon, packed for browsers that can unpack it."""
    file = _files().get(name)
    if file is None:
        return None
    headers = {
        "Cache-Control": f"public, max-age={_KEPT_FOR if request.url.query else 86400}",
        "Vary": "Accept-Encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=_TYPES[name], headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.content, media_type=_TYPES[name], headers=headers)
