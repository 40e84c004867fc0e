"""Find the families in a generated benchmark, and compute the best reachable return for each family.

A family consists of tasks with the same request and the same candidates, but with different meanings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from birdenv.envs.candidates import CInteractCandidatesVectorEnv
from birdenv.errors import InputError
from birdenv.tasks.c_interact import find_task_file, read_task_records
from birdenv_baselines.optimum._beliefs import Worlds, best_returns, submit_value

__all__ = ["FamilyOptimum", "family_optima"]


class FamilyOptimum(NamedTuple):
    """The best reachable return for a task family.

    Attributes:
        database: the name of the database.
        tasks: the ids of the family's tasks.
        points: the number of possible meanings of each ambiguity.
        never_asks: the best return without asking questions.
        best: the best return at each question price.
    """

    database: str
    tasks: tuple[str, ...]
    points: tuple[int, ...]
    never_asks: float
    best: dict[float, float]


def family_optima(
    place: Path,
    prices: Sequence[float],
    refusals: float = 0.0,
    questions: int = 6,
    databases: Sequence[str] | None = None,
) -> list[FamilyOptimum]:
    """Return the best reachable return for each family in a benchmark.

    Args:
        place: the folder or the task file of a benchmark.
        prices: the question prices.
        refusals: the share of ambiguities that the user cannot clarify.
        questions: the maximum number of questions in an episode.
        databases: the databases whose families are used; None for all.

    Raises:
        InputError: the file cannot be read, or a family does not have a task for each combination of
            meanings, so that its optimum is not known.
    """
    file = find_task_file(place) if place.is_dir() else place
    families = [each for each in _families(file) if databases is None or each[0] in databases]
    settings: dict[str, Any] = {"data_dir": str(file.parent), "questions": questions}
    settings |= {"data": str(file)} if place == file else {}
    envs = CInteractCandidatesVectorEnv(**settings | ({"databases": databases} if databases else {}))
    numbers = {name: number for number, name in enumerate(envs.instance_ids)}
    made = []
    for database, names, points in families:
        worlds = _worlds(envs, [numbers[name] for name in names], refusals)
        best = dict(zip(prices, best_returns(worlds, prices, questions), strict=True))
        made.append(FamilyOptimum(database, names, points, submit_value(worlds.chances, worlds.right), best))
    envs.close()
    return made


def _families(file: Path) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    """Return the database of each family, its task ids, and the number of meanings of each open point."""
    found: dict[tuple[object, ...], list[tuple[str, dict[str, str]]]] = {}
    for record in read_task_records(file):
        shown = (record.selected_database, record.amb_user_query, record.candidates)
        annotated = (*record.user_query_ambiguity.critical_ambiguity, *record.knowledge_ambiguity)
        meant = {point.term: point.sql_snippet for point in annotated}
        found.setdefault(shown, []).append((record.instance_id, meant))
    made = []
    for (database, *_), members in found.items():
        terms = members[0][1]
        points = tuple(len({meant.get(term) for _, meant in members}) for term in terms)
        differ = any(meant.keys() != terms.keys() for _, meant in members)
        if differ or min(points, default=2) < 2 or prod(points) != len(members):
            raise InputError(
                f"{file}: {members[0][0]} and the tasks with the same request are not all combinations of "
                "meanings; the optimum is known only for generated benchmarks (birdenv data generate)"
            )
        made.append((str(database), tuple(name for name, _ in members), points))
    return made


def _worlds(envs: CInteractCandidatesVectorEnv, tasks: Sequence[int], refusals: float) -> Worlds:
    """Return the possible worlds behind the request that these tasks share."""
    tables = envs._episodes.tables
    known = int(np.bitwise_or.reduce(tables.points[tasks], axis=None))
    bits = [1 << place for place in range(known.bit_length()) if refusals]
    chances, right, answers = [], [], []
    for task, refused in product(tasks, product((False, True), repeat=len(bits))):
        chances.append(prod(refusals if each else 1.0 - refusals for each in refused) / len(tasks))
        right.append(tables.passes[task])
        unknown = sum(bit for bit, each in zip(bits, refused, strict=True) if each)
        is_refused = (tables.points[task] & unknown) != 0
        answers.append(np.where(is_refused[:, None], tables.refused[task], tables.fits[task]))
    shown = np.array(answers)
    kinds = [
        np.unique(shown[:, question], axis=0, return_inverse=True)[1] for question in range(shown.shape[1])
    ]
    return Worlds(np.array(chances), np.array(right), np.array(kinds).reshape(shown.shape[1], -1))
