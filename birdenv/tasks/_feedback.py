"""What the system is told of SQL that the database refused."""

from __future__ import annotations

from birdenv.databases import QueryError
from birdenv.tasks._result_text import escaped

__all__ = ["not_executed"]

_SHOWN = 300
"""Characters of a database's message that are passed on."""


def not_executed(error: QueryError, error_text: bool = True) -> str:
    """With the database's own words where they are about the statement, not about the data."""
    if not error_text:
        return "Your SQL could not be executed."
    if error.kind == "engine":
        return "Your SQL could not be executed: the database reports a fault while running it."
    return f"Your SQL could not be executed ({error.kind}): {escaped(error.message[:_SHOWN])}"
