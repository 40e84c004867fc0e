"""Run the test cases of a benchmark, which are Python source, in a confined child process."""

from birdenv.grading.sandbox._runner import SandboxLimits, TestReport, judged, run_test_cases
from birdenv.grading.sandbox._sources import parse_test_cases, reads_clock

__all__ = [
    "SandboxLimits",
    "TestReport",
    "judged",
    "parse_test_cases",
    "reads_clock",
    "run_test_cases",
]
