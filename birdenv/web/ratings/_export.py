"""Ratings as rows: of questions, and of comparisons."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import exists, write_records, write_text
from birdenv.web.ratings._store import RATINGS, RatingStore

ROW_FORMATS: Final = {
    "ratings": ("dialogue", "rater", "question", "value", "seat", "system", "task"),
    "pairs": (
        *("left", "right", "winner", "rater", "justification"),
        *("left_dialogue", "right_dialogue", "seat", "task"),
    ),
}
"""The columns of the rows, by format."""


def rating_rows(folder: Path, form: str) -> list[dict[str, Any]]:
    """Return what raters said, in the order of time; the round may still be running.

    Args:
        folder: the folder of the ratings.
        form: `ratings`: a row for each answered question about a dialogue, `value` is a step of the scale or
            words; `pairs`: a row for each comparison, where `left` and `right` are the systems as they were
            shown, and `winner` is `left`, `right`, `tie` or `both_bad`.

    Raises:
        InputError: there are no ratings in the folder.
    """
    if not exists(folder / RATINGS):
        raise InputError(f"{folder} holds no ratings; birdenv web --rate collects them")
    store = RatingStore(folder, for_reading=True)
    try:
        said = store.said()
    finally:
        store.close()
    if form == "pairs":
        return [_ordered(form, {"rater": rater, **each}) for rater, each in said if "winner" in each]
    return [
        _ordered(form, {"rater": rater, "question": name, "value": value, **each})
        for rater, each in said
        for name, value in each.get("answers", {}).items()
        if value is not None
    ]


def write_ratings(path: Path, folders: Iterable[Path], form: str) -> int:
    """Write the rows of folders as JSON lines or, by the file's ending, CSV; return how many there are."""
    rows = [row for folder in folders for row in rating_rows(folder, form)]
    if path.suffix.lower() == ".csv":
        text = io.StringIO()
        table = csv.DictWriter(text, ROW_FORMATS[form], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        write_text(path, text.getvalue())
    else:
        write_records(path, rows)
    return len(rows)


def _ordered(form: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ROW_FORMATS[form]}
