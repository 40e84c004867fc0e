"""The runs of up to three words of a question, and how each speaks for a kind of reading.

Words that are too rare to be learnt stand as classes: a word of the task's terms or SQL, one of columns that
the SQL does not use, one of the notes, or an unknown one. So what is learnt on some tasks holds on others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from struct import Struct

from birdenv.users.understanding._candidates import FACETS
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import NUMBERS, stem

_AT = {name: place for place, name in enumerate(FACETS)}
REFUSE, ASK_BACK = _AT["refuse"], _AT["ask back"]
_OWN, _UNUSED, _NOTED, _UNKNOWN, _NUMBER = "#", "-", "+", "~", "9"
_NUMBERS = frozenset(map(stem, NUMBERS.values()))


def word_runs(index: Index, question: Question, known: Collection[str]) -> list[str]:
    """Return the runs of up to three words of a question; words that are not `known` stand as classes."""
    said = ["^"]
    for one in question.stems:
        if one in _NUMBERS or one.isdigit():
            said.append(_NUMBER)
        elif one in known:
            said.append(one)
        elif one in index.spoken:
            said.append(_OWN)
        elif one in index.unused:
            said.append(_UNUSED)
        else:
            said.append(_NOTED if one in index.postings else _UNKNOWN)
    said.append("$")
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

    def scores(self, runs: Sequence[str], places: Sequence[Sequence[int]]) -> list[float]:
        """Add up what runs say for these groups of facets, in proportion to how many runs there are."""
        total = sum(filter(None, map(self._side_by_side.get, runs)), _ZEROS)
        of_facet = _LANES.unpack(total.to_bytes(_LANES.size, "little"))
        share = scale(len(runs)) / 100
        return [(sum([of_facet[place] for place in group]) - _ZERO * len(group)) * share for group in places]


_BITS = 32
_ZERO = 1 << _BITS - 1
_ZEROS = sum(_ZERO << _BITS * place for place in range(len(FACETS)))
"""Added, so that no sum is negative."""

_LANES = Struct(f"<{len(FACETS)}I")


def facet_scores(
    index: Index, question: Question, known: Collection[str], weights: RunWeights
) -> list[float]:
    """Add up what a question's words say for each candidate, for a refusal and for asking back."""
    return weights.scores(word_runs(index, question, known), [*index.facets, *_BESIDE])


_BESIDE = ((REFUSE,), (ASK_BACK,))
