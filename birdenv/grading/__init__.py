"""Grading: a pure function of (gold, SQL submitted, rules) on pristine databases.

    grader = ExGrader(SqliteSource("dev_databases"))
    verdict = grader.grade("superhero", ["SELECT count(*) FROM superhero"], "SELECT 750")

It knows nothing of dialogues or tasks. Every verdict says why in one line, which quotes the gold: it is for
reports and never for an agent. A change that can move a score is a new `GRADER_VERSION`.
"""

from __future__ import annotations

from birdenv.grading._cells import canonical_cell, canonical_row
from birdenv.grading._cleaning import Cleaned, clean_sql
from birdenv.grading._column_modes import compare_colperm, compare_superset
from birdenv.grading._compare import Comparison, compare_bird, compare_multiset
from birdenv.grading._conversational import Assignment, Category, ConversationalGrader, Grade, GradeStatus
from birdenv.grading._distinct import without_outer_distinct
from birdenv.grading._em_key import EM_LEVELS, EmLevel, em_key
from birdenv.grading._execution import LEAST_FETCHED, ExGrader, ExStatus, ExVerdict
from birdenv.grading._gold import reads_clock
from birdenv.grading._grading_rules import GRADING_RULES, STRICT_RULES, GradingRules
from birdenv.grading._looseness import Looseness, loosened
from birdenv.grading._metrics import METRICS, MODES, Metric, Mode, compare
from birdenv.grading._ordered import compare_ordered
from birdenv.grading._pair_scoring import Pair, score_pairs
from birdenv.grading._pairs import BUCKETS, Bucket, PairGrader, PairRules, PairVerdict, RunQuery
from birdenv.grading._query_text import is_single_query, one_line
from birdenv.grading._r_ves import R_VES_RUNS, SpeedMeasurement, measure_speed, r_ves, time_ratio
from birdenv.grading._result_store import ResultStore
from birdenv.grading._schedule import REWARDS, batch_reward, reward
from birdenv.grading._self_check import GoldCheck, check_gold
from birdenv.grading._soft_f1 import soft_f1
from birdenv.grading._strict import Conditions, compare_strict
from birdenv.grading._structural import structural_match
from birdenv.grading._test_cases import parse_test_cases
from birdenv.grading._test_harness import HarnessLimits, run_test_cases
from birdenv.grading._test_report import TestCause, TestOutcome, TestReport, TestStatus, judged
from birdenv.grading._version import GRADER_VERSION

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
    "Assignment",
    "Bucket",
    "Category",
    "Cleaned",
    "Comparison",
    "Conditions",
    "ConversationalGrader",
    "EmLevel",
    "ExGrader",
    "ExStatus",
    "ExVerdict",
    "GoldCheck",
    "Grade",
    "GradeStatus",
    "GradingRules",
    "HarnessLimits",
    "Looseness",
    "Metric",
    "Mode",
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
    "is_single_query",
    "judged",
    "loosened",
    "measure_speed",
    "one_line",
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
