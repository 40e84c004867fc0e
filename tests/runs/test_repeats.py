"""Every task played several times: records, streams, resume, pass^k."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from arenas import bird, c_interact, plan_of, play
from test_runner import birdenv
from written_runs import bird_record, write_run

from birdenv.errors import InputError
from birdenv.runs import RunDirectory, prepare, run
from birdenv.runs.summaries import read_run, report
from birdenv.statistics import rounded, wilson

STREAMS = ("runs", "private", "timings")


def without_repeat(record: dict[str, Any]) -> dict[str, Any]:
    example = record.get("example")
    plain = {name: value for name, value in record.items() if name != "repeat"}
    return plain | ({"example": example | {"uuid": example["uuid"].removesuffix("_0")}} if example else {})


@pytest.mark.parametrize("make", [bird, c_interact])
def test_the_first_repeat_is_the_run_without_repeats(demo: Path, tmp_path: Path, make: Any) -> None:
    once = play(make(demo, 5), "random", tmp_path, repeats=1)
    thrice = play(make(demo, 5), "random", tmp_path, repeats=3)
    assert not [record for record in once.read("runs").values() if "repeat" in record]
    assert "repeats" not in once.read_config()
    records = list(thrice.read("runs").values())
    firsts = [without_repeat(record) for record in records if record["repeat"] == 0]
    assert firsts == list(once.read("runs").values())
    others = [without_repeat(record) for record in records if record["repeat"] == 1]
    assert others != firsts


@pytest.mark.parametrize("make", [bird, c_interact])
def test_records_name_their_repeat_in_task_order(demo: Path, tmp_path: Path, make: Any) -> None:
    game = make(demo, 4)
    directory = play(game, "random", tmp_path, repeats=3, parallel=3)
    order = [(name, repeat) for name in game.ids for repeat in range(3)]
    for stream in STREAMS:
        records = directory.read(stream).values()
        assert [(record["instance_id"], record["repeat"]) for record in records] == order
    uuids = [record["example"]["uuid"] for record in directory.read("runs").values() if "example" in record]
    assert len(set(uuids)) == len(uuids)
    alone = play(make(demo, 4), "random", tmp_path, repeats=3)
    for name in ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt"):
        assert (alone.path / name).read_bytes() == (directory.path / name).read_bytes()


def test_resume_plays_the_missing_repeats_only(demo: Path, tmp_path: Path) -> None:
    whole = play(bird(demo, 4), "random", tmp_path, repeats=3)
    kept = {name: (whole.path / name).read_bytes() for name in ("runs.jsonl", "overall.json", "summary.txt")}
    before = whole.read("timings")
    lines = whole.file("runs").read_text().splitlines(keepends=True)
    whole.file("runs").write_text("".join(lines[:5]))
    run(plan_of(bird(demo, 4), "random", repeats=3), whole)
    after = whole.read("timings")
    assert [name for name in before if before[name] == after[name]] == list(before)[:5]
    assert {name: (whole.path / name).read_bytes() for name in kept} == kept


def test_resume_with_other_repeats_is_refused(demo: Path, tmp_path: Path) -> None:
    directory = play(bird(demo, 2), "random", tmp_path, repeats=1)
    config = plan_of(bird(demo, 2), "random", repeats=3).config()
    with pytest.raises(InputError, match="repeats: 1 then, 3 now"):
        prepare(directory, config, resume=True)


@pytest.mark.kills
def test_a_killed_run_with_repeats_is_resumed(demo: Path, tmp_path: Path) -> None:
    arguments = ["bird", "--agent", "random", "-n", "6", "-p", "2", "--repeats", "60", "-o", str(tmp_path)]
    process = subprocess.Popen(
        birdenv(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    runs = tmp_path / "latest" / "runs.jsonl"
    deadline = time.monotonic() + 30
    while not (runs.exists() and runs.read_text().count("\n") >= 20):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(20) == -signal.SIGKILL
    assert 20 <= runs.read_text().count("\n") < 360
    assert "UNFINISHED" in report(read_run(runs.parent)).text()

    cut = RunDirectory.existing(runs.parent)
    run(plan_of(bird(demo, 6), "random", repeats=60), cut)
    whole = play(bird(demo, 6), "random", tmp_path / "whole", repeats=60)
    for name in ("runs.jsonl", "private.jsonl", "overall.json", "summary.txt"):
        assert (cut.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_what_the_summary_adds(demo: Path, tmp_path: Path) -> None:
    directory = play(bird(demo, 6), "random", tmp_path, repeats=3)
    overall = json.loads((directory.path / "overall.json").read_text())
    solved: dict[str, list[int]] = {}
    for record in directory.read("runs").values():
        solved.setdefault(record["instance_id"], []).append(record["result"]["ex"])
    rates = overall["pass"]["ex"]
    assert [rate["k"] for rate in rates] == [1, 2, 3]
    assert rates[0]["pass^k"] == rates[0]["pass@k"] == overall["figures"]["ex"]["value"]
    assert rates[2]["pass^k"] == round(sum(all(of) for of in solved.values()) / 6, 6)
    assert rates[2]["pass@k"] == round(sum(any(of) for of in solved.values()) / 6, 6)
    assert overall["figures"]["ex"]["value"] == rates[0]["pass^k"]
    assert overall["repeats"] == 3
    assert "k = 3" in (directory.path / "summary.txt").read_text()


def test_pass_rates_of_three_tasks_worked_out_by_hand(tmp_path: Path) -> None:
    """3 of 3, 2 of 3, 0 of 3: pass^2 = (1 + 1/3 + 0) / 3, pass@2 = (1 + 1 + 0) / 3."""
    records = [
        bird_record(name, repeat < solved, repeat=repeat)
        for name, solved in (("a", 3), ("b", 2), ("c", 0))
        for repeat in range(3)
    ]
    made = report(read_run(write_run(tmp_path / "run", records, repeats=3))).to_json()
    one, two, three = made["pass"]["ex"]
    assert (one["pass^k"], one["pass@k"]) == (0.555556, 0.555556)
    assert (two["pass^k"], two["pass@k"]) == (0.444444, 0.666667)
    assert (three["pass^k"], three["pass@k"]) == (0.333333, 0.666667)


def test_tasks_with_too_few_rated_repeats_are_left_out_of_k(tmp_path: Path) -> None:
    records = [bird_record("a", True, repeat=0), bird_record("a", False, repeat=1)]
    records += [bird_record("b", True, repeat=0), bird_record("b", True, repeat=1, status="infra_error")]
    made = report(read_run(write_run(tmp_path / "run", records, repeats=2))).to_json()
    one, two = made["pass"]["ex"]
    assert (one["tasks"], one["pass^k"]) == (2, 0.75)
    assert (two["tasks"], two["pass^k"], two["pass@k"]) == (1, 0.0, 1.0)


def test_a_task_counts_once_however_often_it_is_played(tmp_path: Path) -> None:
    """Playing the same three tasks ten times says no more about other tasks than playing them once."""
    records = [bird_record(name, name != "c", repeat=r) for name in "abc" for r in range(10)]
    made = report(read_run(write_run(tmp_path / "run", records, repeats=10)))
    interval = made.figures[0].over_tasks
    assert interval is not None
    assert interval.high - interval.low > 0.9


def test_success_in_all_repeats_is_not_certain_for_other_tasks(tmp_path: Path) -> None:
    """The interval is that of the same three tasks played once, also for pass^k, and as `analyze` has it."""
    records = [bird_record(name, True, repeat=r, database=name) for name in "abc" for r in range(4)]
    made = report(read_run(write_run(tmp_path / "run", records, repeats=4))).to_json()
    once = list(rounded(wilson(3, 3)))
    ex = made["figures"]["ex"]
    assert (ex["interval_over_tasks"], ex["method_over_tasks"]) == (once, "wilson")
    assert ex["interval_over_databases"] == once
    assert all(rate["pass^k_interval"] == rate["pass@k_interval"] == once for rate in made["pass"]["ex"])
