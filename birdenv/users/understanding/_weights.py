"""The ranking's features and their weights. Some features are runs: word sequences in a question.

A word that is too rare to be learnt is replaced by its class: a word from the task's terms or SQL, a word
from columns that the SQL does not use, a word from the notes, or an unknown word. This makes the weights
apply to other tasks, too.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import pairwise, repeat
from operator import mul
from typing import TypeAlias

from birdenv.users.understanding._index import Index
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import NUMBERS, stem

Features: TypeAlias = dict[str, float]
"""The features of a possible reply, by name. The others are zero."""

Reply: TypeAlias = tuple[Features, Sequence[str]]
"""The features and the facets of a possible reply."""

_ZEROS = repeat(0)
_UNKNOWN, _NUMBER = "~", "9"
_NUMBERS = frozenset(map(stem, NUMBERS.values()))


def tokens_of(index: Index, question: Question, known: Set[str]) -> list[str]:
    """Return the words of a question, with a mark at each end. A word not in `known` becomes its class."""
    said = [_NUMBER if one in _NUMBERS or one.isdigit() else one for one in question.stems]
    class_of = index.classes.get
    return ["^", *(one if one in known or one == _NUMBER else class_of(one, _UNKNOWN) for one in said), "$"]


def word_runs(tokens: Sequence[str]) -> list[str]:
    """Return all sequences of up to three consecutive tokens."""
    pairs = [f"{a} {b}" for a, b in pairwise(tokens)]
    triples = [f"{a} {b}" for a, b in zip(pairs, tokens[2:], strict=False)]
    return list(dict.fromkeys([*tokens, *pairs, *triples]))


def scale(runs: int) -> float:
    """Return the factor that scales the run weights of a question with `runs` runs.

    Long questions have a larger total weight than short ones, but not in proportion to their length.
    """
    return round(4 / math.sqrt(runs + 20), 6)


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of the ranking.

    Attributes:
        features: the weight of each feature.
        facets: the names of the facets.
        runs: for each run (a sequence of words), its weights for some facets, in hundredths: sums of whole
            numbers are exact.
        known: the words that occur in runs as themselves; rarer words are replaced by their classes.
    """

    features: Mapping[str, float]
    facets: Sequence[str]
    runs: Mapping[str, Mapping[str, int]]
    known: frozenset[str]

    def scores(self, index: Index, question: Question, replies: Iterable[Reply]) -> list[float]:
        """Return the scores of possible replies to a question, each given by its features and its facets."""
        runs = word_runs(tokens_of(index, question, self.known))
        said = dict.fromkeys(self.facets, 0)
        for run in runs:
            if run in self.runs:
                for facet, weight in self.runs[run].items():
                    said[facet] += weight
        weight_of, said_of, factor = self.features.get, said.get, scale(len(runs)) / 100
        return [
            sum(map(mul, map(weight_of, features, _ZEROS), features.values()))
            + sum(map(said_of, facets, _ZEROS)) * factor
            for features, facets in replies
        ]


@cache
def load_weights() -> Weights:
    """Return the weights that ship with the package."""
    return weights_in(resources.files(__package__).joinpath("weights.json"))


def weights_in(file: Traversable) -> Weights:
    """Read a file of weights."""
    data = json.loads(file.read_text(encoding="utf-8"))
    runs: dict[str, dict[str, int]] = defaultdict(dict)
    for facet, said in data["runs"].items():
        for run, weight in said.items():
            runs[run][facet] = weight
    known = frozenset(data["words"].split()).union(*map(str.split, runs))
    return Weights(data["features"], tuple(data["runs"]), dict(runs), known)
