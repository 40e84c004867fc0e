"""Where records come from: FROM and JOIN, in which tables are met and never named."""

from __future__ import annotations

import re

from birdenv.users._expressions import ExpressionReader
from birdenv.users._operators import CLAUSE_WORDS
from birdenv.users._wording import enumerate_words

__all__ = ["JOIN_SIDES", "SourceReader"]

_SAME_NAME = re.compile(r"the ((?:(?!equals\b)[\w ]){1,80}) equals that of the other one")
JOIN_SIDES = frozenset({"LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER"})
_TABLE_ENDS = CLAUSE_WORDS | frozenset({")", ",", ";", "AS", "AND", "OR", "WHEN"})


class SourceReader(ExpressionReader):
    """The reader for sources; `passage` reads their subqueries."""

    def at_name(self) -> bool:
        return not self.stopped() and self.tokens[self.at].kind in ("word", "quoted")

    def read_from(self) -> str:
        sources: list[str] = []
        while not self.ended:
            source = self.source()
            if source:
                sources.append(source)
            if not self.take(","):
                break
        return self.wording.say("out of {}", enumerate_words(sources)) if sources else ""

    def source(self) -> str:
        """A table, said as nothing; a subquery or table function, in words."""
        text = ""
        self.take("LATERAL", "ONLY")
        if self.key() == "(":
            self.at += 1
            inner = self.passage()
            text = f"({inner})" if inner else ""
        elif self.at_name() and self.key(1) == "(":
            text = self._operand().text
        else:
            self.table()
        self.take("AS")
        if self.at_name() and self.key() not in _TABLE_ENDS:
            self.hidden.add(self.tokens[self.at].text.lower())
            self.at += 1
        return text

    def table(self) -> None:
        if (
            not self.ended
            and self.tokens[self.at].kind in ("word", "quoted")
            and self.key() not in _TABLE_ENDS
        ):
            self.hidden.add(self.tokens[self.at].text.lower())
            self.at += 1
            if self.take("."):
                self.table()
        elif not self.ended and self.tokens[self.at].kind == "gap":
            self.at += 1

    def join(self) -> str:
        sides: set[str] = set()
        while self.key() in JOIN_SIDES:
            sides.add(self.key())
            self.at += 1
        if not self.take("JOIN"):
            return ""
        source = self.source()
        words = self.wording.say("matched with {}", source or self.wording.say("further records"))
        if self.take("ON"):
            condition = self.expression().text
            same = _SAME_NAME.fullmatch(condition)
            words += f" by {same[1]}" if same else f" where {condition}"
        elif self.take("USING"):
            words += f" with the same {self._operand().text}"
        endings = {
            "LEFT": ", also keeping records that have no match",
            "RIGHT": ", also keeping further records that have no match",
            "FULL": ", also keeping what has no match on either side",
            "CROSS": " in every possible pairing",
            "INNER": ", keeping only records that have a match",
        }
        return words + "".join(self.wording.say(end) for side, end in endings.items() if side in sides)
