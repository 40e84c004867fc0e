"""The built-in demo benchmark, and getting the public ones ready: merging ground truth, verifying data."""

from birdenv.benchmarks._demo_databases import DEMO_BIRD_FILE, DEMO_C_INTERACT_FILE, demo_folder
from birdenv.benchmarks._mini_dev import has_2024_signature, keys_of_2024
from birdenv.benchmarks._prepare import WHERE_TO_ASK, Problem, Report, merge_files, missing_ground_truth
from birdenv.benchmarks._verify import OracleTasks, verify_records

__all__ = [
    "DEMO_BIRD_FILE",
    "DEMO_C_INTERACT_FILE",
    "WHERE_TO_ASK",
    "OracleTasks",
    "Problem",
    "Report",
    "demo_folder",
    "has_2024_signature",
    "keys_of_2024",
    "merge_files",
    "missing_ground_truth",
    "verify_records",
]
