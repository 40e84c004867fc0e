"""Runs of BIRD: records with the fields of the seed harness."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from birdenv.databases import DatabaseSource, Limits, QueryResult
from birdenv.files import file_digest
from birdenv.grading import GRADER_VERSION, LEAST_FETCHED, ExGrader, Metric
from birdenv.runs._agents import Agent, Game, Setting
from birdenv.runs._directory import database_digests
from birdenv.runs._episode import EpisodeEnd, Failure, play_safely, records_for
from birdenv.tasks import chat_messages, result_text
from birdenv.tasks.bird import BirdController, BirdTask


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
