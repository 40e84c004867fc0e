"""Many episodes with a language model at once, against what the model alone takes.

The model is the scripted server, in a process of its own, which waits before every answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Final

from birdenv.dialogue import make_game
from birdenv.llm import ModelSettings
from birdenv.runs import run_episodes
from birdenv.testing.openai_server import Call, Dialogue, Script, Turn
from birdenv_baselines.bench._measure import Bar, Figure, Line, time_added, times_as_long
from birdenv_baselines.bench._scoring_memory import anonymous_megabytes, own_megabytes
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_TURNS: Final = 5
_TASKS: Final = 20


@dataclass(frozen=True, slots=True)
class _Played:
    """A run: seconds, processor seconds of this process, calls, and the most MB of it and of its workers."""

    seconds: float
    processor: float
    calls: int
    own: float
    workers: float


def lines(setting: Setting) -> list[Line]:
    repeats, latency = (1, 0.2) if len(setting.sizes) == 1 else (10, 1.0)
    name = f"{_TASKS * repeats} episodes with a model at once"
    return [
        Line(
            name,
            f"{_TURNS} answers after {latency:g} s",
            partial(_against_ideal, setting.scratch, repeats, latency),
            Bar("at most", 1.3),
        ),
        Line(
            "a call of these, processor time",
            "nothing",
            partial(_a_call, setting.scratch, repeats, latency),
            Bar("at most", 5000.0),
        ),
        Line(
            "the same run, memory of the players' process",
            "nothing",
            partial(_memory, setting.scratch, repeats, latency),
            Bar("at most", 600.0),
        ),
    ]


def _against_ideal(scratch: Path, repeats: int, latency: float) -> Figure:
    played = _played(scratch, repeats, latency)
    load = os.getloadavg()[0]
    note = f"{played.processor:.1f} s of them on a processor; the machine's load is {load:.1f}"
    return times_as_long(played.seconds, _TURNS * latency, note=note)


def _a_call(scratch: Path, repeats: int, latency: float) -> Figure:
    played = _played(scratch, repeats, latency)
    return time_added(played.processor / played.calls, 0.0, note="with its part of the episode")


def _memory(scratch: Path, repeats: int, latency: float) -> Figure:
    played = _played(scratch, repeats, latency)
    return Figure(played.own, "MB", note=f"all statement workers together: {played.workers:.0f} MB")


@cache
def _played(scratch: Path, repeats: int, latency: float) -> _Played:
    with _server(scratch, latency) as (url, server):
        models = ModelSettings(base_url=url)
        tasks = _query_tasks()
        run_episodes("c-interact", "llm:model", instances=tasks[:1], models=models)  # imports, connections
        with _watched(server) as watched:
            began, processor = perf_counter(), process_time()
            found = run_episodes(
                "c-interact",
                "llm:model",
                instances=tasks,
                repeats=repeats,
                parallel=_TASKS * repeats,
                models=models,
                output=scratch,
            )
            seconds, used = perf_counter() - began, process_time() - processor
    own, workers = (max(each) for each in zip(*watched.megabytes, strict=True))
    return _Played(
        seconds, used - watched.processor, int(found.overall["usage"]["calls"]["total"]), own, workers
    )


@dataclass(slots=True)
class _Watched:
    """Memory of this process and of its workers, and the processor seconds that looking took."""

    megabytes: list[tuple[float, float]] = field(default_factory=list)
    processor: float = 0.0


@contextmanager
def _watched(server: int) -> Iterator[_Watched]:
    """Anonymous memory of this process, and of those below it but for the server, five times a second."""
    found = _Watched()
    ended = threading.Event()

    def watch() -> None:
        while True:
            own = own_megabytes(os.getpid())
            workers = anonymous_megabytes(os.getpid()) - own - own_megabytes(server)
            found.megabytes.append((own, workers))
            found.processor = thread_time()
            if ended.wait(0.2):
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def _query_tasks() -> tuple[str, ...]:
    """Tasks that only read: test cases of the others run in processes of their own."""
    with make_game("c-interact") as arena:
        found = [name for name in arena.ids if arena._tasks.private(name).category == "Query"]
        return tuple(found[:_TASKS])


@contextmanager
def _server(scratch: Path, latency: float) -> Iterator[tuple[str, int]]:
    """URL and process of a model that asks three times, and submits what is wrong twice."""
    questions = [f"What do you mean by 'roomy', part {n}?" for n in range(_TURNS - 2)]
    calls = [Call(name="clarify", arguments={"question": each}) for each in questions]
    calls += [Call(name="submit_sql", arguments={"sql": "SELECT 1"})] * 2
    script = Script(
        dialogues=(Dialogue(turns=tuple(Turn(calls=(call,)) for call in calls)),), latency=latency
    )
    file = scratch / "script.json"
    file.write_text(script.model_dump_json(), encoding="utf-8")
    command = [sys.executable, "-m", "birdenv.testing.openai_server", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.kill()
