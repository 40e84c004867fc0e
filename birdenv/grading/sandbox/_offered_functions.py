"""Define the functions for test cases that require neither a database nor an SQL parser.

Their names and purposes come from BIRD-Interact (§4.2, §4.3). Unlike the original functions, they never
change text inside quotes or the meaning of an expression. The process that runs test cases imports this
module, so it imports only the standard library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, TypeVar

from birdenv.sql import Stretch, stretches

_Texts = TypeVar("_Texts", str, list[str])

_LARGEST_EXPONENT: Final = 999_999
_DEFAULT_DECIMALS: Final = 2


def remove_comments(sqls: _Texts) -> _Texts:
    """Remove comments, blank lines and outer white space from SQL (a string, or a list of strings)."""
    return _each(sqls, _without_comments)


def remove_round(sqls: _Texts) -> _Texts:
    """Replace each call `ROUND(x, n)` with `(x)` in SQL (a string, or a list of strings).

    Text with unbalanced parentheses is returned unchanged.
    """
    return _each(sqls, _without_round)


def preprocess_results(results: Iterable[Iterable[Any]], decimal_places: int = 2) -> list[tuple[Any, ...]]:
    """Return rows in a form that can be compared.

    Dates and timestamps become the date as text. Numbers are rounded half up by their decimal digits, and
    floats and Decimals keep their type. All NaNs become the same object. Arrays and JSON become JSON text
    with sorted keys. If `decimal_places` is negative, 2 is used.
    """
    places = decimal_places if decimal_places >= 0 else _DEFAULT_DECIMALS
    return [tuple(_cell(cell, places) for cell in row) for row in results]


def _each(sqls: _Texts, change: Callable[[str], str]) -> _Texts:
    return change(sqls) if isinstance(sqls, str) else [change(sql) for sql in sqls]


def _without_comments(sql: str) -> str:
    plain = "".join(" " if part.kind == "comment" else part.text for part in stretches(sql))
    return "".join("\n" if _has_blank_line(part) else part.text for part in stretches(plain)).strip()


def _has_blank_line(part: Stretch) -> bool:
    return part.kind == "space" and part.text.count("\n") > 1


def _without_round(sql: str) -> str:
    kept: list[str] = []
    opened: list[bool] = []  # for each open parenthesis, whether it belongs to a ROUND
    cut: list[int] = []  # for each, the start of its second argument in `kept`, or 0
    for _, piece, _, _ in stretches(sql):
        if piece == "(":
            opened.append(_take_round(kept))
            cut.append(0)
        elif piece == "," and opened and opened[-1] and not cut[-1]:
            cut[-1] = len(kept)
        elif piece == ")":
            if not opened:
                return sql
            if opened.pop() and cut[-1]:
                del kept[cut[-1] :]
            cut.pop()
        kept.append(piece)
    return sql if opened else "".join(kept)


def _take_round(kept: list[str]) -> bool:
    """Remove ROUND, and the space after it, from the end of `kept`. Return whether it was there."""
    place = len(kept) - 1
    if place >= 0 and kept[place].isspace():
        place -= 1
    if place < 0 or kept[place].lower() != "round":
        return False
    del kept[place:]
    return True


def _cell(cell: Any, places: int) -> Any:
    if isinstance(cell, date):
        return cell.isoformat()[:10]
    if isinstance(cell, (list, tuple, dict)):
        return json.dumps(_nested(cell, places), sort_keys=True, default=str)
    return _number(cell, places)


def _nested(cell: Any, places: int) -> Any:
    if isinstance(cell, dict):
        return {str(key): _nested(value, places) for key, value in cell.items()}
    if isinstance(cell, (list, tuple)):
        return [_nested(item, places) for item in cell]
    plain = _cell(cell, places)
    return float(plain) if isinstance(plain, Decimal) else plain


def _number(cell: Any, places: int) -> Any:
    if isinstance(cell, float):
        if math.isnan(cell):
            return math.nan
        return float(_rounded(Decimal(repr(cell)), places)) if math.isfinite(cell) else cell
    if isinstance(cell, Decimal):
        return math.nan if cell.is_nan() else _rounded(cell, places)
    return cell


def _rounded(number: Decimal, places: int) -> Decimal:
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or -exponent <= places:
        return number
    context = Context(
        prec=len(digits) + places + 1, Emin=-_LARGEST_EXPONENT, Emax=_LARGEST_EXPONENT, rounding=ROUND_HALF_UP
    )
    return number.quantize(Decimal((0, (1,), -places)), context=context)
