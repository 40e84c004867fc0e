"""What every application of the room has: known host names, headers of safety, and our own static files."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from birdenv.report.access import FOREIGN, LOOPBACK, is_own_origin
from birdenv.studies._pages import render
from birdenv.studies._platform import MTURK_HOSTS

_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"form-action 'self' {' '.join(MTURK_HOSTS)}; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
_NOT_KEPT: Final = "Nothing can be kept at the moment. Please try again in a minute."
_log = logging.getLogger("birdenv.studies")
_STATIC: Final = "/static/"
_ANY: Final = ("0.0.0.0", "::")


@asynccontextmanager
async def _nothing(_: FastAPI) -> AsyncIterator[None]:
    yield


def guarded_app(
    title: str,
    host: str,
    names: Iterable[str] = (),
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] = _nothing,
) -> FastAPI:
    """Return an application without pages.

    Args:
        title: its title.
        host: the address that it will be served at.
        names: further host names under which it is reached; others are refused (DNS rebinding).
        lifespan: what runs while it is served.
    """
    known = frozenset((*LOOPBACK, *(() if host in _ANY else (host,)), *names))
    app = FastAPI(title=title, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(_Guard, names=known)
    app.mount(
        "/static",
        StaticFiles(directory=Path(__file__).parent / "static", packages=[("birdenv.report", "static")]),
    )

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        shown = render("refused", title=title, problem=error.detail, back=_page_before(request))
        return HTMLResponse(shown, error.status_code)

    @app.exception_handler(sqlite3.Error)
    async def not_kept(request: Request, error: sqlite3.Error) -> Response:
        _log.error("%s could not be answered: %s", request.url.path, error)
        shown = render("refused", title=title, problem=_NOT_KEPT, back=_page_before(request))
        return HTMLResponse(shown, 503)

    return app


def _page_before(request: Request) -> str:
    """Our own page that led here, with what a platform told it; else the first one."""
    headers = request.headers
    referer = headers.get("referer")
    if not is_own_origin(referer, headers.get("host")):
        return "/"
    parts = urlsplit(referer or "")
    return f"{parts.path}?{parts.query}" if parts.path == "/" and parts.query else "/"


class _Guard:
    """Lets requests for known host names through, and adds the headers of safety to what is answered."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        if re.sub(r":\d+$", "", host) not in self._names:
            if scope["type"] == "http":
                await PlainTextResponse("unknown host", 400)(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": FOREIGN})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = "no-cache" if scope["path"].startswith(_STATIC) else "no-store"  # asked again, or none
                headers = {**_HEADERS, "cache-control": kept}
                added = [(name.encode(), value.encode()) for name, value in headers.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, with_headers)
