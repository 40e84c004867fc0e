"""The server is killed while a game is on: nothing is scored wrongly, and the run goes on."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from birdenv import execute_sql, submit_sql
from birdenv.databases.postgres import Cluster
from birdenv.databases.postgres.server._paths import pid_file
from birdenv.demo import DEMO_C_INTERACT_FILE
from birdenv.dialogue import make_game
from birdenv.envs import BirdSqlEnv, CInteractEnv
from birdenv.run_settings import RunSettings
from birdenv.runs import RunDirectory, RunPlan, prepare, run


def kill_server() -> None:
    """`kill -9` of the postmaster of the embedded server."""
    os.kill(int(pid_file(Cluster().place.data)["pid"]), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("make", [CInteractEnv, pytest.param(BirdSqlEnv, marks=pytest.mark.kills)])
def test_an_environment_truncates_the_episode_and_the_next_one_works(
    demo: Path, cache: Path, make: Any
) -> None:
    own = {"execute_sql": True} if make is CInteractEnv else {}
    env = make(dialect="postgres", databases=["library"], **own)
    env.reset(options={"index": 0})
    env.step(execute_sql("CREATE TABLE mine AS SELECT 1 AS x"))
    kill_server()
    for _ in range(15):  # a session may outlive its postmaster by a moment
        observation, reward, terminated, truncated, info = env.step(execute_sql("SELECT x FROM mine"))
        if truncated:
            break
        assert "\n1\n" in observation["message"]
        time.sleep(0.1)
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "infra_error")
    assert observation in env.observation_space
    env.reset(options={"index": 0})
    observation, *_ = env.step(execute_sql("SELECT count(*) FROM members"))
    assert "36" in observation["message"]
    env.step(submit_sql("SELECT 1 FROM nowhere"))
    env.close()


def forty_tasks(demo: Path, folder: Path) -> Path:
    records = [json.loads(line) for line in (demo / DEMO_C_INTERACT_FILE).read_text().splitlines()]
    again = [record | {"instance_id": f"{record['instance_id']}_again"} for record in records]
    file = folder / "forty.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in [*records, *again][:40]))
    return file


def plan_of(demo: Path, file: Path) -> RunPlan:
    arena = make_game("c-interact", data_dir=str(demo), data=str(file), dialect="postgres")
    return RunPlan(arena, {0: "asks-first", 1: "rule"}, RunSettings(parallel=2))


@pytest.mark.slow
def test_a_run_of_40_tasks_killed_and_resumed_gives_the_same_figures(
    demo: Path, cache: Path, tmp_path: Path
) -> None:
    plan = plan_of(demo, forty_tasks(demo, tmp_path))
    undisturbed = RunDirectory.create(tmp_path / "undisturbed")
    prepare(undisturbed, plan.config(), resume=False)
    run(plan, undisturbed)
    disturbed = RunDirectory.create(tmp_path / "disturbed")
    prepare(disturbed, plan.config(), resume=False)
    seen: list[str] = []

    def disturb(record: Mapping[str, Any]) -> None:
        seen.append(record["status"])
        if len(seen) in (6, 17, 31):
            kill_server()
        if len(seen) == 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, disturbed, progress=disturb)
    kill_server()
    run(plan, disturbed, progress=disturb)
    assert len(seen) >= 40 and set(seen) == {"completed"}
    plan.arena.close()
    for name in ("overall.json", "summary.txt", "runs.jsonl"):
        assert (disturbed.path / name).read_bytes() == (undisturbed.path / name).read_bytes(), name
    assert json.loads((disturbed.path / "overall.json").read_text())["tasks"] == 40
