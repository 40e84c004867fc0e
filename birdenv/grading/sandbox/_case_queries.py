"""Handle requests from test cases to run SQL, in the process that has the database."""

from __future__ import annotations

import time
from typing import Any

from birdenv.databases import EpisodeDatabase, QueryResult, Result
from birdenv.grading.compare._interact_rows import Conditions, compare_strict
from birdenv.grading.compare._sql_cuts import without_outer_distinct
from birdenv.processes.messages import MessageError

_ROW_BYTES, _CELL_BYTES = 64, 16  # counted for each row and cell, in addition to text and blobs


class TooManyQueriesError(Exception):
    """The test cases tried to run more queries than `SandboxLimits` allows."""


class Answers:
    """A handler for requests from the test process to run SQL, compare rows, or remove DISTINCT.

    Args:
        database: the database that the test cases query.
        dialect: `sqlite` or `postgres`.
        most_queries: maximum number of queries.
        most_bytes: maximum size of one result in bytes.
    """

    def __init__(self, database: EpisodeDatabase, dialect: str, most_queries: int, most_bytes: int) -> None:
        self._database = database
        self._dialect = dialect
        self._most_queries = most_queries
        self._most_bytes = most_bytes
        self._queries = 0
        self.seconds = 0.0
        """The total time of the queries in seconds."""

    def answer(self, request: Any) -> Any:
        """Carry out a request, and return the reply to it.

        Raises:
            MessageError: the request is malformed.
            TooManyQueriesError: the maximum number of queries is exceeded.
        """
        match request:
            case ["execute", list(sqls)] if _are_texts(sqls):
                return rows_of(self._run(sqls), self._most_bytes)
            case ["compare", list(pred), list(sol), int(decimal), bool() | None as distinct, bool(order)] if (
                _are_texts(pred) and _are_texts(sol)
            ):
                return self._are_equal(pred, sol, Conditions(decimal, distinct, order))
            case ["without_distinct", list(sqls)] if _are_texts(sqls):
                return [without_outer_distinct(sql, self._dialect) for sql in sqls]
        raise MessageError("not a request")

    def _are_equal(self, pred_sqls: list[str], sol_sqls: list[str], conditions: Conditions) -> bool:
        if not pred_sqls or not sol_sqls:
            return False
        results = []
        for sqls in (pred_sqls, sol_sqls):
            if conditions.distinct is False:
                sqls = [*sqls[:-1], without_outer_distinct(sqls[-1], self._dialect)]
            result = self._run(sqls)
            if not isinstance(result, QueryResult):
                return False
            results.append(result)
        return compare_strict(results[1], results[0], conditions).equal

    def _run(self, sqls: list[str]) -> Result:
        self._queries += 1
        if self._queries > self._most_queries:
            raise TooManyQueriesError
        began = time.monotonic()
        try:
            return self._database.run(sqls)
        finally:
            self.seconds += time.monotonic() - began


def rows_of(result: Result | None, most_bytes: int) -> tuple[list[tuple[Any, ...]] | None, bool, bool]:
    """Convert a result into what `execute_queries` returns: rows, and whether an error or a timeout occurred.

    A result that is truncated, or larger than `most_bytes`, is an error.
    """
    if result is None:
        return None, False, False
    if not isinstance(result, QueryResult):
        is_late = result.kind == "timeout"
        return None, not is_late, is_late
    if result.truncated or _is_too_large(result, most_bytes):
        return None, True, False
    return (list(result.rows) if result.columns else None), False, False


def _is_too_large(result: QueryResult, most_bytes: int) -> bool:
    size = 0
    for row in result.rows:
        size += _ROW_BYTES + sum(
            _CELL_BYTES + (len(cell) if isinstance(cell, (str, bytes)) else 0) for cell in row
        )
        if size > most_bytes:
            return True
    return False


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
