"""Grade submitted SQL against gold SQL on pristine databases.

    grader = ExGrader(SqliteSource("dev_databases"))
    verdict = grader.grade("superhero", ["SELECT count(*) FROM superhero"], "SELECT 750")

Worker processes run the SQL and compare the rows, under limits on time and memory. A verdict depends only on
the SQL, the data and the settings of the grader, and never on the dialogue. Its reason may quote gold rows:
show it in reports, but never to an agent. Any change that can affect a score increases `GRADER_VERSION`.
"""

from __future__ import annotations

from birdenv.grading._answer_cleaning import clean_sql
from birdenv.grading._ex import GRADER_VERSION, ExVerdict
from birdenv.grading._gold_check import GoldCheck
from birdenv.grading._r_ves import R_VES_RUNS, SpeedMeasurement, measure_speed, r_ves, time_ratio
from birdenv.grading._reads import FAILED_AS_DOUBTFUL, reads_no_table
from birdenv.grading._second_run import is_late, with_second_run
from birdenv.grading._statements import LEAST_FETCHED
from birdenv.grading.compare._metrics import METRICS, Metric
from birdenv.grading.workers._graders import (
    ExGrader,
    InteractGrader,
    Pair,
    PairGrader,
    check_gold,
    score_pairs,
)

__all__ = [
    "FAILED_AS_DOUBTFUL",
    "GRADER_VERSION",
    "LEAST_FETCHED",
    "METRICS",
    "R_VES_RUNS",
    "ExGrader",
    "ExVerdict",
    "GoldCheck",
    "InteractGrader",
    "Metric",
    "Pair",
    "PairGrader",
    "SpeedMeasurement",
    "check_gold",
    "clean_sql",
    "is_late",
    "measure_speed",
    "r_ves",
    "reads_no_table",
    "score_pairs",
    "time_ratio",
    "with_second_run",
]
