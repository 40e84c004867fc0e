"""Query results and database errors as text for agents.

The text shows the column names and all rows in order, including duplicates. NULL looks different from an
empty string and from the text 'NULL'. Truncated text states how much is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from birdenv.databases import Cell, QueryError, QueryResult, Result, Row

SHOWN_ROWS = 100
"""The maximum number of rows to show."""
FETCHED_ROWS = 1_000
"""The maximum number of rows to fetch and count. For more rows, the text says 'more than 1000'."""
SHOWN_CHARACTERS = 200
"""The maximum number of characters to show of a single value."""
SHOWN_TEXT = 20_000
"""The maximum number of characters to show of a result."""

_NUMBERS: Final = frozenset({int, float})
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\\]")
_TO_ESCAPE: Final = bytes([*range(0x20), 0x7F, ord("\\")])  # of ASCII
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def result_text(result: Result) -> str:
    """Return the result of a statement as text: columns, rows and the number of rows, or the error."""
    if isinstance(result, QueryError):
        return f"SQL error ({result.kind}): {escaped(_cut(result.message, SHOWN_TEXT // 4))}"
    if not result.columns:
        changed = f" Rows affected: {result.rows_affected}." if result.rows_affected >= 0 else ""
        return f"Statement executed; it returns no rows.{changed}"
    head = _head(result.columns)
    body, shown = _lines(result.rows, SHOWN_TEXT - len(head))
    return f"{head}{body}\n{_count_line(result, shown)}"


def _lines(rows: Sequence[Row], room: int) -> tuple[str, int]:
    """Return as many rows as fit into `room` characters, as text, and how many rows were included."""
    lines = [""]
    for row in rows[:SHOWN_ROWS]:
        line = " | ".join([repr(cell) if type(cell) in _NUMBERS else cell_text(cell) for cell in row])
        room -= len(line) + 1
        if len(lines) > 1 and room < 0:
            break
        lines.append(line if room >= 0 else _cut(line, SHOWN_TEXT))
    return "\n".join(lines), len(lines) - 1


def cell_text(cell: Cell) -> str:
    """Return a value in a result as text, in quotes if the text could be mistaken for a different value."""
    if isinstance(cell, str):
        is_plain = (  # a fast path: `_marked` would not change such a text
            0 < len(cell) <= SHOWN_CHARACTERS
            and cell[0] > "'"
            and cell[-1] != " "
            and "|" not in cell
            and cell != "NULL"
            and _is_plain(cell)
        )
        return cell if is_plain else _marked(cell)
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return _cut(f"X'{cell[:SHOWN_CHARACTERS].hex()}'", SHOWN_CHARACTERS, 2 * len(cell) + 3)
    return repr(cell)


def _head(columns: tuple[str, ...]) -> str:
    """Return a line with the names of the columns, and a line of dashes below it."""
    names = [cell_text(name) for name in columns]
    rule = "-+-".join(["-" * len(name) for name in names])
    return f"{_cut(' | '.join(names), SHOWN_TEXT // 4)}\n{rule[: SHOWN_TEXT // 4]}"


def _count_line(result: QueryResult, shown: int) -> str:
    total = len(result.rows)
    if result.truncated:
        return f"(first {shown} of more than {total} rows)"
    if shown < total:
        return f"(first {shown} of {total} rows)"
    return f"({total} row{'' if total == 1 else 's'})"


def _marked(text: str) -> str:
    """Return a string value, with quotes and escapes if necessary, and cut if it is too long."""
    length = len(text)
    if length > SHOWN_CHARACTERS:
        return f"{escaped(text[:SHOWN_CHARACTERS])}… ({length - SHOWN_CHARACTERS} more characters)"
    if not text or text == "NULL" or text[0] in " '" or text[-1] == " " or "|" in text:
        quoted = text.replace("'", "''")
        return f"'{escaped(quoted)}'"
    return escaped(text)


def _cut(text: str, limit: int, length: int | None = None) -> str:
    length = len(text) if length is None else length
    if length <= limit:
        return text
    return f"{text[:limit]}… ({length - limit} more characters)"


def escaped(text: str) -> str:
    """Return text with backslashes and unprintable characters replaced by escape sequences."""
    return text if _is_plain(text) else _UNPRINTABLE.sub(_escape, text)


def _is_plain(text: str) -> bool:
    """Return True if the text contains no backslashes and no unprintable characters."""
    if text.isascii():  # a fast path: `isprintable` takes four times as long
        return len(text.encode().translate(None, _TO_ESCAPE)) == len(text)
    return text.isprintable() and "\\" not in text


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, decoded with surrogateescape
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_SHOWN = 300
"""The maximum number of characters of a database's error message that the system sees."""


def not_executed(error: QueryError, error_text: bool = True) -> str:
    """Return the message that tells the system that a statement failed.

    Args:
        error: the error that the database reported.
        error_text: True to include the database's message. The message is never included if the database
            engine itself failed, because it is then not about the SQL.
    """
    if not error_text:
        return "Your SQL could not be executed."
    if error.kind == "engine":
        return "Your SQL could not be executed: the database reports a fault while running it."
    return f"Your SQL could not be executed ({error.kind}): {escaped(error.message[:_SHOWN])}"
