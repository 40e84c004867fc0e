"""Runs of c-Interact: transcripts, attempts, and the report figures of BIRD-Interact §5."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from birdenv.databases import Limits, SqliteSource
from birdenv.dialogue import Example
from birdenv.files import file_digest
from birdenv.grading import GRADER_VERSION, ConversationalGrader, batch_reward
from birdenv.runs._agents import Agent, Game, Setting
from birdenv.runs._digests import database_digests, notes_digests
from birdenv.runs._episode import UNRATED, Failure, Summary, play_safely, records_for
from birdenv.runs._measures import passed
from birdenv.runs._summary_text import breakdown, rate_line, rule, status_notes
from birdenv.tasks.c_interact import CInteractController, CInteractTask, Profile, UserSession
from birdenv.users import User

__all__ = ["CInteractRun"]

_CALLS = {
    "labelled": "on annotated points",
    "unlabelled": "on other points",
    "unanswerable": "refused",
}
"""The user's calls (labelled, unlabelled, unanswerable), in words."""


@dataclass
class CInteractRun:
    """The c-Interact game as the runner sees it. `user` answers in the user's seat.

    `selection` says how the tasks were chosen; it is only recorded.
    """

    tasks: Sequence[CInteractTask]
    source: SqliteSource
    setting: Setting
    data_file: Path
    profile: Profile
    user: User
    user_name: str = "rule"
    agent_name: str = ""
    patience: int = 3
    execute_sql: bool = False
    limits: Limits = Limits()  # noqa: RUF009 (frozen)
    selection: Mapping[str, Any] = field(default_factory=dict)
    game: Game = "c-interact"

    def __post_init__(self) -> None:
        self._grader = ConversationalGrader(self.source, self.limits)

    def config(self) -> dict[str, Any]:
        databases = sorted({task.public.database for task in self.tasks})
        return {
            "game": self.game,
            "data_file": str(self.data_file),
            "db_dir": str(self.source.root),
            **self.selection,
            "data_sha256": file_digest(self.data_file),
            "databases_sha256": database_digests(self.source, databases),
            "engine": self.source.engine,
            "isolation": self.source.isolation,
            "image": self.source.image,
            "grader": GRADER_VERSION,
            "tasks": [task.public.instance_id for task in self.tasks],
            "profile": self.profile.name,
            "patience": self.patience,
            "execute_sql": self.execute_sql,
            "user": self.user_name,
            "sql_timeout_s": self.limits.seconds,
            "notes_sha256": notes_digests(self.tasks),
        }

    def play(self, task: CInteractTask, agent: Agent, rng: Random) -> dict[str, dict[str, Any]]:
        started = time.perf_counter()
        controller = CInteractController(
            task,
            self.source,
            self._grader,
            profile=self.profile,
            patience=self.patience,
            execute_sql=self.execute_sql,
            limits=self.limits,
        )
        broken = play_safely(controller, task, agent, rng, [UserSession(self.user)])
        public = self._public(controller, broken)
        return records_for(task.public.instance_id, public, _private(controller), started, {})

    def not_played(self, task: CInteractTask, why: Failure) -> dict[str, dict[str, Any]]:
        public = {"index": task.public.index, "status": why.status, "reward": 0.0, "attempts": []}
        public |= _task_fields(task) | {"questions": 0, "max_questions": 0}
        public |= {"error": why.error} if why.error else {}
        return records_for(task.public.instance_id, public, {"log": []}, time.perf_counter(), {})

    def summarise(self, runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> Summary:
        overall = _overall(runs, private) | {
            "profile": self.profile.name,
            "patience": self.patience,
            "execute_sql": self.execute_sql,
        }
        return Summary(overall, _text(overall))

    def _public(self, controller: CInteractController, broken: Failure | None) -> dict[str, Any]:
        task = controller.task.public
        outcome = controller.outcome()
        status = broken.status if broken else controller.status if controller.task.has_gold else "ungraded"
        example = Example(
            uuid=f"E_{task.instance_id}",
            scenario_uuid=task.instance_id,
            scenario={"uuid": task.instance_id, "database": task.database, "question": task.question},
            agents={"0": self.agent_name, "1": self.user_name},
            outcome=outcome | {"status": status},
            events=tuple(controller.events),
        )
        record: dict[str, Any] = {
            "index": task.index,
            "status": status,
            "reward": controller.rewards[0],
            "attempts": outcome["attempts"],
            "questions": controller.questions,
            "max_questions": controller.max_questions,
            **_task_fields(controller.task),
            "example": example.to_json(),
        }
        return record | ({"error": broken.error} if broken else {})


def _task_fields(task: CInteractTask) -> dict[str, Any]:
    return {
        "database": task.public.database,
        "category": task.private.category,
        "difficulty": task.public.difficulty,
        "follow_up": _follow_up_kind(task),
    }


def _follow_up_kind(task: CInteractTask) -> str:
    """`none`, `graded`, or `ungraded` where its gold is withheld, so that it is never asked."""
    if task.private.follow_up is None:
        return "none"
    return "graded" if task.private.follow_up.gold else "ungraded"


def _private(controller: CInteractController) -> dict[str, Any]:
    private = controller.task.private
    follow_up = private.follow_up
    return {
        "gold_sql": list(private.gold),
        "follow_up_gold_sql": list(follow_up.gold) if follow_up else [],
        "clear_query": private.brief.clear_query,
        "log": controller.private_log,
    }


def _rate(runs: Sequence[Mapping[str, Any]], test: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
    passed = sum(map(test, runs))
    return {"passed": passed, "total": len(runs), "accuracy": passed / len(runs) if runs else 0.0}


def _figures(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Success before and after debug over all tasks, and the mean reward (BIRD-Interact §5.1).

    Phase 2 is divided by all tasks too, less those whose follow-up has no gold.
    """
    a, b, c, d = (
        sum(passed(run, phase, attempt) for run in runs) for phase in (1, 2) for attempt in ("first", "debug")
    )
    followed = [run for run in runs if run["follow_up"] != "ungraded"]
    return {
        "tasks": len(runs),
        "phase_1_first": _rate(runs, lambda run: passed(run, 1, "first")),
        "phase_1": _rate(runs, lambda run: passed(run, 1)),
        "phase_2_first": _rate(followed, lambda run: passed(run, 2, "first")),
        "phase_2": _rate(followed, lambda run: passed(run, 2)),
        "mean_reward": batch_reward(a, b, c, d, len(runs)) if runs else 0.0,
    }


def _overall(runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rated = [run for run in runs if run["status"] not in UNRATED]
    played = [run for run in runs if run["status"] != "skipped"]
    calls = Counter(
        entry["call"] for record in private for entry in record["log"] if entry["kind"] == "answer"
    )
    reached = [run for run in rated if passed(run, 1) and run["follow_up"] == "graded"]
    return {
        **_figures(rated),
        "phase_2_of_reached": _rate(reached, lambda run: passed(run, 2)),
        "follow_ups_without_gold": sum(run["follow_up"] == "ungraded" for run in rated),
        "status": dict(sorted(Counter(run["status"] for run in runs).items())),
        "attempts": dict(sorted(Counter(a["status"] for run in runs for a in run["attempts"]).items())),
        "questions_asked": _mean([run["questions"] for run in played]),
        "questions_allowed": _mean([run["max_questions"] for run in played]),
        "answers": {call: calls[call] for call in _CALLS},
        "by_category": _groups(rated, "category"),
        "by_difficulty": _groups(rated, "difficulty"),
        "by_database": _groups(rated, "database"),
    }


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def _groups(runs: Sequence[Mapping[str, Any]], field: str) -> dict[str, Any]:
    names = sorted({run[field] for run in runs})
    return {name: _figures([run for run in runs if run[field] == name]) for name in names}


def _text(overall: Mapping[str, Any]) -> str:
    tool = "with execute_sql" if overall["execute_sql"] else "without execute_sql"
    lines = [rule("="), f"c-Interact: profile {overall['profile']}, patience {overall['patience']}, {tool}"]
    lines.append(rule("="))
    lines.append(rate_line("Phase 1, first try", overall["phase_1_first"]))
    lines.append(rate_line("Phase 1, after debug", overall["phase_1"]))
    lines.append(rate_line("Phase 2, first try", overall["phase_2_first"]))
    lines.append(rate_line("Phase 2, after debug", overall["phase_2"]))
    lines.append(rate_line("  of those that reached it", overall["phase_2_of_reached"]))
    reward = f"{overall['mean_reward']:.3f}" if overall["tasks"] else "-"
    lines.append(f"{'Mean reward':<24}{reward:>13}")
    asked, allowed = overall["questions_asked"], overall["questions_allowed"]
    lines.append(f"{'Questions per task':<24}{asked:>13.2f}  of {allowed:.2f} allowed")
    answers = ", ".join(f"{overall['answers'][call]} {what}" for call, what in _CALLS.items())
    lines.append(f"{'Answers':<24} {answers}")
    for title in ("category", "difficulty", "database"):
        groups = overall[f"by_{title}"]
        lines += breakdown(f"Phase 1 by {title}", {name: group["phase_1"] for name, group in groups.items()})
    lines += ["", "Status"]
    lines += [f"  {name:<22}{count:>5}" for name, count in overall["status"].items()]
    lines += _notes(overall)
    return "\n".join([*lines, rule("=")]) + "\n"


def _notes(overall: Mapping[str, Any]) -> list[str]:
    notes = status_notes(overall["status"])
    if overall["follow_ups_without_gold"]:
        notes.append(
            f"{overall['follow_ups_without_gold']} follow-up(s) without gold were not asked or counted."
        )
    return ["", *(f"Note: {note}" for note in notes)] if notes else []
