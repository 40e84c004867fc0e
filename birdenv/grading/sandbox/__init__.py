"""Run a benchmark's test cases, which are Python code, in a confined child process."""

from birdenv.grading.sandbox._runner import judged
from birdenv.grading.sandbox._sources import parse_test_cases, reads_clock

__all__ = ["judged", "parse_test_cases", "reads_clock"]
