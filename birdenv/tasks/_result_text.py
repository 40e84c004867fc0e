"""Query results as text that an agent can trust.

Column names and order, row order and duplicates are kept; NULL differs from the empty string and from the
text 'NULL'; what was cut is marked and counted.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from birdenv.databases import Cell, QueryError, QueryResult, Result

__all__ = ["FETCHED_ROWS", "SHOWN_CHARACTERS", "SHOWN_ROWS", "cell_text", "escaped", "result_text"]

SHOWN_ROWS = 100
FETCHED_ROWS = 1_000
"""Rows fetched to say how many were cut; beyond it the count is 'more than'."""
SHOWN_CHARACTERS = 200
"""Characters shown of one cell."""
SHOWN_TEXT = 20_000
"""Characters shown of one whole result."""

_NUMBERS: Final = frozenset({int, float})
_LONGEST_KNOWN_HEAD: Final = 1_000  # characters of column names; what is longer is worked out each time
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\\]")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def result_text(result: Result) -> str:
    """The result as the system reads it: header, rule, rows, and a last line with the count."""
    if isinstance(result, QueryError):
        return f"SQL error ({result.kind}): {escaped(_cut(result.message, SHOWN_TEXT // 4))}"
    if not result.columns:
        changed = f" Rows affected: {result.rows_affected}." if result.rows_affected >= 0 else ""
        return f"Statement executed; it returns no rows.{changed}"
    is_short = sum(map(len, result.columns)) <= _LONGEST_KNOWN_HEAD
    header, rule = _known_head(result.columns) if is_short else _head(result.columns)
    lines = [header, rule]
    length = len(header) + len(rule)
    shown = 0
    for row in result.rows[:SHOWN_ROWS]:
        line = " | ".join([repr(cell) if type(cell) in _NUMBERS else cell_text(cell) for cell in row])
        length += len(line) + 1
        if shown and length > SHOWN_TEXT:
            break
        lines.append(line if length <= SHOWN_TEXT else _cut(line, SHOWN_TEXT))
        shown += 1
    lines.append(_count_line(result, shown))
    return "\n".join(lines)


def cell_text(cell: Cell) -> str:
    """One value. Text is quoted where bare text could be read as something else."""
    if isinstance(cell, str):
        is_plain = (  # as most texts are: `_marked` would change nothing
            cell.isprintable()
            and 0 < len(cell) <= SHOWN_CHARACTERS
            and cell[0] > "'"
            and cell[-1] != " "
            and "|" not in cell
            and "\\" not in cell
            and cell != "NULL"
        )
        return cell if is_plain else _marked(cell)
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return _cut(f"X'{cell[:SHOWN_CHARACTERS].hex()}'", SHOWN_CHARACTERS, 2 * len(cell) + 3)
    return repr(cell)


def _head(columns: tuple[str, ...]) -> tuple[str, str]:
    """The header and the rule below it."""
    names = [cell_text(name) for name in columns]
    rule = "-+-".join(["-" * len(name) for name in names])
    return _cut(" | ".join(names), SHOWN_TEXT // 4), rule[: SHOWN_TEXT // 4]


_known_head = lru_cache(maxsize=256)(_head)


def _count_line(result: QueryResult, shown: int) -> str:
    total = len(result.rows)
    if result.truncated:
        return f"(first {shown} of more than {total} rows)"
    if shown < total:
        return f"(first {shown} of {total} rows)"
    return f"({total} row{'' if total == 1 else 's'})"


def _marked(text: str) -> str:
    """A text cut, quoted or escaped, as it needs."""
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
    """The text with everything unprintable, and backslashes, written as escapes."""
    return _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8, kept by surrogate escape
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
