"""Runs of a-Interact: same seed, same bytes; resumed after a kill; gold in the private file only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arenas
import pytest
from arenas import a_interact, plan_of, tasks_of

from birdenv.demo import DEMO_C_INTERACT_FILE
from birdenv.dialogue import Arena
from birdenv.errors import InputError
from birdenv.runs import RunDirectory, prepare
from birdenv.tasks.c_interact import load_benchmark

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tasks" / "c_interact"))
from toy_tasks import QUERY, write_benchmark  # noqa: E402


def play(arena: Arena, agent: str, folder: Path, **more: Any) -> tuple[RunDirectory, dict[str, Any]]:
    directory = arenas.play(arena, agent, folder, **more)
    return directory, json.loads((directory.path / "overall.json").read_text())


@pytest.mark.real_tasks
def test_the_oracle_solves_every_demo_task_with_two_submissions(demo: Path, tmp_path: Path) -> None:
    directory, found = play(a_interact(demo), "oracle", tmp_path)
    figures = found["figures"]
    assert (found["tasks"], figures["reward"]["value"]) == (38, 1.0)
    assert figures["phase_1"]["passed"] == figures["phase_2"]["passed"] == 38
    assert (found["submissions"], found["budget_used"], found["malformed"]) == (2, 6, 0)
    budgets = {
        record["instance_id"]: (record["budget"], record["budget_used"])
        for record in directory.read("runs").values()
    }
    for task in load_benchmark(demo, demo / DEMO_C_INTERACT_FILE).tasks:
        total = 6 + 2 * task.public.counted_ambiguities + 2 * 3
        assert budgets[task.public.instance_id] == (total, 6.0)


@pytest.mark.slow
def test_what_the_questions_cost(demo: Path, tmp_path: Path) -> None:
    directory, found = play(a_interact(demo, 12), "asks-first", tmp_path)
    for record in directory.read("runs").values():
        calls = record["calls"]
        assert set(calls) == {"clarify", "submit_sql"}
        spent = 2 * calls["clarify"] + 3 * calls["submit_sql"]
        assert record["budget_used"] == min(spent, record["budget"])
    assert found["answers"]["labelled"] > 0
    total = sum(found["answers"].values())
    assert found["answer_shares"] == {
        call: round(count / total, 6) for call, count in found["answers"].items()
    }
    summary = (directory.path / "summary.txt").read_text()
    assert f"{found['submissions']:.2f}" in summary and f"of {found['budget']:.2f}" in summary


@pytest.mark.every(2)
@pytest.mark.parametrize("agent", ["random", "asks-first"])
def test_parallel_runs_give_the_same_bytes(demo: Path, tmp_path: Path, agent: str) -> None:
    one, _ = play(a_interact(demo, 12), agent, tmp_path, seed=3)
    four, _ = play(a_interact(demo, 12), agent, tmp_path, seed=3, parallel=4)
    for name in ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt"):
        assert (one.path / name).read_bytes() == (four.path / name).read_bytes()


@pytest.mark.parametrize("number", [10, pytest.param(None, marks=pytest.mark.real_tasks)])
def test_gold_stays_out_of_the_public_files(demo: Path, tmp_path: Path, number: int | None) -> None:
    """Played by an agent that never saw gold, no public file holds it."""
    game = a_interact(demo, number)
    directory, found = play(game, "asks-first", tmp_path)
    texts = list(_texts([list(directory.read("runs").values()), directory.read_config(), found]))
    texts.append((directory.path / "summary.txt").read_text())
    private = list(_texts(list(directory.read("private").values())))
    for task in tasks_of(game):
        follow_up = task.private.follow_up
        for secret in (*task.private.gold, *(follow_up.gold if follow_up else ())):
            assert not [text for text in texts if secret in text], task.public.instance_id
            assert secret in private
        assert not [text for text in texts if task.private.brief.clear_query in text]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


@pytest.mark.parametrize("change", ["patience", "tasks", "seed", "agent"])
def test_resume_with_other_settings_is_refused(demo: Path, tmp_path: Path, change: str) -> None:
    directory, _ = play(a_interact(demo, 3), "oracle", tmp_path)
    game = a_interact(demo, 4 if change == "tasks" else 3, patience=4 if change == "patience" else 3)
    agent, seed = "random" if change == "agent" else "oracle", 7 if change == "seed" else 0
    with pytest.raises(InputError, match=change):
        prepare(directory, plan_of(game, agent, seed=seed).config(), resume=True)


def test_figures_of_a_debug_attempt_are_of_c_interact_alone(demo: Path, tmp_path: Path) -> None:
    """Every attempt earns the same, so none is told from another."""
    _, found = play(a_interact(demo, 3), "random", tmp_path)
    for figures in (found["figures"], found["official"], *found["by"]["category"].values()):
        assert {"phase_1", "phase_2", "phase_2_of_reached"} <= figures.keys()
        assert not figures.keys() & {"a", "b", "phase_1_first", "phase_1_debug_gain", "phase_2_first"}


def test_episodes_that_say_nothing_are_left_out(tmp_path: Path) -> None:
    folder = write_benchmark(
        tmp_path / "toy",
        QUERY,
        QUERY | {"instance_id": "club_2", "sol_sql": []},
        QUERY | {"instance_id": "club_3", "sol_sql": ["SELECT nope FROM member"]},
        QUERY | {"instance_id": "club_4", "follow_up": QUERY["follow_up"] | {"sol_sql": []}},
    )
    directory, found = play(a_interact(folder, ungraded="include"), "asks-first", tmp_path)
    assert found["status"] == {"completed": 2, "infra_error": 1, "ungraded": 1}
    figures = found["figures"]
    assert (figures["phase_1"]["total"], figures["phase_2"]["total"]) == (2, 1)
    assert found["follow_ups_without_gold"] == 1
    official = found["official"]
    assert (official["tasks"], official["valid"]) == (4, 2)
    assert official["left_out"] == {"infra_error": 1, "ungraded": 1}
    assert official["phase_2"]["total"] == 4  # end to end: over all tasks
    assert official["normalized_reward"] == pytest.approx(figures["reward"]["value"] * 2 / 4)
    summary = (directory.path / "summary.txt").read_text()
    assert "1 follow-up without gold" in summary and "neither graded nor counted" in summary
    _, by_oracle = play(a_interact(folder, ungraded="include"), "oracle", tmp_path)
    assert by_oracle["status"]["skipped"] == 1
    assert by_oracle["figures"]["reward"]["value"] == pytest.approx((1.0 + 0.7) / 2)


def birdenv(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from birdenv.cli import main; main()", "a-interact", *arguments]


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE), **extra}


@pytest.mark.kills
def test_a_run_that_is_killed_is_resumed_to_the_same_bytes(tmp_path: Path) -> None:
    """The agent is foreign: it plays from a process of its own, under another hash seed each time."""
    arguments = ["--agent", "foreign_agents:Slow", "-n", "10", "-p", "2"]
    subprocess.run(
        birdenv(*arguments, "-o", str(tmp_path / "whole")),
        env=environment(PYTHONHASHSEED="1"),
        capture_output=True,
        check=True,
    )
    process = subprocess.Popen(
        birdenv(*arguments, "-o", str(tmp_path / "cut")),
        env=environment(PYTHONHASHSEED="2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    runs = tmp_path / "cut" / "latest" / "runs.jsonl"
    deadline = time.monotonic() + 30
    while not (runs.exists() and runs.read_text().count("\n") >= 3):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    assert 3 <= runs.read_text().count("\n") < 10
    folder = (tmp_path / "cut" / "latest").resolve()
    subprocess.run(
        birdenv(*arguments, "--resume", str(folder)),
        env=environment(PYTHONHASHSEED="3"),
        capture_output=True,
        check=True,
    )
    for name in ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / "latest" / name).read_bytes()
