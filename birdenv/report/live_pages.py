"""Serve live pages about the runs in a folder. This module requires the `web` extra."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from birdenv.errors import BirdenvError
from birdenv.report.access import Doors
from birdenv.report.guarded_app import add_entrance, guarded_app, not_let_in
from birdenv.report.offline_page import SCRIPTS
from birdenv.report.page_templates import page_templates
from birdenv.report.run_data import episode_data, run_data, run_line, script_json
from birdenv.runs.episodes import RunEpisodes

_COOKIE: Final = "view"
_MOST_OPEN: Final = 4
"""The maximum number of runs whose databases are kept open."""

_Version = tuple[int, ...]


class _Read(NamedTuple):
    """A run, as read from one version of the run's files."""

    version: _Version
    episodes: RunEpisodes
    data: dict[str, Any]


class RunsOfFolder:
    """The data of all runs in a folder and its subfolders. A run is reread when its files have changed.

    The name of a run is its path relative to the folder.

    Args:
        root: the folder.
        private: True to include the private parts of episodes, such as the gold SQL.
    """

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self._root = root
        self._private = private
        self._open: OrderedDict[str, _Read] = OrderedDict()
        self._lines: dict[str, tuple[_Version, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the databases of all runs."""
        for read in self._open.values():
            read.episodes.__exit__()

    def lines(self) -> list[dict[str, Any]]:
        """Return an entry for each run, newest first. The entry of an unreadable run contains the error."""
        with self._lock:
            return [self._line(name, path) for name, path in self._paths().items()]

    def overview(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the result of `run_data` for each of the named runs.

        Raises:
            KeyError: there is no such run.
            InputError: a run cannot be read.
        """
        with self._lock:
            return [self._read(name).data for name in names]

    def episode(self, name: str, place: int) -> dict[str, Any]:
        """Return the result of `episode_data` for an episode in a run.

        Args:
            name: the name of the run.
            place: the index of the episode in the run.

        Raises:
            KeyError, IndexError: there is no such run or episode.
            InputError: the run or the episode cannot be read.
        """
        with self._lock:
            episodes = self._read(name).episodes
            return episode_data(episodes, episodes.names[place])

    def _paths(self) -> dict[str, Path]:
        found = {path.parent.resolve() for path in self._root.glob("**/config.json")}
        root = self._root.resolve()
        newest_first = sorted(found, key=lambda path: (path.name, str(path)), reverse=True)
        return {path.relative_to(root).as_posix(): path for path in newest_first if path.is_relative_to(root)}

    def _line(self, name: str, path: Path) -> dict[str, Any]:
        version = _version(path)
        if name not in self._lines or self._lines[name][0] != version:
            try:
                line = run_line(path)
            except BirdenvError as error:
                line = {"error": str(error)}
            self._lines[name] = (version, {"name": name, **line})
        return self._lines[name][1]

    def _read(self, name: str) -> _Read:
        path = self._paths()[name]
        version = _version(path)
        held = self._open.get(name)
        if held is None or held.version != version:
            if held is not None:
                self._open.pop(name).episodes.__exit__()
            episodes = RunEpisodes(path, private=self._private)
            self._open[name] = _Read(version, episodes, run_data(episodes))
        self._open.move_to_end(name)
        while len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)[1].episodes.__exit__()
        return self._open[name]


def _version(path: Path) -> _Version:
    files = [path / f"{name}.jsonl" for name in ("runs", "private", "private_blame")]
    states = [file.stat() for file in files if file.is_file()]
    return tuple(part for state in states for part in (state.st_mtime_ns, state.st_size))


def make_view_app(root: Path, *, private: bool = False) -> tuple[FastAPI, str]:
    """Create a web application that shows the runs in a folder. Return the application and its access token.

    Args:
        root: the folder.
        private: True to also show the private parts of episodes, such as the gold SQL.
    """
    runs = RunsOfFolder(root, private=private)
    doors = Doors(None)
    app = guarded_app("Runs", "127.0.0.1")
    app.router.add_event_handler("shutdown", runs.close)
    add_entrance(app, doors, _COOKIE)

    def check(request: Request) -> None:
        if not doors.is_admin(request.cookies.get(_COOKIE)):
            raise not_let_in()

    owner = [Depends(check)]
    _add_pages(app, owner)
    _add_data(app, owner, runs)
    return app, doors.admin_token


def _add_pages(app: FastAPI, owner: Sequence[Any]) -> None:
    templates = page_templates("birdenv.report")

    def page(template: str, title: str) -> Response:
        text = templates.get_template(template).render(title=title, live=True, scripts=SCRIPTS)
        return HTMLResponse(text)

    @app.get("/", dependencies=owner)
    def index() -> Response:
        return page("runs.html", "Runs")

    @app.get("/run", dependencies=owner)
    def run(request: Request) -> Response:
        return page("report.html", " and ".join(_names(request)) or "Runs")


def _add_data(app: FastAPI, owner: Sequence[Any], runs: RunsOfFolder) -> None:
    @app.get("/data/runs", dependencies=owner)
    def lines() -> Response:
        return _answer(runs.lines)

    @app.get("/data/overview", dependencies=owner)
    def overview(request: Request) -> Response:
        return _answer(lambda: runs.overview(_names(request)))

    @app.get("/data/episode-{number}-{place}", dependencies=owner)
    def episode(request: Request, number: int, place: int) -> Response:
        return _answer(lambda: runs.episode(_names(request)[number], max(place, 0)))


def _names(request: Request) -> list[str]:
    """Return the names of the runs in a URL."""
    return [request.query_params[key] for key in ("a", "b") if request.query_params.get(key)]


def _answer(made: Callable[[], Any]) -> Response:
    try:
        return Response(script_json(made()), media_type="application/json")
    except (KeyError, IndexError):
        raise HTTPException(404, "There is no such run or episode.") from None
    except BirdenvError as error:
        return PlainTextResponse(str(error), 409)
