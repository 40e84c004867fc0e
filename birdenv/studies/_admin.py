"""The administrator's page, which lists people and dialogues, exports data, and deletes people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from birdenv.errors import InputError
from birdenv.report.access import ADMIN_COOKIE, ADMIN_SECONDS, Doors
from birdenv.studies._pages import clock_time, in_minutes, render
from birdenv.studies._requests import not_signed_in, read_fields, refused
from birdenv.studies.rating_round._export import csv_text, dialogue_rows, people_rows, survey_rows
from birdenv.studies.replay._pages import add_replay
from birdenv.studies.replay._recorded_dialogues import study_records
from birdenv.studies.study._config import PAID
from birdenv.studies.study._deletion import delete_person, what_is_of
from birdenv.studies.study._export import chat_rows, examples
from birdenv.studies.study._records import Person, StoredDialogue
from birdenv.studies.study._study import Study

_MOST_ENDED: Final = 100
"""The number of ended dialogues on the page, which links to the list of all of them."""

_DOING: Final = {
    "instructions": "reading the instructions",
    "waiting": "waiting",
    "chat": "in a conversation",
    "alone": "without a partner",
    "survey": "answering questions",
}
_ENDINGS: Final = {
    "done": "completed",
    "partner_left": "left by their partner",
    "nobody_came": "nobody came in time",
    "full": "study was full",
    "left": "left early",
    "failed_check": "failed the check",
    "too_short": "wrote too little",
}


def add_admin(app: FastAPI, study: Study, doors: Doors) -> None:
    """Add the administrator's page to a study's web application, including sign-in, replays and exports."""

    @app.get("/admin")
    async def admin(request: Request) -> Response:
        signed_in = doors.is_admin(request.cookies.get(ADMIN_COOKIE))
        return HTMLResponse(await asyncio.to_thread(_page, study, signed_in=signed_in))

    @app.get("/admin/now")
    async def now(request: Request) -> Response:
        _check(request, doors)
        facts = await asyncio.to_thread(_facts, study)
        return HTMLResponse(render("admin_now", **facts))

    @app.post("/admin")
    async def sign_in(request: Request) -> Response:
        cookie = doors.admin((await read_fields(request)).get("token", ""))
        if cookie is None:
            return HTMLResponse(_page(study, signed_in=False, problem="This token is invalid."), 403)
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

    _add_people(app, study, doors)
    _add_exports(app, study, doors)
    arena = study.arena
    add_replay(app, lambda: study_records(study.store, arena.game.name, arena), doors, "/admin/replay")


def _check(request: Request, doors: Doors) -> None:
    if not doors.is_admin(request.cookies.get(ADMIN_COOKIE)):
        raise not_signed_in()


def _page(study: Study, *, signed_in: bool = True, **told: Any) -> str:
    facts = _facts(study) if signed_in else {}
    return render("admin", title=f"{study.title}: administration", signed_in=signed_in, **facts, **told)


def _facts(study: Study) -> dict[str, Any]:
    """Return the current state of the study, as shown on the administrator's page."""
    store, now = study.store, study.clock()
    counts, moves = store.counts(), store.move_counts()
    running, ended = store.running(), store.finished()[::-1]
    return {
        "at": clock_time(now),
        "doing": [(words, counts.get(status, 0)) for status, words in _DOING.items()],
        "endings": [
            (words, counts.get(ending, 0), _code(study, ending)) for ending, words in _ENDINGS.items()
        ],
        "waiting": [
            {
                "person": _name(each),
                "minutes": in_minutes(now - each.since),
                "is_here": study.presence.tabs(each.id) > 0,
            }
            for each in store.people("waiting")
        ],
        "running": [_dialogue(each, now, moves) for each in running[::-1]],
        "ended": [_dialogue(each, now, moves) for each in ended[:_MOST_ENDED]],
        "ended_count": len(ended),
        "quotas": _quotas(study),
        "reports": store.reports(),
    }


def _dialogue(stored: StoredDialogue, now: float, moves: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": stored.id,
        "started": clock_time(stored.started),
        "minutes": in_minutes((stored.ended or now) - stored.started),
        "moves": moves.get(stored.id, 0),
        "partner": stored.partner,
        "task": stored.task,
        "status": stored.status or "",
        "points": ", ".join(f"{round(reward, 2):g}" for reward in stored.rewards or ()),
    }


def _quotas(study: Study) -> list[tuple[str, int, int | None]]:
    """Return the name of each kind of partner, the number of its dialogues, and the limit, if any."""
    held: dict[str, int] = {}
    for (_, partner), count in study.used().items():
        held[partner] = held.get(partner, 0) + count
    tasks = len(study.arena.ids)
    return [
        (name, held.get(name, 0), None if each.chats is None else each.chats * tasks)
        for name, each in study.config.partners.items()
    ]


def _code(study: Study, ending: str) -> str:
    own = {str(name): code for name, code in study.config.codes.items()}
    return own.get(ending) or ("one for each person" if ending in PAID else "none")


def _name(person: Person) -> str:
    return person.external or person.id


def _add_people(app: FastAPI, study: Study, doors: Doors) -> None:
    """Add the forms that issue a new link to a person or delete a person's data."""

    @app.post("/admin/link")
    async def link(request: Request) -> Response:
        _check(request, doors)
        asked = (await read_fields(request)).get("person", "").strip()
        person = study.store.person_named(asked)
        if person is None:
            return HTMLResponse(_page(study, problem=f"No participant has the id {asked}."), 404)
        return HTMLResponse(
            _page(study, told=f"Send them this link: {request.base_url}link/{doors.link(person.id)}")
        )

    @app.post("/admin/delete")
    async def delete(request: Request) -> Response:
        """Show what will be deleted and, after confirmation, delete it."""
        _check(request, doors)
        fields = await read_fields(request)
        asked = fields.get("person", "").strip()
        try:
            if fields.get("sure") != "yes":
                going = await asyncio.to_thread(what_is_of, study.store, asked)
                return HTMLResponse(_page(study, going=going, person=asked))
            count = await asyncio.to_thread(delete_person, study.store, asked)
        except InputError as error:
            return HTMLResponse(_page(study, problem=str(error)), 404)
        gone = f"{asked} was deleted. Dialogues deleted with them: {count}."
        return HTMLResponse(_page(study, told=gone))


def _add_exports(app: FastAPI, study: Study, doors: Doors) -> None:
    """Add the routes for downloading dialogues, answers and people."""
    store, arena = study.store, study.arena
    folder = Path(store.path).parent

    def chats() -> str:
        rows = (row for example in examples(store, arena) for row in chat_rows(example, store, arena))
        return "".join(f"{json.dumps(row)}\n" for row in rows)

    def table(form: str, rows: Callable[[], Iterable[dict[str, Any]]]) -> Callable[[], str]:
        return lambda: csv_text(rows(), form)

    def transcripts() -> str:
        return json.dumps([each.to_json() for each in examples(store, arena)])

    files: dict[str, tuple[Callable[[], str], str]] = {
        "transcripts.json": (transcripts, "application/json"),
        "chats.jsonl": (chats, "application/jsonl"),
        "dialogues.csv": (table("dialogues", lambda: dialogue_rows(store)), "text/csv"),
        "answers.csv": (table("answers", lambda: survey_rows(store)), "text/csv"),
        "people.csv": (table("people", lambda: people_rows(folder)), "text/csv"),
    }

    @app.get("/admin/export/{name}")
    async def one_file(request: Request, name: str) -> Response:
        _check(request, doors)
        if name not in files:
            raise refused()
        make, kind = files[name]
        made = await asyncio.to_thread(make)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(made, media_type=kind, headers=headers)
