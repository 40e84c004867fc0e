"""What grading one prediction by execution accuracy (EX) gives.

`plain_verdict` and `verdict_of` carry it from a process that grades, without the results themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeAlias

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
    before the last row; then `pred_result` is truncated, as it is where only the first of many rows were
    kept. `expected`, `returned`: the first row of each side without a partner, as text. `metrics`: those that
    the grader was asked for, from 0 to 1, of the cleaned SQL like `ex`. Times in seconds, as measured by the
    database when the statement was executed. `was_late`: a time limit ended one of the statements.
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


_NAMES: Final = tuple(f.name for f in fields(ExVerdict) if f.name not in ("gold_result", "pred_result"))


def without_results(verdict: ExVerdict) -> ExVerdict:
    """The verdict alone: rows of a thousand results would fill the memory."""
    return replace(verdict, gold_result=None, pred_result=None)


def plain_verdict(verdict: ExVerdict) -> dict[str, Any]:
    """The verdict as plain values, without the results."""
    plain = {name: getattr(verdict, name) for name in _NAMES}
    error = verdict.error
    plain["error"] = None if error is None else (error.kind, error.message, error.elapsed)
    plain["metrics"] = dict(verdict.metrics)
    return plain


def verdict_of(plain: Any) -> ExVerdict:
    """What `plain_verdict` was given. Raises `ValueError` for anything else."""
    if not isinstance(plain, dict) or tuple(plain) != _NAMES:
        raise ValueError("not a verdict")
    match plain["error"]:
        case None:
            error = None
        case (str() as kind, str() as message, float() as elapsed):
            error = QueryError(kind, message, elapsed)  # type: ignore[arg-type]
        case _:
            raise ValueError("not a verdict")
    return ExVerdict(**{**plain, "error": error})
