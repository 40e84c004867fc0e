"""Engines: the same bytes wherever episodes are played, whatever dies, and no record too few or too many."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY

from birdenv import make_game, run_episodes
from birdenv.demo import DEMO_BIRD_FILE
from birdenv.dialogue import Move
from birdenv.engines import Job, JobResult, Work, _processes
from birdenv.engines._processes import Processes
from birdenv.engines._threads import Threads
from birdenv.errors import InputError, RunEndedError
from birdenv.llm import ModelSettings
from birdenv.run_settings import RunSettings
from birdenv.runs import RunPlan, RunResult
from birdenv.testing.openai_server import Server

SAME = ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt")
CALLS = "private_calls.jsonl"


@pytest.fixture(autouse=True)
def one_worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one process play several episodes at once; starting more costs time and shows nothing more."""
    monkeypatch.setattr(_processes, "processors", lambda: 1)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def contents(result: RunResult, *more: str) -> dict[str, bytes]:
    assert result.folder is not None
    return {name: (result.folder / name).read_bytes() for name in (*SAME, *more)}


def play(folder: Path, engine: Any, agent: Any = "asks-first", game: str = "bird", **more: Any) -> RunResult:
    settings = {"limit": 4, "parallel": 2, "seed": 5} | more
    return run_episodes(game, agent, engine=engine, output=folder, **settings)


@pytest.mark.parametrize(
    ("game", "agent"),
    [
        ("bird", "random"),
        pytest.param("c-interact", "asks-first", marks=pytest.mark.slow),
        pytest.param("a-interact", "asks-first", marks=pytest.mark.slow),
        pytest.param("mutual-friends", "rulebased", marks=pytest.mark.slow),
        pytest.param("bird", "deadly_agents:First", marks=pytest.mark.slow),
    ],
)
def test_processes_give_the_bytes_of_threads(tmp_path: Path, game: str, agent: str) -> None:
    here = play(tmp_path / "a", "threads", agent, game)
    there = play(tmp_path / "b", "processes", agent, game)
    assert contents(here) == contents(there)
    config = json.loads((there.folder / "config.json").read_text())  # type: ignore[operator]
    assert (config["run_engine"], config["workers"], config["parallel"]) == ("processes", 1, 2)
    workers = {json.loads(line)["worker"] for line in (there.folder / "timings.jsonl").open()}  # type: ignore[operator]
    assert len(workers) == 1 and os.getpid() not in workers


@pytest.mark.slow
def test_language_models_hold_in_workers(demo_server: Server, tmp_path: Path) -> None:
    models = ModelSettings(base_url=demo_server.url)
    runs = [
        play(tmp_path / engine, engine, "llm:scripted", "c-interact", models=models, limit=3)
        for engine in ("threads", "processes")
    ]
    assert contents(runs[0], CALLS) == contents(runs[1], CALLS)
    assert {request.headers["authorization"] for request in demo_server.requests} == {f"Bearer {KEY}"}
    before = len(demo_server.requests)
    replayed = play(
        tmp_path / "replayed",
        "processes",
        "llm:scripted",
        "c-interact",
        models=models.model_copy(update={"replay": runs[0].folder}),
        limit=3,
    )
    assert contents(replayed, CALLS) == contents(runs[0], CALLS)
    assert len(demo_server.requests) == before


def test_what_travels_names_the_endpoint_and_no_key(
    own_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    settings = RunSettings(engine="processes", models=ModelSettings(prices=Path("prices.json")))
    with make_game("bird", limit=1) as arena:
        work = RunPlan(arena, {0: "llm:m"}, settings).work(travels=True)
    sent = pickle.dumps(work)
    assert KEY.encode() not in sent
    found = pickle.loads(sent).run.models
    assert (found.base_url, found.prices) == ("http://127.0.0.1:9/v1", Path("prices.json").absolute())
    assert found.user_base_url == found.base_url


@pytest.mark.slow
def test_a_budget_holds_over_all_workers(demo_server: Server, tmp_path: Path) -> None:
    models = ModelSettings(base_url=demo_server.url, run_tokens=1)
    with pytest.raises(RunEndedError, match="--max-tokens is reached"):
        play(tmp_path, "processes", "llm:scripted", "bird", models=models)
    folder = (tmp_path / "latest").resolve()
    assert len((folder / CALLS).read_text().splitlines()) <= 2 * 2  # calls of the episodes in flight
    resumed = run_episodes(
        "bird",
        "llm:scripted",
        resume=folder,
        limit=4,
        seed=5,
        models=models.model_copy(update={"run_tokens": None}),
        engine="processes",
    )
    whole = play(
        tmp_path / "whole", "threads", "llm:scripted", models=ModelSettings(base_url=demo_server.url)
    )
    assert contents(resumed, CALLS) == contents(whole, CALLS)


@pytest.mark.slow
def test_a_killed_worker_changes_no_byte(tmp_path: Path) -> None:
    agent = f"deadly_agents:Once:{tmp_path / 'mark'}"
    killed = play(tmp_path / "killed", "processes", agent)
    assert (tmp_path / "mark").exists()
    assert contents(killed) == contents(play(tmp_path / "whole", "processes", agent))


@pytest.mark.slow
def test_a_poisoned_episode_costs_itself_only(tmp_path: Path) -> None:
    poisoned = sorted(make_game("bird", limit=4).ids)[1]
    records = play(tmp_path, "processes", f"deadly_agents:Poison:{poisoned}").records
    assert {record["instance_id"]: record["status"] for record in records} == {
        record["instance_id"]: "infra_error" if record["instance_id"] == poisoned else "completed"
        for record in records
    }
    [lost] = [record for record in records if record["status"] == "infra_error"]
    assert (
        "this episode lost 3 workers; the last error was: a worker process was lost: it was ended by SIGKILL"
        in lost["error"]
    )


@pytest.mark.kills
@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing_and_goes_on_elsewhere(
    tmp_path: Path, birdenv: Any, kill: signal.Signals
) -> None:
    check_ended(tmp_path, birdenv, kill, "--engine", "processes")


def check_ended(tmp_path: Path, birdenv: Any, kill: signal.Signals, *engine: str) -> None:
    """End a run in the middle by a signal; nothing of it is left, and it goes on in threads."""
    agent = f"deadly_agents:Slow:{tmp_path}"  # the path tells its processes from those of other runs
    options = ["bird", "--agent", agent, "-n", "12", "-p", "4", "-o", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-c", "from birdenv.cli import main; main()", *options, *engine],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        start_new_session=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    file = tmp_path / "latest" / "runs.jsonl"
    wait_for(lambda: file.exists() and file.stat().st_size > 0)
    os.kill(process.pid, kill)
    _, errors = process.communicate(timeout=60)
    assert b"Traceback" not in errors
    wait_for(lambda: not [pid for pid in map(int, marks(tmp_path)) if Path(f"/proc/{pid}").exists()])
    assert 0 < len(file.read_text().splitlines()) < 12
    resumed = birdenv("bird", "--resume", tmp_path, "--engine", "threads")
    assert resumed.code == 0, resumed.err
    whole = play(tmp_path / "whole", "threads", agent, limit=12, seed=0, parallel=4)
    run = (tmp_path / "latest").resolve()
    for name in SAME:
        assert (run / name).read_bytes() == contents(whole)[name]
    assert json.loads((run / "config.json").read_text())["run_engine"] == "threads"


def marks(folder: Path) -> list[str]:
    """Return the ids of the processes that have played the agent `Slow`."""
    return [path.name.removeprefix("pid-") for path in folder.glob("pid-*")]


def wait_for(happens: Any, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.1)


class Faulty(Threads):
    """An engine that changes what it gives."""

    def __init__(self, fault: Any) -> None:
        super().__init__(1)
        self._fault = fault

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterator[JobResult]:
        return iter(self._fault(list(super().__call__(work, jobs))))


def _made_up(found: list[JobResult]) -> list[JobResult]:
    records = {stream: {**record, "instance_id": "x"} for stream, record in (found[0].records or {}).items()}
    return [*found, JobResult(records)]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda found: found[1:], "returned no record of 1: "),
        (lambda found: [found[0], *found], "returned an unexpected record of 1: "),
        (_made_up, "returned an unexpected record of x: "),
        (lambda found: [], "no record of 1, 2, 3, 4: "),
    ],
)
def test_an_engine_that_loses_repeats_or_makes_up_records_is_found_out(
    tmp_path: Path, fault: Any, says: str
) -> None:
    with pytest.raises(RunEndedError, match=says):
        play(tmp_path, Faulty(fault), "never-asks")
    lines = (
        [json.loads(line)["instance_id"] for line in (tmp_path / "latest" / "runs.jsonl").open()]
        if (tmp_path / "latest" / "runs.jsonl").exists()
        else []
    )
    assert len(lines) == len(set(lines)) and "x" not in lines


def test_what_is_in_flight_when_a_run_ends_is_kept(tmp_path: Path) -> None:
    engine = Faulty(lambda found: [JobResult(None, ended="all is spent"), *found[1:]])
    with pytest.raises(RunEndedError, match="all is spent"):
        play(tmp_path, engine, "never-asks")
    assert len((tmp_path / "latest" / "runs.jsonl").read_text().splitlines()) == 3


class Untouched:
    """An engine elsewhere that must not be asked for anything."""

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterator[JobResult]:
        raise AssertionError("the engine was asked")


@pytest.mark.parametrize("agent", [lambda view: Move("submit_sql", "SELECT 1"), "human"])
def test_players_that_cannot_travel_are_refused_before_a_worker_starts(tmp_path: Path, agent: Any) -> None:
    with pytest.raises(InputError, match="'threads' engine"):
        play(tmp_path, Untouched(), agent)
    assert not list(tmp_path.iterdir())


class InFolder(Processes):
    """Processes in another folder, as another machine would have it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(1)
        self._folder = str(folder)

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterator[JobResult]:
        return super().__call__(replace(work, folder=self._folder), jobs)


@pytest.fixture
def two_folders(tmp_path: Path, demo: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders with the demo's data; the run is in the first."""
    folders = (tmp_path / "here", tmp_path / "there")
    for folder in folders:
        shutil.copytree(demo, folder / "data")
    monkeypatch.chdir(folders[0])
    return folders


RELATIVE = {"db_dir": "data", "data_file": f"data/{DEMO_BIRD_FILE}"}


def test_other_data_at_the_same_path_is_an_error_that_names_it(two_folders: tuple[Path, Path]) -> None:
    with sqlite3.connect(two_folders[1] / "data" / "library" / "library.sqlite") as there:
        there.execute("DELETE FROM loans")
    with pytest.raises(InputError, match=r"the worker on \S+: .*: databases_sha256 \(library\);"):
        play(Path("runs"), InFolder(two_folders[1]), "never-asks", **RELATIVE)


def test_a_machine_without_the_data_is_named(two_folders: tuple[Path, Path]) -> None:
    shutil.rmtree(two_folders[1] / "data")
    with pytest.raises(InputError, match=r"the worker on \S+: data"):
        play(Path("runs"), InFolder(two_folders[1]), "never-asks", **RELATIVE)


AGENT = """
from birdenv.demo import DEMO_BIRD_FILE
from birdenv.dialogue import Move
def submits(view):
    return Move("submit_sql", view.candidates[0])
"""


@pytest.mark.slow
def test_an_agent_that_only_the_workers_have(two_folders: tuple[Path, Path]) -> None:
    (two_folders[1] / "only_there.py").write_text(AGENT)
    found = play(Path("runs"), InFolder(two_folders[1]), "only_there:submits", **RELATIVE)
    assert [record["status"] for record in found.records] == ["completed"] * 4


@pytest.mark.slow
def test_an_agent_that_only_the_run_has_is_refused(
    two_folders: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    (two_folders[0] / "only_here.py").write_text(AGENT)
    with pytest.raises(InputError, match=r"the worker on \S+: .*module 'only_here' is neither installed"):
        play(Path("runs"), InFolder(two_folders[1]), "only_here:submits", **RELATIVE)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"engine": "trains"}, "unknown engine 'trains'; known engines: processes, ray, threads"),
        ({"engine": "threads", "address": "auto"}, "the 'threads' engine does not use an address"),
        ({"engine": "threads", "parallel": 0}, "parallel must be at least 1, got 0"),
        ({"engine": "threads", "shard": "4/3"}, "shard: must be I/N .* such as 3/16, got '4/3'$"),
        ({"engine": "threads", "move_timeout": 0}, "move_timeout must be at least 0.001, got 0"),
    ],
)
def test_settings_that_cannot_be_used(tmp_path: Path, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        play(tmp_path, **settings)
    assert not list(tmp_path.iterdir())


def test_run_episodes_takes_what_is_declared_and_with_its_defaults() -> None:
    taken = inspect.signature(run_episodes).parameters
    for name, declared in RunSettings.model_fields.items():
        default = declared.get_default(call_default_factory=True)
        assert taken[name].default == (None if name in ("options", "models") else default), name


def test_requests_at_a_time_bound_the_episodes_of_all_workers() -> None:
    models = ModelSettings(max_concurrency=3)
    settings = RunSettings(engine="processes", parallel=8, models=models)
    with make_game("bird", limit=1) as arena:
        opened = RunPlan(arena, {0: "never-asks"}, settings).open()
        assert opened.engine._parallel == 3  # type: ignore[attr-defined]


if sys.platform != "linux":
    pytest.skip("workers are ended with their run by Linux", allow_module_level=True)
