"""Merge the ground truth that authors send by e-mail into public task files, and report problems.

Unlike the authors' own script (BIRD-Interact `combine_public_with_gt.py`), `merge_files` requires ids to
match, and drops no record silently.

The keys in published prediction files for BIRD mini-dev follow the order of the 2024 edition. Both editions
have 500 rows, in the same order up to row 483. The 2024 edition contains questions 137 and 138 twice and
lacks 119 and 120, whereas the 2025 edition contains every question once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.statistics import counted
from birdenv.tasks import Defects
from birdenv.tasks.c_interact import CInteractTask

_ORDER = (Path(__file__).parent / "order_of_2024.txt").read_text(encoding="utf-8").split()


def keys_of_2024() -> list[tuple[str, int]]:
    """Return `(question_id, occurrence)` for each row in the 2024 edition of BIRD mini-dev.

    The occurrences of each question are numbered from 1.
    """
    seen: Counter[str] = Counter()
    keys = []
    for question_id in _ORDER:
        seen[question_id] += 1
        keys.append((question_id, seen[question_id]))
    return keys


def has_2024_signature(question_ids: Sequence[str]) -> bool:
    """Return True if the ids are the 500 question ids of the 2024 edition of BIRD mini-dev, in order."""
    return list(question_ids) == _ORDER


WHERE_TO_ASK = (
    "The authors send it by e-mail: write to bird.bench25@gmail.com with the subject [bird-interact-lite "
    "GT&Test Cases], [bird-interact-full GT&Test Cases] or [mini-interact GT&Test Cases], then add it with "
    "`birdenv data merge`"
)
"""Says how to get the ground truth of BIRD-Interact."""


def missing_ground_truth(tasks: Sequence[CInteractTask]) -> str:
    """Name the missing ground-truth fields and count the affected tasks; return "" if no field is missing.

    Only Management tasks and Management follow-ups need test cases.
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
    return ", ".join(f"{field} of {counted(count, 'task')}" for field, count in missing.items() if count)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem found in a task or in a whole file.

    Attributes:
        instance_id: the id of the task, or "" if the problem concerns the whole file.
        message: a description of the problem.
        truth_missing: True if the problem is that ground truth is missing, which `--partial` allows.
    """

    instance_id: str
    message: str
    truth_missing: bool = False

    def __str__(self) -> str:
        return f"{self.instance_id}: {self.message}" if self.instance_id else self.message


@dataclass(frozen=True, slots=True)
class PreparationReport:
    """The result of checking benchmark data.

    Attributes:
        problems: the problems that have to be fixed.
        warnings: possible problems that should be reviewed by hand.
        figures: named counts, such as the number of records.
        defects: the reasons why a task's gold is defective, keyed by task id. They do not quote the gold.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    figures: dict[str, int]
    defects: Defects = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Return True if there are no problems."""
        return not self.problems

    @property
    def partial_would_pass(self) -> bool:
        """Return True if there are no problems other than missing ground truth."""
        return all(problem.truth_missing for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "passed": self.passed,
            "figures": self.figures,
            "problems": [{"instance_id": p.instance_id, "message": p.message} for p in self.problems],
            "warnings": [{"instance_id": p.instance_id, "message": p.message} for p in self.warnings],
            "defects": {name: list(reasons) for name, reasons in self.defects.items()},
        }

    def lines(self, most: int = 20) -> list[str]:
        """Return the report as lines of text.

        The report lists up to `most` problems, up to `most` defects and up to `most` warnings.
        """
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
    """Return a line for each message, with the ids of the tasks that it concerns."""
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
    """The result of merging a public task file with its ground truth.

    Attributes:
        records: the merged records, in the order of the public file.
        problems: mismatches between the public file and the ground truth.
        matched: the number of records that have ground truth.
    """

    records: list[dict[str, Any]]
    problems: list[Problem]
    matched: int


def merge_files(public_file: Path, truth_file: Path, *, partial: bool = False) -> Merged:
    """Merge a public task file with its ground truth by `instance_id`.

    The three solution fields of each record and of its follow-up are set to the values in the ground truth,
    or to [] if there is no value. A follow-up that is missing from the public record is copied from the
    ground truth.

    Args:
        public_file: the public task file.
        truth_file: the file with the ground truth.
        partial: True to allow public records without ground truth.

    Raises:
        InputError: a file cannot be read, a record has no id, or an id occurs twice.
    """
    public = _by_id(public_file)
    truth = _by_id(truth_file)
    problems = [
        Problem(name, f"the task is in {truth_file.name} but not in {public_file.name}")
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
