"""The families of a benchmark, their open points, and the optimum of each."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple

from birdenv.errors import InputError
from birdenv.tasks.c_interact import find_task_file, read_task_records
from birdenv_baselines.optimum._meanings import best_return, submit_value

__all__ = ["FamilyOptimum", "family_optima"]


class FamilyOptimum(NamedTuple):
    """One family.

    Attributes:
        database: the database.
        tasks: the ids of its tasks.
        points: the number of meanings of each open point.
        never_asks: what a reader without questions can reach.
        best: the optimum by price.
    """

    database: str
    tasks: tuple[str, ...]
    points: tuple[int, ...]
    never_asks: float
    best: dict[float, float]


def family_optima(
    place: Path, prices: Sequence[float], refusals: float = 0.0, questions: int = 6
) -> list[FamilyOptimum]:
    """Return the optimum of each family: of the tasks that show the same request and candidates.

    Args:
        place: a benchmark's folder or task file.
        prices: the prices of a question.
        refusals: the share of points that the user cannot tell.
        questions: the budget of questions.

    Raises:
        InputError: the file cannot be read, or the tasks of a family are not all combinations of meanings, so
            that what is optimal cannot be said.
    """
    families: dict[tuple[object, ...], list[tuple[str, dict[str, str]]]] = {}
    file = find_task_file(place) if place.is_dir() else place
    for record in read_task_records(file):
        shown = (record.selected_database, record.amb_user_query, record.candidates)
        annotated = (*record.user_query_ambiguity.critical_ambiguity, *record.knowledge_ambiguity)
        meant = {point.term: point.sql_snippet for point in annotated}
        families.setdefault(shown, []).append((record.instance_id, meant))
    made = []
    for (database, *_), members in families.items():
        terms = members[0][1]
        points = tuple(len({meant.get(term) for _, meant in members}) for term in terms)
        differ = any(meant.keys() != terms.keys() for _, meant in members)
        if differ or min(points, default=2) < 2 or prod(points) != len(members):
            raise InputError(
                f"{file}: {members[0][0]} and its like are not all combinations of meanings; the optimum is "
                "known of generated benchmarks only (birdenv data generate)"
            )
        best = {price: best_return(points, price, refusals, questions) for price in prices}
        names = tuple(name for name, _ in members)
        made.append(FamilyOptimum(str(database), names, points, submit_value(prod(points)), best))
    return made
