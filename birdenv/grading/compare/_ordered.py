"""The mode `ordered`: row order counts where the gold has an ORDER BY in its outermost query.

A metric beside EX. In c-Interact and a-Interact, order counts where the task says so: `Conditions.order` in
`_interact_rows`. Here, the keys are the output columns that the outermost ORDER BY sorts by; sqlglot is
imported when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from birdenv.databases import QueryResult
from birdenv.grading.compare._canonical import CanonicalRow, canonical_row
from birdenv.grading.compare._explain import show
from birdenv.grading.compare._multiset import RowsComparison, compare_multiset
from birdenv.grading.compare._tolerance import Agreement, compare_numbers

if TYPE_CHECKING:
    from sqlglot import exp


def compare_ordered(gold: QueryResult, pred: QueryResult, gold_sql: str, dialect: str) -> RowsComparison:
    """As `compare_multiset`, and in the gold's order if the gold's outermost query has ORDER BY.

    Rows that the gold's sort keys leave tied may stand in any order among themselves.

    `dialect`: `sqlite` or `postgres`. Flags: `order_only` where nothing but the order differs;
    `order_unchecked` where the rows stand in another order but the sort keys cannot all be found in the
    output, so that ties cannot be told: then the multiset decides.
    """
    comparison = compare_multiset(gold, pred)
    if not comparison.equal or len(gold.rows) < 2:
        return comparison
    expected, returned = list(map(canonical_row, gold.rows)), list(map(canonical_row, pred.rows))
    if all(_agree([row], [other]) for row, other in zip(expected, returned, strict=True)):
        return comparison
    keys = sort_keys(gold_sql, dialect, gold.columns)
    if keys is None:
        return comparison
    if not keys.is_complete:
        return RowsComparison(True, "", (*comparison.flags, "order_unchecked"))
    for start, end in _ties(expected, keys.places):
        if not _agree(expected[start:end], returned[start:end]):
            place = next(i for i in range(start, end) if expected[i] != returned[i])
            reason = (
                f"rows in another order: row {place + 1} should be {show(expected[place])}, "
                f"and is {show(returned[place])}"
            )
            return RowsComparison(False, reason, (*comparison.flags, "order_only"))
    return comparison


def _ties(rows: Sequence[CanonicalRow], keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of rows with the same sort keys, numbers within the tolerance, as (start, end)."""
    start = 0
    values = [tuple(row[key] for key in keys) for row in rows]
    for place in range(1, len(rows) + 1):
        if place == len(rows) or not _agree([values[place - 1]], [values[place]]):
            yield start, place
            start = place


def _agree(gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow]) -> bool:
    return gold == pred or compare_numbers(gold, pred) is Agreement.FULL


_LONGEST_PARSED: Final = 100_000  # characters


class SortKeys(NamedTuple):
    """Places among the columns of the result, and whether they are all the keys that there are."""

    places: list[int]
    is_complete: bool


@lru_cache(maxsize=512)  # of golds
def sort_keys(sql: str, dialect: str, columns: tuple[str, ...]) -> SortKeys | None:
    """The sort keys of a query whose result has these columns; None without ORDER BY in its outermost query.

    `dialect`: `sqlite` or `postgres`. The keys of what sqlglot cannot parse are not known.
    """
    from sqlglot import exp

    tree = _parsed(sql, dialect)
    if tree is None:
        return SortKeys([], is_complete=False)
    while isinstance(tree, exp.Subquery) and tree.args.get("order") is None:
        tree = tree.this
    order = tree.args.get("order")
    if order is None:
        return None
    leftmost = tree
    while isinstance(leftmost, (exp.SetOperation, exp.Subquery)):
        leftmost = leftmost.this
    outputs = leftmost.expressions if isinstance(leftmost, exp.Select) else []
    if len(outputs) != len(columns) or any(output.is_star for output in outputs):
        outputs = []
    places = [_place(ordered.this, outputs, columns) for ordered in order.expressions]
    return SortKeys([place for place in places if place is not None], None not in places)


def _parsed(sql: str, dialect: str) -> Any:
    """The syntax tree of one query; None if it is none, or cannot be parsed."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if len(sql) > _LONGEST_PARSED:
        return None
    try:
        trees = sqlglot.parse(sql, dialect=dialect)
    except (SqlglotError, RecursionError):
        return None
    tree = trees[0] if len(trees) == 1 else None
    return tree if isinstance(tree, (exp.Query, exp.Subquery)) else None


def _place(key: Any, outputs: Sequence[Any], columns: Sequence[str]) -> int | None:
    """Which output column a sort key is: by its number, its name, or the same expression."""
    from sqlglot import exp

    if isinstance(key, exp.Literal) and key.is_int:
        number = int(key.this)
        return number - 1 if 1 <= number <= len(columns) else None
    is_name = isinstance(key, exp.Column)
    if is_name and not key.table and (named := _named(key.name, columns)) is not None:
        return named
    wanted = _lowered(key)
    for place, output in enumerate(outputs):
        inner = output.unalias()
        if _lowered(inner) == wanted:
            return place
        same_name = is_name and isinstance(inner, exp.Column) and inner.name.lower() == key.name.lower()
        if same_name and not (inner.table and key.table):
            return place
    if is_name and not outputs:  # SELECT *: by the names that the database gave the columns
        return _named(key.name, columns)
    return None


def _named(name: str, columns: Sequence[str]) -> int | None:
    """The place of the only column of this name."""
    places = [place for place, column in enumerate(columns) if column.lower() == name.lower()]
    return places[0] if len(places) == 1 else None


def _lowered(tree: exp.Expression) -> exp.Expression:
    """The expression with its names in lower case and without quotes, and no literal changed."""
    from sqlglot import exp

    copy = tree.copy()
    for name in copy.find_all(exp.Identifier):
        name.set("this", name.this.lower())
        name.set("quoted", False)
    return copy
