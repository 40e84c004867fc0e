"""Figures of recorded runs: statistics, measures, comparisons, reports and plots."""

from birdenv.runs.analysis._comparison import RunComparison, compare, comparison_text
from birdenv.runs.analysis._plot import forest_plot
from birdenv.runs.analysis._recorded_run import RecordedRun, read_run
from birdenv.runs.analysis._report import RunReport, report

__all__ = [
    "RecordedRun",
    "RunComparison",
    "RunReport",
    "compare",
    "comparison_text",
    "forest_plot",
    "read_run",
    "report",
]
