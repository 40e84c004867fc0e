"""What comparing two large results costs, against counting their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from birdenv.databases import QueryResult
from birdenv.grading.compare import compare_multiset
from birdenv_baselines.bench._measure import Bar, Contender, Figure, Line, side_by_side, times_as_long
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_Row: TypeAlias = tuple[Any, ...]

_ROWS: Final = 100_000
_COLUMNS: Final = ("id", "name", "price", "stock", "month")
_STRIDE: Final = 61_803  # shares no divisor with the number of rows: visits them all, in another order
_AT_MOST: Final = Bar("at most", 3.0)


def lines(setting: Setting) -> list[Line]:
    return [
        Line(
            "100,000 rows x 5 in another order, by multiset",
            "two Counters of the rows",
            partial(_compared, setting, lambda i, row: row),
            _AT_MOST,
        ),
        Line(
            "the same, one row differs: found and told",
            "two Counters of equal rows",
            partial(_compared, setting, lambda i, row: row if i else (row[0], "other", *row[2:])),
            _AT_MOST,
        ),
        Line(
            "the same, every float differs in its last bits",
            "two Counters of equal rows",
            partial(_compared, setting, lambda i, row: (*row[:2], row[2] + 1e-9, *row[3:])),
        ),
    ]


def _compared(setting: Setting, change: Callable[[int, _Row], _Row]) -> Figure:
    gold = list(map(_row, range(_ROWS)))
    same = [_row(i * _STRIDE % _ROWS) for i in range(_ROWS)]
    pred = [change(i, _row(i * _STRIDE % _ROWS)) for i in range(_ROWS)]
    left, right = QueryResult(_COLUMNS, gold), QueryResult(_COLUMNS, pred)
    ours, theirs = side_by_side(
        [
            Contender(lambda: compare_multiset(left, right)),
            Contender(lambda: Counter(gold) == Counter(same)),
        ],
        setting.effort,
    )
    return times_as_long(ours, theirs)


def _row(i: int) -> _Row:
    return (i, f"name {i % 5_000}", i * 0.37 + 0.1, None if i % 7 == 0 else i % 100, f"2024-{i % 12 + 1:02d}")
