"""Compare the time for many simultaneous language-model episodes with the time that the model alone needs.

The model is a scripted server in its own process, and waits before every answer.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

from birdenv.dialogue import make_game
from birdenv.llm import ModelSettings
from birdenv.runs import run_episodes
from birdenv.testing.openai_server import Call, ScriptedDialogue, ScriptedTurn, ServerScript
from birdenv_baselines.bench._measure import Bar, Figure, Line, Setting

__all__ = ["SECONDS", "lines", "readers", "scripted_model"]

_TURNS: Final = 5
_TASKS: Final = 20
SECONDS: Final = 1.0


def lines(quick: bool) -> list[Line]:
    """Return the line about episodes with a model; `quick` plays 20 episodes instead of 200."""
    name = f"{_TASKS if quick else 10 * _TASKS} episodes with a model at once"
    return [Line(name, f"{_TURNS} answers after {SECONDS:g} s", _at_once, Bar("at most", 1.3))]


def _at_once(setting: Setting) -> Figure:
    repeats = 1 if setting.quick else 10
    tasks = readers()
    with scripted_model(setting.scratch) as url:
        models = ModelSettings(base_url=url)
        run_episodes("c-interact", "llm:model", instances=tasks[:1], models=models)  # imports, connections
        began, processor = perf_counter(), process_time()
        found = run_episodes(
            "c-interact",
            "llm:model",
            instances=tasks,
            repeats=repeats,
            parallel=_TASKS * repeats,
            models=models,
        )
        seconds, used = perf_counter() - began, process_time() - processor
    wrong = [record for record in found.records if record["status"] != "completed"]
    if wrong or len(found.records) != len(tasks) * repeats:
        raise RuntimeError(f"{len(wrong)} of {len(found.records)} episodes were not completed")
    ideal = _TURNS * SECONDS
    calls = int(found.overall["usage"]["calls"]["total"])
    note = f"one run; {used / calls * 1e3:.1f} ms of this process's CPU time for each of {calls:,} calls"
    return Figure(seconds / ideal, "x", seconds, ideal, note=note)


def readers() -> tuple[str, ...]:
    """Return the ids of demo tasks that only read data.

    Management tasks are excluded, because their test cases in Python take longer.
    """
    with make_game("c-interact") as arena:
        return tuple([name for name in arena.ids if "_M_" not in name][:_TASKS])


@contextmanager
def scripted_model(scratch: Path) -> Iterator[str]:
    """Yield the URL of a model that asks three questions and then submits wrong SQL twice."""
    questions = [f"What do you mean by 'roomy', part {n}?" for n in range(_TURNS - 2)]
    calls = [Call(name="clarify", arguments={"question": each}) for each in questions]
    calls += [Call(name="submit_sql", arguments={"sql": "SELECT 1"})] * 2
    turns = tuple(ScriptedTurn(calls=(call,)) for call in calls)
    file = scratch / "script.json"
    script = ServerScript(dialogues=(ScriptedDialogue(turns=turns),), latency=SECONDS)
    file.write_text(script.model_dump_json(), encoding="utf-8")
    command = [sys.executable, "-m", "birdenv.testing.openai_server", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()
