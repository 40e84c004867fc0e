"""Forms: read whole, within a limit, and only from pages of our own; and the cookie of who sent them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from birdenv.report.access import Doors, is_own_origin
from birdenv.studies._pages import render

_MAX_BODY: Final = 2**16
_MOST_FIELDS: Final = 200
_YEAR: Final = 365 * 24 * 3600
_REFUSED: Final = "This page is not for you. Open the study's link again."


def refused() -> HTTPException:
    """Return the answer to one who may not do this."""
    return HTTPException(403, _REFUSED)


async def read_form(request: Request, doors: Doors) -> tuple[str, dict[str, str]]:
    """Return the person who sent a form of their own page, and its fields.

    Raises:
        HTTPException: the form is not from there, or too large.
    """
    person = doors.person(request.cookies.get(doors.cookie))
    fields = await read_fields(request)
    if person is None or not doors.is_form_of(person, fields.get("form", "")):
        raise refused()
    return person, fields


async def read_fields(request: Request) -> dict[str, str]:
    """Return the fields of a form of our own origin.

    Raises:
        HTTPException: the form is from another origin, or too large.
    """
    if not is_own_origin(request.headers.get("origin"), request.headers.get("host")):
        raise refused()
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY:
            raise HTTPException(413, "too large")
    try:
        pairs = parse_qsl(
            body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise HTTPException(413, "too many fields") from None
    return dict(pairs)


def back(path: str = "/") -> Response:
    """Return the way back to a page after a form."""
    return RedirectResponse(path, 303)


def signed_in(response: Response, doors: Doors, id: str, request: Request) -> Response:
    """Return a response with the cookie of a person."""
    response.set_cookie(
        doors.cookie,
        doors.token(id),
        max_age=_YEAR,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


def asked(action: str) -> Response:
    """Return the page that asks before another person takes the place of the one in this browser."""
    return HTMLResponse(render("replace", title="Another person's link", action=action))


def add_link(app: FastAPI, doors: Doors, is_known: Callable[[str], bool]) -> None:
    """Add the link with which a person goes on in another browser."""

    @app.get("/link/{end}")
    async def link(request: Request, end: str) -> Response:
        id = person(end)
        before = doors.person(request.cookies.get(doors.cookie))
        if before is not None and before != id and is_known(before):
            return asked(f"/link/{end}")
        return signed_in(back(), doors, id, request)

    @app.post("/link/{end}")
    async def replace(request: Request, end: str) -> Response:
        id = person(end)
        await read_fields(request)
        return signed_in(back(), doors, id, request)

    def person(end: str) -> str:
        id = doors.person_of_link(end)
        if id is None or not is_known(id):
            raise refused()
        return id


def address_of(request: Request) -> str:
    """Return the address that a request came from; behind a proxy on this machine, the one that it names."""
    return "" if request.client is None else request.client.host
