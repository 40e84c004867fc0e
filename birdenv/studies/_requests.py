"""Shared code for study web applications: forms, cookies, rate limits, and error pages."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from birdenv.errors import InputError
from birdenv.report.access import Doors, is_own_origin
from birdenv.report.guarded_app import guarded_app
from birdenv.studies._pages import render
from birdenv.studies._platform import MTURK_HOSTS, external_of, platform_of
from birdenv.studies.rating_round._store import Rater
from birdenv.studies.study._records import Person

_MOST_ADDRESSES: Final = 10_000


class Bucket:
    """A token bucket that limits the rate of requests.

    Args:
        burst: the maximum number of requests at once.
        rate: the number of requests per second that are allowed after a burst.
        clock: a function that returns the time in seconds.
    """

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._left = burst
        self._at = clock()

    def take(self) -> bool:
        """Count a request, and return True if it is allowed."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    @property
    def is_full(self) -> bool:
        """Return True if a full burst of requests is allowed now."""
        return self._left + (self._clock() - self._at) * self._rate >= self._burst


class Newcomers:
    """A limit on the number of new people from each network address.

    Args:
        most: the maximum number of people per minute from one address; None for no limit.
        clock: a function that returns the time in seconds.
    """

    def __init__(self, most: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}

    def take(self, address: str) -> bool:
        """Count a new person from an address, and return True if the person is admitted."""
        if self._most is None:
            return True
        if len(self._buckets) >= _MOST_ADDRESSES:
            self._buckets = {each: bucket for each, bucket in self._buckets.items() if not bucket.is_full}
        if len(self._buckets) >= _MOST_ADDRESSES:
            return False  # a flood from many addresses
        bucket = self._buckets.setdefault(address, Bucket(self._most, self._most / 60, self._clock))
        return bucket.take()


_NOT_KEPT: Final = "Nothing can be saved at the moment. Please try again in a minute."
_log = logging.getLogger("birdenv.studies")


def study_app(
    title: str,
    host: str,
    names: Iterable[str] = (),
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """Return a web application without pages, which shows errors as HTML.

    Args:
        title: the title of the error pages.
        host: the address that the server listens on.
        names: additional host names that the application accepts.
        lifespan: a context manager that is entered when the server starts and left when it stops.
    """
    further: dict[str, Any] = {} if lifespan is None else {"lifespan": lifespan}
    static = Path(__file__).parent / "static"
    app = guarded_app(title, host, names, static=static, form_hosts=MTURK_HOSTS, **further)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        why = "There is no such page." if error.detail == "Not Found" else error.detail
        shown = render("refused", title=title, problem=why, back=_page_before(request))
        return HTMLResponse(shown, error.status_code)

    @app.exception_handler(sqlite3.Error)
    async def not_kept(request: Request, error: sqlite3.Error) -> Response:
        _log.error("%s could not be answered: %s", request.url.path, error)
        shown = render("refused", title=title, problem=_NOT_KEPT, back=_page_before(request))
        return HTMLResponse(shown, 503)

    return app


def _page_before(request: Request) -> str:
    """Return the address of the first page, with the platform's parameters if they are in the referrer."""
    headers = request.headers
    referer = headers.get("referer")
    if not is_own_origin(referer, headers.get("host")):
        return "/"
    parts = urlsplit(referer or "")
    return f"{parts.path}?{parts.query}" if parts.path == "/" and parts.query else "/"


_MAX_BODY: Final = 2**16
_MOST_FIELDS: Final = 200
_YEAR: Final = 365 * 24 * 3600
_REFUSED: Final = "You cannot open this page. Please open the study's link again."


def refused() -> HTTPException:
    """Return the HTTP 403 error for a person who may not open a page."""
    return HTTPException(403, _REFUSED)


def not_signed_in() -> HTTPException:
    """Return the HTTP 403 error for a page that only the study's administrator may open."""
    return HTTPException(403, "Sign in at /admin first, with the token that the command printed.")


async def read_form(request: Request, doors: Doors) -> tuple[str, dict[str, str]]:
    """Return the id of the person who sent a form, and the fields of the form.

    Raises:
        HTTPException: the form was issued to a different person, was sent from a different origin, or is too
            large.
    """
    person = doors.person(request.cookies.get(doors.cookie))
    fields = await read_fields(request)
    if person is None or not doors.is_form_of(person, fields.get("form", "")):
        raise refused()
    return person, fields


async def read_fields(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        HTTPException: the form was sent from a different origin, or is too large.
    """
    if not is_own_origin(request.headers.get("origin"), request.headers.get("host")):
        raise refused()
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY:
            raise HTTPException(413, "The form is too large.")
    try:
        pairs = parse_qsl(
            body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise HTTPException(413, "The form has too many fields.") from None
    return dict(pairs)


def back(path: str = "/") -> Response:
    """Return a redirect to a page, as the response to a submitted form."""
    return RedirectResponse(path, 303)


def signed_in(response: Response, doors: Doors, id: str, request: Request) -> Response:
    """Set the sign-in cookie for a person on a response, and return the response."""
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
    """Return a page that asks for confirmation before the browser switches to a different participant.

    Args:
        action: the URL that the confirmation form posts to.
    """
    return HTMLResponse(render("replace", title="Another person's link", action=action))


def add_link(app: FastAPI, doors: Doors, is_known: Callable[[str], bool]) -> None:
    """Add the routes for personal links, which let people continue in a different browser.

    Args:
        app: the application.
        doors: the object that issues and checks tokens.
        is_known: a function that returns True if a person with this id exists.
    """

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


def add_consent(
    app: FastAPI,
    doors: Doors,
    most: int | None,
    is_known: Callable[[str], bool],
    agree: Callable[[str, str | None, Mapping[str, str]], Person | Rater],
) -> None:
    """Add the route that accepts the consent form.

    Args:
        app: the application.
        doors: the object that issues and checks tokens.
        most: the maximum number of new people per minute from one address; None for no limit.
        is_known: a function that returns True if the person with the given id has already given consent.
        agree: a function that admits a person, given the person's id, the id on a recruiting platform (or
            None), and the platform's parameters. It raises `InputError` if the person cannot be admitted.
    """
    newcomers = Newcomers(most)

    @app.post("/consent")
    async def consent(request: Request) -> Response:
        id, fields = await read_form(request, doors)
        if not is_known(id) and not newcomers.take(_address_of(request)):
            raise HTTPException(429, "Too many people are joining at once. Please try again in a minute.")
        platform = platform_of(fields)
        try:
            admitted = agree(id, external_of(platform), platform)
        except InputError as error:
            raise HTTPException(409, str(error)) from None
        return signed_in(back(), doors, admitted.id, request)


def _address_of(request: Request) -> str:
    """Return the network address of the client, as reported by the proxy if there is one on this machine."""
    return "" if request.client is None else request.client.host
