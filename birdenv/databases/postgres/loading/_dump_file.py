"""Run a dump file, ignoring its psql commands and its statements about roles and other databases.

A plain dump is split into statements and COPY blocks by the rules of `psql`. A semicolon outside quotes,
comments, parentheses and `BEGIN ATOMIC ... END` ends a statement. The lines after `COPY ... FROM stdin;` are
data, up to the line `\\.`. Between statements, a line that starts with a backslash is a psql command.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg

from birdenv.databases.postgres.server._server import one_line
from birdenv.errors import InputError
from birdenv.files import file_errors
from birdenv.sql import UnterminatedError, after_comments, statement_end, statement_start

_ARCHIVE: Final = b"PGDMP"
_COMPRESSED: Final = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
_ENCODING: Final = re.compile(
    rb"^[^\S\n]*+(?:SET\s+client_encoding\s*(?:=|TO)\s*'([^']+)'|\\encoding\s+(\S+))", re.I | re.M
)
_CODECS: Final = {"SQL_ASCII": "UTF8", "UNICODE": "UTF8", "EUC_CN": "gb2312", "UHC": "cp949"}

_COPY: Final = re.compile(r"copy\s.*\sfrom\s+stdin\b", re.IGNORECASE | re.DOTALL)
_DATA_END: Final = re.compile(r"^\\\.\r?(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DumpPiece:
    """A statement or psql command in a dump.

    Attributes:
        text: the statement, or the psql command including its backslash.
        line: the line in the file where the text begins, counted from 1.
        data: the data of a COPY statement, each line ending with a line feed; None for other statements.
    """

    text: str
    line: int
    data: str | None = None


def read_dump(path: Path) -> str:
    """Return the text of a dump file, decoded with the encoding that the file declares, or as UTF-8.

    Raises `InputError` if the file is not plain SQL, or cannot be decoded.
    """
    with file_errors(path):
        raw = path.read_bytes()
    if raw.startswith(_ARCHIVE):
        raise InputError(
            f"{path} is a pg_dump archive, not plain SQL; convert it with "
            f"`pg_restore --no-owner -f {path.stem}.sql {path.name}`"
        )
    if raw.startswith(_COMPRESSED):
        raise InputError(f"{path} is compressed; unpack it first")
    if raw.startswith(b"version https://git-lfs"):
        raise InputError(f"{path} is a Git LFS pointer, not the data: run `git lfs pull` in its repository")
    declared = _ENCODING.search(raw)
    name = (declared[1] or declared[2]).decode("ascii", "replace").strip("'") if declared else "UTF8"
    try:
        codec = codecs.lookup(_codec(name))
    except LookupError:
        raise InputError(f"{path} declares the unknown encoding {name}; convert it to UTF-8") from None
    try:
        return codec.decode(raw, "strict")[0].removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}: line {line} is not valid {name} (byte {error.start}); the dump was saved in a "
            "different encoding: convert it to UTF-8 (iconv -t UTF-8)"
        ) from None


def _codec(name: str) -> str:
    upper = name.upper()
    windows = re.fullmatch(r"WIN-?(\d+)", upper)
    return f"cp{windows[1]}" if windows else _CODECS.get(upper, upper)


def pieces(text: str, path: Path) -> Iterator[DumpPiece]:
    """Yield the statements and psql commands of a dump in order, skipping empty statements.

    Raises `InputError` if a quote, comment or COPY block is not terminated.
    """
    place = counted = 0
    line = 1
    while True:
        start = statement_start(text, place)
        line += text.count("\n", counted, start)
        counted = start
        if start >= len(text):
            return
        if text[start] == "\\":
            place = text.find("\n", start)
            place = len(text) if place < 0 else place
            yield DumpPiece(text[start:place].strip(), line)
            continue
        end = _statement_end(text, start, f"{path}: line {line}")
        statement = text[start:end].rstrip("; \t\r\n")
        place = end
        if after_comments(statement) < len(statement):
            if _COPY.match(statement):
                data, place = _copy_data(text, end, f"{path}: line {line}")
                yield DumpPiece(statement, line, data)
            else:
                yield DumpPiece(statement, line)


def _statement_end(text: str, start: int, where: str) -> int:
    """Return the position after the semicolon that ends a statement, or the end of the text."""
    try:
        return statement_end(text, start)
    except UnterminatedError as error:
        opening = error.opening
        what = opening if opening.startswith("$") else "a comment" if opening == "/*" else "a quote"
        raise InputError(f"{where}: {what} is not terminated; the dump may be truncated") from None


def _copy_data(text: str, place: int, where: str) -> tuple[str, int]:
    start = text.find("\n", place) + 1
    end = _DATA_END.search(text, start) if start else None
    if end is None:
        raise InputError(f"{where}: the rows of this COPY do not end with a line \\.; the dump is truncated")
    return text[start : end.start()], end.end()


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
    """The error that prevented a file from being loaded.

    Attributes:
        path: the file.
        line: the line with the error, counted from 1.
        state: the SQLSTATE.
        text: the error message of the server.
    """

    path: Path
    line: int
    state: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: line {self.line}: {self.text} (SQLSTATE {self.state})"


def run_file(
    connection: psycopg.Connection[Any], path: Path, later: Callable[[tuple[Path, DumpPiece]], None]
) -> Fault | None:
    """Run a dump file in one transaction. Return an error if this fails.

    Statements that add foreign keys are not run, but passed to `later` together with the path.
    """
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
    """Group consecutive INSERTs, so that hundreds of them are sent in one message."""
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
    """Run several INSERTs together. If that fails, run them one by one to find the error."""
    try:
        with connection.transaction():
            connection.execute(";\n".join(piece.text for piece in group).encode())
    except psycopg.Error as error:
        if _is_servers_fault(error):
            raise
        return next(filter(None, (run_piece(connection, path, piece) for piece in group)), None)
    return None


def _run_setting(connection: psycopg.Connection[Any], path: Path, piece: DumpPiece) -> Fault | None:
    """Run a SET, ignoring settings that this version of PostgreSQL does not have."""
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
        raise InputError(f"{path}: line {line}: birdenv does not support this psql command: {statement[:40]}")
    return _PASSED_OVER.match(statement) is not None


def run_piece(connection: psycopg.Connection[Any], path: Path, piece: DumpPiece) -> Fault | None:
    """Run one statement. Return the error if the dump caused it, or None if the statement succeeds.

    Errors that the server caused are raised, and `InputError` for a statement that psycopg cannot run.
    """
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
        if error.sqlstate is None:
            connection.close()  # it may be in the middle of a COPY, where it cannot even roll back
            raise InputError(f"{path}: line {line}: {one_line(error)}") from None
        return Fault(path, line, error.sqlstate, one_line(error))
    return None


def _is_servers_fault(error: psycopg.Error) -> bool:
    """Return whether the server is to blame: a lost connection, a full disk, a shutdown."""
    if error.sqlstate is None:  # psycopg's own errors, such as for COPY ... TO STDOUT
        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
    return error.sqlstate.startswith(("53", "57", "58", "08"))


def _line_of(error: psycopg.Error, piece: DumpPiece) -> int:
    """Return the number of the line in which an error occurred, counted from the start of its piece."""
    in_copy = re.search(r"\bline (\d+)", error.diag.context or "") if piece.data is not None else None
    if in_copy:
        return piece.text.count("\n") + int(in_copy[1])
    position = int(error.diag.statement_position or 1) - 1
    return piece.text.count("\n", 0, position)


def reset(connection: psycopg.Connection[Any]) -> None:
    """Undo the settings that a dump has changed, such as an empty search path, before the next file runs."""
    connection.execute("RESET ALL")
    connection.execute("SET statement_timeout = 0")
