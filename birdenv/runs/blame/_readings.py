"""Other readings of a point: the gold SQL with something else in the place of an annotated snippet."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from birdenv.runs.blame._sql_tokens import bare_snippet, tokens
from birdenv.sql import quiet_parser

_MOST_NODES: Final = 24


def replaced(sql: str, snippet: str, other: str) -> str | None:
    """Return SQL with `other` wherever the snippet stands, whatever the aliases; None if it stands nowhere.

    >>> replaced("SELECT b.name FROM branches b WHERE b.seats>=40", "seats >= 40", "b.seats > 9")
    'SELECT b.name FROM branches b WHERE (b.seats > 9)'
    """
    looked_for, held = [t.key for t in tokens(bare_snippet(snippet))], tokens(sql)
    count, at, end, parts = len(looked_for), 0, 0, list[str]()
    while looked_for and at + count <= len(held):
        if [t.key for t in held[at : at + count]] != looked_for:
            at += 1
            continue
        parts += [sql[end : held[at].start], f"({other})"]
        end = held[at + count - 1].end
        at += count
    return "".join([*parts, sql[end:]]) if parts else None


class RenamedExpression(NamedTuple):
    """An expression of a submission in the names of the gold SQL; alike if a column is the point's, too."""

    sql: str
    is_alike: bool


@lru_cache(maxsize=256)
def _parsed(sql: str, dialect: str) -> Any:
    """The syntax tree, which nobody may change; None if there is none."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        with quiet_parser():
            return sqlglot.parse_one(sql, read=dialect)
    except (SqlglotError, RecursionError):
        return None


@lru_cache(maxsize=256)  # a snippet is looked at alone, and together with others
def readings_of(submission: str, snippet: str, gold: str, dialect: str) -> tuple[RenamedExpression, ...]:
    """Return expressions of a submission that may be its reading of a snippet, those alike first.

    A condition may be in the place of a condition, an aggregate in that of an aggregate, and another value
    in that of a value with a column in common. Conditions on the point's columns alone that `AND` or `OR`
    joins, as a range or a list may be written, are one condition.
    """
    from sqlglot import exp

    tree, reference, point = (_parsed(sql, dialect) for sql in (submission, gold, bare_snippet(snippet)))
    if tree is None or reference is None or point is None:
        return ()
    sort = _sort(point)
    names = {column.name.lower() for column in point.find_all(exp.Column)}
    aliases = {table.name.lower(): table.alias_or_name for table in reference.find_all(exp.Table)}
    tables = {table.alias_or_name: table.name.lower() for table in tree.find_all(exp.Table)}
    found: dict[RenamedExpression, None] = {}
    for node in tree.walk():
        if not isinstance(node, exp.Condition) or isinstance(node, exp.Literal | exp.Column):
            continue
        if isinstance(node, exp.Connector):
            node = _on_columns(node, names)
            if node is None:
                continue
        is_alike = any(column.name.lower() in names for column in node.find_all(exp.Column))
        if _sort(node) == sort and (is_alike or sort != "value"):
            found[RenamedExpression(_renamed(node, tables, aliases).sql(dialect=dialect), is_alike)] = None
    return tuple(sorted(found, key=lambda each: not each.is_alike)[:_MOST_NODES])


def _on_columns(node: Any, names: set[str]) -> Any:
    """Those of the joined conditions that are on some columns alone; None if that is less than two.

    Of `OR` it is all or none.
    """
    from sqlglot import exp

    if isinstance(node.parent, type(node)):  # which is looked at as a whole
        return None
    parts = list(node.flatten())
    kept = [p for p in parts if {c.name.lower() for c in p.find_all(exp.Column)} <= names]
    if len(kept) < 2:
        return None
    if not isinstance(node, exp.And):
        return node.copy() if len(kept) == len(parts) else None
    return exp.and_(*kept)


def _sort(node: Any) -> str:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not):
        return "condition"
    return "aggregate" if node.find(exp.AggFunc) else "value"


def _renamed(node: Any, tables: dict[str, str], aliases: dict[str, str]) -> Any:
    """A copy in which columns have the gold's aliases of their tables, but for tables of the node's own."""
    from sqlglot import exp

    copy = node.copy()
    own = {table.alias_or_name for table in copy.find_all(exp.Table)}
    for column in copy.find_all(exp.Column):
        alias = aliases.get(tables.get(column.table, ""))
        if column.table and column.table not in own and alias:
            column.set("table", exp.to_identifier(alias))
    return copy
