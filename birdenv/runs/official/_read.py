"""Read the result folder of the published c-Interact pipeline, or the file of the ADK service.

Rows are matched by `instance_id`, because the files are not aligned. `sql_results_debug` contains all tasks
or only those that failed at first; the follow-up files contain only some tasks. If a file is faulty, the
readable part is used and a note is added.

`eval_<mode>.json` of the tool-calling service does not say whether a phase was passed at the first or the
debug attempt. The attempt is inferred from the reward if the reward schedule allows that reward.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import exists, read_json
from birdenv.runs._run_folder import run_folder
from birdenv.runs.official._published_lines import (
    CALLS,
    PublishedNotes,
    ResultRow,
    read_calls,
    read_results,
    read_rows,
    record_groups,
)
from birdenv.runs.official.write import OFFICIAL_FOLDER, STAGES
from birdenv.statistics import counted
from birdenv.tasks.interact.official_score import EpisodeScore, FollowUpKind

_ADK_FIRST: Final = "first"
_ADK_DEBUG: Final = "debug"
_ATTEMPTS: Final = {
    (True, False, 0.7): (_ADK_FIRST, ""),
    (True, False, 0.5): (_ADK_DEBUG, ""),
    (True, True, 1.0): (_ADK_FIRST, _ADK_FIRST),
    (True, True, 0.9): (_ADK_FIRST, _ADK_DEBUG),
    (True, True, 0.8): (_ADK_DEBUG, _ADK_FIRST),
    (True, True, 0.7): (_ADK_DEBUG, _ADK_DEBUG),
    (False, False, 0.0): ("", ""),
}
"""The attempts at which the phases were passed, by phase 1 passed, phase 2 passed and the reward."""


def read_adk_file(path: Path) -> OfficialResults:
    """Read the results in the service's `eval_<mode>.json`.

    A reward can contradict the flags `phase1_passed` and `phase2_passed`, because the service can reward the
    same phase twice. It is then replaced by the reward for a first attempt if the full reward for a phase was
    granted twice, and otherwise by the reward for a debug attempt.

    Raises:
        InputError: a result cannot be read; the message names it.
    """
    value = read_json(path)
    results = value.get("results") if isinstance(value, dict) else None
    if not isinstance(results, list):
        raise InputError(f"{path}: expected a JSON object with a list `results`, as written by the service")
    notes = PublishedNotes()
    standings: dict[str, EpisodeScore] = {}
    twice: list[str] = []
    crashed: list[str] = []
    odd: list[str] = []
    for number, result in enumerate(results, 1):
        name = _name(result)
        if name is None:
            raise InputError(f"{path}: result {number} has no instance_id or task_id")
        if name in standings:
            twice.append(name)
        if result.get("error") and "phase1_passed" not in result:
            crashed.append(name)
            standings[name] = EpisodeScore(name, "infra_error", frozenset(), "none", _groups(name, result))
            continue
        attempts = _attempts(result, f"{path}: result {number} ({name})")
        if attempts is None:
            odd.append(f"{name} {result['total_reward']:g}")
            attempts = _least(result)
        passes = frozenset((phase, attempt) for phase, attempt in enumerate(attempts, 1) if attempt)
        followed: FollowUpKind = "graded" if result.get("has_follow_up") else "none"
        standings[name] = EpisodeScore(name, "completed", passes, followed, _groups(name, result))
    notes.about(twice, "several results for a task, the last of which was used")
    notes.about(crashed, "the episode crashed and counts as failed")
    notes.about(odd, "the reward contradicts the passed phases; replaced by the lowest possible reward")
    return OfficialResults(tuple(standings.values()), tuple(notes.lines))


def _name(result: Any) -> str | None:
    if not isinstance(result, dict):
        return None
    name = result.get("instance_id") or result.get("task_id")
    return name if isinstance(name, str) else None


def _groups(name: str, result: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return record_groups({"instance_id": name, "selected_database": result.get("database")})


def _attempts(result: Mapping[str, Any], where: str) -> tuple[str, str] | None:
    flags = [result.get("phase1_passed"), result.get("phase2_passed", False)]
    reward = result.get("total_reward")
    if not all(isinstance(flag, bool) for flag in flags) or not isinstance(reward, int | float):
        raise InputError(
            f"{where}: needs phase1_passed and phase2_passed (true or false), and total_reward (a number)"
        )
    return _ATTEMPTS.get((bool(flags[0]), bool(flags[1]), round(float(reward), 6)))


def _least(result: Mapping[str, Any]) -> tuple[str, str]:
    if not result["phase1_passed"]:
        return "", ""
    at_once = round(float(result["total_reward"]), 6) == 1.4  # 0.7 granted twice
    return _ADK_FIRST if at_once else _ADK_DEBUG, _ADK_DEBUG if result.get("phase2_passed") else ""


_FILES = [f"{stage}_output_with_status.jsonl" for stage in STAGES]
_FIRST, _DEBUG, _FOLLOW_UP, _FOLLOW_UP_DEBUG = _FILES
_SUBMITTED = "sql_results.jsonl"


@dataclass(frozen=True, slots=True)
class OfficialResults:
    """The contents of a run's result files.

    Attributes:
        standings: the results of each task in both phases.
        notes: sentences that describe irregularities in the files.
        questions_asked: the mean number of questions per task; None if unknown.
        questions_allowed: the mean number of allowed questions per task; None if unknown.
        answers: the number of questions in each class, as classified by the user; None if unknown.
    """

    standings: tuple[EpisodeScore, ...]
    notes: tuple[str, ...]
    questions_asked: float | None = None
    questions_allowed: float | None = None
    answers: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    """A task's rows, keyed by stage. A follow-up counts only if phase 1 was passed."""

    first: ResultRow | None
    debug: ResultRow | None
    follow_up: ResultRow | None
    follow_up_debug: ResultRow | None

    @property
    def rows(self) -> list[ResultRow]:
        stages = [self.first, self.debug]
        stages += [self.follow_up, self.follow_up_debug] if _passed(self.first) or _passed(self.debug) else []
        return [row for row in stages if row is not None]

    @property
    def passes(self) -> frozenset[tuple[int, str]]:
        passes = set()
        if _passed(self.first) or _passed(self.debug):
            passes.add((1, "first" if _passed(self.first) else "debug"))
            if _passed(self.follow_up) or _passed(self.follow_up_debug):
                passes.add((2, "first" if _passed(self.follow_up) else "debug"))
        return frozenset(passes)

    @property
    def status(self) -> str:
        """The episode's status in birdenv if the file has it, and otherwise `infra_error` or `completed`."""
        if not self.rows:
            return "infra_error"
        last = self.rows[-1]
        return last.status or ("infra_error" if last.is_fault else "completed")


def _passed(row: ResultRow | None) -> bool:
    return row is not None and row.passed


def is_stage_folder(folder: Path) -> bool:
    """Return whether the folder contains one of the pipeline's result files."""
    return any(exists(folder / name) for name in (*_FILES, _SUBMITTED))


def official_folder(path: Path) -> Path:
    """Return the folder with the result files: the path itself or, if it is a run, its official folder."""
    is_of_runs = exists(path / "latest") or next(path.glob("run-*/config.json"), None) is not None
    folder = (run_folder(path) if is_of_runs else path) / OFFICIAL_FOLDER
    return folder if exists(folder) else folder.parent


def read_stage_folder(folder: Path) -> OfficialResults:
    """Read the results in a `results/patience_<p>/<model>` folder, or in a run's `private_official` folder.

    Raises:
        InputError: the first stage was not evaluated; or a line has no verdict or is damaged, other than an
            incomplete last line.
    """
    notes = PublishedNotes()
    found = {name: read_results(folder / name, notes) for name in _FILES}
    first = found[_FIRST]
    if first is None:
        raise InputError(
            f"{folder / _FIRST}: no such file; let the pipeline evaluate {_SUBMITTED}, or specify a "
            "different folder"
        )
    for name, rows in found.items():
        if rows is None:
            notes.add(f"{name} is missing, so no task counts as passed at that stage")
    submitted = read_rows(folder / _SUBMITTED, notes, record_groups) or {}
    stages = [rows or {} for rows in found.values()]
    names = list(dict.fromkeys([*first, *submitted]))
    tasks = {name: _Task(*(rows.get(name) for rows in stages)) for name in names}
    standings = tuple(
        EpisodeScore(
            name,
            task.status,
            task.passes,
            "graded" if task.follow_up else "none",
            task.rows[0].groups if task.rows else submitted[name],
        )
        for name, task in tasks.items()
    )
    _note(notes, tasks, stages)
    if "_fu" in str(folder.resolve()) and not any(row.status for row in first.values()):
        notes.add(
            "the path contains `_fu`: the pipeline's evaluator takes every file in such a folder for a "
            "follow-up"
        )
    answers = _answers(folder, tasks, notes)
    asked, allowed = _questions(list(tasks.values()))
    return OfficialResults(standings, tuple(notes.lines), asked, allowed, answers)


def _note(
    notes: PublishedNotes, tasks: Mapping[str, _Task], stages: Sequence[Mapping[str, ResultRow]]
) -> None:
    """Add notes about what the counts do not show."""
    first, debug, follow_up, follow_up_debug = stages
    notes.about([n for n in tasks if n not in first], f"{_FIRST} has no verdict, which counts as failed")
    strange = {**debug, **follow_up, **follow_up_debug}.keys() - tasks.keys()
    notes.about(sorted(strange), f"the task is not in {_FIRST} and was left out")
    through = {name for name, task in tasks.items() if task.passes}
    ungated = [n for n in tasks if n not in through and (n in follow_up or n in follow_up_debug)]
    notes.about(ungated, "there is a follow-up although phase 1 failed; the follow-up does not count")
    again = [n for n, task in tasks.items() if _passed(task.first) and task.debug and not task.debug.passed]
    notes.about(again, f"the first attempt passed but {_DEBUG} has a failure; the task counts as passed")
    faults = [n for n, task in tasks.items() if task.status == "infra_error" and n in first]
    notes.about(faults, "the machine or the database was at fault, but the task counts as failed")


def _questions(tasks: Sequence[_Task]) -> tuple[float | None, float | None]:
    """Return how many questions were asked and allowed per played task, on average."""
    played = [task.rows for task in tasks if task.rows and task.status != "skipped"]
    limits = [rows[0].allowed for rows in played]
    allowed = [limit for limit in limits if limit is not None]
    if not allowed or len(allowed) < len(limits):
        return None, None
    asked = fmean(max(len(row.questions) - row.free for row in rows) for rows in played)
    return round(asked, 6), round(fmean(allowed), 6)  # the digits of `overall.json`


def _answers(folder: Path, tasks: Mapping[str, _Task], notes: PublishedNotes) -> dict[str, int] | None:
    """Return the user's answers by call. Calls about the SQL of the last turn are not questions."""
    file = folder / "user_1_interaction.jsonl"
    calls = read_calls(file, notes)
    if calls is None:
        return None
    count = Counter(
        call
        for name, by_turn in calls.items()
        for number, call in by_turn.items()
        if name in tasks and any(number in row.questions for row in tasks[name].rows)
    )
    if count[""]:
        notes.add(f"{file.name}: {counted(count[''], 'answer')} of the user without any of the three calls")
    return {call: count[call] for call in CALLS.values() if count[call] or call != "unclear"}
