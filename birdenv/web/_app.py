"""The application: pages, forms, the socket and the admin page of one study."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from birdenv.errors import InputError
from birdenv.web._admin import add_admin
from birdenv.web._doors import PERSON_COOKIE, Doors, host_names, is_own_origin
from birdenv.web._forms import read_form
from birdenv.web._pages import MTURK_HOSTS, Pages, external_of, platform_of
from birdenv.web._sockets import FOREIGN, STRANGER, Hub
from birdenv.web._study import Study

_YEAR: Final = 365 * 24 * 3600
_FIELD: Final = re.compile(r"check-([0-9]{1,3})")
_CHOICE: Final = re.compile(r"[0-9]{1,3}")
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"form-action 'self' {' '.join(MTURK_HOSTS)}; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}


class _Guard:
    """Lets requests for known host names through, and adds the headers of safety to what is answered."""

    def __init__(self, app: ASGIApp, names: list[str]) -> None:
        self._app = app
        self._names = frozenset(names)

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
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, with_headers)


def make_app(study: Study, folder: Path, host: str = "127.0.0.1") -> FastAPI:
    """Return the application of a study.

    Args:
        study: the study.
        folder: its folder; the secret that signs tokens is there.
        host: the address that it will be served at.
    """
    doors = Doors(folder)
    hub = Hub(study)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await hub.start()
        yield
        await hub.stop()

    app = FastAPI(title=study.title, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(_Guard, names=host_names(study.config, host))
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    _add_pages(app, study, doors)
    add_admin(app, study, doors)

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()  # a socket that is closed before would come back for ever
        headers = websocket.headers
        if not is_own_origin(headers.get("origin"), headers.get("host")):
            await websocket.close(FOREIGN)
            return
        person = doors.person(websocket.cookies.get(PERSON_COOKIE))
        if person is None or study.store.person(person) is None:
            await websocket.close(STRANGER)
            return
        await hub.serve(websocket, person)

    return app


def _add_pages(app: FastAPI, study: Study, doors: Doors) -> None:
    pages = Pages(study, doors)

    @app.get("/")
    async def index(request: Request) -> Response:
        platform = platform_of(request.query_params)
        external = external_of(platform)
        id = doors.person(request.cookies.get(PERSON_COOKIE))
        person = None if id is None else study.store.person(id)
        if person is not None and external is not None and person.external != external:
            id = person = None  # somebody else at the same computer
        if person is not None:
            return HTMLResponse(pages.of(person))
        id = id or study.new_id()
        return _signed_in(HTMLResponse(pages.consent(id, platform)), doors, id, request)

    @app.post("/consent")
    async def consent(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        platform = platform_of(fields)
        person = study.agree(id, external_of(platform), platform)
        return _signed_in(_back(), doors, person.id, request)

    @app.post("/instructions")
    async def instructions(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        is_right = await asyncio.to_thread(study.understood, id, _checked(fields))
        person = None if is_right else study.store.person(id)
        if person is None or person.status != "instructions":
            return _back()
        return HTMLResponse(pages.of(person, "That was not right. Please read again; you have one more try."))

    @app.post("/survey")
    async def survey(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        try:
            await asyncio.to_thread(study.answer, id, fields)
        except InputError as error:
            person = study.store.person(id)
            if person is not None:
                return HTMLResponse(pages.of(person, str(error)), 422)
        return _back()

    @app.post("/step/{step}")
    async def step(request: Request, step: Literal["leave", "again", "finish"]) -> Response:
        id, _ = await read_form(request, doors)
        act = {"leave": study.leave, "again": study.again, "finish": study.end_alone}[step]
        await asyncio.to_thread(act, id)
        return _back()


def _checked(fields: Mapping[str, str]) -> dict[int, int]:
    """The answers to the comprehension check, by question."""
    found = ((_FIELD.fullmatch(name), value) for name, value in fields.items())
    return {int(name[1]): int(value) for name, value in found if name and _CHOICE.fullmatch(value)}


def _back() -> Response:
    return RedirectResponse("/", 303)


def _signed_in(response: Response, doors: Doors, id: str, request: Request) -> Response:
    response.set_cookie(
        PERSON_COOKIE,
        doors.token(id),
        max_age=_YEAR,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response
