"""Running a benchmark's test cases (Python source) in a confined child process."""

from birdenv.grading.sandbox._case_report import TestCause, TestOutcome, TestReport, TestStatus, judged
from birdenv.grading.sandbox._limits import SandboxLimits
from birdenv.grading.sandbox._runner import run_test_cases
from birdenv.grading.sandbox._sources import parse_test_cases, reads_clock

__all__ = [
    "SandboxLimits",
    "TestCause",
    "TestOutcome",
    "TestReport",
    "TestStatus",
    "judged",
    "parse_test_cases",
    "reads_clock",
    "run_test_cases",
]
