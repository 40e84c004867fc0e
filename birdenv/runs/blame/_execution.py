"""What a failed submission has right, found out by running it against other readings of the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Final, TypeAlias

from birdenv.errors import BirdenvError
from birdenv.grading import InteractGrader
from birdenv.grading.interact import GradingJob
from birdenv.runs.blame._readings import RenamedExpression, readings_of, replaced

_MOST_RUNS: Final = 40
_KEPT: Final = 12  # of them for `has_right`
_MOST_TOGETHER: Final = 2

Readings: TypeAlias = dict[str, str]
"""By snippet, the expression of the submission in its place."""


class Execution:
    """Runs one submission, and variants of the gold SQL; bounded, and False for what cannot be run.

    Args:
        grader: judges SQL.
        job: the phase.
        submission: the SQL that failed.
        dialect: sqlglot's name of the dialect.
    """

    def __init__(self, grader: InteractGrader, job: GradingJob, submission: str, dialect: str) -> None:
        self._grader, self._job, self._submission, self._dialect = grader, job, submission, dialect
        self._left = _MOST_RUNS

    def has_right(self, snippet: str) -> bool:
        """Return whether the gold SQL stays right with an expression of the submission for the snippet."""
        for other in self._readings(snippet):
            variant = self._variant({snippet: other.sql}) if other.is_alike else None
            if variant and self._passes(self._job, variant[-1]):
                return True
        return False

    def explained(self, snippets: Sequence[str]) -> Readings | None:
        """Return the fewest snippets for which the gold SQL is to be read otherwise to give the submission.

        None if the submission is right under no such reading: then something else is wrong with it, too, or
        its expressions are not comparable.
        """
        if self._job.category != "Query":
            return None  # its test cases know one reading only
        choices = {snippet: self._readings(snippet) for snippet in dict.fromkeys(snippets)}
        for count in range(1, _MOST_TOGETHER + 1):
            for several in combinations(choices, count):
                for others in product(*(choices[each] for each in several)):
                    chosen = {each: other.sql for each, other in zip(several, others, strict=True)}
                    variant = self._variant(chosen) if self._left > _KEPT else None
                    if variant and self._passes(replace(self._job, gold=variant), self._submission, rows=1):
                        return chosen
        return None

    def _readings(self, snippet: str) -> Sequence[RenamedExpression]:
        return readings_of(self._submission, snippet, self._job.gold[-1], self._dialect)

    def _variant(self, readings: Readings) -> tuple[str, ...] | None:
        last: str | None = self._job.gold[-1]
        for snippet, other in readings.items():
            last = None if last is None else replaced(last, snippet, other)
        return None if last is None else (*self._job.gold[:-1], last)

    def _passes(self, job: GradingJob, sql: str, *, rows: int = 0) -> bool:
        """Whether SQL passes, and returns so many rows at least: two empty results say little."""
        if self._left <= 0:
            return False
        self._left -= 1
        try:
            grade = self._grader.grade(job, sql)
        except BirdenvError:
            return False
        return grade.passed and (grade.rows_pred or 0) >= rows
