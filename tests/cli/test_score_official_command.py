"""`birdenv c-interact --official-files` and `birdenv score-official`; what is said where there is no gold."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

TASKS = ["--instance", "coop_1", "--instance", "coop_M_1", "--instance", "library_3"]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def public_layout(demo: Path, folder: Path) -> Path:
    """The demo as the lite and full sets are published: that file's name, and no ground truth."""
    shutil.copytree(demo, folder, ignore=shutil.ignore_patterns("*.json", "c_interact.jsonl"))
    lines = []
    for line in (demo / "c_interact.jsonl").read_text().splitlines():
        record = json.loads(line)
        for solution in (record, record["follow_up"]):
            if solution:
                solution |= {"sol_sql": [], "external_knowledge": [], "test_cases": []}
        lines.append(json.dumps(record))
    (folder / "bird_interact_data.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_the_score_of_the_files_is_that_of_the_run(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("c-interact", "--agent", "never-asks", *TASKS, "-o", tmp_path, "--official-files")
    assert ran.code == 0, ran.err
    folder = tmp_path / "latest"
    assert "private (they contain the gold)" in ran.out and "private_official" in ran.out
    out = tmp_path / "score.json"
    ran = birdenv("score-official", folder, "--out", out)
    assert ran.code == 0, ran.err
    found, own = json.loads(out.read_text()), json.loads((folder / "overall.json").read_text())
    assert found.pop("notes") == []
    groups = {name: found.pop(name) for name in list(found) if name.startswith("by_")}
    assert found == {name: own[name] for name in found}
    for kind, names in own["by"].items():
        assert names.keys() == groups[f"by_{kind}"].keys()
        for name, figures in names.items():
            assert figures["phase_1"]["passed"] == groups[f"by_{kind}"][name]["phase_1"]["passed"]
    assert f" {own['official']['normalized_reward']:.4f} " in ran.out, "from 0 to 1"
    assert "(0.7a + 0.5b + 0.3c + 0.2d) / N, over N = 3 tasks" in ran.out
    assert birdenv("score-official", folder / "private_official", "--out", out).code == 0
    assert json.loads(out.read_text())["official"] == own["official"]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", ["1", "01"])
def test_the_bytes_are_the_same_in_every_process(birdenv: Command, tmp_path: Path, seeds: str) -> None:
    options = ("c-interact", "--agent", "asks-first", *TASKS, "--official-files", "-p", "2")
    assert birdenv(*options, "-o", tmp_path / "here").code == 0
    made = [bytes_of(tmp_path / "here" / "latest" / "private_official")]
    for seed in seeds:
        output = tmp_path / seed
        code = "import sys; from birdenv.cli import main; main()"
        subprocess.run(
            [sys.executable, "-c", code, *options, "-o", str(output)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        made.append(bytes_of(output / "latest" / "private_official"))
    assert all(each == made[0] for each in made) and len(made[0]) == 17


@pytest.mark.slow
def test_a_resumed_run_writes_what_an_undisturbed_one_writes(birdenv: Command, tmp_path: Path) -> None:
    play = ["c-interact", "--agent", "asks-first", *TASKS, "--official-files"]
    assert birdenv(*play, "-o", tmp_path / "whole").code == 0
    assert birdenv(*play[:-1], "-o", tmp_path / "cut").code == 0
    cut = (tmp_path / "cut" / "latest").resolve()
    for stream in ("runs", "private", "timings"):
        file = cut / f"{stream}.jsonl"
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:1]))
    assert not (cut / "private_official").exists()
    ran = birdenv(*play, "--resume", cut)
    assert ran.code == 0, ran.err
    whole = bytes_of(tmp_path / "whole" / "latest" / "private_official")
    assert bytes_of(cut / "private_official") == whole


@pytest.mark.every(2)
@pytest.mark.parametrize("named", ["sql_results.jsonl", "."])
def test_result_files_without_verdicts_are_graded(
    birdenv: Command, demo: Path, tmp_path: Path, named: str
) -> None:
    """All four attempts of each task count, as the pipeline's extraction leaves them."""
    assert birdenv("c-interact", "--agent", "oracle", *TASKS, "-o", tmp_path, "--official-files").code == 0
    folder, official = tmp_path / "results", tmp_path / "latest" / "private_official"
    folder.mkdir()
    for stage in ("sql_results", "sql_results_debug", "sql_results_fu"):
        rows = [json.loads(line) for line in (official / f"{stage}.jsonl").read_text().splitlines()]
        assert not any("status" in row for row in rows)
        if stage == "sql_results":
            rows[0]["pred_sqls"] = ["ERROR!"]
        (folder / f"{stage}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = demo / "c_interact.jsonl"
    ran = birdenv("score-official", folder / named, "--grade", "--data", data, "--profile", "strict")
    assert ran.code == 0, ran.err
    assert "phase 1 passed at once: a = 2, after debug: b = 1" in ran.out
    assert "phase 2 passed at once: c = 3, after debug: d = 0" in ran.out
    assert "the files contain no SQL for the task, which counts as failed" in ran.out
    assert birdenv("score-official", folder, "--grade").code == 2


def test_the_folder_above_a_run_has_its_latest_run(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    """Also with --grade, where a stage that no task reached has an empty file."""
    play = ("c-interact", "--agent", "oracle", "-o", tmp_path, "--official-files")
    assert birdenv(*play, *TASKS).code == 0
    latest = tmp_path / (tmp_path / "latest").readlink()
    grade = ("--grade", "--data", demo / "c_interact.jsonl")
    for options in ((), grade):
        ran = birdenv("score-official", tmp_path, *options)
        assert (ran.code, ran.err) == (0, ""), ran
        assert f"Read: {latest / 'private_official'}\n" in ran.out
        assert "phase 2 passed at once: c = 3, after debug: d = 0" in ran.out
    assert not (latest / "private_official" / "sql_results_fu_debug.jsonl").read_text()
    silent = tmp_path / "silent"
    silent.mkdir()
    (silent / "sql_results.jsonl").write_text('{"instance_id": "coop_1", "pred_sqls": []}\n')
    ran = birdenv("score-official", silent, *grade)
    assert (ran.code, ran.err) == (0, ""), "what is to be told is a note, not a warning of Python's"
    assert "Note: The agent" in ran.out, ran


def test_bad_arguments(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("c-interact", "--execute-sql", "--official-files", "-o", tmp_path)
    assert ran.code == 2 and "leave out --execute-sql" in ran.err and not list(tmp_path.iterdir())
    ran = birdenv("score-official", tmp_path)
    assert ran.code == 2 and "--official-files" in ran.err
    ran = birdenv("score-official", tmp_path / "nowhere")
    assert ran.code == 2 and "no such file" in ran.err
    ran = birdenv("score-official", tmp_path, "--out", tmp_path)
    assert ran.code == 2 and "is a directory" in ran.err


def test_tasks_of_the_data_file_that_were_not_played(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    assert birdenv("c-interact", "--agent", "oracle", *TASKS, "-o", tmp_path, "--official-files").code == 0
    ran = birdenv("score-official", tmp_path / "latest", "--data", demo / "c_interact.jsonl")
    assert ran.code == 0, ran.err
    assert "over N = 38 tasks" in ran.out
    assert "phase 1 passed at once: a = 3, after debug: b = 0" in ran.out
    assert "phase 2 passed at once: c = 3, after debug: d = 0" in ran.out
    assert "left out: 35 skipped" in ran.out and "infra_error" not in ran.out
    assert "a task in --data has no result" in ran.out


def test_missing_ground_truth_is_named(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    data = public_layout(demo, tmp_path / "lite")
    ran = birdenv(
        "c-interact", data, "--agent", "random", *TASKS, "-o", tmp_path / "runs", "--official-files"
    )
    assert ran.code == 0, ran.err
    assert "sol_sql of 3 tasks, test_cases of 1 task, follow_up.sol_sql of 3 tasks" in ran.err
    assert "bird.bench25@gmail.com" in ran.err and "[bird-interact-lite GT&Test Cases]" in ran.err
    ran = birdenv("score-official", tmp_path / "runs" / "latest")
    assert "left out: 3 ungraded" in ran.out
    ran = birdenv("data", "verify", data)
    assert ran.code == 1 and "bird.bench25@gmail.com" in ran.out


def test_test_cases_that_are_missing_in_ones_own_file_are_not_the_authors(
    birdenv: Command, demo: Path, tmp_path: Path
) -> None:
    data = shutil.copytree(demo, tmp_path / "own")
    records = [json.loads(line) for line in (data / "c_interact.jsonl").read_text().splitlines()]
    untested = [each | {"test_cases": []} for each in records if each["instance_id"] == "library_M_1"]
    (data / "c_interact.jsonl").write_text("".join(json.dumps(each) + "\n" for each in untested))
    ran = birdenv("c-interact", data, "--agent", "random", "-o", tmp_path / "runs")
    assert "test_cases of 1 task. A Management task needs at least one test case" in ran.err
    assert "e-mail" not in ran.err and "nothing is graded" not in ran.err


@pytest.mark.slow
def test_nothing_is_said_of_ground_truth_that_is_there(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("c-interact", "--agent", "random", *TASKS, "-o", tmp_path)
    assert (ran.code, ran.err) == (0, "")


def test_real_tasks(birdenv: Command, shared_data: Path, tmp_path: Path) -> None:
    data = shared_data / "mini_interact"
    arguments = ["--agent", "asks-first", "-n", "3", "-o", tmp_path, "--official-files"]
    ran = birdenv("c-interact", data, *arguments)
    assert ran.code == 0, ran.err
    assert "sol_sql of 3 tasks." in ran.err
    folder = tmp_path / "latest"
    own = json.loads((folder / "overall.json").read_text())
    assert birdenv("score-official", folder, "--out", tmp_path / "score.json").code == 0
    found = json.loads((tmp_path / "score.json").read_text())
    for name in ("official", "questions_asked", "questions_allowed", "answers"):
        assert found[name] == own[name]
    lines = (folder / "private_official" / "system_interaction.jsonl").read_text().splitlines()
    records = (data / "mini_interact.jsonl").read_text().splitlines()
    for line, record in zip(lines, records, strict=False):
        assert json.loads(record).items() <= json.loads(line).items()


def test_help_says_what_is_private(birdenv: Command) -> None:
    words = " ".join(birdenv("c-interact", "--help").out.split())
    assert "private_official" in words and "they contain the gold" in words
