"""Grading: a pure function of (gold, SQL submitted, rules) on pristine databases.

    grader = ExGrader(SqliteSource("dev_databases"))
    verdict = grader.grade("superhero", ["SELECT count(*) FROM superhero"], "SELECT 750")

It knows nothing of dialogues or tasks. Every verdict says why in one line, which quotes the gold: it is for
reports and never for an agent. A change that can move a score is a new `GRADER_VERSION`.
"""

from __future__ import annotations

from birdenv.grading._answer_cleaning import clean_sql
from birdenv.grading._ex import ExGrader
from birdenv.grading._fetched_rows import LEAST_FETCHED
from birdenv.grading._gold_check import GoldCheck, check_gold
from birdenv.grading._r_ves import R_VES_RUNS, SpeedMeasurement, measure_speed, r_ves, time_ratio
from birdenv.grading._result_store import ResultStore
from birdenv.grading._reward_schedule import REWARDS, batch_reward, reward
from birdenv.grading._verdict import GRADER_VERSION, ExStatus, ExVerdict
from birdenv.grading.compare._metrics import METRICS, Metric
from birdenv.grading.scoring._score_pairs import Pair, score_pairs

__all__ = [
    "GRADER_VERSION",
    "LEAST_FETCHED",
    "METRICS",
    "REWARDS",
    "R_VES_RUNS",
    "ExGrader",
    "ExStatus",
    "ExVerdict",
    "GoldCheck",
    "Metric",
    "Pair",
    "ResultStore",
    "SpeedMeasurement",
    "batch_reward",
    "check_gold",
    "clean_sql",
    "measure_speed",
    "r_ves",
    "reward",
    "score_pairs",
    "time_ratio",
]
