"""What is published for PostgreSQL, played on databases that were converted from SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.benchmarks import merge_files
from birdenv.files import write_records

Birdenv = Callable[..., Any]
TWO = ("--database", "superhero", "--database", "financial")

EX = {  # passed of 84: by multisets with a tolerance, and by the official set rule
    "gpt-35-turbo-instruct": (35, 36),
    "gpt-35-turbo": (36, 37),
    "gpt-4-32k": (51, 47),
    "gpt-4-turbo": (48, 48),
    "gpt-4": (49, 47),
    "meta-llama-3-70b-instruct-2": (38, 37),
    "meta-llama-3-8b-instruct-2": (29, 30),
    "mistralai-mixtral-8x7b-instru-4": (13, 13),
    "phi-3-medium-128k-instruct-1": (24, 24),
}


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["strict", "shell"])
def test_the_tasks_whose_golds_passed_the_official_evaluator(
    birdenv: Birdenv, postgres_dsn: str, shared_data: Path, profile: str, tmp_path: Path
) -> None:
    folder = shared_data / "mini_interact"
    truth = folder / "published_passing_gt.jsonl"
    merged = merge_files(folder / "mini_interact.jsonl", truth, partial=True)
    names = [json.loads(line)["instance_id"] for line in truth.read_text().splitlines()]
    assert len(names) == 2
    write_records(tmp_path / "tasks.jsonl", merged.records)
    instances = [part for name in names for part in ("--instance", name)]
    options = ("--data", tmp_path / "tasks.jsonl", "--profile", profile, "--agent", "oracle", *instances)
    ran = birdenv("c-interact", folder, *options, "--dialect", "postgres", "-o", tmp_path / "runs")
    assert ran.code == 0, ran.err
    runs = (tmp_path / "runs" / "latest" / "runs.jsonl").read_text().splitlines()
    assert {json.loads(run)["instance_id"]: json.loads(run)["reward"] for run in runs} == dict.fromkeys(
        names, 1.0
    )


@pytest.mark.slow
def test_the_golds_of_mini_dev_pass_their_own_grading(
    birdenv: Birdenv, postgres_dsn: str, shared_data: Path
) -> None:
    folder = shared_data / "mini_dev"
    golds = folder / "mini_dev_postgresql_2024.json"
    ran = birdenv("self-check", golds, folder / "dev_databases", "--dialect", "postgres", *TWO)
    assert ran.code == 0, ran
    assert "84/84 golds pass their own grading" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize("model", EX)
def test_the_published_predictions(
    birdenv: Birdenv, postgres_dsn: str, shared_data: Path, model: str, tmp_path: Path
) -> None:
    folder = shared_data / "mini_dev"
    file = folder / "predictions_postgresql" / f"predict_mini_dev_{model}_postgresql.json"
    golds = (folder / "mini_dev_postgresql_2024.json", folder / "dev_databases")
    agent = ("--agent", f"predictions:{file}", "--predictions-order", "2024")
    ran = birdenv("bird", *golds, "--dialect", "postgres", *TWO, *agent, "-p", 2, "-o", tmp_path)
    assert ran.code == 0, ran.err
    overall = json.loads((tmp_path / "latest" / "overall.json").read_text())
    assert (overall["figures"]["ex"]["passed"], overall["figures"]["ex_bird"]["passed"]) == EX[model]
    assert overall["episodes"]["rated"] == 84 and "infra_error" not in overall["status"]
