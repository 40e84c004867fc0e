"""The admin page: who is where, running dialogues, quotas, replays, exports, deletion. A token opens it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from birdenv.errors import InputError
from birdenv.report.access import ADMIN_COOKIE, ADMIN_SECONDS, Doors
from birdenv.studies._pages import Pages
from birdenv.studies._requests import read_fields, refused
from birdenv.studies.rating_round._export import csv_text, people_rows
from birdenv.studies.replay._pages import add_replay
from birdenv.studies.replay._recorded_dialogues import study_records
from birdenv.studies.study._export import examples
from birdenv.studies.study._store import delete_person
from birdenv.studies.study._study import Study


def add_admin(app: FastAPI, study: Study, doors: Doors) -> None:
    """Add the admin page, its sign-in, the replays and the exports."""
    pages = Pages(study, doors)

    @app.get("/admin")
    async def admin(request: Request) -> Response:
        return HTMLResponse(pages.admin(doors.is_admin(request.cookies.get(ADMIN_COOKIE))))

    @app.post("/admin")
    async def sign_in(request: Request) -> Response:
        cookie = doors.admin((await read_fields(request)).get("token", ""))
        if cookie is None:
            raise refused()
        response = RedirectResponse("/admin", 303)
        response.set_cookie(
            ADMIN_COOKIE,
            cookie,
            max_age=ADMIN_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
            path="/admin",
        )
        return response

    _add_people(app, study, doors, pages)
    _add_exports(app, study, doors)
    arena = study.arena
    add_replay(app, lambda: study_records(study.store, arena.game.name, arena), doors, "/admin/replay")


def _check(request: Request, doors: Doors) -> None:
    if not doors.is_admin(request.cookies.get(ADMIN_COOKIE)):
        raise refused()


def _add_people(app: FastAPI, study: Study, doors: Doors, pages: Pages) -> None:
    """Add what is done for one person: a new link, and deleting them."""

    @app.post("/admin/link")
    async def link(request: Request) -> Response:
        _check(request, doors)
        asked = (await read_fields(request)).get("person", "").strip()
        person = study.store.person_named(asked)
        told = f"nobody is known as {asked}" if person is None else f"/link/{doors.link(person.id)}"
        return HTMLResponse(pages.admin(True, told), 404 if person is None else 200)

    @app.post("/admin/delete")
    async def delete(request: Request) -> Response:
        _check(request, doors)
        asked = (await read_fields(request)).get("person", "").strip()
        try:
            count = await asyncio.to_thread(delete_person, study.store, asked)
        except InputError as error:
            return HTMLResponse(pages.admin(True, str(error)), 404)
        return HTMLResponse(pages.admin(True, f"{asked} and {count} dialogue(s) are deleted"))


def _add_exports(app: FastAPI, study: Study, doors: Doors) -> None:
    """Add the files with the dialogues and with the people."""

    @app.get("/admin/export")
    async def export(request: Request) -> Response:
        _check(request, doors)
        made = await asyncio.to_thread(
            lambda: [each.to_json() for each in examples(study.store, study.arena)]
        )
        name = {"content-disposition": 'attachment; filename="transcripts.json"'}
        return JSONResponse(made, headers=name)

    @app.get("/admin/people")
    async def people(request: Request) -> Response:
        _check(request, doors)
        folder = Path(study.store.path).parent
        made = await asyncio.to_thread(lambda: csv_text(people_rows(folder), "people"))
        name = {"content-disposition": 'attachment; filename="people.csv"'}
        return Response(made, media_type="text/csv", headers=name)
