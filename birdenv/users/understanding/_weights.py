"""The ranking's features and their weights. Some features are runs: word sequences in a question.

A word that is too rare to be learnt is replaced by its class: a word from the task's terms or SQL, a word
from columns that the SQL does not use, a word from the notes, or an unknown word. This makes the weights
apply to other tasks, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import pairwise
from operator import itemgetter
from struct import Struct

from birdenv.users.understanding._candidate import FACETS, FIELDS, GROUPS
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._phrases import KINDS, SPEAKS_FOR_REFUSING
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import NUMBERS, stem

FAMILIES = ("point", "aside", "part", "open")
WORD_FEATURES = (
    "covers_term",
    *FIELDS,
    "whole_term",
    "near_best",
    "second",
    "only",
    "named",
    "literal",
)
_KEPT = ("condition", "no_restriction", "other")
_PLAIN = ("asked", "not_asked", "asked_alone", "asked_and_known")
_REFUSE = (
    "always",
    "identifier",
    "unknown",
    "nothing_known",
    "long",
    "plain_kind",
    "best",
    *SPEAKS_FOR_REFUSING,
)
_ASK = ("always", "no_content", "nothing_known", "short", "some_kind", "plain_kind", "best")

FEATURES: tuple[str, ...] = (
    *(f"group:{name}" for name in GROUPS),
    *(f"{family}:{name}" for family in FAMILIES for name in WORD_FEATURES),
    *(f"kept:{name}" for name in _KEPT),
    *(f"plain:{name}" for name in _PLAIN),
    *(f"asked_and_settled:{kind}" for kind in KINDS),
    *(f"asked_not_settled:{kind}" for kind in KINDS),
    *(f"refuse:{name}" for name in _REFUSE),
    *(f"ask_back:{name}" for name in _ASK),
)
"""The names of all features, in the order of the weights."""

PLACE_OF = {name: place for place, name in enumerate(FEATURES)}

REFUSE, ASK_BACK = map(FACETS.index, ("refuse", "ask back"))
_SPOKEN, _UNUSED, _NOTED, _UNKNOWN, _NUMBER = "#", "-", "+", "~", "9"
_NUMBERS = frozenset(map(stem, NUMBERS.values()))


def tokens_of(index: Index, question: Question, known: Collection[str]) -> list[str]:
    """Return the words of a question, with a mark at each end. A word not in `known` becomes its class."""
    spoken, unused, noted = index.spoken, index.unused, index.postings
    said = [
        _NUMBER
        if one in _NUMBERS or one.isdigit()
        else one
        if one in known
        else _SPOKEN
        if one in spoken
        else _UNUSED
        if one in unused
        else _NOTED
        if one in noted
        else _UNKNOWN
        for one in question.stems
    ]
    return ["^", *said, "$"]


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


class RunWeights:
    """The weights of runs for each facet, as whole hundredths.

    All weights of one run are packed into one large integer, which ends with its last facet. Adding these
    integers adds up the runs of a question exactly, and for all facets at once.

    Args:
        weights: for each run, pairs of a facet's index and the run's weight for this facet, with two
            decimals.
    """

    def __init__(self, weights: Mapping[str, Sequence[tuple[int, float]]]) -> None:
        self._side_by_side = {
            run: sum(round(100 * weight) << _BITS * place for place, weight in said)
            for run, said in weights.items()
        }

    def by_facet(self, runs: Sequence[str]) -> Sequence[int]:
        """Return the total weight of several runs for each facet."""
        total = sum(filter(None, map(self._side_by_side.get, runs)))
        return _LANES.unpack(((total + _ZEROS) ^ _ZEROS).to_bytes(_LANES.size, "little"))


_BITS = 32
_ZEROS = sum(1 << _BITS * (place + 1) - 1 for place in range(len(FACETS)))
"""The sign bits of all facets. They are added before unpacking, so that the packed sum is not negative."""

_LANES = Struct(f"<{len(FACETS)}i")


def facet_scores(
    index: Index, question: Question, weights: Weights, candidates: Iterable[int]
) -> list[float]:
    """Score some candidates, a refusal and a request to rephrase by the word sequences in a question."""
    runs = word_runs(tokens_of(index, question, weights.known))
    share = scale(len(runs)) / 100
    said, facets = weights.of_runs.by_facet(runs), _facets(index)
    scores = [sum(facets[number](said)) * share for number in candidates]
    return [*scores, said[REFUSE] * share, said[ASK_BACK] * share]


@lru_cache(maxsize=256)
def _facets(index: Index) -> list[Callable[[Sequence[int]], tuple[int, ...]]]:
    """Return, for each candidate, a function that picks the values of its facets. Each has at least two."""
    return [itemgetter(*places) for places in index.facets]


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of the ranking.

    Attributes:
        values: the weight of each feature, in the order of `FEATURES`.
        runs: for each run (a sequence of words), its weight for each facet, by the index in `FACETS`.
        known: the words that occur in runs as themselves; rarer words are replaced by their classes.
    """

    values: tuple[float, ...]
    runs: Mapping[str, tuple[tuple[int, float], ...]]
    known: frozenset[str]

    @cached_property
    def of_runs(self) -> RunWeights:
        """Return the weights of the runs in packed form."""
        return RunWeights(self.runs)


@cache
def load_weights() -> Weights:
    """Return the weights that ship with the package."""
    return weights_in(resources.files(__package__).joinpath("weights.json"))


def weights_in(file: Traversable) -> Weights:
    """Read a file of weights."""
    data = json.loads(file.read_text(encoding="utf-8"))
    runs: dict[str, list[tuple[int, float]]] = {}
    for place, name in enumerate(FACETS):
        for run, hundredths in data["runs"].get(name, {}).items():
            runs.setdefault(run, []).append((place, hundredths / 100))
    known = frozenset(data["words"].split()).union(*(run.split() for run in runs))
    values = tuple(data["features"].get(name, 0.0) for name in FEATURES)
    return Weights(values, {run: tuple(said) for run, said in runs.items()}, known)
