"""Determine who caused each failed episode of a recorded run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from birdenv.dialogue import Arena, make_game
from birdenv.dialogue.measures import PARTNER_ERROR, UNRATED
from birdenv.errors import InputError
from birdenv.files import write_text
from birdenv.grading import InteractGrader
from birdenv.runs._run_folder import RunDirectory, name_of
from birdenv.runs.blame._classify import (
    CULPRITS,
    TITLES,
    AnsweredQuestion,
    Blame,
    PointState,
    classify,
    point_states,
)
from birdenv.runs.blame._readings import Execution
from birdenv.runs.regrade._data import place_of
from birdenv.runs.summaries.recorded_run import BLAME, RecordedRun, read_run, recorded_run
from birdenv.tasks.c_interact import InteractTasks, grading_job
from birdenv.users import Brief

_GAMES = ("c-interact", "a-interact")


@dataclass(frozen=True, slots=True)
class RunBlame:
    """The causes of a run's failed episodes.

    Attributes:
        agent: the name of the agent.
        episodes: the number of episodes, excluding void episodes.
        failed: the failed phase and the cause for each failed episode, keyed by episode name.
        void: the seat whose player failed, keyed by episode name. Episodes in `void` are excluded from all
            counts.
    """

    agent: str
    episodes: int
    failed: Mapping[str, tuple[int, Blame]]
    void: Mapping[str, str] = field(default_factory=dict)

    @property
    def users_share(self) -> float | None:
        """Return the share of failures that the user caused, from 0 to 1; None if there are no failures."""
        if not self.failed:
            return None
        users = sum(blame.culprit == "user" for _, blame in self.failed.values())
        return round(users / len(self.failed), 6)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with the number of failures for each cause, and the cause of each failure."""
        kinds = Counter(blame.kind for _, blame in self.failed.values())
        culprits = Counter(blame.culprit for _, blame in self.failed.values())
        return {
            "episodes": self.episodes,
            "failed": len(self.failed),
            "classes": {kind: kinds[kind] for kind in CULPRITS},
            "culprits": {name: culprits[name] for name in ("agent", "user", "benchmark")},
            "users_share": self.users_share,
            **({"void": dict(self.void)} if self.void else {}),
            "by_episode": {
                name: {
                    "phase": phase,
                    "class": blame.kind,
                    "culprit": blame.culprit,
                    "shown_by_execution": blame.shown,
                    "points": [point._asdict() for point in blame.points],
                }
                for name, (phase, blame) in self.failed.items()
            },
        }

    def text(self, *, episodes: bool = False) -> str:
        """Describe the causes of the failures. If `episodes` is true, add a line for each failure."""
        found = self.to_json()
        lines = [f"{len(self.failed)} of {self.episodes} episodes of {self.agent} failed."]
        if self.failed:
            lines += ["", f"{'Whose fault':<12}{'episodes':>9}"]
            for kind, culprit in CULPRITS.items():
                lines.append(f"{culprit:<12}{found['classes'][kind]:>9}  {TITLES[kind]}")
            lines += ["", f"The user's share of the failures: {100 * (self.users_share or 0):.1f} %"]
            shown = sum(blame.shown for _, blame in self.failed.values())
            lines.append(f"Confirmed by running SQL with the agent's reading: {shown} of {len(self.failed)}")
        lines += [
            f"{name}: not counted, because the player of the seat {seat} failed"
            for name, seat in self.void.items()
        ]
        if episodes:
            lines.append("")
        for name, (phase, blame) in self.failed.items() if episodes else ():
            points = "; ".join(f"{p.term}: {p.state}{', in the SQL' if p.used else ''}" for p in blame.points)
            lines.append(f"{name:<20} phase {phase}  {blame.culprit:<10}{blame.kind:<12} {points}".rstrip())
        return "\n".join(lines) + "\n"


def blame_run(folder: Path, *, data: Path | None = None, data_dir: Path | None = None) -> RunBlame:
    """Determine who caused each failed episode, by reading records and by running variants of the SQL.

    Args:
        folder: the run folder.
        data: the new path of the task file; None if the file has not moved since the run.
        data_dir: the new path of the database folder; None if the folder has not moved since the run.

    Raises:
        InputError: the run or its data cannot be read, or the game has no user.
    """
    run = read_run(folder)
    if run.game not in _GAMES:
        raise InputError(f"{folder} is a run of {run.game}, but only {' and '.join(_GAMES)} have a user")
    place = place_of(run.config, "data_file", "--data", data)
    databases = place_of(run.config, "db_dir", "--data-dir", data_dir)
    dialect = str(run.config.get("dialect", "sqlite"))
    with make_game(run.game, data=str(place), data_dir=str(databases), dialect=dialect) as arena:
        missing = [name for name in run.tasks if name not in arena.ids]
        if missing:
            raise InputError(f"{place} has no task {missing[0]!r}: it is not the task file of the run")
        return _blamed(run, arena)


def has_user_to_blame(arena: Arena) -> bool:
    """Return whether the game has a simulated user whose answers can cause failures."""
    return isinstance(arena._tasks, InteractTasks)


def record_blame(arena: Arena, folder: Path) -> None:
    """Determine who caused a run's failures, and write the result to the run folder.

    Args:
        arena: the game of the run.
        folder: the folder of the finished run.

    Raises:
        InputError: the run cannot be read.
    """
    found = _blamed(recorded_run(RunDirectory(folder)), arena)
    write_text(folder / BLAME, json.dumps(found.to_json(), indent=2, ensure_ascii=False) + "\n")


def _blamed(run: RecordedRun, arena: Arena) -> RunBlame:
    failed: dict[str, tuple[int, Blame]] = {}
    void: dict[str, str] = {}
    count = 0
    blame_of = lru_cache(maxsize=None)(partial(_blame_of, _executions(arena)))  # repeats may be equal
    for record, private in zip(run.records, run.private, strict=True):
        name = name_of(record)
        if record["status"] == PARTNER_ERROR:
            void[name] = str(record.get("failed_seat", "?"))
        if "example" not in record or record["status"] in UNRATED - {"test_error"}:
            continue
        count += 1
        phase = _failed_phase(record)
        if phase is None:
            continue
        statuses = tuple(each["status"] for each in record["attempts"] if each["phase"] == phase)
        submitted = [e["data"] for e in record["example"]["events"] if e["action"] == "submit_sql"]
        texts = tuple(sql for sql in submitted if isinstance(sql, str))
        task = arena._tasks.private(record["instance_id"])
        exchanges = _exchanges(record, private)
        blame = blame_of(record["instance_id"], task.brief, exchanges, texts, statuses, phase)
        failed[name] = phase, blame
    return RunBlame(run.agent, count, failed, void)


def open_terms(arena: Arena, record: Mapping[str, Any], private: Mapping[str, Any]) -> tuple[PointState, ...]:
    """Return the state of each ambiguous term: what the agent learned, and whether its SQL is correct.

    The SQL is compared as text and is not run.

    Args:
        arena: the game of the run; `has_user_to_blame` must be true for it.
        record: the public record of the episode.
        private: the private record of the episode.
    """
    task = arena._tasks.private(record["instance_id"])
    submitted = [e["data"] for e in record["example"]["events"] if e["action"] == "submit_sql"]
    in_phase_1 = sum(each["phase"] == 1 for each in record["attempts"])
    texts = [sql for sql in submitted if isinstance(sql, str)][:in_phase_1]
    return point_states(task.brief, _exchanges(record, private), texts[-1] if texts else "")


def _executions(arena: Arena) -> Callable[[str, str], Execution]:
    tasks = arena._tasks
    assert isinstance(tasks, InteractTasks)
    grader = InteractGrader(tasks.source, tasks.settings.limits)
    profile = tasks.settings.chosen_profile

    def execution(name: str, submission: str) -> Execution:
        job = replace(grading_job(tasks.tasks[name], profile, 1), keeps_state=False)
        return Execution(grader, job, submission, tasks.source.dialect)

    return execution


def _blame_of(
    executions: Callable[[str, str], Execution],
    name: str,
    brief: Brief,
    exchanges: tuple[AnsweredQuestion, ...],
    submissions: tuple[str, ...],
    statuses: tuple[str, ...],
    phase: int,
) -> Blame:
    last = submissions[-1] if submissions and brief.gold else ""
    execution = executions(name, last) if last else None
    return classify(brief, exchanges, submissions, statuses, phase, execution)


def _failed_phase(record: Mapping[str, Any]) -> int | None:
    """Return the phase that was not passed, or None if all graded phases were passed."""
    passed = {each["phase"] for each in record["attempts"] if each["status"] == "passed"}
    if 1 not in passed:
        return 1
    return 2 if 2 not in passed and record.get("follow_up") == "graded" else None


def _exchanges(record: Mapping[str, Any], private: Mapping[str, Any]) -> tuple[AnsweredQuestion, ...]:
    """Return the answered questions of the first phase, from the transcript and the private log."""
    entries = [entry for entry in private.get("log", ()) if entry["kind"] == "answer"]
    words = [event["data"] for event in record["example"]["events"] if event["agent"] == 1]
    return tuple(
        AnsweredQuestion(
            str(entry["question"]),
            said if isinstance(said, str) else "",
            tuple(entry["granted"]),
            stopped=bool(entry["guard"]),
        )
        for entry, said in zip(entries, words, strict=False)
    )
