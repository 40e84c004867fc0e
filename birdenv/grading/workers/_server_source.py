"""Let a worker use databases on a server to which only its parent connects.

The worker uses an `AskedSource`, and the parent an `AnsweringSource`. Checkpoints stay in the parent; the
worker gets tokens in their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

from birdenv.databases import (
    Checkpoint,
    ContentId,
    DatabaseSource,
    DatabaseState,
    EpisodeDatabase,
    Limits,
    QueryError,
    Result,
    Row,
    RowSink,
    ScannedDatabase,
    Scope,
)
from birdenv.grading.interact._job import Grade, GradingJob
from birdenv.grading.workers._graded import Graded
from birdenv.processes.child import Owner
from birdenv.processes.messages import MessageError
from birdenv.processes.process import ChildProcess


@dataclass(frozen=True, slots=True)
class CheckpointNumber(ContentId):
    """The number of a checkpoint that the parent stores. In the worker, a token carries this number."""

    number: int


class AskedSource:
    """A source in the worker that forwards each call to the parent's source."""

    def __init__(self, owner: Owner, dialect: str) -> None:
        self._owner = owner
        self.dialect = dialect

    def scope(self, db_id: str, limits: Limits) -> Scope:
        return cast(Scope, self._owner.ask(("scope", db_id, *_plain(limits))))

    def open(self, db_id: str, limits: Limits) -> EpisodeDatabase:
        return cast(EpisodeDatabase, _AskedDatabase(self._owner, ("open", db_id, *_plain(limits))))


def _plain(limits: Limits) -> tuple[float, int, int]:
    return limits.seconds, limits.rows, limits.bytes


class _AskedDatabase:
    def __init__(self, owner: Owner, question: tuple[Any, ...]) -> None:
        self._owner = owner
        self._number = owner.ask(question)

    @property
    def is_private(self) -> bool:
        return bool(self._ask("is_private"))

    def query(self, sql: str, rows: int | None = None) -> Result:
        return cast(Result, self._ask("query", sql, rows))

    def scan(self, sql: str, sink: RowSink) -> Result:
        kind, part = self._ask("scan", sql)
        while kind != "end":
            if kind == "begin":
                sink.begin(part)
                kind, part = self._owner.ask(None)
            else:
                kind, part = self._owner.ask(sink.see(part))
        return cast(Result, part)

    def run(self, statements: Iterable[str]) -> Result:
        return cast(Result, self._ask("run", list(statements)))

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        # Compare the schemas here, because sending `like` would cost as much as reading the state.
        found = self._ask("state")
        if isinstance(found, DatabaseState) and like is not None and like.schema != found.schema:
            return replace(found, contents={})
        return cast("DatabaseState | QueryError", found)

    def checkpoint(self) -> Checkpoint | QueryError:
        return cast("Checkpoint | QueryError", self._ask("checkpoint"))

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        assert isinstance(checkpoint.version, CheckpointNumber)
        return cast("QueryError | None", self._ask("restore", checkpoint.version.number))

    def close(self) -> None:
        self._ask("close")

    def _ask(self, method: str, *arguments: Any) -> Any:
        return self._owner.ask((method, self._number, *arguments))


class AnsweringSource:
    """The parent's counterpart of `AskedSource`, which answers questions from a worker.

    At the end of the `with` block, it closes all databases that the worker left open.
    """

    def __init__(self, source: DatabaseSource, process: ChildProcess) -> None:
        self._source = source
        self._process = process
        self._open: dict[int, ScannedDatabase] = {}
        self._kept: list[Checkpoint] = []

    def __enter__(self) -> AnsweringSource:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def token(self, checkpoint: Checkpoint) -> Checkpoint:
        """Store a checkpoint, and return a token that the worker can use in its place."""
        self._kept.append(checkpoint)
        return Checkpoint(CheckpointNumber(len(self._kept) - 1), checkpoint.size, {})

    def with_token(self, argument: Any) -> Any:
        """Return an argument for the worker's grader, with a token in place of any checkpoint in it."""
        if isinstance(argument, GradingJob) and argument.start is not None:
            return replace(argument, start=self.token(argument.start))
        return argument

    def without_token(self, graded: Graded) -> Graded:
        """Return the result of a job, with the stored checkpoint in place of any token in it."""
        grade = graded.found
        if isinstance(grade, Grade) and grade.left is not None:
            assert isinstance(grade.left.version, CheckpointNumber)
            return replace(graded, found=replace(grade, left=self._kept[grade.left.version.number]))
        return graded

    def answer(self, question: Any) -> Any:
        """Answer a question from `AskedSource`. Raises `MessageError` if the question is malformed."""
        match question:
            case ("scope", str() as db_id, seconds, rows, size):
                return self._source.scope(db_id, Limits(seconds, rows, size))
            case ("open", str() as db_id, seconds, rows, size):
                number = len(self._open)
                self._open[number] = cast(
                    ScannedDatabase, self._source.open(db_id, Limits(seconds, rows, size))
                )
                return number
            case (str() as method, int() as number, *arguments) if number in self._open:
                return self._asked(method, number, arguments)
        raise MessageError("not a question about databases")

    def _asked(self, method: str, number: int, arguments: list[Any]) -> Any:
        database = self._open[number]
        match method, *arguments:
            case ["is_private"]:
                return database.is_private
            case ["scan", str() as sql]:
                return "end", database.scan(sql, _PassedOn(self._process))
            case ["checkpoint"]:
                made = database.checkpoint()
                return self.token(made) if isinstance(made, Checkpoint) else made
            case ["restore", int() as kept] if 0 <= kept < len(self._kept):
                return database.restore(self._kept[kept])
            case ["close"]:
                database.close()
                return None
            case ["query" | "run" | "state", *given]:
                return getattr(database, method)(*given)
        raise MessageError("not a question about a database")


class _PassedOn:
    """A sink that passes rows on to the worker, which decides whether it needs more rows."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process

    def begin(self, columns: tuple[str, ...]) -> None:
        self._process.put(("begin", columns))

    def see(self, rows: list[Row]) -> bool:
        return bool(self._process.put(("rows", rows)))
