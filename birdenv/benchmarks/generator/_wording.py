"""Word requests in several sentence forms, some of which are held out for testing.

A request is a sentence that uses vague words for ambiguous points, and states everything else in full. Many
requests also contain remarks that ask for nothing, so that not every unfamiliar word is ambiguous.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Final

from birdenv.benchmarks.generator._families import Family, VaguePart

_WITH_REMARK, _WITH_TAIL = 0.6, 0.6  # the shares of requests with a remark, and with a tail
_FORMS: Final[dict[str, dict[str, list[str]]]] = json.loads(
    (Path(__file__).parent / "wording.json").read_text(encoding="utf-8")
)
_CLEAR: Final = {True: "Mark the {rows} {change}.", False: "Show the {keys}{measure} of the {rows}."}


def request(family: Family, rng: Random, *, held_out: bool = False) -> str:
    """Return a randomly worded request for a family.

    Args:
        family: the family.
        rng: the random generator.
        held_out: True to use the sentence forms held out for testing.
    """
    forms = _FORMS["testing" if held_out else "training"]
    kind = "listing" if family.points[-1].is_trait else "showing"
    sentence = rng.choice(forms["changing" if family.change is not None else kind]).format(
        rows=_rows(family, rng),
        keys=_keys(family),
        measure=_measure(family.points[-1]),
        change=family.change[0] if family.change else "",
    )
    if rng.random() < _WITH_TAIL:
        tail = rng.choice(forms["tails"])
        sentence = f"{sentence[:-1]} {tail}{sentence[-1]}"
    parts = [sentence[0].upper() + sentence[1:]]
    if rng.random() < _WITH_REMARK:
        parts.insert(rng.randrange(2), rng.choice(forms["remarks"]))
    return " ".join(parts)


def clear_request(family: Family, combination: tuple[int, ...]) -> str:
    """Return the unambiguous request for a combination, which states each meaning in full."""
    meant = [p.meanings[k] for p, k in zip(family.points, combination, strict=True)]
    traits = [m.words for m, p in zip(meant, family.points, strict=True) if p.is_trait]
    shown = "".join(
        f" and the {m.words}" for m, p in zip(meant, family.points, strict=True) if not p.is_trait
    )
    rows = " ".join([*_fixed(family), family.entity.plural])
    return _CLEAR[family.change is not None].format(
        rows=f"{rows} with {' and '.join(traits)}",
        keys=_keys(family),
        measure=shown,
        change=family.change[0] if family.change else "",
    )


def term(family: Family, point: VaguePart, text: str) -> str:
    """Return the words in the request `text` that express a vague part.

    The result is the vague word, plus the noun for the rows if it comes right after that word.
    """
    together = f"{point.word} {family.entity.plural}"
    return together if point.is_trait and together in text else point.word


def _rows(family: Family, rng: Random) -> str:
    """Return the noun for the rows, with adjectives before and after it, and with the stated meanings."""
    adjectives = [point.word for point in family.points if point.is_trait and point.is_open]
    clauses = [p.meanings[p.said].words for p in family.points if p.is_trait and p.said is not None]
    rng.shuffle(adjectives)
    behind = ""
    if len(adjectives) == 2 or (adjectives and rng.random() < 0.3):
        if len(adjectives) == 2 and rng.random() < 0.4:
            adjectives = [f"{adjectives[0]} and {adjectives[1]}"]
        else:
            behind = f" that are {adjectives.pop()}"
    noun = " ".join([*_fixed(family), *adjectives, family.entity.plural])
    full = f" with {' and '.join(clauses)}" if clauses else ""
    return f"{noun}{behind}{full}"


def _fixed(family: Family) -> list[str]:
    return [family.fixed[0]] if family.fixed else []


def _keys(family: Family) -> str:
    return " and the ".join(family.entity.show.values())


def _measure(point: VaguePart) -> str:
    return point.word if point.said is None else point.meanings[point.said].words
