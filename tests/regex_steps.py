"""How many characters a backtracking matcher looks at: the work of a regular expression without a clock."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_CLASSES = {"SPACE": str.isspace, "DIGIT": str.isdecimal, "WORD": lambda c: c.isalnum() or c == "_"}
_SINGLE = {op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN}


def steps(pattern: re.Pattern[Any], text: str, *, anchored: bool = False) -> int:
    """Count what looking for all matches takes (`anchored`: for one at the beginning)."""
    source = pattern.pattern.decode() if isinstance(pattern.pattern, bytes) else pattern.pattern
    matcher = _Matcher(text, pattern.flags)
    nodes = list(_parser.parse(source, pattern.flags & ~re.UNICODE))
    place = 0
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        while place <= len(text):
            end = next(matcher.follow(nodes, 0, place), None)
            if anchored:
                break
            place = place + 1 if end is None or end == place else end
    finally:
        sys.setrecursionlimit(before)
    return matcher.count


class _Matcher:
    def __init__(self, text: str, flags: int) -> None:
        self.text, self.flags, self.count = text, flags, 0

    def follow(self, nodes: list[Any], at: int, place: int) -> Iterator[int]:
        """Yield the ends of all ways to match the nodes from one on, in the order in which they are tried."""
        if at == len(nodes):
            yield place
            return
        for end in self.one(*nodes[at], place):
            yield from self.follow(nodes, at + 1, end)

    def one(self, kind: Any, given: Any, place: int) -> Iterator[int]:
        self.count += 1
        if kind in _SINGLE:
            if self.fits(kind, given, place):
                yield place + 1
        elif kind is op.AT:
            if self.stands(given, place):
                yield place
        elif kind is op.BRANCH:
            for branch in given[1]:
                yield from self.follow(list(branch), 0, place)
        elif kind is op.SUBPATTERN:
            yield from self.follow(list(given[3]), 0, place)
        elif kind is op.ATOMIC_GROUP:
            yield from self.first(self.follow(list(given), 0, place))
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            direction, inside = given
            start = place if direction > 0 else place - inside.getwidth()[0]
            found = start >= 0 and next(self.follow(list(inside), 0, start), None) is not None
            if found == (kind is op.ASSERT):
                yield place
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, inside = given
            ways = self.repeated(list(inside), int(least), int(most), place, lazy=kind is op.MIN_REPEAT)
            yield from self.first(ways) if kind is op.POSSESSIVE_REPEAT else ways
        else:
            raise NotImplementedError(kind)

    @staticmethod
    def first(ends: Iterator[int]) -> Iterator[int]:
        end = next(ends, None)
        if end is not None:
            yield end

    def repeated(self, inside: list[Any], least: int, most: int, place: int, *, lazy: bool) -> Iterator[int]:
        if len(inside) == 1 and inside[0][0] in _SINGLE:
            last = place
            if lazy:
                while last - place <= most:
                    if last - place >= least:
                        yield last
                    self.count += 1
                    if not self.fits(*inside[0], last):
                        return
                    last += 1
                return
            while last - place < most and self.fits(*inside[0], last):
                self.count += 1
                last += 1
            yield from range(last, place + least - 1, -1)
            return
        if lazy and least <= 0:
            yield place
        if most > 0:
            for end in self.follow(inside, 0, place):
                if end > place:
                    yield from self.repeated(inside, least - 1, most - 1, end, lazy=lazy)
        if not lazy and least <= 0:
            yield place

    def fits(self, kind: Any, given: Any, place: int) -> bool:
        if place >= len(self.text):
            return False
        char = self.text[place]
        if kind is op.ANY:
            return bool(self.flags & re.DOTALL) or char != "\n"
        if kind is op.LITERAL:
            return self.same(char, given)
        if kind is op.NOT_LITERAL:
            return not self.same(char, given)
        negated = given[0][0] is op.NEGATE
        return negated != any(self.belongs(char, *item) for item in given)

    def same(self, char: str, code: int) -> bool:
        return char == chr(code) or (bool(self.flags & re.I) and char.lower() == chr(code).lower())

    def belongs(self, char: str, kind: Any, given: Any) -> bool:
        if kind is op.LITERAL:
            return self.same(char, given)
        if kind is op.RANGE:
            chars = {char, char.lower(), char.upper()} if self.flags & re.I else {char}
            return any(given[0] <= ord(each) <= given[1] for each in chars if len(each) == 1)
        if kind is op.CATEGORY:
            name = str(given).removeprefix("CATEGORY_")
            return _CLASSES[name.removeprefix("NOT_")](char) != name.startswith("NOT_")
        return False

    def stands(self, given: Any, place: int) -> bool:
        text, is_word = self.text, _CLASSES["WORD"]
        by_line = bool(self.flags & re.M)
        if given in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return place == 0 or (given is op.AT_BEGINNING and by_line and text[place - 1] == "\n")
        if given in (op.AT_END, op.AT_END_STRING):
            return place == len(text) or (
                given is op.AT_END and text[place] == "\n" and (by_line or place == len(text) - 1)
            )
        before = place > 0 and is_word(text[place - 1])
        after = place < len(text) and is_word(text[place])
        return (before != after) == (given is op.AT_BOUNDARY)
