"""What encloses its parts: function calls, CAST and EXTRACT, CASE, windows and their frames."""

from __future__ import annotations

from birdenv.users._cursor import TokenReader
from birdenv.users._functions import function_words, needs_brackets, takes_atoms, type_words
from birdenv.users._operators import FRAME
from birdenv.users._phrases import ATOM, CHAIN, LOOSE, PREFIX, Phrase
from birdenv.users._wording import enumerate_words

__all__ = ["CallReader"]


class CallReader(TokenReader):
    """The reader for calls; `expression` reads their arguments."""

    def listed(self) -> list[Phrase]:
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

    def cast(self) -> Phrase:
        self.at += 2
        inner = self.expression()
        words = "a decimal number"
        if self.take("AS"):
            words = self.type_name()
        self._close()
        return Phrase(self.wording.say("{} as {}", inner.inside(PREFIX), words), LOOSE)

    def type_name(self) -> str:
        name = self.pop() if not self.ended else ""
        while self.key() in ("PRECISION", "VARYING", "WITH", "WITHOUT", "TIME", "ZONE", "UNSIGNED"):
            self.at += 1
        words = type_words(self.wording, name)
        if self.take("("):
            words += f" ({enumerate_words([p.text for p in self.listed()])})"
        return words

    def extract(self) -> Phrase:
        self.at += 2
        unit = self.pop().lower() if not self.ended else ""
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

    def call(self) -> Phrase:
        name = self.pop().upper()
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

    def window(self) -> str:
        if not self.take("("):
            if not self.ended and self.tokens[self.at].kind in ("word", "gap") and not self.stopped():
                self.hidden.add(self.pop().lower())
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
            words.append(self.wording.say(FRAME[token.key]) if token.key in FRAME else token.text.lower())
            self.at += 1
        return " ".join(words)
