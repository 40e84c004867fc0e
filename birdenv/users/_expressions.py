"""Read SQL expressions from tokens, broken ones included, and say them in words.

The reader follows the source from left to right and keeps its brackets, so that precedence is neither lost
nor invented; it only adds brackets where words would blur what symbols keep apart. It never fails: what it
cannot place is said word by word.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from birdenv.users._functions import function_words, needs_brackets, takes_atoms, type_words
from birdenv.users._lexer import Token, split_words
from birdenv.users._wording import Wording, enumerate_words, quoted

__all__ = ["CLAUSE_WORDS", "ExpressionReader", "Phrase"]

CLAUSE_WORDS = frozenset(
    "SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT JOIN LEFT RIGHT INNER FULL CROSS"
    " NATURAL ON USING WITH WINDOW RETURNING VALUES INSERT UPDATE DELETE CREATE SET FETCH PARTITION".split()
)
_STOPS = CLAUSE_WORDS | frozenset("AS THEN WHEN ELSE END ASC DESC NULLS ) , ; ]".split())
_CALLABLE_CLAUSES = frozenset({"LEFT", "RIGHT"})
_MAX_DEPTH = 40

_ARITHMETIC = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divided by",
    "%": "modulo",
    "||": "joined with",
    "DIV": "divided by",
    "MOD": "modulo",
}
_COMPARISONS = {
    "=": "equals",
    "==": "equals",
    "<>": "does not equal",
    "!=": "does not equal",
    ">": "is greater than",
    "<": "is less than",
    ">=": "is greater than or equal to",
    "<=": "is less than or equal to",
    "~": "matches the pattern",
    "~*": "matches the pattern",
    "!~": "does not match the pattern",
    "!~*": "does not match the pattern",
    "LIKE": "matches the pattern",
    "ILIKE": "matches the pattern (in any letter case)",
    "GLOB": "matches the pattern",
    "REGEXP": "matches the pattern",
    "SIMILAR": "matches the pattern",
    "MATCH": "matches the pattern",
    "BETWEEN": "is between",
    "IN": "is one of",
    "@>": "contains",
    "<@": "is contained in",
}
_NEGATED = {
    "LIKE": "does not match the pattern",
    "ILIKE": "does not match the pattern (in any letter case)",
    "GLOB": "does not match the pattern",
    "REGEXP": "does not match the pattern",
    "SIMILAR": "does not match the pattern",
    "BETWEEN": "is not between",
    "IN": "is not one of",
}
_CONSTANTS = {
    "NULL": "null",
    "TRUE": "true",
    "FALSE": "false",
    "CURRENT_DATE": "the date of today",
    "CURRENT_TIME": "the time of today",
    "CURRENT_TIMESTAMP": "the date and time of today",
}
_QUANTIFIERS = {"DISTINCT": "different", "ALL": "all", "ANY": "any", "SOME": "some"}
_FRAME = {
    "ROWS": "over the neighbouring rows",
    "RANGE": "over the neighbouring cases",
    "GROUPS": "over the neighbouring groups",
    "BETWEEN": "between",
    "AND": "and",
    "UNBOUNDED": "everything",
    "PRECEDING": "before",
    "FOLLOWING": "after",
    "CURRENT": "the current",
    "ROW": "one",
}
_ARROWS = frozenset({"->", "->>", "#>", "#>>"})

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


@dataclass
class ExpressionReader:
    """A cursor over tokens. `hidden` collects the table, alias and CTE names met; they are never said."""

    tokens: list[Token]
    wording: Wording
    at: int = 0
    depth: int = 0
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
        if self.ended:
            return True
        return key in _STOPS and not (key in _CALLABLE_CLAUSES and self.key(1) == "(")

    def passage(self) -> str:
        """A subquery up to its closing bracket; the clause reader says how."""
        raise NotImplementedError

    def expression(self) -> Phrase:
        """Words for everything up to the next clause word, comma or closing bracket."""
        pieces: list[Phrase] = []
        links: list[str] = []  # links[i] stands before pieces[i]
        link = ""
        while not self.stopped():
            if self.key() in ("AND", "OR") and (pieces or not link):
                link = self._pop().lower()
                continue
            before = self.at
            piece = self._comparison()
            if self.at == before:
                self.at += 1
                continue
            pieces.append(piece)
            links.append(link)
            link = ""
        return _connected(pieces, links, link)

    def _pop(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        return token.text

    def _comparison(self) -> Phrase:
        """Operands joined by comparisons, up to the next AND or OR."""
        first = self._arithmetic()
        parts: list[str] = []
        while not self.stopped() and self.key() not in ("AND", "OR"):
            words = self._comparator()
            if not words:
                break
            parts.append(words)
            if words.endswith("one of"):
                parts.append(self._members())
            elif not words.endswith(")"):
                parts.append(_side(self._arithmetic()))
                if words.endswith("between") and self.take("AND"):
                    parts += ["and", _side(self._arithmetic())]
        if not parts:
            return first
        return Phrase(" ".join(filter(None, [_side(first), *parts])), CHAIN, True)

    def _comparator(self) -> str:
        key = self.key()
        if key == "IS":
            self.at += 1
            negated = self.take("NOT")
            if self.take("NULL"):
                return self.wording.say("has a value (not null)" if negated else "has no value (null)")
            if self.take("DISTINCT"):
                self.at += self.key() == "FROM"
                return "is not different from" if negated else "is different from"
            return "is not" if negated else "is"
        if key in ("ISNULL", "NOTNULL"):
            self.at += 1
            return self.wording.say("has no value (null)" if key == "ISNULL" else "has a value (not null)")
        if key == "NOT" and self.key(1) in _NEGATED:
            self.at += 2
            return self.wording.say(_NEGATED[self.key(-1)])
        if key == "ESCAPE":
            self.at += 1
            return "with the escape sign"
        if key in _COMPARISONS and key != "MATCH":
            self.at += 1
            self.at += key == "SIMILAR" and self.key() == "TO"
            return self.wording.say(_COMPARISONS[key])
        return ""

    def _members(self) -> str:
        """The bracket after IN: a list or a subquery."""
        if self.key() != "(" or self.key(1) in ("SELECT", "WITH"):
            return self._arithmetic().text
        self.at += 1
        members = [phrase.inside(LOOSE) for phrase in self._listed()]
        return enumerate_words(members, "or")

    def _listed(self) -> list[Phrase]:
        """Comma-separated expressions up to the closing bracket, which is consumed."""
        phrases: list[Phrase] = []
        while not self.ended and not self.take(")"):
            before = self.at
            phrase = self.expression()
            if phrase.text:
                phrases.append(phrase)
            if not self.take(",") and self.at == before:
                self.at += 1
        return phrases

    def _arithmetic(self) -> Phrase:
        """Operands joined by plus, minus, times ...; two operands side by side are prose and stay so."""
        phrases: list[Phrase] = []
        words: list[str] = []
        condition = False
        while not self.stopped() and self.key() not in ("AND", "OR"):
            key = self.key()
            if phrases and key in _ARITHMETIC and not (key in ("DIV", "MOD") and self.key(1) == "("):
                self.at += 1
                words.append(_ARITHMETIC[key])
            elif key in ("+", "-"):
                self.at += 1
                words.append("minus" if key == "-" else "plus")
            elif key == "NOT" and self.key(1) not in _NEGATED and not phrases:
                self.at += 1
                inner = self._comparison()
                return Phrase(" ".join([*words, "not", inner.inside(LOOSE)]), CHAIN, True)
            elif key == "IS" or key == "NOT" or key in _COMPARISONS or key in ("ISNULL", "NOTNULL", "ESCAPE"):
                break
            else:
                operand = self._operand()
                if not operand.text:
                    break
                phrases.append(operand)
                words.append("{}")
        if len(words) == 1 and phrases:
            return phrases[0]
        condition = any(phrase.condition for phrase in phrases)
        if len(words) == len(phrases):  # names side by side without an operator: prose
            phrases = [Phrase(phrase.text.removeprefix("the "), phrase.bond) for phrase in phrases]
        filled = iter(phrases)
        text = " ".join(next(filled).inside(PREFIX) if word == "{}" else word for word in words)
        return Phrase(text, CHAIN, condition and len(phrases) == 1)

    def _operand(self) -> Phrase:
        if self.depth >= _MAX_DEPTH:
            return self._flat()
        self.depth += 1
        phrase = self._postfixed(self._primary())
        self.depth -= 1
        return phrase

    def _flat(self) -> Phrase:
        """Nested beyond reason: this token alone, brackets passed over."""
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == "string":
            return Phrase(quoted(token.text))
        return Phrase(token.text if token.kind == "number" else split_words(token.text))

    def _primary(self) -> Phrase:
        token = self.tokens[self.at]
        if token.kind == "word":
            return self._word()
        self.at += 1
        if token.kind == "string":
            return Phrase(quoted(token.text))
        if token.kind == "number":
            return Phrase(token.text)
        if token.kind == "gap":
            return Phrase(self.wording.say("the figure"))
        if token.kind == "quoted":
            self.at -= 1
            return self._column()
        if token.key == "(":
            return self._bracket()
        if token.key == "*":
            return Phrase(self.wording.say("records"))
        return Phrase("")

    def _bracket(self) -> Phrase:
        if self.key() in CLAUSE_WORDS and not (self.key() in _CALLABLE_CLAUSES and self.key(1) == "("):
            return Phrase(f"({self.passage()})")
        phrases = self._listed()
        if len(phrases) == 1:
            inner = phrases[0]
            return inner if inner.bond == ATOM else Phrase(f"({inner.text})", ATOM, inner.condition)
        return Phrase(f"({enumerate_words([p.inside(LOOSE) for p in phrases])})") if phrases else Phrase("")

    def _word(self) -> Phrase:
        key = self.key()
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        if key == "CASE":
            self.at += 1
            return self.cases()
        if key in _CONSTANTS:
            self.at += 1
            return Phrase(self.wording.say(_CONSTANTS[key]))
        if key in _QUANTIFIERS and (following is None or following.key not in (".", ",", ")", "=")):
            self.at += 1
            subject = self._operand().inside(PREFIX).removeprefix("the ")
            return Phrase(f"{self.wording.say(_QUANTIFIERS[key])} {subject}", PREFIX)
        if key in ("CAST", "TRY_CAST") and following is not None and following.key == "(":
            return self._cast()
        if key == "EXTRACT" and following is not None and following.key == "(":
            return self._extract()
        if key == "EXISTS" and following is not None and following.key == "(":
            self.at += 1
            return Phrase(f"there is at least one for {self._operand().text}", LOOSE, True)
        if key in ("DATE", "TIMESTAMP", "INTERVAL", "TIME") and following is not None and following.kind == "string":
            self.at += 1
            return Phrase(f"the {key.lower()} {self._operand().text}", PREFIX)
        if following is not None and following.key == "(":
            return self._call()
        return self._column()

    def cases(self) -> Phrase:
        """A CASE after its keyword, or the WHEN .. THEN .. of one that lost it."""
        subject = "" if self.stopped() else self.expression().inside(LOOSE)
        parts: list[str] = []
        repeated = False
        while self.take("WHEN"):
            condition = self.expression()
            test = condition.text
            if subject:
                test = f"{'it' if repeated else subject} equals {condition.inside(LOOSE)}"
                repeated = True
            outcome = self.expression().inside(PREFIX) if self.take("THEN") else ""
            parts.append(f"{outcome} if {test}" if outcome else f"if {test}")
        if self.take("ELSE"):
            parts.append(f"otherwise {self.expression().inside(PREFIX)}")
        self.take("END")
        return Phrase(", ".join(parts) if parts else subject, CHAIN)

    def _cast(self) -> Phrase:
        self.at += 2
        inner = self.expression()
        words = "a decimal number"
        if self.take("AS"):
            words = self._type()
        self._close()
        return Phrase(self.wording.say("{} as {}", inner.inside(PREFIX), words), LOOSE)

    def _type(self) -> str:
        name = self._pop() if not self.ended else ""
        while self.key() in ("PRECISION", "VARYING", "WITH", "WITHOUT", "TIME", "ZONE", "UNSIGNED"):
            self.at += 1
        words = type_words(self.wording, name)
        if self.take("("):
            words += f" ({enumerate_words([p.text for p in self._listed()])})"
        return words

    def _extract(self) -> Phrase:
        self.at += 2
        unit = self._pop().lower() if not self.ended else ""
        self.take("FROM")
        inner = self.expression()
        self._close()
        return Phrase(self.wording.say(f"the {unit} of {{}}", inner.inside(PREFIX)), PREFIX)

    def _close(self) -> None:
        """Skip to and over the closing bracket of the current call."""
        open_brackets = 1
        while not self.ended and open_brackets:
            open_brackets += {"(": 1, ")": -1}.get(self.key(), 0)
            self.at += 1

    def _call(self) -> Phrase:
        name = self._pop().upper()
        self.at += 1
        arguments: list[str] = []
        extra = ""
        while not self.ended and not self.take(")"):
            before = self.at
            argument = self.expression()
            if argument.text:
                arguments.append(argument.inside(ATOM if takes_atoms(name) else PREFIX))
            if self.key() in ("ORDER", "SELECT", "FROM", "PARTITION"):
                inner = self.passage()
                extra += f" ({inner})"
                break
            if not self.take(",") and self.at == before:
                self.at += 1
        loose = needs_brackets(name, len(arguments)) or bool(extra)
        return Phrase(function_words(self.wording, name, arguments) + extra, LOOSE if loose else PREFIX)

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
        return Phrase(f"the {words}" if words else "")

    def _postfixed(self, phrase: Phrase) -> Phrase:
        while not self.ended:
            key = self.key()
            if key in _ARROWS:
                self.at += 1
                if self.ended:
                    break
                entry = self._primary().text
                phrase = Phrase(self.wording.say("the {} entry of {}", entry, phrase.inside(PREFIX)), PREFIX)
            elif key == "::":
                self.at += 1
                phrase = Phrase(f"{phrase.inside(PREFIX)} as {self._type()}", LOOSE)
            elif key == "[":
                self.at += 1
                index = self.expression().text
                self.take("]")
                phrase = Phrase(self.wording.say("entry {} of {}", index, phrase.inside(PREFIX)), PREFIX)
            elif key == "COLLATE":
                self.at += 1
                phrase = Phrase(f"{phrase.inside(PREFIX)} compared by {self._operand().text}", LOOSE)
            elif key == "OVER":
                self.at += 1
                phrase = Phrase(phrase.text + self._window(), LOOSE)
            elif key in ("FILTER", "WITHIN") and "(" in (self.key(1), self.key(2)):
                self.at += 1
                self.take("GROUP")
                self.take("(")
                phrase = Phrase(f"{phrase.text} ({self.passage()})", LOOSE)
            else:
                break
        return phrase

    def _window(self) -> str:
        if not self.take("("):
            if not self.ended and self.tokens[self.at].kind in ("word", "gap") and not self.stopped():
                self.hidden.add(self._pop().lower())
            return self.wording.say(" within its groups")
        return f" ({self.passage()})" if self.key() != ")" else self._whole_window()

    def _whole_window(self) -> str:
        self.at += 1
        return self.wording.say(" over everything")

    def frame(self) -> str:
        """A window frame, such as ROWS BETWEEN 6 PRECEDING AND CURRENT ROW."""
        words: list[str] = []
        while not self.ended and self.key() != ")":
            token = self.tokens[self.at]
            words.append(self.wording.say(_FRAME[token.key]) if token.key in _FRAME else token.text.lower())
            self.at += 1
        return " ".join(words)


def name_words(token: Token) -> str:
    """A name in words; a quoted one that is not an identifier (it has spaces or signs) is kept as it is."""
    if token.kind == "quoted" and not token.text.replace("_", "a").replace("$", "a").isalnum():
        return token.text.replace("_", " ").strip()
    return split_words(token.text)


def _side(phrase: Phrase) -> str:
    """One side of a comparison; in brackets where an enumeration or a condition would run into it."""
    blurs = phrase.bond == LOOSE and (" and " in phrase.text or ", " in phrase.text)
    return phrase.inside(PREFIX) if blurs or phrase.condition else phrase.text


def _connected(pieces: list[Phrase], links: list[str], dangling: str) -> Phrase:
    """Conditions joined by "and" and "or"; where both occur, what "and" joins is put in brackets."""
    if not pieces:
        return Phrase(dangling)
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
        words.append(dangling)
    conditions = len(pieces) > 1 or bool(links[0]) or pieces[0].condition
    return Phrase(" ".join(words), CHAIN, conditions)
