"""Execution accuracy (EX): does a predicted query return what a gold query returns?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from birdenv.databases import Limits, QueryError, QueryResult, Result
from birdenv.grading._cleaning import clean_sql
from birdenv.grading._compare import Comparison, compare_bird, compare_multiset
from birdenv.grading._gold import GoldCache, reads_clock, rows_of_result, whole
from birdenv.grading._source import Source

__all__ = ["ExGrader", "ExStatus", "ExVerdict"]

ExStatus: TypeAlias = Literal[
    "passed", "wrong_result", "sql_error", "sql_timeout", "no_submission", "gold_error"
]

_DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class ExVerdict:
    """What grading one prediction found. Private to graders: `reason`, the results and the gold's counts.

    `ex`: default rule (multiset), of the cleaned SQL if the grader cleans. `ex_bird`: BIRD's official set
    rule, always of the SQL as submitted. `reason`: one line, empty if `ex`. `error`: of the prediction, or of
    the gold if the status is `gold_error`. `gold_empty`: the gold has no row, or nothing but NULLs.
    `matched_gold`: index of the gold that gave `ex`; `gold_result`, `rows_gold`, `gold_empty` and `flags`
    speak of that one, else of the first that ran. Times in seconds, as measured by the database.
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
    clean_steps: tuple[str, ...] = ()
    gold_seconds: float = 0.0
    pred_seconds: float = 0.0
    gold_result: QueryResult | None = field(default=None, repr=False)
    pred_result: QueryResult | None = field(default=None, repr=False)


class ExGrader:
    """Grades predictions against golds, every query on its own freshly opened database.

    Golds run before predictions and are remembered by (database, its digest, SQL), unless they read the
    clock. `clean` takes away what surrounds the SQL (`clean_sql`) before `ex` is worked out. One grader may
    be used by several threads.
    """

    def __init__(self, source: Source, limits: Limits = _DEFAULT_LIMITS, clean: bool = False) -> None:
        self._source = source
        self._limits = limits
        self._clean = clean
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
            return ExVerdict(False, False, "no SQL was submitted", "no_submission", clean_steps=steps)
        results = [self._gold(db_id, gold) for gold in golds]
        seconds = sum(result.elapsed for result in results)
        usable = [(i, result) for i, result in enumerate(results) if isinstance(result, QueryResult)]
        if not usable:
            return _gold_error(results, seconds, steps)

        pred = self._run(db_id, sql)
        submitted = pred if sql == prediction else self._run(db_id, prediction)
        ex_bird = isinstance(submitted, QueryResult) and any(
            compare_bird(gold, submitted).equal for _, gold in usable
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
            flags=comparison.flags,
            rows_gold=len(gold.rows),
            rows_pred=len(pred.rows) if isinstance(pred, QueryResult) else None,
            matched_gold=matched,
            clean_steps=steps,
            gold_seconds=seconds,
            pred_seconds=pred.elapsed,
            gold_result=gold,
            pred_result=pred if isinstance(pred, QueryResult) else None,
        )

    def _gold(self, db_id: str, sql: str) -> Result:
        if reads_clock(sql):
            return whole(self._run(db_id, sql))
        key = (db_id, self._source.digest(db_id), sql)
        return self._golds.get(key, lambda: whole(self._run(db_id, sql)))

    def _run(self, db_id: str, sql: str) -> Result:
        with self._source.open(db_id, self._limits) as database:
            return database.query(sql)


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


def _gold_error(results: Sequence[Result], seconds: float, steps: tuple[str, ...]) -> ExVerdict:
    error = next((result for result in results if isinstance(result, QueryError)), None)
    reason = f"the gold query failed: {_one_line(error)}" if error else "there is no gold query"
    return ExVerdict(False, False, reason, "gold_error", error=error, clean_steps=steps, gold_seconds=seconds)


def _one_line(error: QueryError) -> str:
    return " ".join(f"{error.kind}: {error.message}".split())
