"""Execution accuracy (EX): does a predicted query return what a gold query returns?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from birdenv.databases import Limits, QueryError, QueryResult, Result
from birdenv.grading._cleaning import clean_sql
from birdenv.grading._compare import Comparison, compare_bird, compare_multiset, holds_all_rows
from birdenv.grading._gold import GoldCache, reads_clock, rows_of_result, whole
from birdenv.grading._metrics import Metric, metric_scores, needs_all_rows
from birdenv.grading._ordered import compare_ordered
from birdenv.grading._source import Source
from birdenv.grading._version import GRADER_VERSION

__all__ = ["LEAST_FETCHED", "ExGrader", "ExStatus", "ExVerdict"]

ExStatus: TypeAlias = Literal[
    "passed", "wrong_result", "sql_error", "sql_timeout", "no_submission", "gold_error"
]

_DEFAULT_LIMITS: Final = Limits()
LEAST_FETCHED: Final = 1_000
"""Rows of a prediction that are fetched at least, if it has them, however few the gold has. What is shown of
a prediction may show that many: then it says nothing of the gold."""


@dataclass(frozen=True, slots=True)
class ExVerdict:
    """What grading one prediction found. Private to graders: `reason`, the results and the gold's counts.

    `ex`: default rule (multiset), of the cleaned SQL if the grader cleans. `ex_bird`: BIRD's official set
    rule, always of the SQL as submitted. `reason`: one line, empty if `ex`. `error`: of the prediction, or of
    the gold if the status is `gold_error`. `gold_empty`: the gold has no row, or nothing but NULLs.
    `matched_gold`: index of the gold that gave `ex`; `gold_result`, `rows_gold`, `gold_empty`, `flags` and
    `expected` speak of that one, else of the first that ran. `rows_pred`: None too where fetching stopped
    before the last row; then `pred_result` is truncated. `expected`, `returned`: the first row of each side
    without a partner, as text. `metrics`: those that the grader was asked for, from 0 to 1, of the cleaned
    SQL like `ex`. Times in seconds, as measured by the database.
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
    gold_result: QueryResult | None = field(default=None, repr=False)
    pred_result: QueryResult | None = field(default=None, repr=False)


class ExGrader:
    """Grades predictions against golds, every query on its own freshly opened database.

    Golds run before predictions and are remembered by (database, its digest, SQL, engine, grader version),
    unless they read the clock. `clean` takes away what surrounds the SQL (`clean_sql`) before `ex` and the
    `metrics` are worked out. One grader may be used by several threads.

    Of a prediction no more rows are fetched than decide: one more than the gold's (but 1,001, so that what
    can be shown of it says nothing of the gold). Only if those are all rows of the gold, so that the set rule
    may still hold, it runs again to its end.
    """

    def __init__(
        self,
        source: Source,
        limits: Limits = _DEFAULT_LIMITS,
        clean: bool = False,
        metrics: Sequence[Metric] = (),
    ) -> None:
        self._source = source
        self._limits = limits
        self._clean = clean
        self._metrics = tuple(metrics)
        self._golds = GoldCache(rows_of_result)

    def grade(self, db_id: str, golds: Sequence[str], prediction: str | None) -> ExVerdict:
        """Whether the prediction returns what any of the golds returns.

        A gold that fails to run matches nothing; if no other gold matches, the status is `gold_error`.
        Raises `InputError` if the database cannot be opened.
        """
        cleaned = clean_sql(prediction or "") if self._clean else None
        sql = cleaned.sql if cleaned else prediction or ""
        steps = cleaned.steps if cleaned else ()
        if not sql.strip() or prediction is None:
            return self._ungraded("no SQL was submitted", "no_submission", steps)
        results = [self._gold(db_id, gold) for gold in golds]
        seconds = sum(result.elapsed for result in results)
        usable = [(i, result) for i, result in enumerate(results) if isinstance(result, QueryResult)]
        if not usable:
            error = next((result for result in results if isinstance(result, QueryError)), None)
            reason = f"the gold query failed: {_one_line(error)}" if error else "there is no gold query"
            return self._ungraded(reason, "gold_error", steps, error, seconds)

        rows_of_golds = [result for _, result in usable]
        pred = self._predicted(db_id, sql, rows_of_golds, needs_all_rows(self._metrics))
        submitted = pred if sql == prediction else self._predicted(db_id, prediction, rows_of_golds)
        ex_bird = isinstance(submitted, QueryResult) and any(
            compare_bird(gold, submitted).equal for gold in rows_of_golds
        )
        matched, gold, comparison = _best(usable, pred)
        reason, status, error = _judge(comparison, pred, results)
        return ExVerdict(
            ex=comparison.equal,
            ex_bird=ex_bird,
            reason=reason,
            status=status,
            error=error,
            gold_empty=all(cell is None for row in gold.rows for cell in row),
            flags=comparison.flags + self._order_flags(comparison, golds, matched, gold, pred),
            rows_gold=len(gold.rows),
            rows_pred=len(pred.rows) if isinstance(pred, QueryResult) and not pred.truncated else None,
            matched_gold=matched,
            expected=comparison.expected,
            returned=comparison.returned,
            metrics=self._scores([(golds[i], result) for i, result in usable], pred),
            clean_steps=steps,
            gold_seconds=seconds,
            pred_seconds=pred.elapsed,
            gold_result=gold,
            pred_result=pred if isinstance(pred, QueryResult) else None,
        )

    def _order_flags(
        self,
        comparison: Comparison,
        golds: Sequence[str],
        matched: int | None,
        gold: QueryResult,
        pred: Result,
    ) -> tuple[str, ...]:
        """`order_only` where rows that agree stand in another order than the gold's ORDER BY asks for;
        `order_unchecked` where that cannot be told."""
        if matched is None or isinstance(pred, QueryError) or "order" not in golds[matched].lower():
            return ()
        if list(gold.rows) == list(pred.rows):
            return ()
        ordered = compare_ordered(gold, pred, golds[matched], self._source.dialect)
        return tuple(flag for flag in ordered.flags if flag not in comparison.flags)

    def _scores(self, golds: Sequence[tuple[str, QueryResult]], pred: Result) -> dict[str, float]:
        if isinstance(pred, QueryError):
            return dict.fromkeys(self._metrics, 0.0)
        return metric_scores(self._metrics, golds, pred, self._source.dialect)

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

    def _gold(self, db_id: str, sql: str) -> Result:
        if reads_clock(sql):
            return whole(self._run(db_id, sql))
        key = (db_id, self._source.digest(db_id), sql, self._source.engine, GRADER_VERSION)
        return self._golds.get(key, lambda: whole(self._run(db_id, sql)))

    def _predicted(
        self, db_id: str, sql: str, golds: Sequence[QueryResult], all_rows: bool = False
    ) -> Result:
        """What the prediction returns: all of it, or so much that no gold can agree with it by any rule."""
        enough = max(LEAST_FETCHED, *(len(gold.rows) for gold in golds)) + 1
        if all_rows or enough > self._limits.rows:
            return self._run(db_id, sql)
        result = self._run(db_id, sql, enough)
        if isinstance(result, QueryError) or not result.truncated:
            return result
        is_open = any(holds_all_rows(gold, result) for gold in golds)
        return self._run(db_id, sql) if is_open else result

    def _run(self, db_id: str, sql: str, rows: int | None = None) -> Result:
        with self._source.open(db_id, self._limits) as database:
            return database.query(sql, rows)


def _best(
    usable: Sequence[tuple[int, QueryResult]], pred: Result
) -> tuple[int | None, QueryResult, Comparison]:
    """The first gold that the prediction matches, else the first of all and how it differs."""
    first = usable[0][1]
    if isinstance(pred, QueryError):
        return None, first, Comparison(False, "")
    comparisons = [compare_multiset(first, pred)]
    if comparisons[0].equal:
        return usable[0][0], first, comparisons[0]
    for index, gold in usable[1:]:
        comparison = compare_multiset(gold, pred)
        if comparison.equal:
            return index, gold, comparison
    return None, first, comparisons[0]


def _judge(
    comparison: Comparison, pred: Result, golds: Sequence[Result]
) -> tuple[str, ExStatus, QueryError | None]:
    if comparison.equal:
        return "", "passed", None
    failed = next((gold for gold in golds if isinstance(gold, QueryError)), None)
    if failed is not None:
        return f"a gold query failed: {_one_line(failed)}", "gold_error", failed
    if isinstance(pred, QueryError):
        status: ExStatus = "sql_timeout" if pred.kind == "timeout" else "sql_error"
        return f"the query failed: {_one_line(pred)}", status, pred
    return comparison.reason, "wrong_result", None


def _one_line(error: QueryError) -> str:
    return " ".join(f"{error.kind}: {error.message}".split())
