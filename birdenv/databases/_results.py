"""The values that databases return: results of statements, database states, and checkpoints.

Running a statement returns a `QueryResult` or a `QueryError`. A `DatabaseState` describes a database at one
moment, so that the effects of two scripts can be compared. A `ContentId` identifies the contents of a
database, and a `Scope` identifies everything that determines a result. A `Checkpoint` stores the changes of
an episode. `fetch` reads the rows of a running statement within its limits, or passes them to a `RowSink` in
batches.
"""

from __future__ import annotations

import marshal
import sqlite3
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from sys import getsizeof
from typing import Any, Final, Literal, Protocol, TypeAlias

from birdenv.databases._limits import Limits

Cell: TypeAlias = Any
"""One value as the driver returns it. On SQLite: `None`, `int`, `float`, `str` or `bytes`."""

Row: TypeAlias = tuple[Cell, ...]

ErrorKind: TypeAlias = Literal["syntax", "missing", "constraint", "denied", "timeout", "too_large", "engine"]
"""`syntax`: the statement does not parse. `missing`: there is no such table, column or function.
`constraint`: the data violate a constraint. `denied`: the guard refused the statement. `timeout`: it took too
long. `too_large`: it exceeded a limit on rows, bytes or length. `engine`: any other error of the engine."""


@dataclass(slots=True)  # not frozen, which would triple the time to create a result
class QueryResult:
    """The result of a statement that succeeded.

    Attributes:
        columns: column names; empty for a statement that returns no rows, such as DDL or INSERT.
        rows: the rows that were fetched.
        truncated: True if there were more rows than were fetched.
        rows_affected: number of rows that the statement changed; -1 if the engine reports no number, as for
            SELECT.
        elapsed: duration in seconds. Agents never see it, and comparisons of results ignore it.
        repeatable: True if the statement is known to return these rows whenever it runs on the same contents.
            Comparisons of results ignore this attribute.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    truncated: bool = False
    rows_affected: int = -1
    elapsed: float = field(default=0.0, compare=False)
    repeatable: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class QueryError:
    """The error from a statement that failed.

    Attributes:
        kind: the kind of error, such as `syntax` or `timeout`.
        message: an explanation from the engine, or from the guard that refused or stopped the statement.
        elapsed: duration in seconds. Agents never see it, and comparisons of results ignore it.
        repeatable: True if the statement is known to fail in this way whenever it runs on the same contents.
    """

    kind: ErrorKind
    message: str
    elapsed: float = field(default=0.0, compare=False)
    repeatable: bool = field(default=False, compare=False)

    @property
    def line(self) -> str:
        """Return the kind and the message of the error as one line of text."""
        return " ".join(f"{self.kind}: {self.message}".split())


Result: TypeAlias = QueryResult | QueryError

OUT_OF_MEMORY: Final = "out of memory"
"""The error message if this process, or its worker, has no memory left for a statement."""


def is_out_of_memory(result: object) -> bool:
    """Return whether a statement ran out of memory, which the statement may not have caused."""
    return isinstance(result, QueryError) and result.message == OUT_OF_MEMORY


SchemaObject: TypeAlias = Mapping[str, Any]
"""The description of one table, view or trigger as JSON values. It does not depend on spelling."""


@dataclass(frozen=True, slots=True)
class NoAnswerError(QueryError):
    """An error that the SQL did not cause, such as a lost connection or unreadable rows."""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The committed schema and contents of a database, excluding temporary objects.

    Attributes:
        schema: a description of each table, view and other object, keyed by its kind and name, such as
            `"table orders"` or `"trigger audit"`. ASCII letters in names are in lower case, because SQLite
            ignores their case.
        contents: the result of `SELECT *` for each table and view, keyed by its name. Each result is
            truncated at the row limit, or is an error if the rows could not be read. AUTOINCREMENT counters,
            if any, appear under the key `sqlite_sequence`.
        definitions: the original SQL of all objects. Comparisons of states ignore this attribute.
    """

    schema: Mapping[str, SchemaObject]
    contents: Mapping[str, Result]
    definitions: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContentId:
    """An identifier of a database's contents: equal ids mean equal contents.

    Each engine defines a subclass.
    """


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything that determines the result of a statement, apart from the statement itself.

    Attributes:
        engine: the exact build of the engine.
        contents: an identifier of the database's contents.
        limits: the limits on each statement.
    """

    engine: str
    contents: Hashable
    limits: Limits


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The changes that an episode has made to its database.

    A checkpoint can be pickled. It contains data from the database, so keep it as private as the database.

    Attributes:
        version: the identity of the unchanged database; on SQLite, a `FileId`.
        size: size of the changed database in bytes; 0 if the episode has changed nothing.
        pages: the contents of the changed pages, keyed by their offset in the file.
    """

    version: ContentId
    size: int
    pages: dict[int, bytes] = field(repr=False)


_POINTER: Final = 8
_ROW_BYTES: Final = 64  # upper bound for a tuple and the list's pointer to it
_CELL_BYTES: Final = 96  # upper bound for a text without its characters, and the tuple's pointer to it
_CONTAINERS: Final = frozenset({list, dict})
_TOGETHER_BYTES: Final = 256 * 2**20  # of rows that are fetched in one batch, unless one row is larger
_PLAIN_FORM: Final = 2  # the last version of `marshal` without references between equal values
_COUNTED_TOGETHER: Final = 1_024  # rows


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits on one statement that is about to run.

    Attributes:
        rows: maximum number of rows.
        seconds: time limit in seconds: of CPU time, or of wall-clock time on PostgreSQL (see `Limits`).
        bytes: maximum memory for the rows.
        in_all: total time limit in seconds if the statement shares a limit with others; `seconds` is then the
            time that remains. 0 if the limit is not shared.
        wall_seconds: wall-clock limit in seconds, if `seconds` limits the CPU time.
    """

    rows: int
    seconds: float
    bytes: float
    in_all: float = 0.0
    wall_seconds: float = float("inf")


class RowSink(Protocol):
    """A receiver for the rows of a query, which arrive in batches while the query runs."""

    def begin(self, columns: tuple[str, ...]) -> None:
        """Prepare to receive rows. If this is called again, the query has been restarted."""

    def see(self, rows: list[Row]) -> bool:
        """Receive a batch of rows, which must not be modified. Return False if no more are needed."""


def bytes_of(rows: Sequence[Row]) -> int:
    """Return the memory that rows occupy in bytes, including their cells and any nested arrays or JSON."""
    return (
        _POINTER * len(rows)
        + sum(map(getsizeof, rows))
        + sum(
            _bytes_of_cells(rows[start : start + _COUNTED_TOGETHER])
            for start in range(0, len(rows), _COUNTED_TOGETHER)
        )
    )


def _bytes_of_cells(rows: Iterable[Iterable[Any]]) -> int:
    """Count each object once, because Python shares small integers, None and short strings."""
    cells = list(chain.from_iterable(rows))
    objects = dict(zip(map(id, cells), cells, strict=True)).values()
    total = sum(map(getsizeof, objects))
    if not _CONTAINERS.isdisjoint(map(type, objects)):
        inner = [cell for cell in objects if type(cell) in _CONTAINERS]
        total += _bytes_of_cells(inner)
        total += _bytes_of_cells(cell.values() for cell in inner if type(cell) is dict)
    return total


def fetch(
    cursor: sqlite3.Cursor, allowance: Allowance, widest: int, sink: RowSink | None = None
) -> tuple[list[Row] | None, bool]:
    """Fetch the rows of a running statement, in batches that fit into memory even if the rows are wide.

    Args:
        cursor: the cursor of the running statement.
        allowance: the limits on rows and bytes.
        widest: the maximum size of a row in bytes.
        sink: a receiver for the rows; the returned list is then empty. None to return the rows.

    Returns:
        The rows, or None if they exceed `allowance.bytes`; and whether there may be more rows than those
        fetched. Bytes are counted exactly only if an estimate exceeds the limit.
    """
    rows: list[Row] = []
    uncounted: list[Row] = []
    left, counted, at_most = allowance.rows, 0, 0
    together = _TOGETHER_BYTES // max(widest, 1) or 1
    while True:
        asked = min(together, left + 1)
        fetched = cursor.fetchmany(asked)
        is_last, is_cut = len(fetched) < asked, len(fetched) > left
        uncounted += fetched
        at_most += _at_most(fetched)
        if counted + at_most > allowance.bytes:
            counted += bytes_of(uncounted)
            uncounted, at_most = [], 0
            if counted > allowance.bytes:
                return None, False
        if is_cut:
            fetched.pop()
        if sink is None:
            rows += fetched
        elif fetched and not sink.see(fetched):
            return [], True
        if is_last or is_cut:
            return rows, is_cut
        left -= len(fetched)


def _at_most(rows: list[Row]) -> int:
    """Return an upper bound for `bytes_of`, which is slower."""
    cells = len(rows) * len(rows[0]) if rows else 0
    return _ROW_BYTES * len(rows) + _CELL_BYTES * cells + 4 * len(marshal.dumps(rows, _PLAIN_FORM))
