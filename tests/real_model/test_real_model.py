"""A real small model in both seats, and its recorded calls played again.

It is asserted on what the protocol says, not on scores. `make test-llm` plays it, and with
`BIRDENV_RECORD=1` writes the recording anew, which every test run replays.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from birdenv.llm import ModelSettings
from birdenv.runs import run_episodes

RECORDING = Path(__file__).parent / "smollm2_calls.jsonl"
TASKS = ("library_2", "library_6")


def played(output: Path, **settings: Any) -> Any:
    models = ModelSettings(prompts="compact", temperature=0.0, **settings)
    return run_episodes(
        "c-interact",
        "llm-markup:smollm2",
        user="llm:smollm2",
        instances=TASKS,
        patience=1,
        models=models,
        output=output,
    )


def check(result: Any) -> None:
    """Every episode ends by the rules; the model asks with tags, is answered, and submits fenced SQL.

    In the user's seat it chooses a point, and words what it was granted.
    """
    assert [record["instance_id"] for record in result.records] == list(TASKS)
    actions = [event["action"] for record in result.records for event in record["example"]["events"]]
    assert {record["status"] for record in result.records} <= {"completed", "task limit reached"}
    assert actions.count("clarify") == actions.count("answer") > 0
    assert actions.count("submit_sql") >= len(TASKS)
    for record in result.records:
        asked = sum(event["action"] == "clarify" for event in record["example"]["events"])
        assert record["usage"]["calls"] > asked == record["questions"]
        assert record["usage_of_others"]["user"]["calls"] >= asked
        assert 0.0 <= record["reward"] <= 1.0 and record["attempts"]
    private = [json.loads(line) for line in (result.folder / "private.jsonl").read_text().splitlines()]
    answers = [entry for each in private for entry in each["log"] if entry["kind"] == "answer"]
    assert any(entry["call"] == "labelled" and entry["granted"] and not entry["guard"] for entry in answers)


@pytest.mark.real_model
def test_a_real_model_plays_both_seats(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="needs llama-cpp-python: make test-llm")
    from small_model import served

    with served() as url:
        result = played(tmp_path, base_url=url)
    check(result)
    if os.environ.get("BIRDENV_RECORD"):
        shutil.copy(result.folder / "private_calls.jsonl", RECORDING)


def test_its_recorded_calls_play_the_same_again(tmp_path: Path) -> None:
    result = played(tmp_path, replay=RECORDING, base_url="http://127.0.0.1:9/v1")
    check(result)
    assert (result.folder / "private_calls.jsonl").read_text() == RECORDING.read_text()
