"""Grading: a pure function of (gold, SQL submitted, rules) on pristine databases.

    grader = ExGrader(SqliteSource("dev_databases"))
    verdict = grader.grade("superhero", ["SELECT count(*) FROM superhero"], "SELECT 750")

It knows nothing of dialogues or tasks. Every verdict says why in one line, which quotes the gold: it is for
reports and never for an agent. A change that can move a score is a new `GRADER_VERSION`.
"""

from __future__ import annotations

from birdenv.grading._cells import canonical_cell, canonical_row
from birdenv.grading._cleaning import Cleaned, clean_sql
from birdenv.grading._compare import Comparison, compare_bird, compare_multiset
from birdenv.grading._conversational import Assignment, Category, ConversationalGrader, Grade, GradeStatus
from birdenv.grading._distinct import without_outer_distinct
from birdenv.grading._execution import ExGrader, ExStatus, ExVerdict
from birdenv.grading._gold import reads_clock
from birdenv.grading._schedule import REWARDS, batch_reward, reward
from birdenv.grading._source import Source
from birdenv.grading._strict import Conditions, compare_strict
from birdenv.grading._test_cases import parse_test_cases

__all__ = [
    "GRADER_VERSION",
    "REWARDS",
    "Assignment",
    "Category",
    "Cleaned",
    "Comparison",
    "Conditions",
    "ConversationalGrader",
    "ExGrader",
    "ExStatus",
    "ExVerdict",
    "Grade",
    "GradeStatus",
    "Source",
    "batch_reward",
    "canonical_cell",
    "canonical_row",
    "clean_sql",
    "compare_bird",
    "compare_multiset",
    "compare_strict",
    "parse_test_cases",
    "reads_clock",
    "reward",
    "without_outer_distinct",
]

GRADER_VERSION = "1"
