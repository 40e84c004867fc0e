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
    """What grading one prediction found. Private to graders: `reason`, the results and the gold's counts.

    `ex`: default rule (multiset), of the cleaned SQL if the grader cleans. `ex_bird`: BIRD's official set
    rule, always of the SQL as submitted. `reason`: one line, empty if `ex`. `error`: of the prediction, or of
    the gold if the status is `gold_error`. `gold_empty`: the gold has no row, or nothing but NULLs.
    `matched_gold`: index of the gold that gave `ex`; `gold_result`, `rows_gold`, `gold_empty`, `flags` and
    `expected` speak of that one, else of the first that ran. `rows_pred`: None too where fetching stopped
    before the last row. `gold_result`, `pred_result`: the first 1,001 rows at most, truncated if there were
    more; numerics, dates and other values that only PostgreSQL has are a `ShownCell`. `expected`, `returned`:
    the first row of each side without a partner, as text. `metrics`: those that the grader was asked for,
    from 0 to 1, of the cleaned SQL like `ex`. Times in seconds, as measured by the database when the
    statement was executed. `was_late`: a time limit ended one of the statements.
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
    """A value that is none of SQLite's, by its `repr`: results of verdicts are for being shown."""

    text: str

    def __repr__(self) -> str:
        return self.text


def without_results(verdict: ExVerdict) -> ExVerdict:
    """Return the verdict alone: rows of a thousand results would fill the memory."""
    return replace(verdict, gold_result=None, pred_result=None)
