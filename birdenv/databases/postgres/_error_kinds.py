"""PostgreSQL's errors in birdenv's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from birdenv.databases._results import ErrorKind, QueryError

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

__all__ = ["CANCELLED", "ENDED_BY_COMMAND", "query_error", "sqlstate"]

CANCELLED: Final = "57014"
ENDED_BY_COMMAND: Final = "57P01"
"""Somebody ended the session: the statement itself, or whoever stops the server."""

_KINDS: Final[tuple[tuple[str, ErrorKind], ...]] = (
    ("42601", "syntax"),
    ("42P01", "missing"),
    ("42703", "missing"),
    ("42883", "missing"),
    ("42704", "missing"),
    ("3F000", "missing"),
    ("25006", "denied"),
    ("42501", "denied"),
    ("23", "constraint"),
    ("53", "too_large"),
    ("54", "too_large"),
)
"""Kind of error by the beginning of its SQLSTATE; the first that fits."""


def sqlstate(answer: PGresult) -> str:
    """The SQLSTATE of an error; empty where the error is not the server's."""
    return _field(answer, "SQLSTATE")


def query_error(answer: PGresult) -> QueryError:
    """An error that the server told: its message on one line, with the SQLSTATE."""
    state, message = sqlstate(answer), " ".join(_field(answer, "MESSAGE_PRIMARY").split())
    known = (kind for start, kind in _KINDS if state.startswith(start))
    kind: ErrorKind = next(known, "engine")
    if state == "08P01" and message.startswith("bind message"):
        kind, message = "syntax", "the statement has a parameter, for which there is no value"
    if state == "0A000" and "cross-database" in message:
        kind = "missing"
    return QueryError(kind, f"{message} (SQLSTATE {state})")


def _field(answer: PGresult, name: str) -> str:
    from psycopg.pq import DiagnosticField

    return (answer.error_field(DiagnosticField[name]) or b"").decode(errors="replace")
