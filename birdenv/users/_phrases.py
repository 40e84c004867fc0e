"""Words that hold together more or less tightly, and how they are joined without blurring precedence."""

from __future__ import annotations

from dataclasses import dataclass

from birdenv.users._lexer import Token, split_words

__all__ = ["ATOM", "CHAIN", "LOOSE", "PREFIX", "Phrase", "connected", "name_words", "side"]

ATOM, PREFIX, LOOSE, CHAIN = range(4)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words, how tightly they hold together (ATOM .. CHAIN), and whether they state a condition."""

    text: str
    bond: int = ATOM
    condition: bool = False

    def inside(self, limit: int) -> str:
        """The text, in brackets if it holds together less tightly than `limit`."""
        return f"({self.text})" if self.bond > limit and self.text else self.text


def name_words(token: Token) -> str:
    """A name in words; a quoted one that is not an identifier (it has spaces or signs) is kept as it is."""
    if token.kind == "quoted" and not token.text.replace("_", "a").replace("$", "a").isalnum():
        return token.text.replace("_", " ").strip()
    return split_words(token.text)


def side(phrase: Phrase) -> str:
    """One side of a comparison; in brackets where an enumeration or a condition would run into it."""
    blurs = phrase.bond == LOOSE and (" and " in phrase.text or ", " in phrase.text)
    return phrase.inside(PREFIX) if blurs or phrase.condition else phrase.text


def connected(pieces: list[Phrase], links: list[str], dangling: str) -> Phrase:
    """Conditions joined by "and" and "or"; where both occur, what "and" joins is put in brackets."""
    if not pieces:
        return Phrase(f"{dangling} something else" if dangling else "")
    if len(pieces) == 1 and not links[0] and not dangling:
        return pieces[0]
    mixed = "or" in links and "and" in links[1:]
    groups: list[list[int]] = []
    for i, link in enumerate(links):
        if i and mixed and link == "and":
            groups[-1].append(i)
        else:
            groups.append([i])
    words: list[str] = []
    for group in groups:
        if links[group[0]]:
            words.append(links[group[0]] if words else f"{links[group[0]]} also")
        run = [pieces[group[0]].text]
        for i in group[1:]:
            run += [links[i], pieces[i].text]
        words.append(f"({' '.join(filter(None, run))})" if len(group) > 1 else run[0])
    if dangling:
        words.append(f"{dangling} something else")
    conditions = len(pieces) > 1 or bool(links[0]) or pieces[0].condition
    return Phrase(" ".join(words), CHAIN, conditions)
