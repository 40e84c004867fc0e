"""Execution accuracy (EX): compare the rows of a predicted query with those of a gold query.

Rows are compared both by the default rule (as multisets) and by BIRD's official rule (as sets).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from birdenv.databases import Cell, DatabaseSource, Limits, QueryError, QueryResult, Result
from birdenv.databases.cache import result_cache
from birdenv.grading._answer_cleaning import clean_sql
from birdenv.grading._reads import FAILED_AS_DOUBTFUL, SPELLED_OUT, spells_out
from birdenv.grading._second_run import is_late
from birdenv.grading._statements import LEAST_FETCHED, GoldRows, Statements
from birdenv.grading.compare._metrics import Metric, metric_scores, needs_all_rows
from birdenv.grading.compare._rows import RowsComparison, compare_multiset, compare_ordered, hashable_rows
from birdenv.grading.compare._tolerance import are_plain

GRADER_VERSION: Final = "6"
"""The version of the grading rules. It increases with every change that can affect a score."""

ExStatus: TypeAlias = Literal[
    "passed", "wrong_result", "sql_error", "sql_timeout", "no_submission", "gold_error"
]


@dataclass(frozen=True, slots=True)
class ExVerdict:
    """The result of grading one prediction.

    Never show `reason`, `expected`, the results or the number of gold rows to an agent.

    Attributes:
        ex: whether the rows agree by the default rule (multisets). A grader that cleans answers uses the
            cleaned SQL.
        ex_bird: whether the rows agree by BIRD's official set rule. This always uses the SQL as it was
            submitted.
        reason: why the rows do not agree, in one line; empty if `ex` is true.
        status: how the grading ended.
        error: the error of the prediction, or of the gold if the status is `gold_error`; None if there was no
            error.
        gold_empty: whether the gold returned no rows, or only NULLs.
        flags: additional findings, such as `dup_only` (see `RowsComparison.flags`).
        rows_gold: number of rows that the gold returned; None if no gold ran.
        rows_pred: number of rows that the prediction returned; None if unknown because fetching stopped
            early.
        matched_gold: index of the gold that the prediction matched; None if it matched none. `gold_result`,
            `rows_gold`, `gold_empty`, `flags` and `expected` refer to the matched gold, or otherwise to the
            first gold that ran.
        expected: the first gold row that the prediction lacks, as text.
        returned: the first row of the prediction that the gold lacks, as text.
        metrics: the scores of the requested metrics, from 0 to 1. A grader that cleans answers uses the
            cleaned SQL.
        clean_steps: what cleaning removed (`Cleaned.steps`).
        gold_seconds: duration of the gold's last run in seconds, as measured by the database.
        pred_seconds: duration of the prediction in seconds, measured in the same way.
        was_late: whether one of the statements timed out.
        gold_result: up to 1,001 rows of the gold, truncated if there are more. Values of types that SQLite
            does not have are replaced by a `ShownCell`.
        pred_result: up to 1,001 rows of the prediction, in the same form as `gold_result`.
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
    """A placeholder for a value of a type that SQLite lacks; it holds the value's `repr`.

    Placeholders occur only in the results of a verdict, which are meant for display.
    """

    text: str

    def __repr__(self) -> str:
        return self.text


def without_results(verdict: ExVerdict) -> ExVerdict:
    """Return the verdict with `gold_result` and `pred_result` set to None, to save memory."""
    return replace(verdict, gold_result=None, pred_result=None)


def is_same(gold: GoldRows, pred: QueryResult) -> bool:
    """Return True if gold and prediction are known to have the same rows in the same order.

    This is a quick check with `==` for plain rows (see `are_plain`). If it returns False, the results may
    still agree.
    """
    return (
        not pred.truncated
        and pred.rows == gold.rows
        and len(pred.columns) == len(gold.result.columns)
        and gold.is_plain
        and are_plain(pred.rows)
    )


def agree_as_multisets(gold: GoldRows, pred: QueryResult) -> RowsComparison:
    """Compare the rows of gold and prediction as multisets, by the rule in `compare_multiset`."""
    if is_same(gold, pred):
        flags = ("both_empty", "gold_empty") if not gold.rows else ("gold_empty",) if gold.is_empty else ()
        return RowsComparison(True, "", flags)
    return compare_multiset(gold.result, pred)


def agree_as_sets(gold: GoldRows, pred: QueryResult) -> bool:
    """Return whether gold and prediction agree as sets of rows, by the rule in `compare_bird`."""
    if not pred.truncated and pred.rows == gold.rows:
        return True
    if pred.truncated or not gold.has_all(pred.rows):
        return False
    try:
        returned = set[tuple[Hashable, ...]](pred.rows)
    except TypeError:
        returned = set(hashable_rows(pred.rows))
    return len(returned) == len(gold.row_set)


_ORDER: Final = re.compile(r"\border\b", re.IGNORECASE)
_PLAIN: Final = frozenset({type(None), bool, int, float, str, bytes})


class LocalExGrader:
    """A version of `ExGrader` that grades in the calling process, which must be a worker.

    A prediction runs once, and only the rows that the verdict needs are fetched. The grader first fetches one
    more row than the gold has, and at least 1,001 rows, so that the displayed rows do not reveal how many
    rows the gold has. After that, it stops fetching at the first row that no gold contains. A prediction with
    the same SQL as a gold does not run at all.

    Args:
        source: the source that opens the databases.
        limits: the limits on each statement.
        clean: as in `ExGrader`.
        metrics: as in `ExGrader`.
        fail_doubtful: as in `ExGrader`.
    """

    def __init__(
        self,
        source: DatabaseSource,
        limits: Limits,
        clean: bool,
        metrics: Sequence[Metric],
        fail_doubtful: bool = False,
    ) -> None:
        self._dialect = source.dialect
        self._clean = clean
        self._metrics = tuple(metrics)
        self._fail_doubtful = fail_doubtful
        self._statements = Statements(source, limits, result_cache)
        self._needs_all_rows = needs_all_rows(self._metrics)

    def grade(self, db_id: str, golds: Sequence[str], prediction: str | None) -> ExVerdict:
        """Grade a prediction as `ExGrader.grade` does, but without a second run after a timeout."""
        statements = self._statements
        cleaned = clean_sql(prediction or "") if self._clean else None
        sql = cleaned.sql if cleaned else prediction or ""
        steps = cleaned.steps if cleaned else ()
        if not sql.strip() or prediction is None:
            return self._ungraded("no SQL was submitted", "no_submission", steps)
        usable: list[GoldRows] = []
        places: list[int] = []  # indexes of the usable golds
        failed: list[QueryError] = []
        seconds = 0.0
        scope = statements.scope(db_id)
        for place, gold in enumerate(statements.golds(scope, db_id, golds)):
            if isinstance(gold, QueryError):
                failed.append(gold)
                seconds += gold.elapsed
            else:
                usable.append(gold)
                places.append(place)
                seconds += gold.result.elapsed
        if not usable:
            reason = f"the gold query failed: {failed[0].line}" if failed else "there is no gold query"
            verdict = self._ungraded(reason, "gold_error", steps, failed[0] if failed else None, seconds)
            return replace(verdict, was_late=any(map(is_late, failed)))

        pred = statements.prediction(scope, db_id, sql, usable, all_rows=self._needs_all_rows)
        submitted = pred
        if sql != prediction:
            submitted = statements.prediction(scope, db_id, prediction, usable)
        best, comparison = _best(usable, pred)
        gold = usable[best]
        reason, status, error = _judge(comparison, pred)
        result = pred if isinstance(pred, QueryResult) else None
        verdict = ExVerdict(
            ex=comparison.equal,
            ex_bird=_agrees_as_set(usable, submitted),
            reason=reason,
            status=status,
            error=error,
            gold_empty=gold.is_empty,
            flags=comparison.flags + self._order_flags(comparison, gold, pred),
            rows_gold=len(gold.rows),
            rows_pred=len(result.rows) if result and not result.truncated else None,
            matched_gold=places[best] if comparison.equal else None,
            expected=comparison.expected,
            returned=comparison.returned,
            metrics=self._scores(usable, pred) if self._metrics else {},
            clean_steps=steps,
            gold_seconds=seconds,
            pred_seconds=pred.elapsed,
            was_late=any(map(is_late, (*failed, pred, submitted))),
            gold_result=_shown(gold.result),
            pred_result=_shown(result) if result else None,
        )
        doubted = self._fail_doubtful and (verdict.ex or verdict.ex_bird)
        return _failed(verdict) if doubted and spells_out(sql, gold.sql, self._dialect) else verdict

    def _order_flags(self, comparison: RowsComparison, gold: GoldRows, pred: Result) -> tuple[str, ...]:
        """Return the flags of `compare_ordered` if the rows agree and the gold has an ORDER BY."""
        if not comparison.equal or isinstance(pred, QueryError) or pred.rows == gold.rows:
            return ()
        if _ORDER.search(gold.sql) is None:
            return ()
        ordered = compare_ordered(gold.result, pred, gold.sql, self._dialect)
        return tuple(flag for flag in ordered.flags if flag not in comparison.flags)

    def _scores(self, golds: Sequence[GoldRows], pred: Result) -> dict[str, float]:
        if isinstance(pred, QueryError):
            return dict.fromkeys(self._metrics, 0.0)
        results = [(gold.sql, gold.result) for gold in golds]
        return metric_scores(self._metrics, results, pred, self._dialect)

    def _ungraded(
        self,
        reason: str,
        status: ExStatus,
        steps: tuple[str, ...],
        error: QueryError | None = None,
        seconds: float = 0.0,
    ) -> ExVerdict:
        scores: dict[str, float] = dict.fromkeys(self._metrics, 0.0)
        return ExVerdict(
            False, False, reason, status, error, metrics=scores, clean_steps=steps, gold_seconds=seconds
        )


def _failed(verdict: ExVerdict) -> ExVerdict:
    """Return the verdict with all metrics failed, because the query contains its rows as literals."""
    return replace(
        verdict,
        ex=False,
        ex_bird=False,
        reason=SPELLED_OUT,
        status="wrong_result",
        flags=(*verdict.flags, FAILED_AS_DOUBTFUL),
        matched_gold=None,
        metrics=dict.fromkeys(verdict.metrics, 0.0),
    )


def _shown(result: QueryResult) -> QueryResult:
    """Return the first rows of a result, enough for display."""
    rows = [tuple(map(_shown_cell, row)) for row in result.rows[: LEAST_FETCHED + 1]]
    return replace(result, rows=rows, truncated=result.truncated or len(result.rows) > len(rows))


def _shown_cell(cell: Cell) -> Cell:
    return cell if type(cell) in _PLAIN else ShownCell(repr(cell))


def _agrees_as_set(golds: Sequence[GoldRows], submitted: Result) -> bool:
    return isinstance(submitted, QueryResult) and any(agree_as_sets(gold, submitted) for gold in golds)


def _best(usable: Sequence[GoldRows], pred: Result) -> tuple[int, RowsComparison]:
    """Return the index of the first gold that the prediction matches (0 if none), and the comparison."""
    if isinstance(pred, QueryError):
        return 0, RowsComparison(False, "")
    comparison = agree_as_multisets(usable[0], pred)
    if not comparison.equal:
        for index, gold in enumerate(usable[1:], 1):
            other = agree_as_multisets(gold, pred)
            if other.equal:
                return index, other
    return 0, comparison


def _judge(comparison: RowsComparison, pred: Result) -> tuple[str, ExStatus, QueryError | None]:
    if comparison.equal:
        return "", "passed", None
    if isinstance(pred, QueryError):
        status: ExStatus = "sql_timeout" if pred.kind == "timeout" else "sql_error"
        return f"the query failed: {pred.line}", status, pred
    return comparison.reason, "wrong_result", None
