"""How results are arranged: GROUP BY, PARTITION BY, ORDER BY, LIMIT, OFFSET, FETCH."""

from __future__ import annotations

from birdenv.users._changes import ChangeReader
from birdenv.users._phrases import ATOM, LOOSE, Phrase
from birdenv.users._wording import enumerate_words

__all__ = ["ArrangementReader"]


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
