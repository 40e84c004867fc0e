"""What every episode database can do, wherever its statements run."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Protocol

from birdenv.databases._fetching import Seer
from birdenv.databases._image import Checkpoint
from birdenv.databases._results import QueryError, Result
from birdenv.databases._state import DatabaseState

__all__ = ["EpisodeDatabase"]


class EpisodeDatabase(Protocol):
    """One episode's database: private, fully writable, every statement under limits; SQL never raises."""

    @property
    def is_private(self) -> bool:
        """Whether the episode has an image of its own by now."""

    @property
    def contents(self) -> object | None:
        """The same object for all episodes that start from the same contents; None where that is not known.

        While an episode is not private, statements marked as `repeatable` give the same on all of them.
        """

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind, as the agent's own."""

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one plain query that only reads, as grading does."""

    def scan(self, sql: str, seer: Seer) -> Result:
        """As `query`, with the rows shown to the seer as they come, until it has seen enough."""

    def run(self, statements: Iterable[str]) -> Result:
        """Run scripts up to the first error; otherwise the result of the last statement."""

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Schema and contents as committed, after a rollback; no contents if the schema is not `like`'s."""

    def checkpoint(self) -> Checkpoint | QueryError:
        """What is committed, as a value, after a rollback."""

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Go on from a checkpoint."""

    def close(self) -> None:
        """Throw the episode's changes away; closing again does nothing."""

    def __enter__(self) -> EpisodeDatabase: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
