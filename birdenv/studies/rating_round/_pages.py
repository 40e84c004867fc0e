"""The web application for raters: consent, one item at a time, and the completion code."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from birdenv.errors import InputError
from birdenv.report.access import RATER, Doors
from birdenv.studies._connection import as_json
from birdenv.studies._pages import render
from birdenv.studies._platform import external_of, is_other_visit, is_preview, platform_of, way_back
from birdenv.studies._requests import (
    add_consent,
    add_link,
    back,
    read_form,
    refused,
    signed_in,
    study_app,
)
from birdenv.studies.rating_round._raters import WINNERS, Item, Ratings, side_of
from birdenv.studies.rating_round._store import Rater


def make_rating_app(ratings: Ratings, folder: Path, host: str = "127.0.0.1") -> FastAPI:
    """Return the web application for a rating round.

    Args:
        ratings: the round.
        folder: the round's folder, which contains the secret for signing tokens.
        host: the address that the server listens on.
    """
    config = ratings.config
    doors = Doors(folder, RATER)
    app = study_app(config.title, host, config.hosts)

    def has_agreed(id: str) -> bool:
        return ratings.store.rater(id) is not None

    add_consent(app, doors, config.newcomers, has_agreed, ratings.agree)
    add_link(app, doors, has_agreed)

    def known(request: Request) -> Rater | None:
        id = doors.person(request.cookies.get(doors.cookie))
        return None if id is None else ratings.store.rater(id)

    @app.get("/")
    async def index(request: Request) -> Response:
        platform = platform_of(request.query_params)
        external = external_of(platform)
        rater = known(request)
        is_known = rater is not None and (external is None or external == external_of(rater.platform))
        if rater is not None and is_known and not is_other_visit(rater.platform, platform):
            return HTMLResponse(await asyncio.to_thread(_page, ratings, rater, doors))
        id = rater.id if rater is not None and is_known else ratings.new_id()
        facts = {"text": config.consent, "platform": platform, "preview": is_preview(platform)}
        shown = render("consent", title=config.title, form=doors.form(id), **facts)
        return signed_in(HTMLResponse(shown), doors, id, request)

    @app.post("/judge")
    async def judge(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        rater = ratings.store.rater(id)
        if rater is None:
            raise refused()
        try:
            await asyncio.to_thread(ratings.judge, id, fields.get("item", ""), fields)
        except InputError as error:
            return HTMLResponse(await asyncio.to_thread(_page, ratings, rater, doors, str(error)), 422)
        return back()

    @app.get("/item")
    async def shown(request: Request) -> Response:
        rater = known(request)
        if rater is None:
            raise refused()
        text = await asyncio.to_thread(_item, ratings, rater)
        return Response(text, media_type="application/json")

    return app


def _page(ratings: Ratings, rater: Rater, doors: Doors, problem: str = "") -> str:
    """Return a rater's page: the current item, or the completion code if no item is left."""
    item = ratings.next(rater.id)
    if item is not None:
        own = {"form": doors.form(rater.id), "link": doors.link(rater.id)}
        return render("rate", problem=problem, **own, **_asked(ratings, item, rater))
    done = ratings.store.rater(rater.id) or rater
    ending = "done" if ratings.progress(rater.id)[0] else "full"
    way = way_back(done.platform, done.code)
    return render("finished", title=ratings.config.title, ending=ending, code=done.code, **way)


def _asked(ratings: Ratings, item: Item, rater: Rater) -> dict[str, Any]:
    """Return the values for the page of an item. They do not reveal which systems talked."""
    config = ratings.config
    done, most = ratings.progress(rater.id)
    return {
        "title": config.title,
        "text": config.instructions if not done else "",
        "item": item.id,
        "seat": item.names[item.seat_name],
        "place": done + 1,
        "most": most,
        "questions": () if item.other is not None else config.questions,
        "criterion": config.criterion if item.other is not None else "",
        "winners": WINNERS.items(),
        "justification": config.justification,
    }


def _item(ratings: Ratings, rater: Rater) -> str:
    """Return the text of a rater's item as JSON: the judged seat's task, and its view of each dialogue."""
    item = ratings.next(rater.id)
    if item is None:
        return as_json({"told": {}, "sides": []})
    sides = [side_of(each, item.seat, ratings.config) for each in ratings.sides(item, rater.id)]
    lines = [[{**line, "seat": item.names.get(line["seat"], "")} for line in side.lines] for side in sides]
    return as_json({"told": sides[0].told, "sides": lines})
