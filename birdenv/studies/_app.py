"""The web application of a study: pages, forms, the socket, and the administrator's page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

from fastapi import FastAPI, HTTPException, Request, WebSocket
from fastapi.responses import HTMLResponse, Response

from birdenv.errors import InputError
from birdenv.report.access import FOREIGN, Doors, is_own_origin
from birdenv.studies._admin import add_admin
from birdenv.studies._pages import Pages
from birdenv.studies._platform import external_of, is_other_visit, platform_of
from birdenv.studies._requests import (
    add_consent,
    add_link,
    asked,
    back,
    read_fields,
    read_form,
    signed_in,
    study_app,
)
from birdenv.studies._sockets import STRANGER, Hub
from birdenv.studies.study._study import Study

_FIELD: Final = re.compile(r"check-([0-9]{1,3})")
_CHOICE: Final = re.compile(r"[0-9]{1,3}")


def make_app(study: Study, folder: Path, host: str = "127.0.0.1") -> FastAPI:
    """Return the web application of a study.

    Args:
        study: the study.
        folder: the study's folder, which contains the secret for signing tokens.
        host: the address that the server listens on.
    """
    doors = Doors(folder)
    hub = Hub(study)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await hub.start()
        yield
        await hub.stop()

    app = study_app(study.title, host, study.config.hosts, lifespan)
    pages = Pages(study, doors)
    _add_entrance(app, study, doors, pages)
    _add_steps(app, study, doors, pages)
    add_link(app, doors, lambda id: study.store.person(id) is not None)
    add_admin(app, study, doors)

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()  # browsers retry forever if it is closed before
        headers = websocket.headers
        if not is_own_origin(headers.get("origin"), headers.get("host")):
            await websocket.close(FOREIGN)
            return
        person = doors.person(websocket.cookies.get(doors.cookie))
        if person is None or study.store.person(person) is None:
            await websocket.close(STRANGER)
            return
        await hub.serve(websocket, person)

    return app


def _add_entrance(app: FastAPI, study: Study, doors: Doors, pages: Pages) -> None:
    """Add the first page and the consent form."""
    most, store = study.config.limits.newcomers, study.store
    add_consent(app, doors, most, lambda id: store.person(id) is not None, study.agree)

    @app.get("/")
    async def index(request: Request) -> Response:
        platform = platform_of(request.query_params)
        external = external_of(platform)
        id = doors.person(request.cookies.get(doors.cookie))
        person = None if id is None else study.store.person(id)
        if person is not None and external is not None and person.external != external:
            if person.status != "finished":
                return asked(f"/?{request.url.query}")
            id = person = None  # another person uses the same computer
        if person is not None and not is_other_visit(person.platform, platform):
            return HTMLResponse(pages.of(person))
        id = id or study.new_id()
        return signed_in(HTMLResponse(pages.consent(id, platform)), doors, id, request)

    @app.post("/")
    async def another(request: Request) -> Response:
        await read_fields(request)
        return signed_in(back(f"/?{request.url.query}"), doors, study.new_id(), request)


def _add_steps(app: FastAPI, study: Study, doors: Doors, pages: Pages) -> None:
    """Add the forms that lead people from stage to stage."""

    @app.post("/instructions")
    async def instructions(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        is_right = await asyncio.to_thread(study.understood, id, _checked(fields), _try_number(fields))
        person = None if is_right else study.store.person(id)
        if person is None or person.status != "instructions":
            return back()
        wrong = "Not all answers were correct. Please read the text again; you have one more attempt."
        return HTMLResponse(pages.of(person, wrong))

    @app.post("/survey")
    async def survey(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        try:
            await asyncio.to_thread(study.answer, id, fields)
        except InputError as error:
            person = study.store.person(id)
            if person is not None:
                return HTMLResponse(pages.of(person, str(error)), 422)
        return back()

    @app.post("/report")
    async def report(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        try:
            await asyncio.to_thread(study.report, id, fields.get("text", ""))
        except InputError as error:
            raise HTTPException(422, str(error)) from None
        person = study.store.person(id)
        if person is None:
            return back()
        return HTMLResponse(pages.of(person, told="Thank you. The study team has received your message."))

    @app.post("/step/{step}")
    async def step(request: Request, step: Literal["leave", "again", "finish"]) -> Response:
        id, _ = await read_form(request, doors)
        act = {"leave": study.leave, "again": study.again, "finish": study.end_alone}[step]
        await asyncio.to_thread(act, id)
        return back()


def _try_number(fields: Mapping[str, str]) -> int | None:
    """Return which comprehension-check attempt a form belongs to, or None if the form does not say."""
    number = fields.get("try", "")
    return int(number) if _CHOICE.fullmatch(number) else None


def _checked(fields: Mapping[str, str]) -> dict[int, int]:
    """Return the answers to the comprehension check, keyed by question."""
    found = ((_FIELD.fullmatch(name), value) for name, value in fields.items())
    return {int(name[1]): int(value) for name, value in found if name and _CHOICE.fullmatch(value)}
