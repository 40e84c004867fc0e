"""Exports that viewers of others open: Inspect's logs, and trajectories in ATIF."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
STEP_FIELDS = {"step_id", "source", "message", "tool_calls", "observation"}


@pytest.fixture
def run(birdenv: Command, tmp_path: Path) -> Path:
    assert birdenv("c-interact", "--agent", "asks-first", "-n", "3", "-o", tmp_path / "c").code == 0
    return tmp_path / "c"


def records(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "latest" / "runs.jsonl").read_text().splitlines()]


def test_trajectories_have_the_published_fields(birdenv: Command, run: Path, tmp_path: Path) -> None:
    """Of the format's version 1.7, as Harbor's model checks it: required fields, no other, ids in order."""
    assert birdenv("export", run, "--format", "atif", "-o", tmp_path / "atif").out.startswith(
        "3 trajectories"
    )
    files = sorted((tmp_path / "atif").iterdir())
    assert len(files) == 3
    for file, record in zip(files, records(run), strict=True):
        trajectory = json.loads(file.read_text())
        assert set(trajectory) == {
            "schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics", "extra"
        }  # fmt: skip
        assert trajectory["schema_version"] == "ATIF-v1.7"
        assert trajectory["agent"]["name"] == "asks-first" and trajectory["agent"]["version"]
        assert trajectory["extra"]["reward"] == record["reward"]
        steps = trajectory["steps"]
        assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
        assert trajectory["final_metrics"]["total_steps"] == len(steps)
        calls = []
        for step in steps:
            assert set(step) <= STEP_FIELDS and step["source"] in ("user", "agent", "system")
            own = {call["tool_call_id"] for call in step.get("tool_calls", ())}
            for result in step.get("observation", {"results": ()})["results"]:
                assert step["source"] == "agent" and result["source_call_id"] in own
            calls += step.get("tool_calls", ())
        moves = [event for event in record["example"]["events"] if event["agent"] == 0]
        assert [call["function_name"] for call in calls] == [event["action"] for event in moves]
        assert [next(iter(call["arguments"].values())) for call in calls] == [
            event["data"] for event in moves
        ]


def test_a_log_of_inspect_has_the_rewards_as_scores(birdenv: Command, run: Path, tmp_path: Path) -> None:
    assert birdenv("export", run, "--format", "inspect", "-o", tmp_path / "log.json").code == 0
    log = json.loads((tmp_path / "log.json").read_text())
    assert [sample["id"] for sample in log["samples"]] == [record["instance_id"] for record in records(run)]
    assert [sample["scores"]["reward"]["value"] for sample in log["samples"]] == [
        record["reward"] for record in records(run)
    ]
    figures = json.loads(birdenv("summary", run, "--json").out)["figures"]
    for score in log["results"]["scores"]:
        assert round(score["metrics"]["mean"]["value"], 6) == figures[score["name"]]["value"]


def test_inspect_opens_the_log(birdenv: Command, run: Path, tmp_path: Path) -> None:
    inspect_log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    birdenv("export", run, "--format", "inspect", "-o", tmp_path / "log.json")
    log = inspect_log.read_eval_log(str(tmp_path / "log.json"))
    assert (log.status, log.eval.task, len(log.samples)) == ("success", "birdenv/c-interact", 3)
    assert log.samples[0].scores["reward"].value == records(run)[0]["reward"]
    assert log.samples[0].messages[1].tool_calls[0].function == "clarify"


def test_nothing_private_is_exported(birdenv: Command, run: Path, tmp_path: Path) -> None:
    birdenv("export", run, "--format", "inspect", "-o", tmp_path / "log.json")
    birdenv("export", run, "--format", "atif", "-o", tmp_path / "atif")
    files = [tmp_path / "log.json", *(tmp_path / "atif").iterdir()]
    text = "".join(file.read_text() for file in files)
    lines = (run / "latest" / "private.jsonl").read_text().splitlines()
    secrets = [json.loads(line)["clear_query"] for line in lines]
    secrets += [sql for line in lines for sql in json.loads(line)["gold_sql"]]
    assert secrets and not [secret for secret in secrets if json.dumps(secret)[1:-1] in text]


def test_viewers_take_one_run_and_a_fitting_output(birdenv: Command, run: Path, tmp_path: Path) -> None:
    assert "accepts only one run" in birdenv("export", run, run, "--format", "atif").err
    (tmp_path / "file").write_text("")
    assert "is a file" in birdenv("export", run, "--format", "atif", "-o", tmp_path / "file").err
