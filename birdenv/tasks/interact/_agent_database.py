"""The database on which the system tries SQL out: its own, never the one that grading runs on."""

from __future__ import annotations

from birdenv.databases import Checkpoint, DatabaseSource, EpisodeDatabase, Limits, QueryError, Result
from birdenv.databases.cache import result_cache
from birdenv.errors import BenchmarkError
from birdenv.tasks.interact._grading_job import agent_start_state
from birdenv.tasks.interact._task import CInteractTask
from birdenv.tasks.interact.profile import Profile
from birdenv.tasks.sql._past_statements import PastStatements
from birdenv.tasks.sql._result_text import FETCHED_ROWS, result_text


class AgentDatabase:
    """Opened in the task's starting state at the first statement; keeps what the system writes.

    In phase 2 it starts anew from what the SQL that passed phase 1 made of it (see `agent_start_state`).
    While a submission is graded there is none: what it holds is no burden to grading.

    Statements of another process (`recall`) do not run: what they wrote is written again before the next
    statement that does.
    """

    def __init__(self, task: CInteractTask, source: DatabaseSource, profile: Profile, limits: Limits) -> None:
        self._task = task
        self._source = source
        self._profile = profile
        self._limits = limits
        self._accepted: str | None = None
        self._left: Checkpoint | None = None
        self._written: Checkpoint | None = None  # by the system, before its last submission
        self._database: EpisodeDatabase | None = None
        self._past = PastStatements()
        self._is_recalled = False  # what the system wrote is in no database of this process

    @property
    def is_open(self) -> bool:
        return self._database is not None

    def show(self, sql: str) -> tuple[str, int]:
        """Run one statement; its result as text, and how many statements `recall` has to bring back.

        Raises `BenchmarkError` if the task's set-up does not run.
        """
        if self._is_recalled:
            self._is_recalled = False
            self._past.run_again(self._execute, self._put_aside)
        result = self._execute(sql)
        count = 0 if self._database is None else self._past.ran(sql, result, self._database)
        return result_text(result), count

    def recall(self, sql: str, count: int) -> None:
        """Take note of a statement that ran in another process."""
        self._past.recall(sql, count)
        self._is_recalled = True

    def move_on(self, accepted: str, left: Checkpoint | None) -> None:
        """Begin phase 2. `left` is the state after the accepted SQL, if it was kept."""
        self.close()
        self._past.clear()
        self._is_recalled = False
        self._accepted, self._left, self._written = accepted, left, None

    def set_aside(self) -> None:
        """Close the database before a submission is graded, and keep what the system has committed.

        What was temporary is lost, and so is everything if it is too large for a checkpoint.
        """
        self._past.set_aside()
        self._put_aside()

    def _execute(self, sql: str) -> Result:
        if self._database is None:
            fault = self._open()
            if fault is not None:
                return fault
            assert self._database is not None
        return result_cache.execute(self._database, sql, FETCHED_ROWS)

    def _put_aside(self) -> None:
        database = self._database
        if database is not None and database.is_private:
            written = database.checkpoint()
            self._written = None if isinstance(written, QueryError) else written
        self.close()

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> QueryError | None:
        """Bring a new copy to where the system stands; what its own SQL came to, if that fails now."""
        self.close()
        database = self._database = self._source.open(self._task.public.database, self._limits)
        state = agent_start_state(self._task, self._profile, self._accepted)
        start = self._written or self._left
        fault = database.restore(start) if start else database.run(state.setup)
        if isinstance(fault, QueryError) and self._written:
            self.close()
            self._written = None
            return fault
        if isinstance(fault, QueryError):
            raise BenchmarkError(f"set-up fails: {fault.message}")
        if not start and state.own:
            fault = database.run(state.own)
            if isinstance(fault, QueryError):  # the system's own SQL, which passed before
                self.close()
                return fault
            for statement in ("ROLLBACK", *state.cleanup):
                database.run((statement,))
        if database.is_private:
            database.checkpoint()  # where the episode goes on from if its process has to be killed
        return None
