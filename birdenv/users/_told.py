"""The parts of a point that the user has just told, and the other points that go into it.

A part is an operand of a formula, or a condition. A question asks for one by its place ("the second factor in
that") or by its role ("what do I divide by?", "the score that goes into it").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import chain

from birdenv.users._brief import Brief
from birdenv.users._facts import body_of, facts_of, operands, stems_of
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import Node, fragment_dialect, parse_fragment
from birdenv.users.sql_in_words._words import kind_of
from birdenv.users.understanding import Choice
from birdenv.users.understanding._candidate import Candidate
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._gold_parts import bare_text, has_snippet
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import Question

ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()

PART = "part"
"""What stands for the clause of a part of a point that was told."""

_FAMILIES = {"conditions": (("And",), ("Or",)), "summands": (("Add", "Sub"),), "factors": (("Mul", "Div"),)}
"""Operators by what people call their operands."""

_PLACE = re.compile(
    rf"\b(?:(?P<place>{'|'.join(ORDINALS)})|last) (?:\w+ )?(?:(?P<conditions>condition|criterion|case)"
    r"|(?P<summands>summand|addend)|(?P<factors>factor|multiplier)"
    r"|term|part|component|piece|operand|ingredient|half|step|number)\b(?! of my)"
)
_ROLES = {"divisor": ("Div", -1), "dividend": ("Div", 0), "subtracted": ("Sub", -1)}
"""The operator and the place of an operand with each role."""


def part_asked_for(asked: Question, said: Set[str], told: Choice, brief: Brief) -> Choice | None:
    """Return the choice of the part of a told point that a question asks for, or None if it asks for none.

    If another candidate defines the part, the choice is this candidate. `said` are the groups of phrases in
    the question.
    """
    if len(told.granted()) != 1:
        return None
    if not (parts := list(_parts(asked.text, said, *told.granted()))):
        found = linked(told, brief) if "input" in said else []
        alike = [len(stems_of(f"{one.target} {one.sql[0]}").intersection(asked.content)) for one in found]
        return choice_of(found[alike.index(max(alike))]) if found else None
    sql = parts[0].sql(dialect=fragment_dialect())
    part = Choice("unlabelled", told.target, (), (Segment(told.target, PART, sql),))
    is_name = len(facts_of(sql).columns) == 1 and not facts_of(sql).ranges
    defined = linked(part, brief) if is_name else []
    return choice_of(defined[0]) if defined else part


def _parts(text: str, said: Set[str], sql: str) -> Iterator[Node]:
    """Yield the operand that a question asks for, of the outermost operator that has such operands."""
    place, roles = _PLACE.search(text), [_ROLES[name] for name in _ROLES if name in said]
    if place:
        families = _FAMILIES.get(place.lastgroup or "") or tuple(chain.from_iterable(_FAMILIES.values()))
        at = ORDINALS.index(place["place"]) if place["place"] else -1
    elif roles:
        (kind, at), *_ = roles
        families = ((kind,),)
    else:
        return
    tree = parse_fragment(sql)
    for node in body_of(tree).bfs() if tree is not None else ():
        for family in families:
            if kind_of(node) in family:
                found = list(operands(node, *(family if place else ())))
                yield from found[at:][:1] if len(found) > 1 else ()
                return


def is_part(choice: Choice) -> bool:
    """Return True if an answer tells only a part of a point."""
    return any(part.clause == PART for part in choice.parts)


def linked(told: Choice, brief: Brief) -> list[Candidate]:
    """Return the candidates that define a name in a told point, or whose SQL is a part of it."""
    own = {bare_text(sql) for sql in told.granted()}
    names = set[str]().union(*(facts_of(sql).columns for sql in told.granted()))
    return [
        one
        for one in index_of(brief).candidates
        if one.group != "non_critical" and len(one.sql) == 1 and bare_text(one.sql[0]) not in own
        if facts_of(one.sql[0]).alias in names or (one.items and has_snippet(told.granted(), one.sql[0]))
    ]


def bound_of(asked: Question, choice: Choice, brief: Brief) -> Choice:
    """Return the point that compares a figure, if a question asks for its bound ("above what?").

    If several points compare the figure, the first annotated one counts. If no point compares it, the result
    is the choice itself.
    """
    if "bound" not in asked.said.found or "formula" in asked.kinds or len(choice.granted()) != 1:
        return choice
    (sql,) = choice.granted()
    own = {choice.target.lower(), facts_of(sql).alias, bare_text(sql)}
    found = [
        one
        for one in index_of(brief).candidates
        if len(one.sql) == 1 and not own.isdisjoint(facts_of(*one.sql).bounded)
    ]
    labelled = [one for one in found if one.items] or found
    return choice_of(labelled[0]) if labelled else choice
