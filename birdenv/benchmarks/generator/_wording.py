"""Word requests in several sentence forms, some of which are held out for testing.

A request is a sentence. Vague words stand for its ambiguous points, and everything else is stated in full.
Many requests also contain remarks that ask for nothing, so not every unknown word is ambiguous.
"""

from __future__ import annotations

from random import Random
from typing import Final

from birdenv.benchmarks.generator._families import Family, VaguePart

_WITH_REMARK, _WITH_TAIL = 0.6, 0.6  # the shares of requests with a remark, and with a tail
_REMARKS: Final = (
    "We are preparing the annual report.",
    "The board meets on Friday and wants figures.",
    "I am new in the back office.",
    "This is for the spring newsletter.",
    "A journalist has sent us an enquiry.",
    "Our auditor keeps coming back to me.",
    "Sorry to bother you again before the weekend.",
    "The volunteers have asked for an overview.",
    "We have a strategy workshop next week.",
    "Somebody spilled coffee over my old printout.",
)
_HELD_OUT_REMARKS: Final = (
    "The mayor is coming for a visit.",
    "I promised my colleague a quick summary.",
    "Budget talks begin tomorrow morning.",
    "There was a puzzled letter from a sponsor.",
)
_TAILS: Final = (
    "for the newsletter",
    "as agreed with the treasurer",
    "for Marta and her team",
    "in time for the workshop",
    "because of a complaint",
    "for the green folder",
    "as a favour",
    "for my talk in Bremen",
)
_HELD_OUT_TAILS: Final = ("for the sponsor", "as a small experiment", "because of the moving plans")
_SHOWING: Final = (
    "Which {rows} are there? Give the {keys} and the {measure}.",
    "Show the {keys} and the {measure} of the {rows}.",
    "I need the {measure} of our {rows}, next to the {keys}.",
    "What is the {measure} of the {rows}? Start with the {keys}.",
    "List the {keys} for the {rows}, along with the {measure}.",
    "For each of the {rows}, tell me the {keys} and the {measure}.",
)
_HELD_OUT_SHOWING: Final = (
    "Could you pull the {measure} for all {rows}, by {keys}?",
    "We would like to see {keys} and {measure}, but only for the {rows}.",
    "Please put the {keys} and the {measure} of those {rows} side by side.",
)
_LISTING: Final = (
    "Which {rows} are there? Give the {keys}.",
    "Show the {keys} of the {rows}.",
    "I need a list of our {rows}, with the {keys}.",
    "List the {keys} for the {rows}.",
)
_HELD_OUT_LISTING: Final = (
    "Could you pull all {rows}, by {keys}?",
    "We would like to see the {keys}, but only for the {rows}.",
)
_CHANGING: Final = (
    "Mark the {rows} {change}.",
    "Please record the {rows} {change}.",
    "From today on, all {rows} count {change}: update the table.",
)
_HELD_OUT_CHANGING: Final = ("Could you enter the {rows} {change}?", "Set the {rows} down {change}, please.")
_CLEAR: Final = {True: "Mark the {rows} {change}.", False: "Show the {keys}{measure} of the {rows}."}


def request(family: Family, rng: Random, *, held_out: bool = False) -> str:
    """Return a randomly worded request for a family.

    Args:
        family: the family.
        rng: the random generator.
        held_out: whether to use the sentence forms held out for testing.
    """
    forms: tuple[str, ...]
    if family.change is not None:
        forms = _HELD_OUT_CHANGING if held_out else _CHANGING
    elif family.points[-1].is_trait:
        forms = _HELD_OUT_LISTING if held_out else _LISTING
    else:
        forms = _HELD_OUT_SHOWING if held_out else _SHOWING
    sentence = rng.choice(forms).format(
        rows=_rows(family, rng),
        keys=_keys(family),
        measure=_measure(family.points[-1]),
        change=family.change[0] if family.change else "",
    )
    if rng.random() < _WITH_TAIL:
        tail = rng.choice(_HELD_OUT_TAILS if held_out else _TAILS)
        sentence = f"{sentence[:-1]} {tail}{sentence[-1]}"
    parts = [sentence[0].upper() + sentence[1:]]
    if rng.random() < _WITH_REMARK:
        parts.insert(rng.randrange(2), rng.choice(_HELD_OUT_REMARKS if held_out else _REMARKS))
    return " ".join(parts)


def clear_request(family: Family, combination: tuple[int, ...]) -> str:
    """Return the unambiguous request for a combination of meanings. It states each meaning in full."""
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
    """Return the ambiguous words in the request `text` that stand for a vague part.

    These are the vague word and, if it directly precedes the noun for the rows, that noun.
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
