"""Does a query read any table? One that does not has spelled its rows out."""

from __future__ import annotations

from typing import Final

from birdenv.sql import quiet_parser

_LONGEST: Final = 20_000  # characters of a submission that is looked at


def reads_no_table(sql: str) -> bool:
    """Return whether a query reads nothing but what it writes down itself; False if that is not clear.

    >>> reads_no_table("WITH x AS (VALUES (1), (2)) SELECT * FROM x"), reads_no_table("SELECT 1 FROM t")
    (True, False)
    """
    import sqlglot
    from sqlglot import exp

    if len(sql) > _LONGEST:
        return False
    try:
        with quiet_parser():
            tree = sqlglot.parse_one(sql, read="postgres")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return False
    if not isinstance(tree, exp.Query | exp.Values):
        return False
    own = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    return all(table.name.lower() in own for table in tree.find_all(exp.Table))
