"""Compare a predicted query and a gold query by their text (EM) and by their rows (ESM).

The verdict on a pair comes from the first matching row of a decision table (see `PairGrader.grade`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from birdenv.databases import NoAnswerError, QueryError, QueryResult, Result
from birdenv.grading._answer_cleaning import Cleaned, clean_sql
from birdenv.grading.compare._cells import EXACT, Normalisation, canonical_row, normalised
from birdenv.grading.compare._rows import compare_bird, compare_multiset, compare_ordered
from birdenv.grading.em_esm._exact_match import EmLevel, em_keys
from birdenv.sql import is_single_query

Bucket: TypeAlias = Literal[
    "ok", "mismatch", "skipped", "non_select", "gold_fail", "pred_fail", "timeout", "other_error"
]
BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)

_NO_RIGHT: Final = "(SQLSTATE 42501)"
"""The error if PostgreSQL refuses a plain query because of the functions or tables that it uses."""

RunQuery: TypeAlias = Callable[[str, str], Result]
"""Runs a plain query on a database: (SQL, database id) -> result, under the caller's limits."""


@dataclass(frozen=True, slots=True)
class PairRules:
    """The rules for comparing a gold query with a prediction.

    Attributes:
        em: whether to compute EM.
        esm: whether to compute ESM.
        em_level: the level of EM.
        none_aliases: answers that, like `None`, mean that the question cannot be answered in SQL. An answer
            must match exactly.
        clean: whether to remove everything around the SQL before comparing the queries (`clean_sql`).
        order: `auto` compares the order of rows if the gold's outermost query has an ORDER BY; `ignore` never
            compares it.
        relax_single: whether two one-row results agree if one of them has a single column whose value occurs
            anywhere in the other row.
        normalisation: the differences that ESM ignores. The comparison mode `bird` ignores no differences.
    """

    em: bool = True
    esm: bool = True
    em_level: EmLevel = "conservative"
    none_aliases: frozenset[str] = frozenset()
    clean: bool = True
    order: Literal["auto", "ignore"] = "auto"
    relax_single: bool = False
    normalisation: Normalisation = EXACT

    @property
    def nones(self) -> frozenset[str]:
        """Return all answers that mean that a question cannot be answered in SQL."""
        return self.none_aliases | {"None"}


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on a gold query and a prediction.

    It must not be shown to agents, because `reason` may quote gold rows.

    Attributes:
        gold: the cleaned gold query.
        pred: the cleaned prediction.
        bucket: the outcome of ESM.
        reason: an explanation in one line.
        em: the result of EM; None if it was not computed.
        esm: the result of ESM; None if it was not computed.
        side: `gold` or `pred` if only that query is at fault; otherwise empty.
        error: the error from the query that failed; None if no query failed.
        rows_gold: number of rows that the gold query returned; None if unknown.
        rows_pred: number of rows that the prediction returned; None if unknown.
        gold_seconds: duration of the gold query in seconds; None if unknown.
        pred_seconds: duration of the prediction in seconds; None if unknown.
        modes: whether the results agree, keyed by comparison mode.
        flags: additional findings from the comparison.
        keys: the EM keys of the gold query and the prediction (`em_key`).
    """

    gold: Cleaned
    pred: Cleaned
    bucket: Bucket
    reason: str = ""
    em: bool | None = None
    esm: bool | None = None
    side: Literal["", "gold", "pred"] = ""
    error: str | None = None
    rows_gold: int | None = None
    rows_pred: int | None = None
    gold_seconds: float | None = None
    pred_seconds: float | None = None
    modes: Mapping[str, bool] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    keys: tuple[str, str] = ("", "")

    @property
    def is_empty(self) -> bool:
        """Return whether the cleaned prediction is empty."""
        return not self.pred.sql


class LocalPairGrader:
    """A version of `PairGrader` that grades in the calling process, which must be a worker."""

    def __init__(self, run: RunQuery | None, dialect: str, rules: PairRules | None = None) -> None:
        self.rules = rules or PairRules()
        self.dialect = dialect
        self._run = run
        self._nones = self.rules.nones

    def grade(self, gold: str, pred: str, db_id: str = "") -> PairVerdict:
        """Return the verdict on a pair, as `PairGrader.grade` does."""
        sides = self._cleaned(gold), self._cleaned(pred)
        cleaned = PairVerdict(*sides, "skipped", keys=(sides[0].sql, sides[1].sql))
        verdict = self._by_text(cleaned) or self._with_keys(self._by_results(cleaned, db_id))
        if not self.rules.esm:
            reason = verdict.reason if verdict.bucket == "skipped" else "disabled"
            verdict = replace(verdict, esm=None, bucket="skipped", reason=reason, side="")
        if not self.rules.em:
            verdict = replace(verdict, em=None)
        return verdict

    def _cleaned(self, text: str) -> Cleaned:
        return clean_sql(text) if self.rules.clean else Cleaned(text if text.strip() else "", ())

    def _by_text(self, pair: PairVerdict) -> PairVerdict | None:
        """Return the verdict by rows 1 to 5 of the table, or None if none of these rows matches."""
        gold_none, pred_none = pair.gold.sql in self._nones, pair.pred.sql in self._nones
        if gold_none and pred_none:
            return _decided(pair, "ok", "both_unanswerable", passes=True)
        if pair.is_empty:
            return replace(pair, reason="pred_empty", side="pred")
        if not pair.gold.sql:
            return replace(pair, reason="gold_empty", side="gold")
        if gold_none:
            return _decided(pair, "mismatch", "should_be_unanswerable", passes=False)
        if pred_none:
            return _decided(pair, "mismatch", "wrongly_unanswerable", passes=False)
        return None

    def _with_keys(self, pair: PairVerdict) -> PairVerdict:
        if not self.rules.em:
            return pair
        keys = em_keys(pair.gold.sql, pair.pred.sql, self.dialect, self.rules.em_level)
        return replace(pair, keys=keys, em=keys[0] == keys[1])

    def _by_results(self, pair: PairVerdict, db_id: str) -> PairVerdict:
        """Return the verdict by rows 6 to 16 of the table, without EM."""
        if not self.rules.esm or self._run is None:
            return replace(pair, reason="disabled")
        if not is_single_query(pair.gold.sql, self.dialect):
            return _non_select(pair, "gold", "not a single query")
        if not is_single_query(pair.pred.sql, self.dialect):
            return _non_select(pair, "pred", "not a single query")
        gold = self._run(pair.gold.sql, db_id)
        pair = replace(pair, gold_seconds=gold.elapsed, rows_gold=_row_count(gold))
        failed = _failure(pair, gold, "gold")
        if failed is not None:
            return failed
        pred = self._run(pair.pred.sql, db_id)
        pair = replace(pair, pred_seconds=pred.elapsed, rows_pred=_row_count(pred))
        return (
            _failure(pair, pred, "pred")
            or _cap_hit(pair, gold, "gold")
            or _cap_hit(pair, pred, "pred")
            or self._compared(pair, gold, pred)
        )

    def _compared(self, pair: PairVerdict, gold: Result, pred: Result) -> PairVerdict:
        assert isinstance(gold, QueryResult)
        assert isinstance(pred, QueryResult)
        bird = compare_bird(gold, pred).equal
        gold, pred = (normalised(result, self.rules.normalisation) for result in (gold, pred))
        multiset = compare_multiset(gold, pred)
        ordered = compare_ordered(gold, pred, pair.gold.sql, self.dialect)
        modes = {"multiset": multiset.equal, "ordered": ordered.equal, "bird": bird}
        decisive = ordered if self.rules.order == "auto" else multiset
        passes, reason, flags = decisive.equal, decisive.reason, decisive.flags
        if not passes and self.rules.relax_single and _shares_single_value(gold, pred):
            passes, reason, flags = True, "", (*flags, "relaxed_single")
        bucket: Bucket = "ok" if passes else "mismatch"
        return replace(pair, bucket=bucket, reason=reason, esm=passes, modes=modes, flags=flags)


def _decided(pair: PairVerdict, bucket: Bucket, reason: str, *, passes: bool) -> PairVerdict:
    return replace(pair, bucket=bucket, reason=reason, em=passes, esm=passes)


def _non_select(pair: PairVerdict, side: Literal["gold", "pred"], why: str) -> PairVerdict:
    return replace(
        pair, bucket="non_select", side=side, reason=f"{side}: {why}", esm=None if side == "gold" else False
    )


def _failure(pair: PairVerdict, result: Result, side: Literal["gold", "pred"]) -> PairVerdict | None:
    """Return the verdict by rows 7 to 12 and 14, or None if the query ran or exceeded a size limit."""
    if isinstance(result, QueryResult) or (
        result.kind == "too_large" and not isinstance(result, NoAnswerError)
    ):
        return None
    text = f"{result.kind}: {result.message}"
    if isinstance(result, NoAnswerError):
        return replace(pair, bucket="other_error", side=side, reason=text, error=text)
    if result.kind == "denied" and _NO_RIGHT not in result.message:
        return _non_select(pair, side, result.message)
    bucket: Bucket = "timeout" if result.kind == "timeout" else "gold_fail" if side == "gold" else "pred_fail"
    esm = None if side == "gold" else False
    return replace(pair, bucket=bucket, side=side, reason=text, error=text, esm=esm)


def _cap_hit(pair: PairVerdict, result: Result, side: Literal["gold", "pred"]) -> PairVerdict | None:
    """Return the verdict by row 13, or None if the query exceeded no size limit."""
    if isinstance(result, QueryResult) and not result.truncated:
        return None
    why = result.message if isinstance(result, QueryError) else f"more than {len(result.rows)} rows"
    text = f"cap: {why}"
    esm = None if side == "gold" else False
    return replace(pair, bucket="other_error", side=side, reason=text, error=text, esm=esm)


def _row_count(result: Result) -> int | None:
    return len(result.rows) if isinstance(result, QueryResult) else None


def _shares_single_value(gold: QueryResult, pred: QueryResult) -> bool:
    if len(gold.rows) != 1 or len(pred.rows) != 1:
        return False
    short, long = sorted((canonical_row(gold.rows[0]), canonical_row(pred.rows[0])), key=len)
    return len(short) == 1 and short[0] in long
