"""Runs written by hand: the files that a run leaves, with just the fields that its figures are read from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def bird_record(name: str, passed: bool, **fields: Any) -> dict[str, Any]:
    """`database` and `difficulty` may be given; so may `status` and `repeat`."""
    result = {
        "ex": int(passed),
        "ex_bird": int(passed),
        "difficulty": fields.pop("difficulty", "simple"),
        "db_id": fields.pop("database", "club"),
    }
    return {"instance_id": name, "status": "completed", **fields, "result": result}


def dialogue_record(name: str, *passed: tuple[int, str, float], **fields: Any) -> dict[str, Any]:
    """`passed` are the attempts that earned something: phase, `first` or `debug`, reward."""
    attempts = [{"phase": phase, "attempt": attempt, "reward": reward} for phase, attempt, reward in passed]
    groups = {"database": "club", "category": "Query", "difficulty": "Easy", "follow_up": "graded"}
    reward = round(sum(reward for _, _, reward in passed), 6)
    return (
        {"instance_id": name, "status": "completed", "reward": reward, "attempts": attempts} | groups | fields
    )


def write_run(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    *,
    game: str = "bird",
    tasks: Sequence[str] | None = None,
    **config: Any,
) -> Path:
    """A run folder; `tasks` are those of the records unless given."""
    names = list(dict.fromkeys(record["instance_id"] for record in records))
    settings: dict[str, Any] = {
        "game": game,
        "agent": "test",
        "seed": 0,
        "grader": "1",
        "data_sha256": "d",
        "databases_sha256": {"club": "c"},
        "tasks": list(tasks or names),
    }
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(settings | config))
    (folder / "runs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder
