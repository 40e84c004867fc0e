"""Statistics for all figures of runs: intervals, tests, numbers as text. Knows no game and no run."""

from birdenv.statistics._interval_text import between, in_digits, percent, rate_line, strip, strip_scale
from birdenv.statistics._ratios import Ratio, correlation, number, ratio_figure
from birdenv.statistics.intervals import (
    RESAMPLES,
    Interval,
    Z,
    bootstrap,
    bootstrap_test,
    mcnemar,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    resamples,
    wilson,
    wilson_of_rate,
)
from birdenv.statistics.statistic import Figure, rounded, undefined

__all__ = [
    "RESAMPLES",
    "Figure",
    "Interval",
    "Ratio",
    "Z",
    "between",
    "bootstrap",
    "bootstrap_test",
    "correlation",
    "in_digits",
    "mcnemar",
    "number",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "percent",
    "rate_line",
    "ratio_figure",
    "resamples",
    "rounded",
    "strip",
    "strip_scale",
    "undefined",
    "wilson",
    "wilson_of_rate",
]
