"""Merging the ground truth, which the authors send by e-mail, into the public task file; reports of checks.

Strict where the authors' own script is lenient (BIRD-Interact `combine_public_with_gt.py`): ids must match,
nothing is dropped in silence. `missing_ground_truth` says which tasks lack it, and where the authors give it.
`Problem` and `Report` are what any check of benchmark data found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.tasks import Defects
from birdenv.tasks.c_interact import CInteractTask

WHERE_TO_ASK = (
    "The authors send it by e-mail: write to bird.bench25@gmail.com with [bird-interact-lite GT&Test Cases], "
    "[bird-interact-full GT&Test Cases] or [mini-interact GT&Test Cases] in the subject, then put it in with "
    "`birdenv data merge`"
)


def missing_ground_truth(tasks: Sequence[CInteractTask]) -> str:
    """Return the fields that are empty, each with the number of tasks; "" if none is.

    Test cases are missed where the task, or its follow-up, is Management.
    """
    missing = {"sol_sql": 0, "test_cases": 0, "follow_up.sol_sql": 0, "follow_up.test_cases": 0}
    for task in tasks:
        private, follow_up = task.private, task.private.follow_up
        missing["sol_sql"] += not private.gold
        untested = not (private.test_cases or private.by_state)
        missing["test_cases"] += private.category == "Management" and untested
        if follow_up is not None:
            missing["follow_up.sol_sql"] += not follow_up.gold
            untested = not (follow_up.test_cases or follow_up.by_state)
            missing["follow_up.test_cases"] += follow_up.category == "Management" and untested
    return ", ".join(f"{field} of {count} task(s)" for field, count in missing.items() if count)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one task; `instance_id` is "" for the file as a whole.

    `truth_missing` marks what `--partial` permits.
    """

    instance_id: str
    message: str
    truth_missing: bool = False

    def __str__(self) -> str:
        return f"{self.instance_id}: {self.message}" if self.instance_id else self.message


@dataclass(frozen=True, slots=True)
class PreparationReport:
    """`problems` must be mended; `warnings` should be read; `figures` are counts by name.

    `defects` says of tasks with a defective gold, by id, what is wrong with it, without quoting it.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    figures: dict[str, int]
    defects: Defects = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def partial_would_pass(self) -> bool:
        """Return whether nothing but ground truth is missing."""
        return all(problem.truth_missing for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "figures": self.figures,
            "problems": [{"instance_id": p.instance_id, "message": p.message} for p in self.problems],
            "warnings": [{"instance_id": p.instance_id, "message": p.message} for p in self.warnings],
            "defects": {name: list(reasons) for name, reasons in self.defects.items()},
        }

    def lines(self, most: int = 20) -> list[str]:
        """Return the report for people: figures, then at most `most` problems, defects and warnings each."""
        lines = [f"{name}: {count}" for name, count in self.figures.items()]
        defects = [Problem(name, reason) for name, reasons in self.defects.items() for reason in reasons]
        listed = (("PROBLEM", self.problems), ("defective", defects), ("warning", self.warnings))
        for title, items in listed:
            said = _grouped(items)
            lines += [f"{title}  {line}" for line in said[:most]]
            if len(said) > most:
                lines.append(f"{title}  ... and {len(said) - most} more")
        return lines


def _grouped(problems: Sequence[Problem]) -> list[str]:
    """Return a line for each problem, with the names of the tasks that have it."""
    by_message: dict[str, list[str]] = {}
    for problem in problems:
        by_message.setdefault(problem.message, []).append(problem.instance_id)
    lines = []
    for message, names in by_message.items():
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        lines.append(f"{shown}: {message}" if shown else message)
    return lines


_KEYS = ("sol_sql", "external_knowledge", "test_cases")


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged rows in public order, what does not fit together, and how many rows got ground truth."""

    records: list[dict[str, Any]]
    problems: list[Problem]
    matched: int


def merge_files(public_file: Path, truth_file: Path, *, partial: bool = False) -> Merged:
    """Merge by `instance_id`. With `partial`, public rows without ground truth are not a problem.

    The three solution fields take the ground truth's value, or [] where it has none; in a follow-up likewise.
    A follow-up that the public row lacks is copied whole.
    """
    public = _by_id(public_file)
    truth = _by_id(truth_file)
    problems = [
        Problem(name, f"{truth_file.name} has it, {public_file.name} does not")
        for name in truth
        if name not in public
    ]
    if not partial:
        problems += [
            Problem(name, f"no ground truth in {truth_file.name}", truth_missing=True)
            for name in public
            if name not in truth
        ]
    records = [_merge(row, truth[name]) if name in truth else row for name, row in public.items()]
    return Merged(records, problems, matched=sum(name in truth for name in public))


def _by_id(path: Path) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(read_records(path), 1):
        name = row.get("instance_id")
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{path}: record {number} has no instance_id")
        if name in rows:
            raise InputError(f"{path}: {name} occurs twice")
        rows[name] = row
    return rows


def _merge(row: dict[str, Any], truth: Mapping[str, Any]) -> dict[str, Any]:
    merged = row | {key: truth.get(key) or [] for key in _KEYS}
    child_end = truth.get("follow_up")
    if isinstance(child_end, Mapping):
        ours = row.get("follow_up")
        if isinstance(ours, Mapping) and ours:
            merged["follow_up"] = dict(ours) | {key: child_end.get(key) or [] for key in _KEYS}
        else:
            merged["follow_up"] = dict(child_end)
    return merged
