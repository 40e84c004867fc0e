"""Read SQL expressions from tokens, broken ones included, and say them in words.

The reader follows the source from left to right and keeps its brackets, so that precedence is neither lost
nor invented; it only adds brackets where words would blur what symbols keep apart. It never fails: what it
cannot place is said word by word. Calls are read in `_calls`, clauses in `_clauses`; both go on in the
reader that they are given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from birdenv.users.sql_in_words._calls import call, cases, cast, extract, listed, type_name, window
from birdenv.users.sql_in_words._clauses import nested_clauses
from birdenv.users.sql_in_words._comparisons import MISSING, PRESENT, comparison
from birdenv.users.sql_in_words._counted import is_counted
from birdenv.users.sql_in_words._dates import days_between, kind_of_text
from birdenv.users.sql_in_words._functions import entry_words
from birdenv.users.sql_in_words._keywords import (
    ARITHMETIC,
    ARROWS,
    ATOM,
    CALLABLE_CLAUSES,
    CHAIN,
    CLAUSE_WORDS,
    COMPARISONS,
    CONSTANTS,
    LOOSE,
    NEGATED,
    PREFIX,
    QUANTIFIERS,
    STOPS,
    Phrase,
    Wording,
    connected,
    enumerate_words,
    name_words,
    quoted,
)
from birdenv.users.sql_in_words._lexer import Token, split_words

_MAX_DEPTH = 30
_NOT_PROSE = frozenset({"AND", "OR", "IS", "NOT", *COMPARISONS, *STOPS})


@dataclass
class Reader:
    """A cursor over tokens that says expressions in words. `depth` counts operands within operands, `nested`
    subqueries within brackets; `hidden` collects the table, alias and CTE names met; they are never said."""

    tokens: list[Token]
    wording: Wording
    at: int = 0
    depth: int = 0
    nested: int = 0
    hidden: set[str] = field(default_factory=set)

    def key(self, ahead: int = 0) -> str:
        """The keyword or symbol `ahead` tokens on; "" for anything else and past the end."""
        index = self.at + ahead
        return self.tokens[index].key if index < len(self.tokens) else ""

    @property
    def ended(self) -> bool:
        return self.at >= len(self.tokens)

    def take(self, *keys: str) -> bool:
        """Step over the next token if it is one of `keys`."""
        if self.key() in keys:
            self.at += 1
            return True
        return False

    def stopped(self) -> bool:
        key = self.key()
        if self.ended or self.at_frame():
            return True
        return key in STOPS and not (key in CALLABLE_CLAUSES and self.key(1) == "(")

    def at_frame(self) -> bool:
        """Whether a window frame begins here, not a column of that name."""
        if self.key() not in ("ROWS", "RANGE", "GROUPS") or self.at + 1 >= len(self.tokens):
            return False
        return self.key(1) in ("BETWEEN", "UNBOUNDED", "CURRENT") or self.tokens[self.at + 1].kind == "number"

    def passage(self) -> str:
        """A subquery or window, up to and over its closing bracket."""
        return nested_clauses(self)

    def pop(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        return token.text

    def is_number(self, text: str) -> bool:
        """Step over the next token if it is this number."""
        there = not self.ended and self.tokens[self.at] == Token("number", text)
        self.at += there
        return there

    def listed(self) -> list[Phrase]:
        """Comma-separated expressions up to the closing bracket, which is consumed."""
        return listed(self)

    def at_name(self) -> bool:
        return not self.stopped() and self.tokens[self.at].kind in ("word", "quoted")

    def expression(self) -> Phrase:
        """Words for everything up to the next clause word, comma or closing bracket."""
        pieces: list[Phrase] = []
        links: list[str] = []  # links[i] stands before pieces[i]
        link = ""
        while not self.stopped():
            if self.key() in ("AND", "OR") and (pieces or not link):
                link = self.pop().lower()
                continue
            before = self.at
            piece = comparison(self)
            if self.at == before:
                self.at += 1
                continue
            pieces.append(piece)
            links.append(link)
            link = ""
        return connected(pieces, links, link)

    def arithmetic(self) -> Phrase:
        """Operands joined by plus, minus, times ...; two operands side by side are prose and stay so."""
        phrases: list[Phrase] = []
        words: list[str] = []
        while not self.stopped() and self.key() not in ("AND", "OR"):
            key = self.key()
            if key in ARITHMETIC and self._is_binary(key, bool(phrases)):
                self.at += 1
                words.append(ARITHMETIC[key])
            elif key in ("+", "-"):
                self.at += 1
                words.append("minus" if key == "-" else "plus")
            elif key == "NOT" and self.key(1) not in NEGATED and not phrases:
                return self._negation(words)
            elif key == "IS" or key == "NOT" or key in COMPARISONS or key in ("ISNULL", "NOTNULL", "ESCAPE"):
                break
            elif self._passes_gap(bool(words)):
                words += ["and so on"] if words else []
            else:
                operand = self.operand()
                if not operand.text:
                    break
                phrases.append(operand)
                words.append("{}")
        if len(words) == 1 and phrases:
            return phrases[0]
        if words == ["{}", "minus", "{}"] and (days := days_between(phrases[0].text, phrases[1].text)):
            return Phrase(days, LOOSE, counted=f"{{}} {days.removeprefix('the number of ')}")
        return self._joined(words, phrases)

    def _negation(self, words: list[str]) -> Phrase:
        """NOT and what it negates, after `words`."""
        while self.take("NOT"):
            words.append("not")
        inner = comparison(self)
        missing, present = map(self.wording.say, (MISSING, PRESENT))
        if words == ["not"] and inner.condition and inner.text.endswith(missing):
            return Phrase(inner.text.removesuffix(missing) + present, CHAIN, True)
        return Phrase(" ".join([*words, inner.inside(LOOSE)]), CHAIN, True)

    def _joined(self, words: list[str], phrases: list[Phrase]) -> Phrase:
        """Operands, which `words` has as "{}", with the words between them."""
        if words and words[-1] in ARITHMETIC.values():
            words.append("something")
        condition = any(phrase.condition for phrase in phrases)
        if words.count("{}") + words.count("and so on") == len(
            words
        ):  # names side by side without an operator: prose
            phrases = [Phrase(phrase.text.removeprefix("the "), phrase.bond) for phrase in phrases]
        elif phrases:
            phrases = [*map(_closed, phrases[:-1]), phrases[-1]]
        filled = iter(phrases)
        text = " ".join(next(filled).inside(PREFIX) if word == "{}" else word for word in words)
        return Phrase(text, CHAIN, condition and len(phrases) == 1)

    def _is_binary(self, key: str, has_left: bool) -> bool:
        """Whether this is an operator, whose left side a fragment may have lost; a lone * is none."""
        if key in ("DIV", "MOD"):
            return has_left and self.key(1) != "("
        if has_left or key != "*":
            return True
        self.at += 1
        alone = self.stopped() or self.key() in COMPARISONS or self.key() in ("AND", "OR", "NOT", "IS")
        self.at -= 1
        return not alone

    def _passes_gap(self, after_words: bool) -> bool:
        """Step over an ellipsis between things that no operator joins; elsewhere it stands for something."""
        if self.tokens[self.at].kind != "gap":
            return False
        joined = after_words and self.key(-1) in ARITHMETIC
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        prose = following is not None and following.kind != "symbol" and following.key not in _NOT_PROSE
        if joined or not (after_words or prose):
            return False
        self.at += 1
        return True

    def operand(self) -> Phrase:
        if self.ended:
            return Phrase("")
        if self.depth >= _MAX_DEPTH:
            return self._flat()
        self.depth += 1
        phrase = self._postfixed(self.primary())
        self.depth -= 1
        return phrase

    def _flat(self) -> Phrase:
        """Nested beyond reason: this token alone, brackets passed over."""
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == "string":
            return Phrase(quoted(token.text))
        return Phrase(token.text if token.kind == "number" else split_words(token.text))

    def primary(self) -> Phrase:
        token = self.tokens[self.at]
        if token.kind == "word":
            return self._word()
        self.at += 1
        if token.kind == "string":
            return Phrase(quoted(token.text), literal=kind_of_text(token.text))
        if token.kind == "number":
            return Phrase(token.text, literal="number")
        if token.kind == "gap":
            argument = self.at > 1 and self.key(-2) == "(" and self.key() in (",", ")")
            return Phrase(self.wording.say("the figure") if argument else "something")
        if token.kind == "quoted":
            self.at -= 1
            return self._column()
        if token.key == "(":
            return self._bracket()
        if token.key == "*":
            return Phrase(self.wording.say("everything"))
        return Phrase("")

    def _bracket(self) -> Phrase:
        if self.key() in CLAUSE_WORDS and not (self.key() in CALLABLE_CLAUSES and self.key(1) == "("):
            return Phrase(f"({self.passage()})")
        phrases = listed(self)
        if len(phrases) == 1:
            inner = phrases[0]
            return inner if inner.bond == ATOM else Phrase(f"({inner.text})", ATOM, inner.condition)
        return Phrase(f"({enumerate_words([p.inside(LOOSE) for p in phrases])})") if phrases else Phrase("")

    def _word(self) -> Phrase:
        key = self.key()
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        if key == "CASE":
            self.at += 1
            return cases(self)
        if key in CONSTANTS:
            self.at += 1
            return Phrase(self.wording.say(CONSTANTS[key]))
        if key in QUANTIFIERS and (following is None or following.key not in (".", ",", ")", "=")):
            self.at += 1
            subject = self.operand().inside(PREFIX).removeprefix("the ")
            words = self.wording.say(QUANTIFIERS[key] if subject else f"only {QUANTIFIERS[key]} ones")
            return Phrase(f"{words} {subject}".strip(), PREFIX)
        if key in ("CAST", "TRY_CAST") and following is not None and following.key == "(":
            return cast(self)
        if key == "EXTRACT" and following is not None and following.key == "(":
            return extract(self)
        if key == "EXISTS" and following is not None and following.key == "(":
            self.at += 1
            inner = self.operand().text.strip("()").removeprefix("1 ").removeprefix("everything ")
            return Phrase(f"there is at least one {inner}", CHAIN, True)
        if (
            key in ("DATE", "TIMESTAMP", "INTERVAL", "TIME")
            and following is not None
            and following.kind == "string"
        ):
            self.at += 1
            return Phrase(f"the {key.lower()} {self.operand().text}", PREFIX)
        if following is not None and following.key == "(":
            return call(self)
        return self._column()

    def _column(self) -> Phrase:
        """A name with its qualifiers; only the last part is said, the others are table names."""
        token = self.tokens[self.at]
        self.at += 1
        while self.key() == "." and self.at + 1 < len(self.tokens):
            self.hidden.add(token.text.lower())
            token = self.tokens[self.at + 1]
            self.at += 2
        if token.key == "*":
            return Phrase(self.wording.say("everything"))
        words = name_words(token)
        counted = f"{{}} {words}" if is_counted(words) else ""
        return Phrase(f"the {words}" if words else "", counted=counted)

    def _postfixed(self, phrase: Phrase) -> Phrase:
        while not self.ended:
            key = self.key()
            if key in ARROWS:
                self.at += 1
                if self.ended:
                    break
                entry = entry_words(self.primary().text)
                phrase = Phrase(self.wording.say("the {} entry of {}", entry, phrase.inside(PREFIX)), PREFIX)
            elif key == "::":
                self.at += 1
                phrase = Phrase(f"{phrase.inside(PREFIX)} as {type_name(self)}", LOOSE)
            elif key == "[":
                self.at += 1
                index = self.expression().text
                self.take("]")
                phrase = Phrase(self.wording.say("entry {} of {}", index, phrase.inside(PREFIX)), PREFIX)
            elif key == "COLLATE":
                self.at += 1
                phrase = Phrase(f"{phrase.inside(PREFIX)} compared by {self.operand().text}", LOOSE)
            elif key == "OVER":
                self.at += 1
                phrase = Phrase(phrase.text + window(self), LOOSE)
            elif key in ("FILTER", "WITHIN") and "(" in (self.key(1), self.key(2)):
                self.at += 1
                self.take("GROUP")
                self.take("(")
                phrase = Phrase(f"{phrase.text} ({self.passage()})", LOOSE)
            else:
                break
        return phrase


def _closed(phrase: Phrase) -> Phrase:
    """A call's words in brackets, as an operator follows: "the total of a divided by b" means two things."""
    return Phrase(f"({phrase.text})", ATOM, phrase.condition) if phrase.bond == PREFIX else phrase
