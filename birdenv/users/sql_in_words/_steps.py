"""A long formula in steps: "A divided by B. Here A is the total of ..; B is the number of .."."""

from __future__ import annotations

from string import ascii_uppercase

from birdenv.users.sql_in_words._parse import Node
from birdenv.users.sql_in_words._phrases import ARITHMETIC, Phrase
from birdenv.users.sql_in_words._words import Speaker, kind_of

_MOST_WORDS = 40
"""Words that are listened to as one point."""

_LEAST_WORDS = 6
"""A part of so few words is said where it stands."""

_WRAPPERS = frozenset({"Alias", "Anonymous", "Cast", "Paren"})


def in_steps(speaker: Speaker, tree: Node) -> Phrase:
    """Return the words for a tree; of a long formula the parts are called by letters, and said after it."""
    whole = speaker.say(tree)
    steps, said = [("", tree)], list[str]()
    letters = (letter for letter in ascii_uppercase if speaker.wording.may_say(letter))
    for letter, node in steps:
        text = speaker.say(node).text
        if len(text.split()) > _MOST_WORDS:
            parts = [part for part in _parts(node) if len(speaker.text(part).split()) >= _LEAST_WORDS]
            named = [(name, part) for part, name in zip(parts, letters, strict=False)]
            steps += [(name, part.this if kind_of(part) == "Paren" else part) for name, part in named]
            speaker.letters = {id(part): name for name, part in named}
            text = speaker.text(node)
            speaker.letters = {}
        said.append(f"{letter} is {text}" if letter else text)
    if len(said) == 1:
        return whole
    return Phrase(f"{said[0]}. Here {'; '.join(said[1:])}", whole.bond, whole.condition)


def _parts(node: Node) -> list[Node]:
    """The operands of a formula, also of one inside a call or brackets."""
    if kind_of(node) in ARITHMETIC:
        sides = (node.this, node.expression)
        return [part for one in sides for part in (_parts(one) if kind_of(one) in ARITHMETIC else [one])]
    if kind_of(node) not in _WRAPPERS:
        return []
    return [part for one in node.iter_expressions() for part in (_parts(one) if _is_formula(one) else [])]


def _is_formula(node: Node) -> bool:
    return kind_of(node) in ARITHMETIC or kind_of(node) in _WRAPPERS
