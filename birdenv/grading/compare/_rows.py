"""Compare rows by the default rule (multisets), by BIRD's official rule (sets), or in order.

The reason in a `RowsComparison` quotes the gold: never show it to an agent.

In the mode `ordered`, the order of rows matters if the gold's outermost query has an ORDER BY. (In c-Interact
and a-Interact, the task decides: see `Conditions.order` in `_interact_rows`.) Sort keys are the output
columns that the outermost ORDER BY sorts by. sqlglot is imported when sort keys are first needed.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare._cells import CanonicalRow, canonical_row, canonical_rows
from birdenv.grading.compare._differences import emptiness, explain, shape_fault, show
from birdenv.grading.compare._tolerance import Agreement, are_plain, compare_numbers, has_nan, unmatched

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class RowsComparison:
    """The result of comparing the rows of a gold query and a prediction.

    The possible flags are:

    * `both_empty`: neither result has rows;
    * `gold_empty`: the gold has no rows, or only NULLs;
    * `dup_only`: the results differ only in repeated rows;
    * `colorder_only`: only the order of columns differs;
    * `order_only`: only the order of rows differs;
    * `float_only`: only numbers that are not whole differ, within the tolerance if `equal` is true;
    * `extra_columns`: the prediction has additional columns;
    * `columns_unsearched`: a limit stopped the search for matching columns;
    * `order_unchecked`: the order of rows could not be checked.

    Attributes:
        equal: whether the results agree.
        reason: why the results do not agree, in one line; empty if they agree.
        flags: the flags that apply.
        expected: the first gold row that the prediction lacks, as text; empty if unknown.
        returned: the first row of the prediction that the gold lacks, as text; empty if unknown.
    """

    equal: bool
    reason: str
    flags: tuple[str, ...] = ()
    expected: str = ""
    returned: str = ""


def compare_multiset(gold: QueryResult, pred: QueryResult) -> RowsComparison:
    """Compare rows as multisets, which is the default rule for EX. The order of rows does not matter.

    Columns are compared by position; their names do not matter. Cells are compared in canonical form
    (`_cells.py`): NULL equals NULL, 1 equals 1.0, numbers that are not whole agree within `max(1e-6, 1e-9 *
    max(|a|, |b|))`, and text is exact and never a number. A truncated prediction never agrees.
    """
    flags = emptiness(gold, pred)
    fault = shape_fault(gold, pred)
    if fault:
        return RowsComparison(False, fault, flags, *_first_rows(gold, pred))
    plain = are_plain(gold.rows) and are_plain(pred.rows)
    missing, extra = unmatched(gold.rows, pred.rows, plain)
    if not missing and not extra:
        return RowsComparison(True, "", flags)
    agreement = compare_numbers(missing, extra)
    if agreement is Agreement.FULL:
        return RowsComparison(True, "", (*flags, "float_only"))
    gold_rows, pred_rows = gold.rows, pred.rows
    if not plain or has_nan(missing) or has_nan(extra):
        gold_rows, pred_rows = canonical_rows(gold_rows), canonical_rows(pred_rows)
    reason, why = explain(gold_rows, pred_rows, missing, extra, agreement)
    return RowsComparison(False, reason, flags + why, _first(missing), _first(extra))


def compare_bird(gold: QueryResult, pred: QueryResult) -> RowsComparison:
    """Compare rows as sets, which is BIRD's official rule for EX (mini_dev `evaluation_ex.py`).

    Values are compared as in Python, so floats must be exactly equal. Repeated rows and the order of rows do
    not matter, and two empty results agree even if their columns differ. The official script fails for cells
    that cannot be hashed (arrays, JSON); this function compares them as JSON text with sorted keys. A
    truncated result never agrees.
    """
    flags = emptiness(gold, pred)
    if gold.truncated or pred.truncated:
        return RowsComparison(False, shape_fault(gold, pred), flags)
    expected = _row_set(gold.rows)
    extra = next((row for row in hashable_rows(pred.rows) if row not in expected), None)
    returned = _row_set(pred.rows)
    if extra is None and len(returned) == len(expected):
        return RowsComparison(True, "", flags)
    missing = next((row for row in hashable_rows(gold.rows) if row not in returned), None)
    rows = ("" if missing is None else show(missing), "" if extra is None else show(extra))
    reason = shape_fault(gold, pred)
    if not reason and len(expected) != len(returned):
        reason = f"{len(expected)} distinct rows expected, {len(returned)} returned"
    return RowsComparison(
        False, reason or "first differing row: expected {}, returned {}".format(*rows), flags, *rows
    )


def _row_set(rows: Sequence[Row]) -> set[tuple[Hashable, ...]]:
    """Return the distinct rows in the form that the set rule compares."""
    try:
        return set(rows)
    except TypeError:
        return set(map(_hashable_row, rows))


def hashable_rows(rows: Iterable[Row]) -> Iterable[tuple[Hashable, ...]]:
    """Return the rows with each cell that cannot be hashed converted to JSON text."""
    return map(_hashable_row, rows)


def _first(rows: Sequence[Row]) -> str:
    return show(rows[0]) if rows else ""


def _first_rows(gold: QueryResult, pred: QueryResult) -> tuple[str, str]:
    """Return, as text, the first row on each side that the other side lacks, for results of unlike shape."""
    if len(gold.columns) != len(pred.columns):
        return _first(gold.rows), _first(pred.rows)
    if not gold.truncated and len(pred.rows) > len(gold.rows):
        _, extra = unmatched(gold.rows, pred.rows)
        return "", _first(extra)
    return "", ""


def _hashable_row(row: Row) -> tuple[Hashable, ...]:
    try:
        hash(row)
    except TypeError:
        return tuple(map(_json_if_unhashable, row))
    return row


def _json_if_unhashable(cell: Any) -> Hashable:
    try:
        hash(cell)
    except TypeError:
        return json.dumps(cell, sort_keys=True, default=str)
    return cell  # type: ignore[no-any-return]


def compare_ordered(gold: QueryResult, pred: QueryResult, gold_sql: str, dialect: str) -> RowsComparison:
    """Compare rows as multisets, and also in order if the gold's outermost query has an ORDER BY.

    Multisets are compared as by `compare_multiset`. Rows with equal sort keys can be in any order. The flag
    `order_only` means that only the order differs. The flag `order_unchecked` means that the order differs
    but may be due to ties, which cannot be detected because some sort keys are not in the output, or because
    a collation of SQLite may ignore the case or trailing spaces by which their texts differ; the rows are
    then compared only as multisets. `dialect` is `sqlite` or `postgres`.
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
    unchecked = RowsComparison(True, "", (*comparison.flags, "order_unchecked"))
    if not keys.is_complete:
        return unchecked
    values = [tuple(row[key] for key in keys.places) for row in expected]
    for start, end in _ties(values):
        if not _agree(expected[start:end], returned[start:end]):
            runs = _ties(list(map(_folded, values))) if dialect == "sqlite" else [(start, end)]
            if all(_agree(expected[i:j], returned[i:j]) for i, j in runs):
                return unchecked
            place = next(i for i in range(start, end) if expected[i] != returned[i])
            reason = (
                f"the rows are in a different order: row {place + 1} should be {show(expected[place])}, "
                f"but is {show(returned[place])}"
            )
            return RowsComparison(False, reason, (*comparison.flags, "order_only"))
    return comparison


def _ties(values: Sequence[CanonicalRow]) -> Iterator[tuple[int, int]]:
    """Yield runs of rows with equal sort keys (within the tolerance) as (start, end)."""
    start = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or not _agree([values[place - 1]], [values[place]]):
            yield start, place
            start = place


_TO_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def _folded(row: CanonicalRow) -> CanonicalRow:
    """Return the row without what SQLite's collations NOCASE and RTRIM ignore."""
    return tuple(cell.translate(_TO_LOWER).rstrip(" ") if isinstance(cell, str) else cell for cell in row)


def _agree(gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow]) -> bool:
    return gold == pred or compare_numbers(gold, pred) is Agreement.FULL


_LONGEST_PARSED: Final = 100_000  # characters


class SortKeys(NamedTuple):
    """The result columns that a query sorts by.

    Attributes:
        places: the position of each sort key among the result's columns, counted from 0.
        is_complete: whether every sort key is a column of the result.
    """

    places: list[int]
    is_complete: bool


@lru_cache(maxsize=512)  # of golds
def sort_keys(sql: str, dialect: str, columns: tuple[str, ...]) -> SortKeys | None:
    """Return the sort keys of a query, or None if its outermost query has no ORDER BY.

    `columns` are the columns of the result, and `dialect` is `sqlite` or `postgres`. If sqlglot cannot parse
    the query, the sort keys are empty and incomplete.
    """
    from sqlglot import exp

    tree = query_tree(sql, dialect)
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
    known = list(takewhile(lambda output: not output.is_star, outputs))
    if len(known) == len(outputs) != len(columns):
        known = []
    places = [output_column(ordered.this.unnest(), known, columns) for ordered in order.expressions]
    return SortKeys([place for place in places if place is not None], None not in places)


def query_tree(sql: str, dialect: str) -> Any:
    """Return the syntax tree of a query, or None if the SQL is not a query or cannot be parsed."""
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
    return tree if isinstance(tree, (exp.Query, exp.Values)) else None


def output_column(key: Any, outputs: Sequence[Any], columns: Sequence[str]) -> int | None:
    """Return the position of the output column that a sort key refers to, or None if there is none.

    `outputs` are the expressions of the first columns, up to any `*`.
    """
    from sqlglot import exp

    if isinstance(key, exp.Literal) and key.is_int:
        number = int(key.this)
        return number - 1 if 1 <= number <= len(columns) else None
    is_name = isinstance(key, exp.Column)
    if is_name and not key.table and (named := _named(key.name, columns)) is not None:
        return named
    wanted = _lowered(key)
    for place, output in enumerate(outputs):
        inner = output.unalias().unnest()
        if _lowered(inner) == wanted:
            return place
        same_name = is_name and isinstance(inner, exp.Column) and inner.name.lower() == key.name.lower()
        if same_name and not (inner.table and key.table):
            return place
    if is_name and len(outputs) < len(columns):  # SELECT *: use the names in the result
        return _named(key.name, columns)
    return None


def _named(name: str, columns: Sequence[str]) -> int | None:
    """Return the position of the column with this name, if there is exactly one."""
    places = [place for place, column in enumerate(columns) if column.lower() == name.lower()]
    return places[0] if len(places) == 1 else None


def _lowered(tree: exp.Expression) -> exp.Expression:
    """Return the expression with unquoted names in lower case, but literals unchanged."""
    from sqlglot import exp

    copy = tree.copy()
    for name in copy.find_all(exp.Identifier):
        name.set("this", name.this.lower())
        name.set("quoted", False)
    return copy
