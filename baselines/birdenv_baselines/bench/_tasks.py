"""The tasks in the timed BIRD episodes, and functions that play them with birdenv or on a copied database.

An episode has four statements that explore the database, and a prediction. Some predictions are wrong in the
ways that models are typically wrong.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium

import birdenv
from birdenv_baselines.bench._databases import Size

__all__ = [
    "Environment",
    "Task",
    "copy_database",
    "make_environment",
    "official_verdict",
    "plain_connection",
    "play",
    "play_on_copy",
    "quick_tasks",
    "statements",
]

Environment: TypeAlias = gymnasium.Env[Any, Any]

_REFUSALS = (sqlite3.Error, sqlite3.Warning, ValueError)
"""Errors of Python's sqlite3 for SQL that fails: `Warning` for several statements, before Python 3.12, and
`ValueError` for a NUL in the text."""

_SECONDS = 30.0
_HANDLER_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Task:
    """A question about the database `db_id`, represented only by its gold SQL and a model's prediction."""

    db_id: str
    gold: str
    prediction: str


_PAIRS = (
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


def quick_tasks(size: Size) -> tuple[Task, ...]:
    """Return tasks whose queries use an index and so take less than 0.3 ms on a database of any size."""
    ids = {"customer": size.customers // 3, "order": size.orders // 3, "product": size.products // 3}
    return tuple(
        Task(size.db_id, gold.format(**ids), prediction.format(**ids)) for gold, prediction in _PAIRS
    )


def statements(task: Task, number: int) -> tuple[str, ...]:
    """Return the statements of an episode in order. The last statement is the submission.

    Each statement ends with a comment that contains `number`, so that no statement cache contains the text.
    """
    texts = (
        "SELECT name FROM sqlite_master WHERE type = 'table'",
        "PRAGMA table_info(orders)",
        "SELECT * FROM orders LIMIT 5",
        task.prediction,
        task.prediction,
    )
    return tuple([f"{sql} /* {number} */" for sql in texts])


def make_environment(folder: Path, tasks: Sequence[Task], scratch: Path) -> Environment:
    """Make a `birdenv/BirdSql-v0` environment with Gymnasium's usual wrappers.

    The option `index` of `reset` selects a task.

    Args:
        folder: the folder of the databases.
        tasks: the tasks to write to a task file.
        scratch: a folder for the task file.
    """
    file = scratch / f"tasks-{len(list(scratch.iterdir()))}.json"
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
    file.write_text(json.dumps(records), encoding="utf-8")
    return gymnasium.make("birdenv/BirdSql-v0", data_file=str(file), db_dir=str(folder), max_turns=999)


def play(environment: Environment, index: int, texts: Sequence[str]) -> bool:
    """Play an episode, and return whether the submission is right.

    Args:
        environment: the result of `make_environment`.
        index: the index of the task.
        texts: the statements; the last statement is submitted.
    """
    environment.reset(options={"index": index})
    for sql in texts[:-1]:
        environment.step(birdenv.execute_sql(sql))
    _, _, terminated, _, info = environment.step(birdenv.submit_sql(texts[-1]))
    if not terminated or info["ex"] is None:
        raise RuntimeError(f"the episode did not end with a verdict: {info}")
    return bool(info["ex"])


def play_on_copy(database: Path, task: Task, texts: Sequence[str]) -> bool:
    """Play an episode on a copy of the database file, and return BIRD's official verdict on it."""
    with tempfile.TemporaryDirectory(prefix="birdenv-bench-") as folder:
        with closing(_connection_with_deadline(copy_database(database, Path(folder)))) as connection:
            for sql in texts[:-1]:
                with suppress(_REFUSALS):
                    connection.execute(sql).fetchall()
        return official_verdict(database, task.gold, texts[-1])


def official_verdict(database: Path, gold: str, prediction: str) -> bool:
    """Return whether a prediction is right according to BIRD's rule (mini_dev `evaluation_ex.py`).

    A prediction is right if its set of rows equals that of the gold query. If either query fails,
    the prediction is wrong. The original script uses a thread with a timeout for each pair. This function
    uses a progress handler as the deadline, which is cheaper.
    """
    with closing(_connection_with_deadline(database)) as connection:
        try:
            predicted = connection.execute(prediction).fetchall()
            expected = connection.execute(gold).fetchall()
        except _REFUSALS:
            return False
    return set(predicted) == set(expected)


def copy_database(database: Path, folder: Path) -> Path:
    """Copy a database file into a folder, and return the path of the copy."""
    return Path(shutil.copy2(database, folder / "copy.sqlite"))


def plain_connection(database: Path) -> sqlite3.Connection:
    """Open a database file read-only and without locks, which is the fastest way to read it in Python."""
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _connection_with_deadline(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database)
    deadline = time.monotonic() + _SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _HANDLER_STEPS)
    return connection
