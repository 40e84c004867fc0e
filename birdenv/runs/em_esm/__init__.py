"""Compute EM (exact match) and ESM (execution match) for files of gold and predicted SQL."""

from birdenv.runs.em_esm._evaluate import (
    evaluate_pairs,
    inspection_text,
    queries_on,
    read_details,
)
from birdenv.runs.em_esm._pair_folders import export_folder, holds_pairs, newest_run, pairs_folder
from birdenv.runs.em_esm._pairs import (
    SOURCES,
    ScoredPair,
    export_pairs,
    read_pair_records,
    read_pairs,
    write_pairs,
)

__all__ = [
    "SOURCES",
    "ScoredPair",
    "evaluate_pairs",
    "export_folder",
    "export_pairs",
    "holds_pairs",
    "inspection_text",
    "newest_run",
    "pairs_folder",
    "queries_on",
    "read_details",
    "read_pair_records",
    "read_pairs",
    "write_pairs",
]
