"""The records that go between a grading worker and its owner: settings, jobs, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from birdenv.databases import Limits, QueryError
from birdenv.databases.sqlite import ImageKind
from birdenv.grading.compare._metrics import Metric
from birdenv.grading.em_esm._pair_rules import PairRules


@dataclass(frozen=True, slots=True)
class Files:
    """SQLite databases, as of `LocalSource`, at a reference date if there is one."""

    root: Path
    file: Path | None
    image: ImageKind
    today: str | None = None


@dataclass(frozen=True, slots=True)
class OwnedServer:
    """Databases that the owner answers for, in their dialect."""

    dialect: str


@dataclass(frozen=True, slots=True)
class ExSettings:
    """Of `ExGrader`."""

    clean: bool
    metrics: tuple[Metric, ...]
    fail_doubtful: bool = False


@dataclass(frozen=True, slots=True)
class PairSettings:
    """Of `PairGrader`, whose queries the owner runs."""

    rules: PairRules
    has_database: bool


@dataclass(frozen=True, slots=True)
class GradingSettings:
    """One way of grading; `grader` is its kind, or the settings of that kind."""

    source: Files | OwnedServer
    limits: Limits
    grader: ExSettings | PairSettings | Literal["interact", "gold"]


Job: TypeAlias = tuple[int, tuple[Any, ...], Mapping[bytes, QueryError]]
"""A number, the arguments of the grader, and errors to take for what some statements give."""


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of a job.

    Attributes:
        found: what the grader gave.
        was_late: a time limit ended a statement.
        state_was_late: a time limit ended the reading of a state.
        fault: why the grader gave nothing, as values that no program can follow; empty if it did.
    """

    found: Any
    was_late: bool = False
    state_was_late: bool = False
    fault: str = ""
