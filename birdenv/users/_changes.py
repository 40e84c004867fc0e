"""What a statement changes: INSERT, UPDATE, DELETE, CREATE."""

from __future__ import annotations

from birdenv.users._lexer import split_words
from birdenv.users._phrases import LOOSE, PREFIX, name_words
from birdenv.users._sources import SourceReader
from birdenv.users._wording import enumerate_words

__all__ = ["ChangeReader"]

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
