"""The verdict on one prediction by execution accuracy (EX)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from birdenv.databases import QueryError, QueryResult

GRADER_VERSION: Final = "5"
"""The version of what verdicts mean: a change that can move a score is a new one."""

ExStatus: TypeAlias = Literal[
    "passed", "wrong_result", "sql_error", "sql_timeout", "no_submission", "gold_error"
]


@dataclass(frozen=True, slots=True)
class ExVerdict:
    """The result of grading one prediction. `reason`, results and the gold's counts are private to graders.

    Attributes:
        ex: True if the rows agree by the default rule (multisets); of the cleaned SQL if the grader cleans.
        ex_bird: True if they agree by BIRD's official set rule; always of the SQL as submitted.
        reason: one line that says why not; empty if `ex`.
        status: how the grading ended.
        error: the error of the prediction, or of the gold if the status is `gold_error`.
        gold_empty: True if the gold returned no row, or nothing but NULLs.
        flags: what else was noticed, such as `dup_only`.
        rows_gold: number of rows of the gold.
        rows_pred: number of rows of the prediction; None also if fetching stopped before the last row.
        matched_gold: index of the gold that gave `ex`. `gold_result`, `rows_gold`, `gold_empty`, `flags` and
            `expected` are about that gold, or else about the first one that ran.
        expected: the first row of the gold that the prediction lacks, as text.
        returned: the first row of the prediction that the gold lacks, as text.
        metrics: the metrics that the grader was asked for, from 0 to 1; like `ex`, of the cleaned SQL.
        clean_steps: what cleaning took away.
        gold_seconds: duration of the gold, as the database measured it when the statement ran.
        pred_seconds: duration of the prediction.
        was_late: True if a time limit ended one of the statements.
        gold_result: the first 1,001 rows at most, truncated if there were more. Values of types that only
            PostgreSQL has are a `ShownCell`.
        pred_result: the same of the prediction.
    """

    ex: bool
    ex_bird: bool
    reason: str
    status: ExStatus
    error: QueryError | None = None
    gold_empty: bool = False
    flags: tuple[str, ...] = ()
    rows_gold: int | None = None
    rows_pred: int | None = None
    matched_gold: int | None = None
    expected: str = ""
    returned: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    clean_steps: tuple[str, ...] = ()
    gold_seconds: float = 0.0
    pred_seconds: float = 0.0
    was_late: bool = False
    gold_result: QueryResult | None = field(default=None, repr=False)
    pred_result: QueryResult | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class ShownCell:
    """A value of a type that SQLite does not have, as its `repr`: results of verdicts are only shown."""

    text: str

    def __repr__(self) -> str:
        return self.text


def without_results(verdict: ExVerdict) -> ExVerdict:
    """Return the verdict alone: rows of a thousand results would fill the memory."""
    return replace(verdict, gold_result=None, pred_result=None)
