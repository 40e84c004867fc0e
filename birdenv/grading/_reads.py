"""Determine from the text of a query whether it reads a table, the clock, or random numbers.

A query that reads no table contains its rows as literals. To find out whether a gold statement returns the
same result in every run, its text is searched for uses of the clock and random numbers. The search is
unnecessary if the database itself marks the result as repeatable: SQLite does so for queries without date
functions on an unchanged file, and PostgreSQL never does. The text of a prediction is never trusted in this
way, because SQL can hide what it reads.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from birdenv.sql import may_change, quiet_parser

if TYPE_CHECKING:
    from sqlglot import exp


reads_clock: Final = lru_cache(maxsize=4096)(may_change)
"""Returns whether SQL reads the clock or random numbers. Cached, and so only for the benchmark's own SQL."""


FAILED_AS_DOUBTFUL: Final = "failed_as_doubtful"
"""The flag of a submission that fails only because of the setting `fail_doubtful`."""

SPELLED_OUT: Final = "the rows are correct, but the query reads no table: the rows are literals"

_LONGEST: Final = 20_000  # characters; longer submissions are not examined

_TEXT: Final = re.compile(r"'[^']*+'")
_NOT_PLAIN: Final = re.compile(r"(?i)--|/\*|[\"'\[\\$#]|\bwith\b")
_FROM_NAME: Final = re.compile(r"(?i)\bfrom\s++[a-z_`][\w`]*+(?![\w.]|\s*+[().])")


def spells_out(sql: str, gold: str, dialect: str) -> bool:
    """Return whether `sql` gets its rows from literals alone, although the gold query reads a table."""
    return reads_no_table(sql, dialect) and not reads_no_table(gold, dialect)


def reads_no_table(sql: str, dialect: str = "postgres") -> bool:
    """Return whether a query gets its rows from literals, without reading a table; False if in doubt.

    >>> reads_no_table("WITH x AS (VALUES (1), (2)) SELECT * FROM x"), reads_no_table("SELECT 1 FROM t")
    (True, False)
    """
    if len(sql) > _LONGEST or _plainly_reads(sql):
        return False
    import sqlglot
    from sqlglot import exp

    try:
        with quiet_parser():
            tree = sqlglot.parse_one(sql, read=dialect)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return False
    if not isinstance(tree, exp.Query | exp.Values):
        return False
    ctes = list(tree.find_all(exp.CTE))
    return all(_is_written_down(table, ctes) for table in tree.find_all(exp.Table))


def _plainly_reads(sql: str) -> bool:
    """Return whether a simple query reads a table. Parsing is avoided, because it takes a millisecond.

    Without WITH and quoted names, a name after FROM is a table. FROM in a function such as EXTRACT is
    followed by a column, which also belongs to a table.
    """
    bare = _TEXT.sub(" ", sql)
    return _NOT_PLAIN.search(bare) is None and _FROM_NAME.search(bare) is not None


def _is_written_down(table: exp.Table, ctes: list[exp.CTE]) -> bool:
    """Return whether a table is a function, such as `generate_series`, or a WITH query in scope."""
    from sqlglot import exp

    if isinstance(table.this, exp.Func) or table.db:
        return not table.db
    above: set[int] = set()
    node: Any = table
    while (node := node.parent) is not None:
        above.add(id(node))
    for cte in ctes:
        clause = cte.parent
        if clause is None or cte.alias_or_name.lower() != table.name.lower():
            continue
        is_own_body = id(cte) in above
        if id(clause.parent) in above and (not is_own_body or clause.args.get("recursive")):
            return True
    return False
