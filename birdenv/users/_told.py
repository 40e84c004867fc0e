"""The points that belong to a point that the user has just told."""

from __future__ import annotations

from birdenv.users._brief import Brief
from birdenv.users._facts import facts_of
from birdenv.users.understanding import Choice
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._gold_parts import bare_text
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import Question


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
