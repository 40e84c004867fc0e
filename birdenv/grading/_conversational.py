"""Grading in c-Interact: a Query by its rows, a Management task by its test cases.

`Assignment.rules` say how: ours (BIRD-Interact §4, the strict column of §7.4), where the gold runs on its own
pristine copy and never after the prediction, a Query prediction may only read, and a benchmark that does not
run is not the model's failure; or those of the published evaluators, on a disposable copy.
"""

from __future__ import annotations

from typing import Final

from birdenv.databases import DatabaseSource, Limits
from birdenv.grading._assignment import Assignment, Category, Grade, GradeStatus
from birdenv.grading._management import ManagementGrader
from birdenv.grading._published import PublishedGrader
from birdenv.grading._strict_query import StrictQueryGrader

__all__ = ["Assignment", "Category", "ConversationalGrader", "Grade", "GradeStatus"]

_DEFAULT_LIMITS: Final = Limits()


class ConversationalGrader:
    """Grades c-Interact submissions under any rules; may be used by several threads."""

    def __init__(self, source: DatabaseSource, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._query = StrictQueryGrader(source, limits)
        self._management = ManagementGrader(source, limits)
        self._published = PublishedGrader(source, limits)

    def grade(self, assignment: Assignment, prediction: str) -> Grade:
        """Grade one submission. Raises `InputError` if the database cannot be opened.

        What the prediction leaves in an open transaction is lost, and counts as not done (under strict
        rules). `base_pred` is the prediction's too: where it fails, the prediction fails.
        """
        if not prediction.strip():
            return Grade(False, "no_submission", "no SQL was submitted")
        if not assignment.gold:
            return Grade(False, "infra_error", "there is no gold SQL")
        if assignment.rules.comparison == "published":
            return self._published.grade(assignment, prediction)
        if assignment.category == "Management":
            return self._management.grade(assignment, prediction)
        return self._query.grade(assignment, prediction)
