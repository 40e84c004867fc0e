"""The tasks that episodes play: four statements to explore with, a gold query and a prediction.

The predictions are right or wrong in the ways in which those of models are, so that verdicts can be compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium

import birdenv
from birdenv_baselines.bench._databases import Size

__all__ = [
    "Environment",
    "Task",
    "light_tasks",
    "make_environment",
    "play",
    "quick_tasks",
    "statements",
    "write_tasks",
]

Environment: TypeAlias = gymnasium.Env[Any, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A question on the database `db_id`, with the SQL that a model would send.

    `table`, as it stands in SQL, is the one that is looked at first.
    """

    db_id: str
    gold: str
    prediction: str
    table: str = "orders"

    @property
    def exploring(self) -> tuple[str, ...]:
        """What is run before the submission; the last of it is the prediction itself."""
        return (
            "SELECT name FROM sqlite_master WHERE type = 'table'",
            f"PRAGMA table_info({self.table})",
            f"SELECT * FROM {self.table} LIMIT 5",
            self.prediction,
        )


_QUICK_PAIRS = (
    # right
    (
        "SELECT name FROM customers WHERE id = {customer}",
        "SELECT c.name FROM customers c WHERE {customer} = c.id",
    ),
    (
        "SELECT count(*) FROM orders WHERE customer_id = {customer}",
        "SELECT count(id) FROM orders WHERE customer_id = {customer}",
    ),
    (
        "SELECT placed, total FROM orders WHERE customer_id = {customer} + 1 ORDER BY total DESC",
        "SELECT placed, total FROM orders WHERE customer_id = {customer} + 1",
    ),
    (
        "SELECT max(total), min(total), sum(quantity) FROM orders WHERE id BETWEEN {order} AND {order} + 50",
        "SELECT max(total), min(total), sum(quantity) FROM orders WHERE id >= {order} AND id <= {order} + 50",
    ),
    (
        "SELECT note FROM orders WHERE id BETWEEN {order} AND {order} + 30",
        "SELECT note FROM orders WHERE id BETWEEN {order} AND {order} + 30 ORDER BY total",
    ),
    # right: 1 is 1.0, nothing is nothing
    (
        "SELECT count(*) FROM orders WHERE customer_id = {customer} + 2",
        "SELECT count(*) * 1.0 FROM orders WHERE customer_id = {customer} + 2",
    ),
    ("SELECT name FROM products WHERE id = -{product}", "SELECT id, name FROM products WHERE id < 0"),
    # right by the set rule only: rows repeated, or no longer repeated
    (
        "SELECT DISTINCT status FROM orders WHERE id BETWEEN {order} AND {order} + 20",
        "SELECT status FROM orders WHERE id BETWEEN {order} AND {order} + 20",
    ),
    (
        "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.id = {customer}",
        "SELECT name FROM customers WHERE id = {customer}"
        " AND EXISTS (SELECT 1 FROM orders WHERE customer_id = {customer})",
    ),
    # wrong: another filter, columns swapped, too few rows, rounded, text for a number
    (
        "SELECT sum(total) FROM orders WHERE customer_id = {customer}",
        "SELECT sum(total) FROM orders WHERE customer_id = {customer} AND id > {order}",
    ),
    (
        "SELECT name, price FROM products WHERE id BETWEEN {product} AND {product} + 4",
        "SELECT price, name FROM products WHERE id BETWEEN {product} AND {product} + 4",
    ),
    (
        "SELECT id, total FROM orders WHERE customer_id = {customer} + 3",
        "SELECT id, total FROM orders WHERE customer_id = {customer} + 3 LIMIT 2",
    ),
    (
        "SELECT avg(total) FROM orders WHERE id BETWEEN {order} AND {order} + 40",
        "SELECT round(avg(total), 1) FROM orders WHERE id BETWEEN {order} AND {order} + 40",
    ),
    (
        "SELECT quantity FROM orders WHERE id = {order}",
        "SELECT CAST(quantity AS TEXT) FROM orders WHERE id = {order}",
    ),
    # wrong: no such column, and no SQL
    ("SELECT city FROM customers WHERE id = {customer}", "SELECT town FROM customers WHERE id = {customer}"),
    ("SELECT price FROM products WHERE id = {product}", "SELECT price FORM products WHERE id = {product}"),
)
_LIGHT_PAIRS = (
    (
        "SELECT c.city, count(*) FROM orders o JOIN customers c ON c.id = o.customer_id"
        " WHERE o.id BETWEEN {order} AND {order} + 1500 GROUP BY c.city",
        "SELECT city, count(orders.id) FROM customers JOIN orders ON customers.id = customer_id"
        " WHERE orders.id >= {order} AND orders.id <= {order} + 1500 GROUP BY 1",
    ),
    (
        "SELECT status, avg(total) FROM orders WHERE id BETWEEN {order} AND {order} + 4000 GROUP BY status",
        "SELECT status, avg(total) FROM orders WHERE id BETWEEN {order} AND {order} + 3000 GROUP BY status",
    ),
)


def quick_tasks(size: Size) -> tuple[Task, ...]:
    """Tasks whose queries take below 0.3 ms at every size of the database: look-ups through an index."""
    return _filled(_QUICK_PAIRS, size)


def light_tasks(size: Size) -> tuple[Task, ...]:
    """Tasks whose queries look at some thousand rows and take some milliseconds each."""
    return _filled(_LIGHT_PAIRS, size)


def _filled(pairs: Iterable[tuple[str, str]], size: Size) -> tuple[Task, ...]:
    """The tasks of `pairs`, on rows in the middle of the tables."""
    ids = {"customer": size.customers // 3, "order": size.orders // 3, "product": size.products // 3}
    return tuple(Task(size.db_id, gold.format(**ids), prediction.format(**ids)) for gold, prediction in pairs)


def statements(task: Task, number: int | None = None) -> tuple[str, ...]:
    """The statements of an episode in their order, the submission last.

    With `number`, each ends in a comment that holds it: to a cache of statements every text is then new.
    """
    texts = (*task.exploring, task.prediction)
    return texts if number is None else tuple([f"{sql} /* {number} */" for sql in texts])


def write_tasks(tasks: Sequence[Task], scratch: Path) -> Path:
    """A task file with these tasks, in their order, in `scratch`."""
    data_file = scratch / f"tasks-{len(list(scratch.iterdir()))}.json"
    records = [
        {
            "question_id": i,
            "db_id": task.db_id,
            "question": f"Question {i}?",
            "evidence": "",
            "SQL": task.gold,
        }
        for i, task in enumerate(tasks)
    ]
    data_file.write_text(json.dumps(records), encoding="utf-8")
    return data_file


def make_environment(folder: Path, tasks: Sequence[Task], scratch: Path, **settings: Any) -> Environment:
    """`birdenv/BirdSql-v0` with Gymnasium's usual wrappers, on the databases in `folder`.

    The reset option `index` counts `tasks`. The task file is written into `scratch`.
    """
    data_file = str(write_tasks(tasks, scratch))
    return gymnasium.make(
        "birdenv/BirdSql-v0", data_file=data_file, db_dir=str(folder), max_turns=999, **settings
    )


def play(environment: Environment, index: int, texts: Sequence[str]) -> bool:
    """One whole episode: reset, explore, submit the last of `texts`. Returns `info["ex"]`."""
    environment.reset(options={"index": index})
    for sql in texts[:-1]:
        environment.step(birdenv.execute_sql(sql))
    _, _, terminated, _, info = environment.step(birdenv.submit_sql(texts[-1]))
    if not terminated or info["ex"] is None:
        raise RuntimeError(f"the episode did not end with a verdict: {info}")
    return bool(info["ex"])
