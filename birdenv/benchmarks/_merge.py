"""Putting the ground truth, which the authors send by e-mail, into the public task file.

Strict where the authors' own script is lenient (BIRD-Interact `combine_public_with_gt.py`): ids must match,
nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from birdenv.benchmarks._report import Problem
from birdenv.errors import InputError
from birdenv.files import read_records

__all__ = ["Merged", "merge_files"]

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
    theirs = truth.get("follow_up")
    if isinstance(theirs, Mapping):
        ours = row.get("follow_up")
        if isinstance(ours, Mapping) and ours:
            merged["follow_up"] = dict(ours) | {key: theirs.get(key) or [] for key in _KEYS}
        else:
            merged["follow_up"] = dict(theirs)
    return merged
