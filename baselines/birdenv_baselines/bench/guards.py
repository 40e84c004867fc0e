"""The guarded connection against a plain one: the same statements, all rows fetched."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial

from birdenv.databases import Limits, QueryError, Result, SqliteSource
from birdenv_baselines.bench._databases import Size
from birdenv_baselines.bench._measure import Bar, Contender, Figure, Line, side_by_side, times_as_long
from birdenv_baselines.bench._peers import plain_connection
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_QUERIES = (
    "SELECT * FROM orders WHERE customer_id BETWEEN 11 AND 20",
    "SELECT id, placed, status, total FROM orders LIMIT 2000",
    "SELECT name, city, credit FROM customers WHERE city = 'Oslo' ORDER BY credit DESC",
    "SELECT count(*), avg(total) FROM orders WHERE total > 500 AND status <> 'new'",
    "SELECT status, count(*), avg(total), max(placed) FROM orders WHERE id < 40000 GROUP BY status",
    "SELECT strftime('%Y-%m', placed) AS month, sum(total) FROM orders WHERE id < 20000"
    " GROUP BY month ORDER BY month",
    "SELECT customer_id, sum(total) AS spent FROM orders WHERE customer_id < 1500"
    " GROUP BY customer_id HAVING spent > 6000",
    "SELECT c.city, count(*), sum(o.total) FROM customers c JOIN orders o ON o.customer_id = c.id"
    " WHERE c.id < 500 GROUP BY c.city",
    "SELECT p.category, avg(o.quantity) FROM orders o JOIN products p ON p.id = o.product_id"
    " WHERE o.id < 6000 GROUP BY p.category",
    "SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 50",
    "SELECT id, note FROM orders WHERE note LIKE '%garden never lend%' AND quantity = 3",
    "SELECT upper(substr(note, 1, 12)), length(note), round(total) FROM orders WHERE id % 40 = 0",
    "SELECT customer_id, id, rank() OVER (PARTITION BY customer_id ORDER BY total DESC) FROM orders"
    " WHERE customer_id < 200",
    "SELECT DISTINCT product_id, status FROM orders WHERE id < 5000",
    "SELECT name FROM products WHERE id NOT IN (SELECT product_id FROM orders WHERE status = 'returned')",
    "SELECT name FROM customers c WHERE c.id < 800 AND EXISTS"
    " (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.total > 900)",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
    " SELECT sum(i * i) FROM n",
)
_SCANS = ("SELECT count(*), sum(length(note)), sum(total) FROM orders",)


def lines(setting: Setting) -> list[Line]:
    middle = setting.quick_sizes[-1]
    large = setting.sizes[:3][-1]
    return [
        Line(
            f"{len(_QUERIES)} queries, guards on, {middle.label}",
            "plain sqlite3, fetchall",
            partial(_guarded, setting, middle, _QUERIES, False),
            Bar("at most", 1.05),
            (middle.db_id,),
        ),
        Line(
            f"full scan after a first write, {large.label}",
            "plain sqlite3 on the file",
            partial(_guarded, setting, large, _SCANS, True),
            Bar("at most", 1.1),
            (large.db_id,),
        ),
    ]


def _guarded(setting: Setting, size: Size, queries: Sequence[str], is_written: bool) -> Figure:
    """Sums over the queries of the medians of each."""
    with ExitStack() as stack:
        database = stack.enter_context(SqliteSource(setting.folder).open(size.db_id, Limits()))
        connection = stack.enter_context(closing(plain_connection(setting.file(size))))
        if is_written:
            database.execute("CREATE TABLE found (id INTEGER PRIMARY KEY)")
        times = [_query_times(setting, database.execute, connection, sql) for sql in queries]
    ours, plain = (sum(taken) for taken in zip(*times, strict=True))
    quickest, slowest = min(plain for _, plain in times), max(plain for _, plain in times)
    note = f"they take {quickest * 1e3:.1f} to {slowest * 1e3:.0f} ms each" if len(queries) > 1 else ""
    return times_as_long(ours, plain, note=note)


def _query_times(
    setting: Setting, execute: Callable[[str], Result], connection: sqlite3.Connection, sql: str
) -> list[float]:
    result = execute(sql)
    if isinstance(result, QueryError) or list(result.rows) != connection.execute(sql).fetchall():
        raise RuntimeError(f"not the rows of plain sqlite3: {sql}")
    return side_by_side(
        [
            Contender(lambda: execute(sql)),
            Contender(lambda: connection.execute(sql).fetchall()),
        ],
        setting.effort,
    )
