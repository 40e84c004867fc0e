"""The runs of up to three words of a question, and how each speaks for a kind of reading.

Words that are too rare to be learnt stand as classes: a word of the task's terms or SQL, one of columns that
the SQL does not use, one of the notes, or an unknown one. So what is learnt on some tasks holds on others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from struct import Struct

from birdenv.users.understanding._candidates import FACETS
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._question import Question
from birdenv.users.understanding.vocabulary._word_forms import NUMBERS, stem

_AT = {name: place for place, name in enumerate(FACETS)}
REFUSE, ASK_BACK = _AT["refuse"], _AT["ask back"]
_OWN, _UNUSED, _NOTED, _UNKNOWN, _NUMBER = "#", "-", "+", "~", "9"
_NUMBERS = frozenset(map(stem, NUMBERS.values()))


def word_runs(index: Index, question: Question, known: Collection[str]) -> list[str]:
    """Return the runs of up to three words of a question; words that are not `known` stand as classes."""
    spoken, unused, noted = index.spoken, index.unused, index.postings
    said = [
        _NUMBER
        if one in _NUMBERS or one.isdigit()
        else one
        if one in known
        else _OWN
        if one in spoken
        else _UNUSED
        if one in unused
        else _NOTED
        if one in noted
        else _UNKNOWN
        for one in question.stems
    ]
    said = ["^", *said, "$"]
    pairs = [f"{a} {b}" for a, b in pairwise(said)]
    triples = [f"{a} {b}" for a, b in zip(pairs, said[2:], strict=False)]
    return list(dict.fromkeys([*said, *pairs, *triples]))


def scale(runs: int) -> float:
    """Return the weight of one of so many runs: long questions say more, but not in proportion."""
    return round(4 / math.sqrt(runs + 20), 6)


class RunWeights:
    """What each run of words says for each facet, in hundredths.

    The numbers of one run stand side by side in one large integer, so that those of a question's runs are
    added up for all facets at once, and exactly.

    Args:
        weights: for each run the places of facets and what it says for them, of two decimals.
    """

    def __init__(self, weights: Mapping[str, Sequence[tuple[int, float]]]) -> None:
        self._side_by_side = {
            run: sum(round(100 * weight) << _BITS * place for place, weight in said)
            for run, said in weights.items()
        }

    def scores(self, runs: Sequence[str]) -> tuple[Sequence[int], float]:
        """Add up what runs say for each facet; return their scale, too: it falls with their number."""
        total = sum(filter(None, map(self._side_by_side.get, runs)), _ZEROS)
        return _LANES.unpack((total ^ _ZEROS).to_bytes(_LANES.size, "little")), scale(len(runs)) / 100


_BITS = 32
_ZEROS = sum(1 << _BITS * (place + 1) - 1 for place in range(len(FACETS)))
"""Added, so that no sum is negative: the sign bits of all, which are then turned."""

_LANES = Struct(f"<{len(FACETS)}i")


def facet_scores(
    index: Index, question: Question, known: Collection[str], weights: RunWeights
) -> list[float]:
    """Add up what a question's words say for each candidate, for a refusal and for asking back."""
    said, share = weights.scores(word_runs(index, question, known))
    scores = [sum(facets(said)) * share for facets in _facets(index)]
    return [*scores, said[REFUSE] * share, said[ASK_BACK] * share]


@lru_cache(maxsize=256)
def _facets(index: Index) -> list[Callable[[Sequence[int]], tuple[int, ...]]]:
    """Functions that pick the facets of each candidate, which has two or more: its group and its kinds."""
    return [itemgetter(*places) for places in index.facets]
