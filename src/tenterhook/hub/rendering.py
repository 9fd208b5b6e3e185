"""Rendering of templates: every value is escaped, and its hidden characters are made visible."""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import access, request_html

if TYPE_CHECKING:
    from fastapi import Request

    from .access import Principal

_HERE = os.path.dirname(__file__)
_SCRIPTS = ("page.js", "notify.js", "worker.js")
_TYPES = {"style.css": "text/css", **dict.fromkeys(_SCRIPTS, "text/javascript"), "icon.svg": "image/svg+xml"}
_PAGES = (("/", "Inbox"), ("/sessions", "Sessions"), ("/hooks", "Hooks"), ("/rules", "Rules"))
_FOR_ADMINS = (("/people", "People"),)
_MAX_AGE = 365 * 86400  # seconds; a changed file gets another URL


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
    for name in ("one_line", "lines", "duration", "moment", "clock"):
        environment.filters[name] = getattr(request_html, name)
    return environment


@functools.cache
def _files() -> dict[str, tuple[bytes, bytes]]:
    """Return the content of the static files, plain and compressed."""
    contents = {name: Path(_HERE, "static", name).read_bytes() for name in _TYPES}
    return {name: (content, gzip.compress(content, mtime=0)) for name, content in contents.items()}


@functools.cache
def _stamp() -> str:
    """Return a hash of the static files."""
    return hashlib.sha256(b"".join(content for content, _ in _files().values())).hexdigest()[:10]


def _here(path: str) -> str:
    """Return the page of the navigation that a path belongs to."""
    first = "/" + path.split("/")[1]
    return "/" if first == "/requests" else first


def page(request: Request, caller: Principal | None, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a page."""
    values = {
        "person": caller,
        "pages": (*_PAGES, *(_FOR_ADMINS if caller and caller.is_admin else ())),
        "here": _here(request.url.path),
        "live": "",
        "stamp": _stamp(),
        "now": time.time(),
        "insecure": access.hub_of(request).address.is_insecure,
        "exposed": not access.is_private(request),
        **values,
    }
    return part(template, status, **values)


def part(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template by itself."""
    return HTMLResponse(_templates().get_template(template).render(**values), status)


def static(request: Request, name: str) -> Response | None:
    """Return the style sheet, the script or the icon, compressed if the browser supports it; None for another name."""
    if name not in _files():
        return None
    content, compressed = _files()[name]
    headers = {
        "Cache-Control": f"public, max-age={_MAX_AGE if request.url.query else 86400}",
        "Vary": "Accept-Encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(compressed, media_type=_TYPES[name], headers={**headers, "Content-Encoding": "gzip"})
    return Response(content, media_type=_TYPES[name], headers=headers)
