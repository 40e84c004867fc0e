"""Runs of BIRD: records with the fields of the seed harness, EX, breakdowns.

R-VES of a run: `r_ves.jsonl`, apart from the other records, because no two measurements are the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from birdenv.databases import DatabaseSource, Limits, QueryResult
from birdenv.errors import InputError
from birdenv.files import exists, file_digest, read_records, write_records
from birdenv.grading import GRADER_VERSION, LEAST_FETCHED, ExGrader, Metric, SpeedMeasurement, time_ratio
from birdenv.runs._agents import Agent, Game, Setting
from birdenv.runs._directory import database_digests, episode_name
from birdenv.runs._episode import UNRATED, EpisodeEnd, Failure, play_safely, records_for
from birdenv.runs._summary import Summary
from birdenv.runs.analysis._lines import (
    breakdown,
    difficulty_means,
    difficulty_table,
    engine_line,
    rate_line,
    rule,
    status_notes,
)
from birdenv.runs.analysis._measures import METRIC_TITLES
from birdenv.tasks import chat_messages, result_text
from birdenv.tasks.bird import DIFFICULTIES, BirdController, BirdTask

_STATUSES = {
    "completed": "completed",
    "agent context limit": "context_limit",
    "task limit reached": "task_limit_reached",
    "task error": "task_error",
    "no_submission": "no_submission",
    "infra_error": "infra_error",
    "ungraded": "ungraded",
    "skipped": "skipped",
}
"""Status of a record -> its name in `overall.json`. The first four are the seed harness's."""


@dataclass
class BirdRun:
    """The BIRD game as the runner sees it. `data_file` and `setting` describe the whole task file.

    `selection` says how the tasks were chosen from it; it is only recorded. `metrics` are worked out beside
    EX; `r_ves_runs` says that R-VES is measured of the run, which is left to the caller.
    """

    tasks: Sequence[BirdTask]
    source: DatabaseSource
    setting: Setting
    data_file: Path
    evidence: bool = True
    max_turns: int = 20
    clean: bool = False
    limits: Limits = Limits()  # noqa: RUF009 (frozen)
    selection: Mapping[str, Any] = field(default_factory=dict)
    metrics: Sequence[Metric] = ()
    r_ves_runs: int | None = None
    game: Game = "bird"

    def __post_init__(self) -> None:
        self._grader = ExGrader(self.source, self.limits, clean=self.clean, metrics=self.metrics)

    def config(self) -> dict[str, Any]:
        databases = sorted({task.public.db_id for task in self.tasks})
        return {
            "game": self.game,
            "data_file": str(self.data_file),
            **self.selection,
            "data_sha256": file_digest(self.data_file),
            "databases_sha256": database_digests(self.source, databases),
            **self.source.config(),
            "grader": GRADER_VERSION,
            "tasks": [task.public.instance_id for task in self.tasks],
            "max_turns": self.max_turns,
            "no_evidence": not self.evidence,
            "clean": self.clean,
            "sql_timeout_s": self.limits.seconds,
            **({"metrics": list(self.metrics)} if self.metrics else {}),
            **({"r_ves_runs": self.r_ves_runs} if self.r_ves_runs else {}),
        }

    def play(self, task: BirdTask, agent: Agent, rng: Random) -> dict[str, dict[str, Any]]:
        started = time.perf_counter()
        controller = BirdController(
            task,
            self.source,
            self._grader,
            evidence=self.evidence,
            max_turns=self.max_turns,
            limits=self.limits,
        )
        ending = play_safely(controller, task, agent, rng)
        verdict = controller.verdict
        durations = {"gold_s": verdict.gold_seconds, "pred_s": verdict.pred_seconds} if verdict else {}
        return records_for(
            task.public.instance_id, _public(controller, ending), _private(controller), started, durations
        )

    def skipped_record(self, task: BirdTask, why: Failure) -> dict[str, dict[str, Any]]:
        public = {"index": task.public.index, "question_id": task.public.question_id, "status": why.status}
        public |= {"turns": 0, "history": [], "result": {"ex": 0, "ex_bird": 0, **_task_fields(task)}}
        public |= {"error": why.error} if why.error else {}
        return records_for(task.public.instance_id, public, {}, time.perf_counter(), {})

    def summarise(self, runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> Summary:
        overall = _overall(runs, private)
        return Summary(overall, _text(overall, self.source.engine))


def _task_fields(task: BirdTask) -> dict[str, Any]:
    return {"difficulty": task.public.difficulty, "db_id": task.public.db_id}


def _public(controller: BirdController, ending: EpisodeEnd) -> dict[str, Any]:
    task, verdict = controller.task, controller.verdict
    error = verdict.error if verdict and verdict.status != "gold_error" else None
    history = chat_messages(controller.view(0).instruction, controller.events)
    result: dict[str, Any] = {
        "is_correct": bool(verdict and verdict.ex),
        "ex": int(bool(verdict and verdict.ex)),
        "ex_bird": int(bool(verdict and verdict.ex_bird)),
        "predicted_sql": controller.submission,
        "predicted_result": _shown(verdict.pred_result) if verdict and verdict.pred_result else None,
        "error": error.message if error else None,
        "error_kind": error.kind if error else None,
        "verdict": verdict.status if verdict else None,
        "clean_steps": list(verdict.clean_steps) if verdict else [],
        "rows_pred": _told_rows(verdict.pred_result) if verdict and verdict.pred_result else None,
        **_task_fields(task),
    }
    if verdict and verdict.metrics:
        result["metrics"] = dict(verdict.metrics)
    record: dict[str, Any] = {
        "index": task.public.index,
        "question_id": task.public.question_id,
        "status": _status(controller, ending.broken),
        "turns": len(controller.events),
        "history": history,
        "result": result,
    }
    return record | ending.fields()


def _shown(result: QueryResult) -> str:
    """The result as an agent would see it. What a grader fetched beyond would tell of the gold."""
    rows, truncated = result.rows[:LEAST_FETCHED], len(result.rows) > LEAST_FETCHED or result.truncated
    return result_text(QueryResult(result.columns, rows, truncated))


def _told_rows(result: QueryResult) -> int | None:
    return None if result.truncated or len(result.rows) > LEAST_FETCHED else len(result.rows)


def _status(controller: BirdController, broken: Failure | None) -> str:
    """Whatever way an episode ends, without gold it is ungraded."""
    if broken:
        return broken.status
    return controller.status if controller.task.has_gold else "ungraded"


def _private(controller: BirdController) -> dict[str, Any]:
    verdict = controller.verdict
    record: dict[str, Any] = {"gold_sql": list(controller.task.private.gold)}
    if verdict is None:
        return record
    return record | {
        "gold_result": result_text(verdict.gold_result) if verdict.gold_result else None,
        "rows_gold": verdict.rows_gold,
        "gold_empty": verdict.gold_empty,
        "gold_error": verdict.error.message if verdict.error and verdict.status == "gold_error" else None,
        "matched_gold": verdict.matched_gold,
        "reason": verdict.reason,
        "flags": list(verdict.flags),
        "rows_pred": verdict.rows_pred,
        "first_difference": {"expected": verdict.expected, "returned": verdict.returned},
    }


def is_rated(run: Mapping[str, Any]) -> bool:
    """Whether a record says anything about the agent."""
    return run["status"] not in UNRATED


def _overall(runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rated = list(filter(is_rated, runs))
    statuses = Counter(run["status"] for run in runs)
    lengths = [len(run["history"]) for run in runs] or [0]
    passed = sum(run["result"]["is_correct"] for run in rated)
    empty = _once(record["instance_id"] for record in private if record.get("gold_empty"))
    broken = _once(run["instance_id"] for run in rated if run["result"].get("verdict") == "gold_error")
    return {
        "total": len(rated),
        "overall": {
            "passed": passed,
            "failed": len(rated) - passed,
            "accuracy": passed / len(rated) if rated else 0.0,
        },
        "ex": _rate(rated, "ex"),
        "ex_bird": _rate(rated, "ex_bird"),
        "status": {name: statuses.get(status, 0) for status, name in _STATUSES.items()},
        "table": _table(rated),
        "by_difficulty": _groups(rated, "difficulty"),
        "by_database": _groups(rated, "db_id"),
        "history": {
            "average_length": sum(lengths) / len(lengths),
            "min_length": min(lengths),
            "max_length": max(lengths),
        },
        "gold_empty": empty,
        "gold_errors": broken,
    }


def _once(names: Iterable[str]) -> list[str]:
    """Each name once: a task may be played several times."""
    return list(dict.fromkeys(names))


def _table(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means times 100 in the official layout; metrics that were not asked for are not there."""
    asked = {name for run in runs for name in run["result"].get("metrics", ())}
    scores = {
        name: [float(run["result"].get("metrics", {}).get(name, 0.0)) for run in runs]
        for name in METRIC_TITLES
        if name in asked
    }
    ex = {name: [float(run["result"][name]) for run in runs] for name in ("ex", "ex_bird")}
    return difficulty_means([run["result"]["difficulty"] for run in runs], ex | scores)


def _rate(runs: Sequence[Mapping[str, Any]], metric: str) -> dict[str, Any]:
    passed = sum(run["result"][metric] for run in runs)
    return {"passed": passed, "total": len(runs), "accuracy": passed / len(runs) if runs else 0.0}


def _groups(runs: Sequence[Mapping[str, Any]], field: str) -> dict[str, Any]:
    """EX by one field of the tasks; difficulties in their fixed order, everything else by name."""
    names = sorted({run["result"][field] for run in runs})
    if field == "difficulty":
        names = [*DIFFICULTIES, *(name for name in names if name not in DIFFICULTIES)]
    groups = {}
    for name in names:
        members = [run for run in runs if run["result"][field] == name]
        groups[name] = _rate(members, "ex") | {"ex_bird": _rate(members, "ex_bird")["accuracy"]}
    return groups


def _text(overall: Mapping[str, Any], engine: str) -> str:
    lines = [rule("="), "BIRD: execution accuracy", rule("="), engine_line(engine)]
    lines.append(rate_line("EX", overall["ex"]))
    lines.append(rate_line("EX (BIRD set)", overall["ex_bird"]))
    lines += ["", "As in the official table, times 100", *difficulty_table(overall["table"], METRIC_TITLES)]
    lines += breakdown("By difficulty", overall["by_difficulty"])
    lines += breakdown("By database", overall["by_database"])
    lines += ["", "Status"]
    lines += [f"  {name:<22}{count:>5}" for name, count in overall["status"].items() if count]
    lines += _notes(overall)
    return "\n".join([*lines, rule("=")]) + "\n"


def _notes(overall: Mapping[str, Any]) -> list[str]:
    notes = []
    if overall["gold_empty"]:
        ids = ", ".join(overall["gold_empty"])
        notes.append(
            f"The gold SQL of {len(overall['gold_empty'])} task(s) returns nothing (no rows, or only NULLs), "
            f"so a match there proves little: {ids}"
        )
    if overall["gold_errors"]:
        notes.append(f"The gold SQL of these tasks does not run: {', '.join(overall['gold_errors'])}")
    notes += status_notes(overall["status"])
    return ["", *(f"Note: {note}" for note in notes)] if notes else []


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
