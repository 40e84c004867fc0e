"""What every application of the room has: the guards of all pages, and a page that says what went wrong."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from birdenv.report.access import is_own_origin
from birdenv.report.guarded_app import guarded_app
from birdenv.studies._pages import render
from birdenv.studies._platform import MTURK_HOSTS

_NOT_KEPT: Final = "Nothing can be kept at the moment. Please try again in a minute."
_log = logging.getLogger("birdenv.studies")


def study_app(
    title: str,
    host: str,
    names: Iterable[str] = (),
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """Return an application without pages, as `guarded_app`, whose refusals are pages."""
    further: dict[str, Any] = {} if lifespan is None else {"lifespan": lifespan}
    static = Path(__file__).parent / "static"
    app = guarded_app(title, host, names, static=static, form_hosts=MTURK_HOSTS, **further)

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
