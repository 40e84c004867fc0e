"""Create web applications that check host names and tokens, send security headers, and serve static files.

This module requires the `web` extra.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from birdenv.report.access import ADMIN_SECONDS, FOREIGN, LOOPBACK, Doors

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
    *,
    static: Path | None = None,
    form_hosts: Iterable[str] = (),
) -> FastAPI:
    """Create a web application without pages that rejects unknown host names and adds security headers.

    Args:
        title: the title of the application.
        host: the address at which the application will be served.
        names: additional host names for the application. Requests to other names are rejected, to prevent DNS
            rebinding.
        lifespan: a function that returns the context manager to enter at startup and exit at shutdown.
        static: a folder with static files, in addition to those of birdenv; None if there are none.
        form_hosts: additional origins to which forms may be submitted.
    """
    known = frozenset((*LOOPBACK, *(() if host in _ANY else (host,)), *names))
    app = FastAPI(title=title, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(_Guard, names=known, headers=_headers(form_hosts))
    app.mount("/static", StaticFiles(directory=static, packages=[("birdenv.report", "static")]))
    return app


def add_entrance(app: FastAPI, doors: Doors, cookie: str) -> None:
    """Add the route `/open/{token}`, which gives the owner access to an application.

    If the token is the admin token, the route sets the owner's cookie and redirects to the first page.

    Args:
        app: the application.
        doors: the object that checks the token and returns the value of the cookie.
        cookie: the name of the owner's cookie.
    """

    @app.get("/open/{token}")
    async def opened(token: str, request: Request) -> Response:
        value = doors.admin(token)
        if value is None:
            raise not_let_in()
        response = RedirectResponse("/", 303)
        is_secure = request.url.scheme == "https"
        response.set_cookie(
            cookie, value, max_age=ADMIN_SECONDS, httponly=True, samesite="strict", secure=is_secure
        )
        return response


def not_let_in() -> HTTPException:
    """Return the HTTP error 403 for a request with an invalid token or cookie."""
    return HTTPException(403, "Open the address that the program printed when it started.")


def _headers(form_hosts: Iterable[str]) -> dict[str, str]:
    self = "'self'"
    return {
        "content-security-policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            f"connect-src 'self'; form-action {' '.join((self, *form_hosts))}; "
            "base-uri 'none'; frame-ancestors 'none'"
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
    }


class _Guard:
    """Refuses requests for unknown host names, and adds security headers to responses."""

    def __init__(self, app: ASGIApp, names: frozenset[str], headers: dict[str, str]) -> None:
        self._app = app
        self._names = names
        self._headers = headers

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
                kept = "no-cache" if scope["path"].startswith(_STATIC) else "no-store"
                headers = {**self._headers, "cache-control": kept}
                added = [(name.encode(), value.encode()) for name, value in headers.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, with_headers)
