"""The rules of EM (exact match) and ESM (execution match), which `birdenv.grading.PairGrader` applies."""

from birdenv.grading.em_esm._exact_match import EM_LEVELS, EmLevel, em_key
from birdenv.grading.em_esm._pair_rules import BUCKETS, Bucket, PairRules, PairVerdict, RunQuery

__all__ = [
    "BUCKETS",
    "EM_LEVELS",
    "Bucket",
    "EmLevel",
    "PairRules",
    "PairVerdict",
    "RunQuery",
    "em_key",
]
