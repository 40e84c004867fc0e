"""Pages for recorded dialogues: a list with filters, and one dialogue with a slider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from birdenv.dialogue.people import Panel
from birdenv.errors import BirdenvError
from birdenv.report.access import ADMIN_COOKIE, Doors
from birdenv.report.guarded_app import add_entrance, not_let_in
from birdenv.studies._connection import as_json
from birdenv.studies._pages import clock_time, in_minutes, render
from birdenv.studies._requests import not_signed_in, study_app
from birdenv.studies.replay._recorded_dialogues import Records, ReplayedDialogue, SeatView

_ROWS: Final = 200
_COOKIE: Final = "replay"  # not the name of a study's cookie, since both may be open on one host
_PRIVATE: Final = "What this seat was told is private. `birdenv web --replay FOLDER --private` shows it."
_FILTERS: Final = ("game", "scenario", "outcome", "earned", "player")


class _Shown(NamedTuple):
    """The records that pass the filters, and the values that filters can have."""

    records: list[ReplayedDialogue]
    choices: dict[str, list[str]]


def make_replay_app(records: Records, host: str = "127.0.0.1") -> tuple[FastAPI, str]:
    """Return a web application that shows recorded dialogues, and an access token for it.

    Args:
        records: the dialogues.
        host: the address that the server listens on.
    """
    app = study_app("Dialogues", host)
    doors = Doors(None)

    add_entrance(app, doors, _COOKIE)
    add_replay(app, records.all, doors, "", cookie=_COOKIE, private=records.private)
    return app, doors.admin_token


def add_replay(
    app: FastAPI,
    records: Callable[[], list[ReplayedDialogue]],
    doors: Doors,
    prefix: str,
    cookie: str = ADMIN_COOKIE,
    *,
    private: bool = False,
) -> None:
    """Add pages that show recorded dialogues to an application. Access requires the administrator's cookie.

    Args:
        app: the application.
        records: a function that returns the dialogues.
        doors: the object that checks cookies.
        prefix: the path under which the pages appear, such as `/admin/replay`.
        cookie: the name of the administrator's cookie.
        private: True to also show private knowledge, such as the request of a simulated user.
    """

    def check(request: Request) -> None:
        if not doors.is_admin(request.cookies.get(cookie)):
            raise not_signed_in() if prefix else not_let_in()

    async def find(id: str) -> ReplayedDialogue:
        found = await asyncio.to_thread(lambda: next((each for each in records() if each.id == id), None))
        if found is None:
            raise HTTPException(404, "There is no such dialogue.")
        return found

    @app.get(prefix or "/")
    async def index(request: Request) -> Response:
        check(request)
        asked = {name: request.query_params.get(name, "") for name in _FILTERS}
        start = request.query_params.get("from", "")
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 0
        shown = await asyncio.to_thread(lambda: _filtered(records(), asked))
        following = {**asked, "from": str(first + _ROWS)}
        page = render(
            "replay_list",
            title="Dialogues",
            prefix=prefix,
            asked=asked,
            choices=shown.choices,
            count=len(shown.records),
            rows=[_row(each) for each in shown.records[first : first + _ROWS]],
            more=urlencode(following) if len(shown.records) > first + _ROWS else "",
        )
        return HTMLResponse(page)

    @app.get(f"{prefix}/dialogue")
    async def dialogue(request: Request, id: str) -> Response:
        check(request)
        record = await find(id)
        facts = {
            "title": "A recorded dialogue",
            "prefix": prefix,
            "id": quote(id, safe=""),
            "row": _row(record),
        }
        return HTMLResponse(render("replay", **facts))

    @app.get(f"{prefix}/record")
    async def one(request: Request, id: str) -> Response:
        check(request)
        record = await find(id)
        text = await asyncio.to_thread(lambda: as_json(as_seen(record, private=private)))
        return Response(text, media_type="application/json")


def as_seen(record: ReplayedDialogue, *, private: bool = False) -> dict[str, Any]:
    """Return the JSON data for a dialogue's page, which contains all events and the view from each seat.

    The private knowledge of seats is left out, unless `private` is True.
    """
    views = [record.everything()]
    with suppress(BirdenvError):  # the data may have changed or disappeared
        views += [record.view(seat) for seat in range(len(record.seats))]
    shown = [(view if private or not view.is_private else _without_told(view))._asdict() for view in views]
    points = ", ".join(f"{round(each, 2):g}" for each in record.rewards)
    end = f"Ending: {record.status or 'not recorded'}{', reward ' + points if points else ''}."
    return {"views": shown, "count": len(views[0].lines), "private": record.private, "end": end}


def _without_told(view: SeatView) -> SeatView:
    """Return a view without the private knowledge of its seat: only the seat's public guide remains."""
    panels = [asdict(Panel("What it knew", _PRIVATE))]
    return view._replace(told={"guide": view.told["guide"], "panels": panels})


def _row(record: ReplayedDialogue) -> dict[str, Any]:
    players = [f"{seat}: {player}" for seat, player in zip(record.seats, record.players, strict=False)]
    return {
        "id": quote(record.id, safe=""),
        "dialogue": record.dialogue,
        "game": record.game,
        "task": record.task,
        "players": ", ".join(players),
        "status": record.status,
        "rewards": ", ".join(f"{round(each, 2):g}" for each in record.rewards),
        "began": "" if record.began is None else clock_time(record.began),
        "minutes": "" if record.ended is None else in_minutes(record.ended - (record.began or 0)),
    }


def _filtered(records: Sequence[ReplayedDialogue], asked: Mapping[str, str]) -> _Shown:
    choices = {
        "game": sorted({each.game for each in records}),
        "outcome": sorted({each.status for each in records}),
        "player": sorted({player for each in records for player in each.players}),
    }
    return _Shown([each for each in records if _passes(each, asked)], choices)


def _passes(record: ReplayedDialogue, asked: Mapping[str, str]) -> bool:
    """Return True if a dialogue passes all filters that are set."""
    earned = max(record.rewards, default=0.0) > 0
    held = {
        "game": record.game == asked["game"],
        "scenario": asked["scenario"].lower() in record.task.lower(),
        "outcome": record.status == asked["outcome"],
        "earned": earned == (asked["earned"] == "yes"),
        "player": asked["player"] in record.players,
    }
    return all(held[name] for name in _FILTERS if asked[name])
