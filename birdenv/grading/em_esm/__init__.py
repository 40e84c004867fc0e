"""The rules of EM and ESM, exact match and execution match; `birdenv.grading.PairGrader` applies them."""

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
