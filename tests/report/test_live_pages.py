"""`birdenv view`: the runs of a folder, to one who has the token, and as far as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
import uvicorn
from recorded_runs import played, records, secrets_of, write

from birdenv.report.live_pages import make_view_app

Command = Callable[..., Any]


class Answer(NamedTuple):
    status: int
    text: str
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Viewer:
    """A browser of one person, with the cookie of the address that was printed."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.cookie = port, ""
        opened = self.get(f"/open/{token}")
        assert opened.status == 303 and "httponly" in opened.headers["set-cookie"].lower()
        self.cookie = opened.headers["set-cookie"].partition(";")[0]

    def get(self, path: str, host: str | None = None, **query: str) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"cookie": self.cookie, "host": host or f"127.0.0.1:{self.port}"}
        connection.request("GET", f"{path}?{urlencode(query)}", headers=headers)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, answer.read().decode(), found)


@contextmanager
def viewing(root: Path, **options: Any) -> Iterator[Viewer]:
    app, token = make_view_app(root, **options)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", timeout_graceful_shutdown=1))
    socket = server.config.bind_socket()
    socket.listen()
    thread = Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    try:
        yield Viewer(socket.getsockname()[1], token)
    finally:
        server.should_exit = True
        thread.join(10)
        socket.close()


@pytest.fixture
def root(birdenv: Command, tmp_path: Path) -> Path:
    for agent in ("never-asks", "asks-first"):
        played(birdenv, tmp_path / "results" / agent, "c-interact", "--agent", agent, "-n", "4")
    return tmp_path / "results"


def names(viewer: Viewer) -> list[str]:
    return [line["name"] for line in viewer.get("/data/runs").json]


@pytest.mark.slow
def test_the_runs_of_a_folder_and_one_beside_the_other(root: Path) -> None:
    with viewing(root) as viewer:
        lines = viewer.get("/data/runs").json
        assert [(line["done"], line["expected"]) for line in lines] == [(4, 4), (4, 4)]
        one, two = (line["name"] for line in lines)
        both = viewer.get("/data/overview", a=one, b=two).json
        assert {run["agent"] for run in both} == {"never-asks", "asks-first"}
        shown = viewer.get("/data/episode-1-2", a=one, b=two).json
        assert shown["name"] == both[1]["rows"][2]["name"]
        for page in ("/", "/run"):
            assert "<script src=" in viewer.get(page, a=one).text


def test_nothing_private_is_served_unless_asked_for(root: Path) -> None:
    secrets = set[str]().union(*(secrets_of(path) for path in root.glob("*/latest")))
    for private in (False, True):
        with viewing(root, private=private) as viewer:
            texts = [viewer.get("/data/runs").text]
            for name in names(viewer):
                texts.append(viewer.get("/data/overview", a=name).text)
                texts += [viewer.get(f"/data/episode-0-{place}", a=name).text for place in range(4)]
        served = "".join(texts)
        found = {secret for secret in secrets if json.dumps(secret)[1:-1].replace("<", "\\u003c") in served}
        assert found == (secrets if private else set())


@pytest.mark.every(2)
@pytest.mark.parametrize("path", ("/", "/run", "/data/runs", "/data/overview", "/data/episode-0-0"))
def test_without_the_token_nothing_is_shown(root: Path, path: str) -> None:
    with viewing(root) as viewer:
        viewer.cookie, cookie = "", viewer.cookie
        assert viewer.get(path).status == 403 and viewer.get("/open/guessed").status == 403
        viewer.cookie = cookie
        assert viewer.get("/", host="evil.example").status == 400  # DNS rebinding


@pytest.mark.slow
def test_a_run_that_goes_on_is_read_again(root: Path) -> None:
    run = (root / "never-asks" / "latest").resolve()
    whole = records(run, "runs")
    write(run, "runs", whole[:1])
    with viewing(root) as viewer:
        [name] = [name for name in names(viewer) if name.startswith("never-asks")]
        assert viewer.get("/data/overview", a=name).json[0]["done"] == 1
        write(run, "runs", whole[:3])
        [now] = viewer.get("/data/overview", a=name).json
        assert (now["done"], now["expected"], len(now["rows"])) == (3, 4, 3)
        [line] = [line for line in viewer.get("/data/runs").json if line["name"] == name]
        assert line["done"] == 3 and line["figure"]["count"] == 3


@pytest.mark.slow
def test_broken_and_empty_runs_say_so(root: Path, tmp_path: Path) -> None:
    run = (root / "never-asks" / "latest").resolve()
    (run / "config.json").write_text("{")
    empty = (root / "asks-first" / "latest").resolve()
    write(empty, "runs", [])
    with viewing(root) as viewer:
        asks, never = sorted(viewer.get("/data/runs").json, key=lambda line: str(line["name"]))
        assert "config.json" in never["error"]
        assert asks["done"] == 0 and asks["figure"] is None
        answer = viewer.get("/data/overview", a=asks["name"])
        assert (answer.status, "no episode has finished yet" in answer.text) == (409, True)
        assert viewer.get("/data/overview", a="../../etc").status == 404
        assert viewer.get("/data/episode-0-99", a="../x").status == 404
    (tmp_path / "nothing").mkdir()
    with viewing(tmp_path / "nothing") as viewer:
        assert viewer.get("/data/runs").json == []


def test_a_folder_that_is_not_there_is_refused(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("view", tmp_path / "none")
    assert ran.code == 2 and "is not a folder" in ran.err
