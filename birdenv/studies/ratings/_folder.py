"""The judgements that were imported into the folder of a run or of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from birdenv.files import exists, write_records
from birdenv.studies.ratings._judgements import BlindChoice, Judgements, Rating, joined, read_judgements

RATINGS_FILE: Final = "ratings.jsonl"
COMPARISONS_FILE: Final = "comparisons.jsonl"


def read_folder(folder: Path) -> Judgements:
    """Read the judgements that were imported into a folder; none where there are no files."""
    files = [folder / name for name in (RATINGS_FILE, COMPARISONS_FILE)]
    return joined(read_judgements(file) for file in files if exists(file))


def import_judgements(folder: Path, added: Judgements) -> tuple[int, int]:
    """Add judgements to `ratings.jsonl` and `comparisons.jsonl` of a folder.

    Returns:
        How many ratings and how many comparisons the folder had not yet.

    Raises:
        InputError: the folder has another answer to the same question.
    """
    kept = read_folder(folder)
    both = joined([kept, added])
    new = len(both.ratings) - len(kept.ratings), len(both.comparisons) - len(kept.comparisons)
    if new[0]:
        write_records(folder / RATINGS_FILE, map(_written, both.ratings))
    if new[1]:
        write_records(folder / COMPARISONS_FILE, map(_written, both.comparisons))
    return new


def _written(row: Rating | BlindChoice) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if value != ""}
