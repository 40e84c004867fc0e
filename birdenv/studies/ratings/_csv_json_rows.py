"""The rows of a file: CSV with any usual delimiter, JSON lines, or a JSON list."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import check_text, parse_json, read_text

RATING_COLUMNS: Final = ("dialogue", "rater", "question", "value")
COMPARISON_COLUMNS: Final = ("left", "right", "winner", "rater")
FORMULA_SIGNS: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet computes. Exports quote it, and reading takes the quote away."""

_DELIMITERS: Final = ",;\t"


def table_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a file, each with its place in words.

    Raises:
        InputError: the file is torn, or is neither CSV nor JSON.
    """
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty: expected ratings with the columns {', '.join(RATING_COLUMNS)}")
    if text.lstrip()[0] == "[":
        listed = parse_json(text, str(path))
        rows = [(f"{path}: record {number}", row) for number, row in enumerate(listed, 1)]
    elif text.lstrip()[0] == "{":
        rows = [
            (f"{path}: line {number}", parse_json(line, str(path), line=number))
            for number, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    else:
        yield from _table(text, path)
        return
    for place, row in rows:
        if not isinstance(row, dict):
            raise InputError(f"{place} is not a JSON object")
        check_text(row, place)
        if not {"value", "winner"} & row.keys():
            raise InputError(f"{place}: neither `value` (a rating) nor `winner` (a comparison) is there")
        yield place, row


def _table(text: str, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a CSV file; its first line tells the delimiter."""
    head = text.lstrip().split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    at = f"{path}: line 1"
    try:
        for cells in reader:
            at = f"{path}: line {reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = [cell.strip().lower() for cell in cells]
                _check_names(names, at)
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"{at} has {len(cells)} cells, and the first line names {len(names)} columns"
                )
            yield at, dict(zip(names, map(_unquoted, cells), strict=True))
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num} is no CSV: {error}") from None


def _unquoted(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_SIGNS) else cell


def _check_names(names: list[str], at: str) -> None:
    twice = {name for name in names if names.count(name) > 1 and name}
    if twice:
        raise InputError(f"{at} names the column {min(twice)!r} twice")
    known = COMPARISON_COLUMNS if "winner" in names else RATING_COLUMNS
    missing = [name for name in known if name not in names]
    if missing:
        raise InputError(
            f"{at} must name the columns {', '.join(RATING_COLUMNS)} or {', '.join(COMPARISON_COLUMNS)}; "
            f"missing: {', '.join(missing)}"
        )
