"""Summarise and compare runs: metrics with intervals, pass^k, usage and costs."""

from birdenv.runs.summaries._comparison import RunComparison, compare, run_letter
from birdenv.runs.summaries._comparison_text import comparison_text
from birdenv.runs.summaries._episode_figures import Outcome, usage_text
from birdenv.runs.summaries._first_screen import breakdown, first_screen, reference_block
from birdenv.runs.summaries._means_over_tasks import Estimate
from birdenv.runs.summaries._run_report import RunReport, report
from birdenv.runs.summaries.recorded_run import RecordedRun, read_run, recorded_run

__all__ = [
    "Estimate",
    "Outcome",
    "RecordedRun",
    "RunComparison",
    "RunReport",
    "breakdown",
    "compare",
    "comparison_text",
    "first_screen",
    "read_run",
    "recorded_run",
    "reference_block",
    "report",
    "run_letter",
    "usage_text",
]
