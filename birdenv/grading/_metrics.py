"""What can be worked out beside EX: other comparisons of the same two results, and soft-F1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias, get_args

from birdenv.databases import QueryResult
from birdenv.grading._column_modes import compare_colperm, compare_superset
from birdenv.grading._compare import Comparison, compare_bird, compare_multiset
from birdenv.grading._ordered import compare_ordered
from birdenv.grading._soft_f1 import soft_f1

__all__ = ["METRICS", "MODES", "Metric", "Mode", "compare", "metric_scores", "needs_all_rows"]

Mode: TypeAlias = Literal["multiset", "bird", "ordered", "colperm", "superset"]
"""How two results are compared. `multiset` is the default EX, `bird` the official set rule."""

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

Metric: TypeAlias = Literal["ordered", "colperm", "superset", "soft_f1"]
"""What a grader works out beside `ex` and `ex_bird`, if asked to."""

METRICS: Final[tuple[Metric, ...]] = get_args(Metric)


def compare(mode: Mode, gold: QueryResult, pred: QueryResult, gold_sql: str, dialect: str) -> Comparison:
    """Compare by one of the modes. The gold's SQL (in `sqlite` or `postgres`) tells `ordered` its order."""
    match mode:
        case "multiset":
            return compare_multiset(gold, pred)
        case "bird":
            return compare_bird(gold, pred)
        case "ordered":
            return compare_ordered(gold, pred, gold_sql, dialect)
        case "colperm":
            return compare_colperm(gold, pred)
        case "superset":
            return compare_superset(gold, pred)


def metric_scores(
    metrics: Iterable[Metric], golds: Sequence[tuple[str, QueryResult]], pred: QueryResult, dialect: str
) -> dict[str, float]:
    """Each metric's score, from 0 to 1: the best over the golds, which are given with their SQL."""
    return {
        metric: max((_score(metric, sql, gold, pred, dialect) for sql, gold in golds), default=0.0)
        for metric in metrics
    }


def needs_all_rows(metrics: Iterable[Metric]) -> bool:
    """Whether a prediction's rows count even where there are more of them than the gold's."""
    return "soft_f1" in metrics


def _score(metric: Metric, sql: str, gold: QueryResult, pred: QueryResult, dialect: str) -> float:
    if metric == "soft_f1":
        return soft_f1(gold, pred)
    return float(compare(metric, gold, pred, sql, dialect).equal)
