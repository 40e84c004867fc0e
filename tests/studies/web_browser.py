"""A study served for a test, and a person's browser without a screen."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode

import uvicorn
from fastapi import FastAPI
from websockets.sync.client import ClientConnection, connect

from birdenv.dialogue import Game
from birdenv.studies._app import make_app
from birdenv.studies._connection import MAX_FRAME
from birdenv.studies.study._config import StudyConfig
from birdenv.studies.study._store import open_store
from birdenv.studies.study._study import Study
from birdenv.studies.study._study_game import study_arena


@contextmanager
def served(
    folder: Path, game: str | Game, config: StudyConfig, *, rng: Random | None = None, **settings: Any
) -> Iterator[tuple[Study, int]]:
    """Serve a study on a free port of this machine; yields it and the port."""
    with study_arena(game, config, settings) as arena:
        store = open_store(folder)
        study = Study(arena, config, store, rng=rng)
        try:
            with listening(make_app(study, folder)) as port:
                yield study, port
        finally:
            store.close()


@contextmanager
def listening(app: FastAPI) -> Iterator[int]:
    """Serve an application on a free port of this machine; yields the port."""
    options = uvicorn.Config(
        app,
        port=0,
        ws_max_size=MAX_FRAME,
        log_level="warning",
        ws="websockets-sansio",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(options)
    socket = options.bind_socket()
    socket.listen()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    try:
        yield socket.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
        socket.close()
        assert not thread.is_alive()


class Browser:
    """One person: a cookie, pages, forms and sockets."""

    def __init__(self, port: int, query: str = "") -> None:
        self.port = port
        self.cookie = ""
        self.fields: dict[str, str] = {}
        self.page = ""
        self.get(f"/?{query}")

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str = "/", **headers: str) -> int:
        return self._ask("GET", path, None, headers)

    def post(self, path: str, fields: Mapping[str, str] | None = None, **headers: str) -> int:
        """Send a form as its page would; a redirect is followed."""
        body = urlencode({**self.fields, **(fields or {})})
        sent = {"content-type": "application/x-www-form-urlencoded", "origin": self.origin, **headers}
        return self._ask("POST", path, body, sent)

    def enter(self) -> None:
        """Agree, and go into the waiting room."""
        self.post("/consent")
        self.post("/instructions")

    def status(self) -> str:
        self.get()
        found = re.search(r'data-status="(\w+)"', self.page)
        return found[1] if found else ""

    def socket(self, origin: str | None = None) -> ClientConnection:
        return connect(
            f"ws://127.0.0.1:{self.port}/ws",
            origin=origin or self.origin,  # type: ignore[arg-type]
            additional_headers={"cookie": self.cookie},
            max_size=None,
        )

    def _ask(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, {"cookie": self.cookie, **headers})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        for name, value in answer.getheaders():
            if name == "set-cookie":
                self.cookie = value.partition(";")[0]
        if answer.status == 303:
            return self.get(answer.headers["location"])
        self.page = unescape(text)
        hidden = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', text)
        self.fields = {name: unescape(value) for name, value in hidden} or self.fields
        return answer.status


class Chat:
    """A person's open page: what it was told, from a cursor on."""

    def __init__(self, browser: Browser, after: int = 0) -> None:
        self._socket = browser.socket()
        self.socket = self._socket.__enter__()
        self.setup: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {"legal": []}
        self.status = ""
        self.frames: list[str] = []
        self._moves = 0
        self._after = after
        self.send({"type": "hello", "after": after})

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *exc: object) -> None:
        self._socket.__exit__(*exc)  # type: ignore[arg-type]

    @property
    def seen(self) -> int:
        return self._after + len(self.events)

    def send(self, frame: Any) -> None:
        self.socket.send(json.dumps(frame))

    def play(self, action: str, data: Any = None, cid: str = "") -> None:
        self._moves += 1
        self.send({"type": "move", "cid": cid or f"{id(self)}-{self._moves}", "action": action, "data": data})

    def until(self, wanted: Any, timeout: float = 20) -> None:
        """Read frames until `wanted()` is true."""
        while not wanted():
            text = self.socket.recv(timeout)
            assert isinstance(text, str)
            self.frames.append(text)
            frame = json.loads(text)
            if frame["type"] == "setup":
                self.setup = frame
            elif frame["type"] == "news":
                self.events += frame["events"]
                self.state = frame["state"]
            elif frame["type"] == "status":
                self.status = frame["status"]

    def wait_for(self, count: int) -> None:
        """Read until so many events were seen in all."""
        self.until(lambda: self.seen >= count)

    def wait_turn(self) -> None:
        """Read until an action is possible, or the dialogue is over."""
        self.until(lambda: self.state["legal"] or self.status not in ("", "chat", "waiting"))
