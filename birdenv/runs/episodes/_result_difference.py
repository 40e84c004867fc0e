"""Describe how a submission's result differs from the gold result: missing, extra and partly incorrect rows.

The description only helps to explain a verdict. The grader compares results by different rules, which may
ignore types, for example.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare import canonical_row
from birdenv.statistics import counted

_LONGEST_CELL: Final = 200
_MOST_PAIRED: Final = 200
"""Maximum number of rows of each side for which a partner with some wrong cells is searched."""

_MOST_SHOWN: Final = 50
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class DifferentRow:
    """A row that differs between the gold result and the submission's result.

    Attributes:
        expected: the cells in the gold result; empty if only the submission's result has the row.
        returned: the cells in the submission's result; empty if only the gold result has the row.
    """

    expected: tuple[str | None, ...]
    returned: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ResultDifference:
    """The difference between a submission's result and the gold result.

    Attributes:
        why: a description of the difference, with counts but without values; empty if all rows agree.
        missing: the number of rows that only the gold result has.
        extra: the number of rows that only the submission's result has.
        wrong: the number of incorrect cells in rows that otherwise agree with the gold result.
        columns: the names of the columns in the gold result. They are private.
        rows: the first rows that differ. They are private.
    """

    why: str = ""
    missing: int = 0
    extra: int = 0
    wrong: int = 0
    columns: tuple[str, ...] = ()
    rows: tuple[DifferentRow, ...] = ()

    def public(self) -> ResultDifference:
        """Return a copy that omits the private fields, and thus all values from the gold result."""
        return replace(self, columns=(), rows=())


def cell_text(cell: Any) -> str | None:
    """Return the value of a cell as text, truncated to a maximum length; None for NULL."""
    if cell is None:
        return None
    text = f"x'{cell.hex()}'" if isinstance(cell, bytes) else str(cell)
    return text if len(text) <= _LONGEST_CELL else text[:_LONGEST_CELL] + "…"


def result_difference(gold: QueryResult, returned: QueryResult) -> ResultDifference:
    """Compare a submission's result with the gold result, ignoring the order of rows.

    A gold row and a returned row are treated as the same row with incorrect cells if most of their cells
    agree, or if half of the cells agree, including the first, which is often a key. All other rows that
    differ count as missing or extra.
    """
    if len(gold.columns) != len(returned.columns):
        why = f"{counted(len(gold.columns), 'column')} expected, {len(returned.columns)} returned"
        return ResultDifference(why, columns=tuple(gold.columns))
    missing, extra = _without_partner(gold.rows, returned.rows)
    pairs, missing, extra = _paired(missing, extra)
    wrong = sum(not _is_same(a, b) for one, other in pairs for a, b in zip(one, other, strict=True))
    rows = [DifferentRow(_texts(one), _texts(other)) for one, other in pairs if not _are_same(one, other)]
    rows += [DifferentRow(_texts(row), ()) for row in missing]
    rows += [DifferentRow((), _texts(row)) for row in extra]
    counts = (
        (len(missing), f"{counted(len(missing), 'row')} missing"),
        (len(extra), f"{counted(len(extra), 'row')} extra"),
        (wrong, f"{counted(wrong, 'cell')} wrong"),
    )
    said = ", ".join(words for count, words in counts if count)
    why = f"{said}; {len(gold.rows)} expected, {counted(len(returned.rows), 'row')} returned" if said else ""
    if gold.truncated or returned.truncated:
        why += f" (of the first {max(len(gold.rows), len(returned.rows))} rows)"
    return ResultDifference(
        why, len(missing), len(extra), wrong, tuple(gold.columns), tuple(rows[:_MOST_SHOWN])
    )


def _without_partner(gold: Sequence[Row], returned: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    ours, others = Counter(map(canonical_row, gold)), Counter(map(canonical_row, returned))
    return _left(gold, ours - others), _left(returned, others - ours)


def _left(rows: Sequence[Row], open_rows: Counter[Any]) -> list[Row]:
    found = []
    for row in rows:
        key = canonical_row(row)
        if open_rows[key] > 0:
            open_rows[key] -= 1
            found.append(row)
    return found


def _paired(missing: list[Row], extra: list[Row]) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
    """Return the pairs of rows that mostly agree, and the remaining missing and extra rows."""
    scored = [
        (-agreed, place, other)
        for place, one in enumerate(missing[:_MOST_PAIRED])
        for other, two in enumerate(extra[:_MOST_PAIRED])
        if 2 * (agreed := sum(map(_is_same, one, two))) > len(one)
        or (2 * agreed == len(one) and _is_same(one[0], two[0]))
    ]
    ours: dict[int, int] = {}
    others: set[int] = set()
    for _, place, other in sorted(scored):
        if place not in ours and other not in others:
            ours[place] = other
            others.add(other)
    pairs = [(missing[place], extra[other]) for place, other in sorted(ours.items())]
    return (
        pairs,
        [row for place, row in enumerate(missing) if place not in ours],
        [row for place, row in enumerate(extra) if place not in others],
    )


def _is_same(one: Any, other: Any) -> bool:
    numbers = (int, float, Decimal)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return canonical_row((one,)) == canonical_row((other,))


def _are_same(one: Row, other: Row) -> bool:
    return all(map(_is_same, one, other))


def _texts(row: Row) -> tuple[str | None, ...]:
    return tuple(map(cell_text, row))
