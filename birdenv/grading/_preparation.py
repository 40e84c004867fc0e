"""Bringing a fresh copy to where a phase starts, and cleaning up behind a script."""

from __future__ import annotations

from birdenv.databases import DatabaseState, EpisodeDatabase, QueryError
from birdenv.grading._assignment import Assignment, Grade, broken, failed

__all__ = ["clean_up", "prepare_gold", "prepare_prediction", "run_each"]


def prepare_gold(database: EpisodeDatabase, assignment: Assignment) -> Grade | None:
    """The gold's copy; a grade (`infra_error`) if that cannot be done."""
    failure = _run_whole(database, assignment.setup)
    if failure is not None:
        return broken("the set-up", failure)
    failure = _run_base(database, assignment.base_gold, assignment.cleanup)
    return None if failure is None else broken("the starting state", failure)


def prepare_prediction(database: EpisodeDatabase, assignment: Assignment) -> Grade | None:
    """The prediction's copy; a grade if that cannot be done."""
    if assignment.start is not None:
        failure = database.restore(assignment.start)
        return None if failure is None else broken("the starting state", failure)
    failure = _run_whole(database, assignment.setup)
    if failure is not None:
        return broken("the set-up", failure)
    failure = _run_base(database, assignment.base_pred, assignment.cleanup)
    return None if failure is None else failed(failure)


def clean_up(
    database: EpisodeDatabase, cleanup: tuple[str, ...], like: DatabaseState | None = None
) -> DatabaseState | QueryError:
    """The state after the clean-up, which starts from what is committed."""
    run_each(database, cleanup)
    return database.state(like)


def run_each(database: EpisodeDatabase, cleanup: tuple[str, ...]) -> None:
    """Run the clean-up from what is committed, whatever becomes of each statement."""
    if cleanup:
        database.run(("ROLLBACK",))
    for statement in cleanup:
        database.run((statement,))


def _run_base(
    database: EpisodeDatabase, base: tuple[str, ...], cleanup: tuple[str, ...]
) -> QueryError | None:
    """The earlier phase's SQL, and the clean-up behind it."""
    failure = _run_whole(database, base)
    if base and failure is None:
        run_each(database, cleanup)
    return failure


def _run_whole(database: EpisodeDatabase, scripts: tuple[str, ...]) -> QueryError | None:
    """Run scripts and end the transaction that they may leave open, so that nothing else ends it."""
    if not scripts:
        return None
    result = database.run(scripts)
    if isinstance(result, QueryError):
        return result
    database.run(("ROLLBACK",))  # an error if there is none, which is as good
    return None
