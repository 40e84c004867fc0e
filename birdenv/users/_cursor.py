"""A cursor over tokens, and what every reader asks of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from birdenv.users._lexer import Token
from birdenv.users._operators import CALLABLE_CLAUSES, STOPS
from birdenv.users._phrases import Phrase
from birdenv.users._wording import Wording

__all__ = ["TokenReader"]


@dataclass
class TokenReader:
    """A cursor over tokens. `depth` counts operands within operands, `nested` subqueries within brackets;
    `hidden` collects the table, alias and CTE names met; they are never said."""

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
        """A subquery up to its closing bracket; the clause reader says how."""
        raise NotImplementedError

    def expression(self) -> Phrase:
        """Words for everything up to the next clause word, comma or closing bracket."""
        raise NotImplementedError

    def pop(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        return token.text
