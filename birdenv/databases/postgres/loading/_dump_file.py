"""Running one file of a dump: what it says about roles, other databases and psql is passed over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from birdenv.databases.postgres.loading._dump_text import DumpPiece, pieces, read_dump
from birdenv.databases.postgres.server._server import one_line
from birdenv.errors import InputError
from birdenv.sql import after_comments

if TYPE_CHECKING:
    import psycopg


_PASSED_OVER: Final = re.compile(
    r"""
      (?:CREATE|ALTER|DROP)\s+DATABASE\b | UPDATE\s+pg_catalog\.pg_database\b
    | COMMENT\s+ON\s+(?:DATABASE|EXTENSION)\b
    | ALTER\s .*? \sOWNER\s+TO\s | GRANT\b | REVOKE\b | ALTER\s+DEFAULT\s+PRIVILEGES\b
    | (?:CREATE|ALTER|DROP)\s+(?:ROLE|USER)\b | SET\s+SESSION\s+AUTHORIZATION\b | SET\s+ROLE\b
    | SET\s+client_encoding\b | (?:CREATE|ALTER|COMMENT\s+ON)\s+SCHEMA\s+"?public\b
    | BEGIN(?:\s+(?:WORK|TRANSACTION))?$ | START\s+TRANSACTION$ | (?:COMMIT|END)(?:\s+(?:WORK|TRANSACTION))?$
    | CREATE\s+EXTENSION\s+(?:IF\s+NOT\s+EXISTS\s+)?"?plpgsql\b
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_FOREIGN_KEY: Final = re.compile(
    r"ALTER\s+TABLE\s(?>.*?\sADD\s).*?\bFOREIGN\s+KEY\b", re.IGNORECASE | re.DOTALL
)
_SETTING: Final = re.compile(r"SET\s+\w+\s*(?:=|TO)\s", re.IGNORECASE)
_INSERT: Final = re.compile(r"INSERT\s", re.IGNORECASE)
_MOST_TOGETHER: Final = 500
_OF_PSQL: Final = re.compile(r"\\(?:restrict|unrestrict|connect|c|encoding|set|echo|unset|pset|timing)\b")
_UNKNOWN_SETTING: Final = "42704"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a file was not loaded."""

    path: Path
    line: int
    state: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: line {self.line}: {self.text} (SQLSTATE {self.state})"


def run_file(
    connection: psycopg.Connection[Any], path: Path, later: Callable[[tuple[Path, DumpPiece]], None]
) -> Fault | None:
    """Run a whole file in one transaction, its foreign keys left for later; the error if there is one."""
    import psycopg

    reset(connection)
    fault = None
    with connection.transaction() as whole:
        for group in _grouped(pieces(read_dump(path), path)):
            piece = group[0]
            statement = piece.text[after_comments(piece.text) :]
            if _is_passed_over(statement, path, piece.line):
                continue
            if _FOREIGN_KEY.match(statement):
                later((path, piece))
            elif _SETTING.match(statement):
                fault = _run_setting(connection, path, piece)
            elif len(group) > 1:
                fault = _run_inserts(connection, path, group)
            else:
                fault = run_piece(connection, path, piece)
            if fault is not None:
                raise psycopg.Rollback(whole)
    return fault


def _grouped(all_pieces: Iterator[DumpPiece]) -> Iterator[list[DumpPiece]]:
    """Each piece alone, but runs of INSERTs together: one message to the server instead of hundreds."""
    inserts: list[DumpPiece] = []
    for piece in all_pieces:
        is_insert = _INSERT.match(piece.text) is not None
        if inserts and (not is_insert or len(inserts) == _MOST_TOGETHER):
            yield inserts
            inserts = []
        if is_insert:
            inserts.append(piece)
        else:
            yield [piece]
    if inserts:
        yield inserts


def _run_inserts(connection: psycopg.Connection[Any], path: Path, group: list[DumpPiece]) -> Fault | None:
    """Run them together; if that fails, one by one, to tell which is at fault."""
    import psycopg

    try:
        with connection.transaction():
            connection.execute(";\n".join(piece.text for piece in group).encode())
    except psycopg.Error as error:
        if _is_servers_fault(error):
            raise
        return next(filter(None, (run_piece(connection, path, piece) for piece in group)), None)
    return None


def _run_setting(connection: psycopg.Connection[Any], path: Path, piece: DumpPiece) -> Fault | None:
    """Run a SET; one of a newer or older PostgreSQL than this one is passed over."""
    import psycopg

    fault = None
    with connection.transaction() as setting:
        fault = run_piece(connection, path, piece)
        if fault is not None:
            raise psycopg.Rollback(setting)
    return None if fault is not None and fault.state == _UNKNOWN_SETTING else fault


def _is_passed_over(statement: str, path: Path, line: int) -> bool:
    if statement.startswith("\\"):
        if _OF_PSQL.match(statement):
            return True
        raise InputError(
            f"{path}: line {line}: a command to psql that birdenv does not know: {statement[:40]}"
        )
    return _PASSED_OVER.match(statement) is not None


def run_piece(connection: psycopg.Connection[Any], path: Path, piece: DumpPiece) -> Fault | None:
    import psycopg

    try:
        with connection.cursor() as cursor:
            if piece.data is None:
                cursor.execute(piece.text.encode())
            else:
                with cursor.copy(piece.text.encode()) as copy:
                    copy.write(piece.data)
    except psycopg.Error as error:
        if _is_servers_fault(error):
            raise
        line = piece.line + _line_of(error, piece)
        return Fault(path, line, error.sqlstate or "", one_line(error))
    return None


def _is_servers_fault(error: psycopg.Error) -> bool:
    """Whether it says nothing about the dump: a lost connection, a full disk, a server that stops."""
    return error.sqlstate is None or error.sqlstate.startswith(("53", "57", "58", "08"))


def _line_of(error: psycopg.Error, piece: DumpPiece) -> int:
    """How many lines below the beginning of its piece an error is."""
    in_copy = re.search(r"\bline (\d+)", error.diag.context or "") if piece.data is not None else None
    if in_copy:
        return piece.text.count("\n") + int(in_copy[1])
    position = int(error.diag.statement_position or 1) - 1
    return piece.text.count("\n", 0, position)


def reset(connection: psycopg.Connection[Any]) -> None:
    """What a dump sets (an empty search path) does not reach the next one."""
    connection.execute("RESET ALL")
    connection.execute("SET statement_timeout = 0")
