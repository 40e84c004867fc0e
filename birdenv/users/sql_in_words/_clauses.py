"""Read SQL clauses and whole statements, in any state of repair, and say them in words.

Tables, aliases and CTEs are never named: a lay user speaks of "the records". What a statement does is told
clause by clause, in the order of the source.

Where records come from: FROM and JOIN, in which tables are met and never named.

What a statement changes: INSERT, UPDATE, DELETE, CREATE.

How results are arranged: GROUP BY, PARTITION BY, ORDER BY, LIMIT, OFFSET, FETCH.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from birdenv.users.sql_in_words._lexer import split_words
from birdenv.users.sql_in_words._reader import ExpressionReader
from birdenv.users.sql_in_words._words import (
    ATOM,
    CHAIN,
    CLAUSE_WORDS,
    LOOSE,
    PREFIX,
    Phrase,
    enumerate_words,
    name_words,
)

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


_DESCRIPTORS = frozenset("OR REPLACE TEMP TEMPORARY MATERIALIZED UNIQUE RECURSIVE IF NOT EXISTS".split())


class ChangeReader(SourceReader):
    """The reader for what follows the first word of a statement that changes something."""

    def insert(self) -> str:
        while self.take("OR", "REPLACE", "IGNORE", "INTO"):
            pass
        self.table()
        columns = self._operand().text if self.key() == "(" else ""
        return self.wording.say("add entries{}", f" with {columns.strip('()')}" if columns else "")

    def values(self) -> str:
        rows: list[str] = []
        while not self.ended and self.key() == "(":
            rows.append(self._operand().text)
            if not self.take(","):
                break
        return self.wording.say("holding {}", enumerate_words(rows))

    def update(self) -> str:
        self.source()
        changes: list[str] = []
        if self.take("SET"):
            while not self.ended:
                target = self._operand().text if not self.stopped() else ""
                self.take("=")
                amount = self.expression().inside(LOOSE)
                changes.append(self.wording.say("make {} {}", target, f"equal to {amount}"))
                if not self.take(","):
                    break
        return enumerate_words(changes)

    def delete(self) -> str:
        if self.take("FROM"):
            self.source()
        return self.wording.say("remove records")

    def create(self) -> str:
        while self.key() in _DESCRIPTORS:
            self.at += 1
        kind = self.pop().lower() if not self.ended else ""
        while self.key() in _DESCRIPTORS:
            self.at += 1
        name = name_words(self.tokens[self.at]) if self.at_name() else ""
        self.at += bool(name)
        noun = {"view": "a saved view", "table": "a new table"}.get(kind, f"a {split_words(kind)}")
        words = self.wording.say("make {} called {}", self.wording.say(noun), name)
        if self.key() == "(":
            words += f" with {self._operand().inside(PREFIX)}"
        if self.take("AS"):
            words += self.wording.say(" that holds the following")
        return words


class ArrangementReader(ChangeReader):
    """The reader for what follows the first word of a clause that arranges."""

    def group(self) -> str:
        self.take("BY")
        return self.wording.say("grouped by {}", self._bare_keys())

    def partition(self) -> str:
        self.take("BY")
        return self.wording.say("within each {}", self._bare_keys())

    def _bare_keys(self) -> str:
        keys: list[str] = []
        while not self.ended:
            key = _key_words(self.expression())
            if key:
                keys.append(key)
            if not self.take(","):
                break
        return enumerate_words(keys)

    def order(self) -> str:
        self.take("BY")
        keys: list[str] = []
        while not self.ended:
            key = _key_words(self.expression())
            direction = self.direction()
            if key:
                keys.append(f"{key} {direction}")
            elif direction:
                keys.append(direction)
            if not self.take(","):
                break
        return self.wording.say("sorted by {}", ", then by ".join(keys))

    def direction(self) -> str:
        words = "in ascending order"
        if self.take("DESC"):
            words = "in descending order"
        else:
            self.take("ASC")
        words = self.wording.say(words)
        if self.take("NULLS"):
            place = "first" if self.take("FIRST") else "last"
            self.take("LAST")
            words += self.wording.say(f" with missing ones {place}")
        return words

    def limit(self) -> str:
        count = self.expression().text
        if self.take(","):
            return self.wording.say(
                "limited to the first {} after skipping {}", self.expression().text, count
            )
        return self.wording.say("limited to the first {}", count)

    def offset(self) -> str:
        return self.wording.say("after skipping the first {}", self.expression().text)

    def fetch(self) -> str:
        self.take("FIRST", "NEXT")
        count = self._primary().text if not self.ended and self.key() not in ("ROW", "ROWS") else "one"
        while self.take("ROW", "ROWS", "ONLY", "TIES", "WITH"):
            pass
        return self.wording.say("limited to the first {}", count)


def _key_words(phrase: Phrase) -> str:
    """A sort or group key; a plain name goes without its article."""
    return phrase.text.removeprefix("the ") if phrase.bond == ATOM else phrase.inside(LOOSE)


Form: TypeAlias = Literal["noun", "condition", "addition", "selection", "arrangement", "request"]
"""How words fit into a sentence: "I mean ..", "I mean that ..", "and also ..", "only where ..",
"sorted by ..", "show .."."""

_SET_OPERATIONS = {
    "UNION": "together with",
    "INTERSECT": "but only what is also among",
    "EXCEPT": "but without",
}
_REQUESTS = frozenset({"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "CREATE", "VALUES"})


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A snippet in words, the form of its sentence, and the names that were kept back."""

    text: str
    form: Form
    hidden: frozenset[str]


class ClauseReader(ArrangementReader):
    """The reader for everything above expressions."""

    def reading(self) -> Paraphrase:
        """All tokens in words."""
        first = self.key()
        phrases: list[Phrase] = []
        while not self.ended:
            before = self.at
            phrases += self._clauses()
            if self.at == before:
                self.at += 1
            self.take(";", ")", "]")
        text = "; ".join(phrase.text for phrase in phrases if phrase.text)
        if first in ("AND", "OR") and phrases and phrases[0].condition:
            lead = "and also only cases where " if first == "AND" else "or also cases where "
            text = self.wording.say(lead) + text.removeprefix("(").removeprefix(f"{first.lower()} also ")
            text = f"({text}" if phrases[0].text.startswith(f"({first.lower()} also ") else text
        return Paraphrase(text, _form(first, phrases), frozenset(self.hidden))

    def passage(self) -> str:
        """A subquery or window, up to and over its closing bracket."""
        self.nested += 1
        phrases = self._clauses()
        self.nested -= 1
        self.take(")")
        return "; ".join(phrase.text for phrase in phrases if phrase.text)

    def _clauses(self) -> list[Phrase]:
        phrases: list[Phrase] = []
        while not self.ended and self.key() not in (")", ";", "]"):
            before = self.at
            phrases.append(self._clause())
            if self.at == before:
                self.at += 1
        return phrases

    def _clause(self) -> Phrase:
        key = self.key()
        if (key in JOIN_SIDES or key == "JOIN") and self.key(1) != "(":
            return Phrase(self.join())
        readers = {
            "SELECT": self._select,
            "FROM": self.read_from,
            "GROUP": self.group,
            "PARTITION": self.partition,
            "ORDER": self.order,
            "LIMIT": self.limit,
            "OFFSET": self.offset,
            "FETCH": self.fetch,
            "WITH": self._with,
            "WINDOW": self._with,
            "INSERT": self.insert,
            "UPDATE": self.update,
            "DELETE": self.delete,
            "CREATE": self.create,
            "VALUES": self.values,
        }
        if key in readers:
            self.at += 1
            return Phrase(readers[key]())
        return self._small_clause(key)

    def _small_clause(self, key: str) -> Phrase:
        if key in ("WHERE", "HAVING", "ON", "USING", "RETURNING"):
            self.at += 1
            lead = {
                "WHERE": "only cases where",
                "HAVING": "only groups where",
                "ON": "where",
                "USING": "with the same",
                "RETURNING": "then show",
            }[key]
            return Phrase(f"{self.wording.say(lead)} {self._items()}")
        if key in _SET_OPERATIONS:
            self.at += 1
            repeats = self.wording.say(" (repeats included)") if self.take("ALL") else ""
            self.take("DISTINCT")
            return Phrase(self.wording.say(_SET_OPERATIONS[key]) + repeats)
        if self.at_frame():
            return Phrase(self.frame())
        if key in ("WHEN", "ELSE"):
            return self.cases()
        if key == "THEN":
            self.at += 1
            return Phrase(f"then {self.expression().text}")
        if key in ("ASC", "DESC", "NULLS"):
            return Phrase(self.direction())
        if key in ("END", ","):
            self.at += 1
            return Phrase("")
        return self._list()

    def _list(self) -> Phrase:
        phrases: list[Phrase] = []
        while not self.ended:
            phrase = self._item()
            if phrase.text:
                phrases.append(phrase)
            if not self.take(","):
                break
        if len(phrases) == 1:
            return phrases[0]
        return Phrase(enumerate_words([phrase.inside(LOOSE) for phrase in phrases]), LOOSE)

    def _items(self) -> str:
        return self._list().text

    def _item(self, alias_without_as: bool = False) -> Phrase:
        """An expression with its output name, or a CTE definition."""
        start = self.at
        if self.key(1) == "AS" and "(" in (self.key(2), self.key(3)):
            return Phrase(self._definition())
        phrase = self._implicit() if alias_without_as else self.expression()
        if not self.take("AS") and not (alias_without_as and self.at_name()):
            return phrase
        if self.ended or self.stopped() or self.at == start:
            return phrase
        words = name_words(self.tokens[self.at])
        self.at += 1
        clear = phrase.bond < CHAIN or not ("," in phrase.text or phrase.condition)
        text = phrase.text if clear else f"({phrase.text})"
        return Phrase(f"{text} (called {words})".strip(), min(phrase.bond, LOOSE), phrase.condition)

    def _implicit(self) -> Phrase:
        """An expression of a SELECT list, cut before an output name that stands without AS."""
        end = self._item_end()
        last, previous = end - 1, end - 2
        named = (
            previous >= self.at
            and self.tokens[last].kind in ("word", "quoted")
            and self.tokens[last].key not in ("END", "NULL", "TRUE", "FALSE")
            and (
                self.tokens[previous].kind in ("number", "string", "quoted")
                or self.tokens[previous].key in (")", "END", "]")
                or (self.tokens[previous].kind == "word" and previous == self.at)
                or (previous >= 2 and self.tokens[previous - 1].key == "." and previous - 2 == self.at)
            )
            and not (previous == self.at and self.tokens[previous].key in ("DISTINCT", "ALL", "NOT"))
        )
        if not named or self.tokens[last].key == "":
            return self.expression()
        tokens = self.tokens
        self.tokens = tokens[:last]
        phrase = self.expression()
        self.tokens = tokens
        return phrase

    def _item_end(self) -> int:
        depth, index = 0, self.at
        while index < len(self.tokens):
            key = self.tokens[index].key
            if depth == 0 and (key in (",", ";", ")", "AS") or key in CLAUSE_WORDS):
                break
            depth += {"(": 1, ")": -1}.get(key, 0)
            index += 1
        return index

    def _select(self) -> str:
        show = "" if self.nested else "show "  # within brackets it is a noun
        lead = show + "{}"
        if self.take("DISTINCT"):
            lead = show + "the different {}"
            if self.take("ON"):
                lead = ("show, " if show else "") + "once for each different {{}}, {}".replace(
                    "{{}}", self._operand().text
                )
        else:
            self.take("ALL")
        items: list[str] = []
        while not self.ended:
            phrase = self._item(alias_without_as=True)
            if phrase.text:
                items.append(phrase.inside(LOOSE))
            if not self.take(","):
                break
        if items and "different" in lead:
            items[0] = items[0].removeprefix("the ")
        return self.wording.say(lead, ", ".join(items) if items else "") if items else ""

    def _with(self) -> str:
        self.take("RECURSIVE")
        parts: list[str] = []
        while not self.ended and self.at_name():
            parts.append(self._definition())
            if not self.take(","):
                break
        return "; ".join(parts)

    def _definition(self) -> str:
        """`name [(columns)] AS ( body )`, whose name is kept back."""
        self.hidden.add(self.tokens[self.at].text.lower())
        self.at += 1
        columns = ""
        if self.key() == "(":
            columns = f" (called {self._operand().text.strip('()')})"
        self.take("AS")
        self.take("NOT")
        self.take("MATERIALIZED")
        if not self.take("("):
            return ""
        return self.wording.say("first work out{} ({})", columns, self.passage())


def _form(first: str, phrases: list[Phrase]) -> Form:
    if first in _REQUESTS or any(phrase.text.startswith("first work out") for phrase in phrases):
        return "request"
    if first in ("WHERE", "HAVING"):
        return "selection"
    if first in CLAUSE_WORDS:
        return "arrangement"
    if not phrases or not phrases[0].condition:
        return "noun"
    return "addition" if first in ("AND", "OR") else "condition"
