"""Fetch, merge and verify the public benchmarks, and generate new benchmarks."""

from birdenv.benchmarks._fetch import (
    Published,
    describe_fetched,
    fetch_archive,
    fetch_hub,
    published,
    unpack,
)
from birdenv.benchmarks._prepare import (
    WHERE_TO_ASK,
    PreparationReport,
    Problem,
    has_2024_signature,
    keys_of_2024,
    merge_files,
    missing_ground_truth,
)
from birdenv.benchmarks._verify import OracleTasks, verify_records

__all__ = [
    "WHERE_TO_ASK",
    "OracleTasks",
    "PreparationReport",
    "Problem",
    "Published",
    "describe_fetched",
    "fetch_archive",
    "fetch_hub",
    "has_2024_signature",
    "keys_of_2024",
    "merge_files",
    "missing_ground_truth",
    "published",
    "unpack",
    "verify_records",
]
