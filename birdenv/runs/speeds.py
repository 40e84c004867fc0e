"""R-VES of a run: `r_ves.jsonl`, apart from the other records, because no two measurements are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import exists, read_records, write_records
from birdenv.grading import SpeedMeasurement, time_ratio
from birdenv.runs._run_folder import episode_name

_FILE = "r_ves.jsonl"
_NAME = ("instance_id", "repeat")


def speed_record(run: Mapping[str, Any], measured: SpeedMeasurement | None) -> dict[str, Any]:
    """What is kept of one rated episode; `measured` is None where its results do not agree, so that it has 0.

    `time_ratio`: how many times longer the gold takes. `runs`: of each query.
    """
    record: dict[str, Any] = {name: run[name] for name in _NAME if name in run}
    if measured is None:
        return record | {"r_ves": 0.0}
    record |= {"r_ves": measured.score, "runs": len(measured.gold_seconds)}
    if measured.error:
        return record | {"error": measured.error}
    return record | {"time_ratio": round(time_ratio(measured.gold_seconds, measured.pred_seconds), 4)}


def write_speeds(folder: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write the file of a run folder."""
    write_records(folder / _FILE, records)


def read_speeds(folder: Path) -> dict[str, float]:
    """R-VES by `episode_name`; empty where it was not measured. `InputError` for a file that is damaged."""
    path = folder / _FILE
    if not exists(path):
        return {}
    scores = {}
    for number, record in enumerate(read_records(path, "speeds"), 1):
        name, repeat, score = (record.get(field) for field in (*_NAME, "r_ves"))
        if not isinstance(name, str) or not isinstance(score, int | float) or isinstance(score, bool):
            raise InputError(f"{path}: record {number} needs `instance_id`, a text, and `r_ves`, a number")
        scores[episode_name(name, repeat)] = float(score)
    return scores
