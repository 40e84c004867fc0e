"""Cutting a plain SQL dump into statements and COPY blocks, by the rules of `psql`.

A semicolon ends a statement outside of quotes, comments and parentheses. After `COPY ... FROM stdin;` come
lines of data up to one that is `\\.`; a line that starts with a backslash between statements is a command to
psql.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from birdenv.errors import InputError
from birdenv.files import file_errors
from birdenv.sql import UnterminatedError, after_comments, statement_end, statement_start

_ARCHIVE: Final = b"PGDMP"
_COMPRESSED: Final = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
_ENCODING: Final = re.compile(
    rb"^[^\S\n]*+(?:SET\s+client_encoding\s*(?:=|TO)\s*'([^']+)'|\\encoding\s+(\S+))", re.I | re.M
)
_CODECS: Final = {"SQL_ASCII": "UTF8", "UNICODE": "UTF8", "EUC_CN": "gb2312", "UHC": "cp949"}

_COPY: Final = re.compile(r"copy\s(?>.*\sfrom\s+stdin\b)[^;]*", re.IGNORECASE | re.DOTALL)
_DATA_END: Final = re.compile(r"^\\\.\r?(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DumpPiece:
    """One statement of a dump, or one command to psql (it starts with a backslash)."""

    text: str
    line: int
    """Where it starts, from 1."""
    data: str | None = None
    """The lines of a COPY, each ended by a line feed; None for other statements."""


def read_dump(path: Path) -> str:
    """The text of a dump, in the encoding that it says it has (UTF-8 if it says nothing).

    Raises `InputError` if it is no plain SQL, or not in that encoding.
    """
    with file_errors(path):
        raw = path.read_bytes()
    if raw.startswith(_ARCHIVE):
        raise InputError(
            f"{path} is an archive of pg_dump, not plain SQL; make that of it: "
            f"pg_restore --no-owner -f {path.stem}.sql {path.name}"
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
        raise InputError(
            f"{path} says that its encoding is {name}, which is not known; make it UTF-8"
        ) from None
    try:
        return codec.decode(raw, "strict")[0].removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}: line {line} is not {name} text (byte {error.start}); the dump was saved in another "
            "encoding: convert it to UTF-8 (iconv -t UTF-8)"
        ) from None


def _codec(name: str) -> str:
    upper = name.upper()
    windows = re.fullmatch(r"WIN-?(\d+)", upper)
    return f"cp{windows[1]}" if windows else _CODECS.get(upper, upper)


def pieces(text: str, path: Path) -> Iterator[DumpPiece]:
    """The pieces in order, without empty ones. Raises `InputError` for a quote or COPY that never ends."""
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
            if _COPY.fullmatch(statement):
                data, place = _copy_data(text, end, f"{path}: line {line}")
                yield DumpPiece(statement, line, data)
            else:
                yield DumpPiece(statement, line)


def _statement_end(text: str, start: int, where: str) -> int:
    """Just after the semicolon that ends the statement, or the end of the text."""
    try:
        return statement_end(text, start)
    except UnterminatedError as error:
        opening = error.opening
        what = opening if opening.startswith("$") else "a comment" if opening == "/*" else "a quote"
        raise InputError(f"{where}: {what} is never closed; the dump may be cut off") from None


def _copy_data(text: str, place: int, where: str) -> tuple[str, int]:
    start = text.find("\n", place) + 1
    end = _DATA_END.search(text, start) if start else None
    if end is None:
        raise InputError(f"{where}: the rows of this COPY have no end (\\.); the dump is cut off")
    return text[start : end.start()], end.end()
