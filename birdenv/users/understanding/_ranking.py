"""The ranking: weights, and what they make of the evidence for each candidate."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from operator import add

from birdenv.users.understanding._candidates import FACETS
from birdenv.users.understanding._features import FEATURES, Evidence, Vector, standing
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._ngrams import RunWeights, facet_scores
from birdenv.users.understanding._question import Question
from birdenv.users.understanding.vocabulary._kind_asked_for import KINDS


@dataclass(frozen=True, eq=False)
class Weights:
    """One number for each feature, and for each run of words what it speaks for; `known` are their words."""

    values: tuple[float, ...]
    runs: Mapping[str, tuple[tuple[int, float], ...]]
    known: frozenset[str]

    @cached_property
    def of_runs(self) -> RunWeights:
        """The weights of the runs as they are added up."""
        return RunWeights(self.runs)


@cache
def load_weights() -> Weights:
    """Read the package's weights."""
    data = json.loads(resources.files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    place = {name: number for number, name in enumerate(FACETS)}
    runs = {
        run: tuple((place[name], value) for name, value in said.items()) for run, said in data["runs"].items()
    }
    known = frozenset(word for run in runs for word in run.split())
    return Weights(tuple(data["weights"].get(name, 0.0) for name in FEATURES), runs, known)


def probabilities(index: Index, asked: Question, found: Evidence, weights: Weights) -> list[float]:
    """Return a probability for each candidate, for a refusal and for asking back.

    Rounded, so that machines agree.
    """
    values, (scores, of_kind) = weights.values, _standing_scores(index, weights)
    for kind in asked.kinds:
        scores = list(map(add, scores, of_kind[kind]))
    scores = [
        sum([values[place] * value for place, value in vector], start + said)
        for vector, start, said in zip(
            found.beside, scores, facet_scores(index, asked, weights.known, weights.of_runs), strict=True
        )
    ]
    allowed = [*found.allowed, True, True]
    top = max(score for score, may in zip(scores, allowed, strict=True) if may)
    odds = [math.exp(score - top) if may else 0.0 for score, may in zip(scores, allowed, strict=True)]
    whole = sum(odds)
    return [round(odd / whole, 6) for odd in odds]


@lru_cache(maxsize=256)
def _standing_scores(index: Index, weights: Weights) -> tuple[list[float], dict[str, list[float]]]:
    """What stands, added up: always, and if a kind is asked for. Nothing of it for the last two."""

    def scores(vectors: Iterable[Vector]) -> list[float]:
        return [*(sum(weights.values[place] * value for place, value in one) for one in vectors), 0.0, 0.0]

    found = standing(index)
    return scores(one.always for one in found), {
        kind: scores(one.asked[kind] for one in found) for kind in KINDS
    }
