"""Write SQL from the user's words alone: what a reader who knows the schema would do, by rule.

The grammar is written from the words, not from the module that says them. What it cannot read raises
`Unread`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|\d+(?:\.\d+)?(?![\w-])|[(),;]|[^\s(),;]+")
_SIGNS = (
    ("is on or after", ">="),
    ("is at or after", ">="),
    ("is on or before", "<="),
    ("is at or before", "<="),
    ("is at least", ">="),
    ("is at most", "<="),
    ("is greater than", ">"),
    ("is less than", "<"),
    ("is after", ">"),
    ("is before", "<"),
    ("is not", "<>"),
    ("differs from", "<>"),
    ("equals", "="),
    ("is", "="),
)
_AMOUNTS = (("at least", ">="), ("at most", "<="), ("more than", ">"), ("fewer than", "<"))
_OPERATORS = (("divided by", "/"), ("times", "*"), ("plus", "+"), ("minus", "-"), ("modulo", "%"))
_CALLS = (
    ("the total of", "SUM"),
    ("the average of", "AVG"),
    ("the absolute value of", "ABS"),
    ("the square root of", "SQRT"),
    ("the latest", "MAX"),
    ("the highest", "MAX"),
    ("the earliest", "MIN"),
    ("the lowest", "MIN"),
)
_PARTS = (
    ("the year and month (YYYY-MM) of", "%Y-%m"),
    ("the year of", "%Y"),
    ("the month (MM) of", "%m"),
    ("the hour (HH) of", "%H"),
    ("the time of day (HH:MM) of", "%H:%M"),
)


class Unread(Exception):  # noqa: N818 - a reader's answer, not an error
    """The words say something that this reader has no rule for."""


class SqlFromWords:
    """One answer as SQL; `columns` are the names of the schema by the words for them."""

    def __init__(self, words: str, columns: Mapping[str, str]) -> None:
        self.tokens = _TOKEN.findall(words.rstrip("."))
        self.at = 0
        self.columns = {tuple(_TOKEN.findall(said)): name for said, name in columns.items()}

    def sql(self) -> str:
        text = self.condition() if self.take("there are") is None else self.amount()
        for _ in range(3):
            if self.take(", called") is not None:
                self.at = len(self.tokens)
        if self.at < len(self.tokens):
            raise Unread(" ".join(self.tokens[self.at :]))
        return text

    def take(self, words: str) -> str | None:
        wanted = _TOKEN.findall(words)
        if self.tokens[self.at : self.at + len(wanted)] != wanted:
            return None
        self.at += len(wanted)
        return words

    def one_of(self, table: tuple[tuple[str, str], ...]) -> str | None:
        return next((sql for words, sql in table if self.take(words) is not None), None)

    def condition(self) -> str:
        text = self.comparison()
        while link := (self.take("and") or self.take("or")):
            text = f"{text} {link.upper()} {self.comparison()}"
        return text

    def amount(self) -> str:
        sign = self.one_of(_AMOUNTS)
        if sign is None:
            raise Unread("amount")
        number = self.next()
        if self.take("days from") is not None:
            return f"{self.days()} {sign} {number}"
        if self.take("different") is not None:
            return f"COUNT(DISTINCT {self.singular()}) {sign} {number}"
        column = self.column()
        return f"{f'SUM({column})' if self.take('in total') else column} {sign} {number}"

    def comparison(self) -> str:
        if self.take("there are") is not None:
            return self.amount()
        left = self.value()
        if self.take("has a value (is not empty)") is not None:
            return f"{left} IS NOT NULL"
        if self.take("is empty (has no value)") is not None:
            return f"{left} IS NULL"
        if self.take("is between") is not None:
            low = self.value()
            if self.take("and") is None:
                raise Unread("between")
            return f"{left} BETWEEN {low} AND {self.value()}"
        negated = self.take("is not one of")
        if negated or self.take("is one of") or self.take("is either"):
            members = [self.value()]
            while self.take(",") or self.take("or"):
                members.append(self.value())
            return f"{left} {'NOT IN' if negated else 'IN'} ({', '.join(members)})"
        sign = self.one_of(_SIGNS)
        return left if sign is None else f"{left} {sign} {self.value()}"

    def value(self) -> str:
        text = self.atom()
        while (operator := self.one_of(_OPERATORS)) is not None:
            text = f"{text} {operator} {self.atom()}"
        if self.take("if") is not None:
            return self.cases(text)
        if self.take(", or") is not None:
            other = self.atom()
            if self.take("if it has no value") is None:
                raise Unread("or")
            text = f"COALESCE({text}, {other})"
        if self.take(", rounded to") is not None:
            places = {"one": "1", "two": "2"}.get(word := self.next(), word)
            if self.take("decimal") or self.take("decimals"):
                return f"ROUND({text}, {places})"
            raise Unread("rounded")
        return text

    def cases(self, first: str) -> str:
        subject: list[str] = []
        branches = ""
        value = first
        while True:
            start = self.at + (self.tokens[self.at : self.at + 2] == ["(", "it"])
            if self.tokens[start] == "it":
                self.tokens[start : start + 1] = subject
            elif self.tokens[start : start + 2] != ["there", "are"]:
                subject = self.subject()
            test = self.comparison()
            while link := (self.take("and") or self.take("or")):
                test += f" {link.upper()} {self.comparison()}"
            branches += f" WHEN {test} THEN {value}"
            if self.take(", otherwise") is not None:
                return f"CASE{branches} ELSE {self.atom()} END"
            if self.take(",") is None:
                return f"CASE{branches} END"
            value = self.atom()
            if self.take("if") is None:
                raise Unread("if")

    def subject(self) -> list[str]:
        """The words for what the next comparison compares, which may be in brackets as a whole."""
        start = here = self.at
        self.value()
        if self.tokens[start] == "(" and self.tokens[self.at : self.at + 1] in ([], [","]):
            self.at = start = start + 1
            self.value()
        said, self.at = self.tokens[start : self.at], here
        return said

    def atom(self) -> str:
        for words, form in _PARTS:
            if self.take(words) is not None:
                return f"STRFTIME('{form}', {self.atom()})"
        if (name := self.one_of(_CALLS)) is not None:
            self.at -= self.tokens[self.at - 1] in ("latest", "highest", "earliest", "lowest")
            if self.tokens[self.at] in ("latest", "highest", "earliest", "lowest"):
                self.tokens[self.at] = "the"
            return f"{name}({self.atom()})"
        return self.counted() or self.bare()

    def counted(self) -> str:
        if self.take("the number of days from") is not None:
            return self.days()
        if self.take("the number of different") is not None:
            return f"COUNT(DISTINCT {self.singular()})"
        if self.take("the number of cases with") is not None:
            self.tokens[self.at] = "the"
            return f"COUNT({self.column()})"
        if self.take("the number of cases") is not None:
            return (
                f"SUM(CASE WHEN {self.condition()} THEN 1 ELSE 0 END)" if self.take("where") else "COUNT(*)"
            )
        return ""

    def bare(self) -> str:
        if self.take("minus") is not None:
            return f"-{self.atom()}"
        if self.take("null") is not None:
            return "NULL"
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if token == "(":
            self.at += 1
            inner = self.condition()
            if self.take(")") is None:
                raise Unread("bracket")
            return f"({inner})"
        if token[:1] in "'\"" or re.fullmatch(r"\d+(\.\d+)?", token):
            self.at += 1
            return f"'{token[1:-1]}'" if token[:1] in "'\"" else token
        return self.column()

    def days(self) -> str:
        start = "'now'" if self.take("today") else self.column()
        if self.take("to") is None:
            raise Unread("days")
        end = "'now'" if self.take("today") else self.column()
        return f"(julianday({end}) - julianday({start}))"

    def singular(self) -> str:
        self.tokens[self.at : self.at] = ["the"]
        for end in range(len(self.tokens), self.at, -1):
            said = self.tokens[self.at : end]
            single = (*said[:-1], said[-1].removesuffix("s"))
            if single in self.columns:
                self.at = end
                return self.columns[single]
        raise Unread("plural")

    def column(self) -> str:
        if self.tokens[self.at : self.at + 1] != ["the"]:
            self.tokens[self.at : self.at] = ["the"]
        for end in range(len(self.tokens), self.at, -1):
            if (name := self.columns.get(tuple(self.tokens[self.at : end]))) is not None:
                self.at = end
                return name
        raise Unread(" ".join(self.tokens[self.at : self.at + 4]))

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise Unread("end")
        self.at += 1
        return self.tokens[self.at - 1]
