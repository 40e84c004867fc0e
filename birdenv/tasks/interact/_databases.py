"""The database on which the system tries out SQL, and the jobs for the grader.

The grader never uses the system's database.
"""

from __future__ import annotations

from typing import NamedTuple

from birdenv.databases import Checkpoint, DatabaseSource, EpisodeDatabase, Limits, QueryError, Result
from birdenv.databases.cache import result_cache
from birdenv.errors import BenchmarkError
from birdenv.grading.compare import Conditions
from birdenv.grading.interact import Category, GradingJob
from birdenv.tasks.interact._task import CInteractTask, FollowUp
from birdenv.tasks.interact.profile import Profile
from birdenv.tasks.sql._past_statements import PastStatements
from birdenv.tasks.sql._result_text import FETCHED_ROWS, result_text


def grading_job(
    task: CInteractTask,
    profile: Profile,
    phase: int,
    accepted: str | None = None,
    left: Checkpoint | None = None,
) -> GradingJob:
    """Return the job that grades a submission in one phase.

    The follow-up to a Management task starts from a changed database. Its gold SQL runs on the state that the
    phase 1 gold SQL left. The submitted SQL runs on the state that the accepted phase 1 SQL left or, in some
    profiles, on the same state as the gold SQL. Under the published rules, a Query can change the database,
    so follow-ups to Query tasks are graded in the same way.

    Args:
        task: the task that the submission is for.
        profile: the protocol profile.
        phase: the phase, 1 or 2.
        accepted: the SQL that passed phase 1; required in phase 2.
        left: a checkpoint of the database after the accepted SQL has run; None to run that SQL again.
    """
    private, follow_up = task.private, task.private.follow_up
    setup = private.preprocess if profile.setup else ()
    cleanup = private.cleanup if profile.setup else ()
    first_category = _first_category(task, profile)
    if phase == 1 or follow_up is None:
        return GradingJob(
            database=task.public.database,
            category=first_category,
            gold=private.gold,
            conditions=private.conditions,
            setup=setup,
            cleanup=cleanup,
            keeps_state=follow_up is not None and profile.follow_up_base == "prediction",
            tests=private.test_cases,
            by_state=private.by_state,
            rules=profile.grading,
        )
    base_gold: tuple[str, ...] = ()
    base_pred: tuple[str, ...] = ()
    if first_category == "Management" or profile.grading.comparison == "published":
        base_gold = private.gold
        from_gold = profile.follow_up_base == "gold" or accepted is None
        base_pred = base_gold if from_gold else (str(accepted),)
    return GradingJob(
        database=task.public.database,
        category=_follow_up_category(task, follow_up, profile),
        gold=follow_up.gold,
        conditions=_follow_up_conditions(private.conditions, follow_up.conditions, profile),
        setup=setup,
        cleanup=cleanup,
        base_gold=base_gold,
        base_pred=base_pred,
        start=None if profile.follow_up_base == "gold" else left,
        tests=follow_up.test_cases,
        by_state=follow_up.by_state,
        rules=profile.grading,
    )


class OwnState(NamedTuple):
    """The statements that prepare the system's own database for a phase. They run in the order of the fields.

    Attributes:
        setup: the task's `preprocess_sql`.
        own: the system's SQL that passed phase 1; empty if it is not needed.
        cleanup: the task's `clean_up_sqls`. Errors are ignored, because the clean-up was written for the
            state that the gold SQL leaves.
    """

    setup: tuple[str, ...]
    own: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()


def agent_start_state(task: CInteractTask, profile: Profile, accepted: str | None) -> OwnState:
    """Return the statements that prepare the system's own database for a phase, without any gold SQL.

    Args:
        task: the task being played.
        profile: the protocol profile.
        accepted: the SQL that passed phase 1, or None in phase 1.
    """
    private = task.private
    setup, cleanup = (private.preprocess, private.cleanup) if profile.setup else ((), ())
    managed = _first_category(task, profile) == "Management"
    return OwnState(setup, (accepted,), cleanup) if managed and accepted is not None else OwnState(setup)


def _first_category(task: CInteractTask, profile: Profile) -> Category:
    stated = task.private.category
    return _by_id(task, stated, task.private.test_cases) if profile.category_from_id else stated


def _follow_up_category(task: CInteractTask, follow_up: FollowUp, profile: Profile) -> Category:
    if profile.category_from_id:
        return _by_id(task, follow_up.category, follow_up.test_cases)
    return follow_up.category if profile.infer_category else follow_up.stated_category or "Query"


def _by_id(task: CInteractTask, stated: Category, tests: tuple[str, ...]) -> Category:
    """Return `Query` or `Management` as the task's id implies.

    A request without test cases keeps its `stated` category even if the id implies Management, because the
    follow-up of a Management task may be a Query.
    """
    if "_M_" not in task.public.instance_id:
        return "Query"
    return "Management" if tests else stated


def _follow_up_conditions(parent: Conditions, own: Conditions | None, profile: Profile) -> Conditions:
    if profile.follow_up_conditions == "parent":
        return parent
    if own is not None:
        return own
    return Conditions() if profile.follow_up_conditions == "own" else parent


class AgentDatabase:
    """The database on which the system tries out SQL in an episode.

    The database is opened when the first statement runs, and keeps all changes. Phase 2 begins with a fresh
    database in the state that `agent_start_state` describes. The database is closed while a submission is
    graded, to free memory. After an episode is resumed, the statements passed to `recall` run again just
    before the next new statement.
    """

    def __init__(self, task: CInteractTask, source: DatabaseSource, profile: Profile, limits: Limits) -> None:
        self._task = task
        self._source = source
        self._profile = profile
        self._limits = limits
        self._accepted: str | None = None
        self._left: Checkpoint | None = None
        self._written: Checkpoint | None = None  # the system's changes before its last submission
        self._database: EpisodeDatabase | None = None
        self._past = PastStatements()
        self._is_recalled = False  # True if statements ran in an earlier process, but not yet in this one

    @property
    def is_open(self) -> bool:
        """Return True if the database is open."""
        return self._database is not None

    def show(self, sql: str) -> tuple[str, int]:
        """Run a statement, and return its result as text and the `count` for `recall`.

        The count is the number of statements that would have to be rerun to restore the database.

        Raises:
            BenchmarkError: the set-up of the task fails.
        """
        if self._is_recalled:
            self._is_recalled = False
            self._past.run_again(self._execute, self._put_aside)
        result = self._execute(sql)
        count = 0 if self._database is None else self._past.ran(sql, result, self._database)
        return result_text(result), count

    def recall(self, sql: str, count: int) -> None:
        """Record a statement that a resumed episode ran in an earlier process.

        Args:
            sql: the statement that ran.
            count: the number that `show` returned in that process.
        """
        self._past.recall(sql, count)
        self._is_recalled = True

    def move_on(self, accepted: str, left: Checkpoint | None) -> None:
        """Begin phase 2 with a fresh database.

        Args:
            accepted: the SQL that passed phase 1.
            left: a checkpoint of the database after the accepted SQL has run; None to run that SQL again.
        """
        self.close()
        self._past.clear()
        self._is_recalled = False
        self._accepted, self._left, self._written = accepted, left, None

    def set_aside(self) -> None:
        """Close the database before a submission is graded, and keep the committed changes.

        Temporary tables are lost, and so are all changes if they are too large for a checkpoint.
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
        """Close the database, if it is open."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> QueryError | None:
        """Open a new copy of the database in the current state.

        Return the error if the system's own SQL, which succeeded before, fails this time.
        """
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
            raise BenchmarkError(f"the set-up of the task fails: {fault.message}")
        if not start and state.own:
            fault = database.run(state.own)
            if isinstance(fault, QueryError):  # the system's own SQL, which passed before
                self.close()
                return fault
            for statement in ("ROLLBACK", *state.cleanup):
                database.run((statement,))
        if database.is_private:
            database.checkpoint()  # the episode continues from here if its process has to be killed
        return None
