"""Do rows agree by the rule of the published c-Interact evaluators (BIRD-Interact §4.2)?

The line of reason quotes the gold: it is for graders and reports, never for an agent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, TypeAlias

from birdenv.databases import QueryResult, Row
from birdenv.grading._compare import Comparison
from birdenv.grading._differences import emptiness, show

__all__ = ["compare_published"]

_PLACES: Final = 2  # whatever the task's `conditions.decimal` says
_HUNDREDTH: Final = Decimal("0.01")
_CONTEXT: Final = Context(prec=28)  # Python's default: a number of more digits is an error
_MOST_ROWS: Final = 10_000  # of what begins with SELECT or WITH; the rest is cut off without a word

_Rows: TypeAlias = list[tuple[Any, ...]]


def compare_published(
    gold: QueryResult, pred: QueryResult, *, order: bool, gold_sql: str, pred_sql: str
) -> Comparison:
    """Set equality of normalised rows; list equality if `order`. Two results must both have rows.

    Numbers have 2 decimals: a Decimal half up, a float by Python's `round`, so that the two may disagree.
    Dates and timestamps are their day, but not inside arrays and JSON, which are compared as JSON text.
    Python equality for the rest: true is 1, 1 is 1.0, no NaN is equal to any. Values for which the published
    code raises an error (an array of numerics or dates, a numeric of 27 digits) never agree: flag `breaks`.
    """
    flags = emptiness(gold, pred)
    if not gold.rows or not pred.rows:
        sides = [side for side, result in (("gold", gold), ("prediction", pred)) if not result.rows]
        return Comparison(False, f"no rows from the {' and the '.join(sides)}", flags)
    try:
        expected, returned = _normalised(gold.rows, gold_sql), _normalised(pred.rows, pred_sql)
        equal = expected == returned if order else set(expected) == set(returned)
    except (ArithmeticError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        return Comparison(False, f"the published comparison breaks ({what})", (*flags, "breaks"))
    return Comparison(equal, "" if equal else _difference(expected, returned), flags)


def _normalised(rows: Sequence[Row], sql: str) -> _Rows:
    fetched = rows[:_MOST_ROWS] if sql.strip().lower().startswith(("select", "with")) else rows
    return [tuple(map(_normalised_cell, row)) for row in fetched]


def _normalised_cell(cell: Any) -> Any:
    if isinstance(cell, date):  # a datetime is one
        return cell.strftime("%Y-%m-%d")
    rounded = _rounded(cell)
    return json.dumps(rounded, sort_keys=True) if isinstance(rounded, (list, dict)) else rounded


def _rounded(value: Any) -> Any:
    if isinstance(value, Decimal):
        return value.quantize(_HUNDREDTH, rounding=ROUND_HALF_UP, context=_CONTEXT)
    if isinstance(value, float):
        return round(value, _PLACES)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_rounded, value))
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


def _difference(gold: _Rows, pred: _Rows) -> str:
    expected, returned = set(gold), set(pred)
    if expected == returned:
        return "same rows in another order"
    missing = next((row for row in gold if row not in returned), None)
    extra = next((row for row in pred if row not in expected), None)
    parts = [f"{what} {show(row)}" for what, row in (("expected", missing), ("returned", extra)) if row]
    return "rows differ: " + ", ".join(parts)
