"""The EM/ESM pipeline's grader: exact match and structural match of SQL texts."""

from birdenv.grading.em_esm._etm import structural_match
from birdenv.grading.em_esm._exact_match import EM_LEVELS, EmLevel, em_key
from birdenv.grading.em_esm._grader import BUCKETS, Bucket, PairGrader, PairRules, PairVerdict, RunQuery

__all__ = [
    "BUCKETS",
    "EM_LEVELS",
    "Bucket",
    "EmLevel",
    "PairGrader",
    "PairRules",
    "PairVerdict",
    "RunQuery",
    "em_key",
    "structural_match",
]
