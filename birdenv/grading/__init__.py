"""Grading: a pure function of (gold, SQL submitted, rules) on pristine databases.

    grader = ExGrader(SqliteSource("dev_databases"))
    verdict = grader.grade("superhero", ["SELECT count(*) FROM superhero"], "SELECT 750")

It knows nothing of dialogues or tasks. Every verdict says why in one line, which quotes the gold: it is for
reports and never for an agent. A change that can move a score is a new `GRADER_VERSION`.
"""

from __future__ import annotations

from birdenv.grading._clock import reads_clock
from birdenv.grading._ex import ExGrader
from birdenv.grading._gold_check import GoldCheck, check_gold
from birdenv.grading._r_ves import R_VES_RUNS, SpeedMeasurement, measure_speed, r_ves, time_ratio
from birdenv.grading._result_store import ResultStore
from birdenv.grading._reward import GRADER_VERSION, REWARDS, batch_reward, reward
from birdenv.grading._rows import LEAST_FETCHED
from birdenv.grading._scoring import Pair, score_pairs
from birdenv.grading._sql_cleaning import Cleaned, clean_sql, without_outer_distinct
from birdenv.grading._statements import cached_query
from birdenv.grading._verdict import ExStatus, ExVerdict
from birdenv.grading.compare._canonical import canonical_cell, canonical_row
from birdenv.grading.compare._metrics import (
    METRICS,
    MODES,
    Metric,
    Mode,
    compare,
    compare_colperm,
    compare_superset,
    soft_f1,
)
from birdenv.grading.compare._multiset import Comparison, compare_bird, compare_multiset
from birdenv.grading.compare._normalisation import Normalisation, normalised
from birdenv.grading.compare._ordered import compare_ordered
from birdenv.grading.compare._strict import Conditions, compare_strict
from birdenv.grading.em_esm._exact_match import EM_LEVELS, EmLevel, em_key
from birdenv.grading.em_esm._grader import BUCKETS, Bucket, PairGrader, PairRules, PairVerdict, RunQuery
from birdenv.grading.em_esm._structural import structural_match
from birdenv.grading.interact._grader import InteractGrader
from birdenv.grading.interact._job import (
    GRADING_RULES,
    STRICT_RULES,
    Category,
    Grade,
    GradeStatus,
    GradingJob,
    GradingRules,
)
from birdenv.grading.sandbox._report import TestCause, TestOutcome, TestReport, TestStatus, judged
from birdenv.grading.sandbox._runner import HarnessLimits, run_test_cases
from birdenv.grading.sandbox._sources import parse_test_cases

__all__ = [
    "BUCKETS",
    "EM_LEVELS",
    "GRADER_VERSION",
    "GRADING_RULES",
    "LEAST_FETCHED",
    "METRICS",
    "MODES",
    "REWARDS",
    "R_VES_RUNS",
    "STRICT_RULES",
    "Bucket",
    "Category",
    "Cleaned",
    "Comparison",
    "Conditions",
    "EmLevel",
    "ExGrader",
    "ExStatus",
    "ExVerdict",
    "GoldCheck",
    "Grade",
    "GradeStatus",
    "GradingJob",
    "GradingRules",
    "HarnessLimits",
    "InteractGrader",
    "Metric",
    "Mode",
    "Normalisation",
    "Pair",
    "PairGrader",
    "PairRules",
    "PairVerdict",
    "ResultStore",
    "RunQuery",
    "SpeedMeasurement",
    "TestCause",
    "TestOutcome",
    "TestReport",
    "TestStatus",
    "batch_reward",
    "cached_query",
    "canonical_cell",
    "canonical_row",
    "check_gold",
    "clean_sql",
    "compare",
    "compare_bird",
    "compare_colperm",
    "compare_multiset",
    "compare_ordered",
    "compare_strict",
    "compare_superset",
    "em_key",
    "judged",
    "measure_speed",
    "normalised",
    "parse_test_cases",
    "r_ves",
    "reads_clock",
    "reward",
    "run_test_cases",
    "score_pairs",
    "soft_f1",
    "structural_match",
    "time_ratio",
    "without_outer_distinct",
]
