"""The judgements that were imported into the folder of a run or of a study."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

from birdenv.files import exists, write_records
from birdenv.runs.ratings._judgements import Comparison, Judgements, Rating, joined, read_judgements

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
    ratings = joined([kept, added]).ratings
    known = Counter(kept.comparisons)  # a rater may choose between the same two several times
    comparisons = []
    for choice in added.comparisons:
        known[choice] -= 1
        if known[choice] < 0:
            comparisons.append(choice)
    if len(ratings) > len(kept.ratings):
        write_records(folder / RATINGS_FILE, map(_written, ratings))
    if comparisons:
        write_records(folder / COMPARISONS_FILE, map(_written, (*kept.comparisons, *comparisons)))
    return len(ratings) - len(kept.ratings), len(comparisons)


def _written(row: Rating | Comparison) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if value != ""}
