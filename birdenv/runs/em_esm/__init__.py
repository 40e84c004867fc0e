"""Compute EM and ESM over files of gold and predicted SQL."""

from birdenv.runs.em_esm._evaluate import (
    METRIC_WORDS,
    evaluate_pairs,
    inspection_text,
    queries_on,
    read_details,
)
from birdenv.runs.em_esm._pairs import (
    SOURCES,
    NewestRun,
    ScoredPair,
    export_folder,
    export_pairs,
    holds_pairs,
    newest_run,
    pairs_folder,
    pairs_of_run,
    read_pair_records,
    read_pairs,
    write_pairs,
)

__all__ = [
    "METRIC_WORDS",
    "SOURCES",
    "NewestRun",
    "ScoredPair",
    "evaluate_pairs",
    "export_folder",
    "export_pairs",
    "holds_pairs",
    "inspection_text",
    "newest_run",
    "pairs_folder",
    "pairs_of_run",
    "queries_on",
    "read_details",
    "read_pair_records",
    "read_pairs",
    "write_pairs",
]
