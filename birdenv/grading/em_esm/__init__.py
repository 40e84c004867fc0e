"""Compare queries by EM (exact match) and ESM (execution match), for `birdenv.grading.PairGrader`."""

from birdenv.grading.em_esm._exact_match import EM_LEVELS
from birdenv.grading.em_esm._pair_rules import BUCKETS, PairRules, PairVerdict, RunQuery

__all__ = ["BUCKETS", "EM_LEVELS", "PairRules", "PairVerdict", "RunQuery"]
