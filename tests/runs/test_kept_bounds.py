"""What a run keeps of players of others has a bound, and no method of theirs breaks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import birdenv
from birdenv import Move

HUGE = "x" * 2_000_000


def asker(view: Any) -> Any:
    asked = any(event.action == "clarify" for event in view.heard)
    return birdenv.submit_sql("SELECT 1") if asked else birdenv.clarify("What is roomy?")


def raising(view: Any) -> Any:
    raise ValueError(HUGE)


def answering(trace: Any) -> Callable[[Any], Move]:
    return lambda view: Move("answer", "Big ones.", trace)


class Faulty:
    """A player with a method that language models' players have, too."""

    made: Any = None

    def move(self, view: Any) -> Any:
        return birdenv.submit_sql("SELECT 1")

    def faults(self) -> Any:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


def size_of_run(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("agent", "user"),
    [
        (lambda view: Move(HUGE), "rule"),
        (lambda view: Move("clarify", [HUGE]), "rule"),
        (raising, "rule"),
        (asker, raising),
        (asker, answering({"call": HUGE, "target": "", "granted": []})),
        (asker, answering({"call": "labelled", "target": "roomy", "granted": [HUGE]})),
        (asker, answering({"call": "labelled", "target": "roomy", "granted": [""] * 200_000})),
        (asker, answering({"calls": {"encoder": [HUGE], "decoder": []}})),
        (asker, answering({"calls": {"encoder": ["a"] * 200_000, "decoder": []}})),
    ],
)
def test_a_run_keeps_the_beginning_only(tmp_path: Path, agent: Any, user: Any) -> None:
    birdenv.run_episodes("c-interact", agent, user=user, limit=1, output=tmp_path)
    assert size_of_run(tmp_path) < 100_000


@pytest.mark.parametrize(
    "calls", [5, {"encoder": 5, "decoder": []}, {"encoder": []}, {"encoder": [5], "decoder": []}]
)
def test_odd_calls_of_a_user_are_left_out(calls: Any) -> None:
    result = birdenv.run_episodes("c-interact", asker, user=answering({"calls": calls}), limit=1)
    assert result.records[0]["status"] == "completed"


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        ({"leak": 2}, {"system": {"leak": 2}}),
        ({HUGE: 1, (1, 2): 1, "leak": "much"}, None),
        (5, None),
        (RuntimeError("mine"), None),
    ],
)
def test_a_method_called_faults_may_mean_something_else(
    monkeypatch: pytest.MonkeyPatch, made: Any, kept: Any
) -> None:
    monkeypatch.setattr(Faulty, "made", made)
    [record] = birdenv.run_episodes("c-interact", Faulty, limit=1).records
    assert record["status"] == "completed" and record.get("model_faults") == kept
