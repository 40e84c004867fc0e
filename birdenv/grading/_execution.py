"""Execution accuracy (EX): does a predicted query return what a gold query returns?"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from birdenv.databases import DatabaseSource, Limits, QueryError
from birdenv.grading._cleaning import clean_sql
from birdenv.grading._compare import Comparison
from birdenv.grading._decision import agree_as_multisets, agree_as_sets, are_same_multisets
from birdenv.grading._fetched import LEAST_FETCHED, Fetched
from birdenv.grading._gold import reads_clock
from birdenv.grading._gold_rows import GoldRows
from birdenv.grading._known_verdicts import KnownVerdicts
from birdenv.grading._metrics import Metric, metric_scores, needs_all_rows
from birdenv.grading._ordered import compare_ordered
from birdenv.grading._result_store import ResultStore
from birdenv.grading._statements import Statements, Watch
from birdenv.grading._verdict import ExStatus, ExVerdict

__all__ = ["LEAST_FETCHED", "ExGrader", "ExStatus", "ExVerdict"]

_DEFAULT_LIMITS: Final = Limits()
_ORDER: Final = re.compile(r"\border\b", re.IGNORECASE)
_Fetched = Fetched | QueryError
_EQUAL: Final = Comparison(True, "")
_DIFFERENT: Final = Comparison(False, "")


class ExGrader:
    """Grades predictions against golds, every query on its own freshly opened database.

    Golds run before predictions and are remembered by (database, its contents, SQL),
    unless they read the clock. With a `store`, results of golds and predictions are remembered on disk.
    `watch` gets every statement before it is executed, and may give an error to take for its result.
    `same_programs`: different texts that SQLite compiles to the same program are executed once, where that
    pays; the columns of `pred_result` may then have the names of another text's. `clean` takes away what
    surrounds the SQL (`clean_sql`) before `ex` and the `metrics` are worked out. Without `explain` a verdict
    says whether two results agree, not how they differ (`reason`, `flags`, `expected` and `returned` are
    empty then), which takes longer to find out. One grader may be used by several threads, but not with
    `same_programs`.

    The verdict of a pair that comes again is remembered where nothing in it can change, unless there is a
    store or a watch.

    A prediction runs once, and of its rows no more are fetched than decide and none kept that need not be:
    one more than the gold's (but 1,001, so that what can be shown of it says nothing of the gold); behind
    those, rows that a gold has too are counted, up to the first that no gold has. A prediction whose SQL is
    one of the golds' is not run.
    """

    def __init__(
        self,
        source: DatabaseSource,
        limits: Limits = _DEFAULT_LIMITS,
        clean: bool = False,
        metrics: Sequence[Metric] = (),
        store: ResultStore | None = None,
        watch: Watch | None = None,
        *,
        same_programs: bool = False,
        explain: bool = True,
    ) -> None:
        self._dialect = source.dialect
        self._clean = clean
        self._metrics = tuple(metrics)
        self._explain = explain
        self._statements = Statements(source, limits, store, watch, same_programs=same_programs)
        self._version = source.version
        self._needs_all_rows = needs_all_rows(self._metrics)
        # With a store or a watch it matters which statements are asked for, and how often.
        self._known = KnownVerdicts() if store is None and watch is None and not same_programs else None

    def grade(self, db_id: str, golds: Sequence[str], prediction: str | None) -> ExVerdict:
        """Whether the prediction returns what any of the golds returns.

        A gold that fails to run matches nothing; if no other gold matches, the status is `gold_error`.
        Raises `InputError` if the database cannot be opened.
        """
        if self._known is None or prediction is None:
            return self._grade(db_id, golds, prediction, self._version(db_id))[0]
        version = self._version(db_id)
        key = (db_id, version, tuple(golds), prediction)
        verdict = self._known.find(key)
        if verdict is None:
            verdict, is_lasting = self._grade(db_id, golds, prediction, version)
            if is_lasting:
                self._known.keep(key, verdict)
        return verdict

    def _grade(
        self, db_id: str, golds: Sequence[str], prediction: str | None, version: Hashable
    ) -> tuple[ExVerdict, bool]:
        """The verdict, and whether it is sure to be the same another time."""
        cleaned = clean_sql(prediction or "") if self._clean else None
        sql = cleaned.sql if cleaned else prediction or ""
        steps = cleaned.steps if cleaned else ()
        if not sql.strip() or prediction is None:
            return self._ungraded("no SQL was submitted", "no_submission", steps), False
        usable: list[GoldRows] = []
        places: list[int] = []  # of the usable ones among the golds
        failed: list[QueryError] = []
        seconds = 0.0
        for place, text in enumerate(golds):
            gold = self._statements.gold(db_id, text, version)
            if isinstance(gold, QueryError):
                failed.append(gold)
                seconds += gold.elapsed
            else:
                usable.append(gold)
                places.append(place)
                seconds += gold.result.elapsed
        if not usable:
            reason = f"the gold query failed: {_one_line(failed[0])}" if failed else "there is no gold query"
            return self._ungraded(reason, "gold_error", steps, failed[0] if failed else None, seconds), False

        pred = self._statements.prediction(db_id, sql, usable, all_rows=self._needs_all_rows)
        submitted = pred if sql == prediction else self._statements.prediction(db_id, prediction, usable)
        best, comparison = _best(usable, pred, agree_as_multisets if self._explain else _told_apart)
        gold = usable[best]
        reason, status, error = _judge(comparison, pred, failed)
        fetched = pred if isinstance(pred, Fetched) else None
        verdict = ExVerdict(
            ex=comparison.equal,
            ex_bird=_agrees_as_set(usable, submitted),
            reason=reason,
            status=status,
            error=error,
            gold_empty=gold.is_empty,
            flags=comparison.flags + self._order_flags(comparison, gold, pred),
            rows_gold=len(gold.rows),
            rows_pred=fetched.total if fetched else None,
            matched_gold=places[best] if comparison.equal else None,
            expected=comparison.expected,
            returned=comparison.returned,
            metrics=self._scores(usable, pred) if self._metrics else {},
            clean_steps=steps,
            gold_seconds=seconds,
            pred_seconds=pred.elapsed,
            gold_result=gold.result,
            pred_result=fetched.result if fetched else None,
        )
        is_lasting = not failed and pred.repeatable and submitted.repeatable
        return verdict, is_lasting and not any(map(reads_clock, golds))

    def _order_flags(self, comparison: Comparison, gold: GoldRows, pred: _Fetched) -> tuple[str, ...]:
        """`order_only` where rows that agree stand in another order than the gold's ORDER BY asks for;
        `order_unchecked` where that cannot be told."""
        if not (comparison.equal and self._explain) or isinstance(pred, QueryError) or pred.rows == gold.rows:
            return ()
        if _ORDER.search(gold.sql) is None:
            return ()
        ordered = compare_ordered(gold.result, pred.result, gold.sql, self._dialect)
        return tuple(flag for flag in ordered.flags if flag not in comparison.flags)

    def _scores(self, golds: Sequence[GoldRows], pred: _Fetched) -> dict[str, float]:
        if isinstance(pred, QueryError):
            return dict.fromkeys(self._metrics, 0.0)
        results = [(gold.sql, gold.result) for gold in golds]
        return metric_scores(self._metrics, results, pred.result, self._dialect)

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


def _agrees_as_set(golds: Sequence[GoldRows], submitted: _Fetched) -> bool:
    return isinstance(submitted, Fetched) and any(agree_as_sets(gold, submitted) for gold in golds)


def _told_apart(gold: GoldRows, pred: Fetched) -> Comparison:
    return _EQUAL if are_same_multisets(gold, pred) else _DIFFERENT


def _best(
    usable: Sequence[GoldRows], pred: _Fetched, compare: Callable[[GoldRows, Fetched], Comparison]
) -> tuple[int, Comparison]:
    """Which is the first gold that the prediction matches, else the first of all; and how they compare."""
    if isinstance(pred, QueryError):
        return 0, _DIFFERENT
    comparison = compare(usable[0], pred)
    if not comparison.equal:
        for index, gold in enumerate(usable[1:], 1):
            other = compare(gold, pred)
            if other.equal:
                return index, other
    return 0, comparison


def _judge(
    comparison: Comparison, pred: _Fetched, failed: Sequence[QueryError]
) -> tuple[str, ExStatus, QueryError | None]:
    if comparison.equal:
        return "", "passed", None
    if failed:
        return f"a gold query failed: {_one_line(failed[0])}", "gold_error", failed[0]
    if isinstance(pred, QueryError):
        status: ExStatus = "sql_timeout" if pred.kind == "timeout" else "sql_error"
        return f"the query failed: {_one_line(pred)}", status, pred
    return comparison.reason, "wrong_result", None


def _one_line(error: QueryError) -> str:
    return " ".join(f"{error.kind}: {error.message}".split())
