"""Read how results are arranged: GROUP BY, PARTITION BY, ORDER BY, LIMIT, OFFSET, FETCH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from birdenv.users.sql_in_words._keywords import ATOM, LOOSE, Phrase, enumerate_words

if TYPE_CHECKING:
    from birdenv.users.sql_in_words._reader import Reader


def read_group(reader: Reader) -> str:
    reader.take("BY")
    return reader.wording.say("grouped by {}", _bare_keys(reader))


def read_partition(reader: Reader) -> str:
    reader.take("BY")
    return reader.wording.say("within each {}", _bare_keys(reader))


def _bare_keys(reader: Reader) -> str:
    keys: list[str] = []
    while not reader.ended:
        key = _key_words(reader.expression())
        if key:
            keys.append(key)
        if not reader.take(","):
            break
    return enumerate_words(keys)


def read_order(reader: Reader) -> str:
    reader.take("BY")
    keys: list[str] = []
    while not reader.ended:
        key = _key_words(reader.expression())
        direction = read_direction(reader)
        if key:
            keys.append(f"{key} {direction}")
        elif direction:
            keys.append(direction)
        if not reader.take(","):
            break
    return reader.wording.say("sorted by {}", ", then by ".join(keys))


def read_direction(reader: Reader) -> str:
    words = "in ascending order"
    if reader.take("DESC"):
        words = "in descending order"
    else:
        reader.take("ASC")
    words = reader.wording.say(words)
    if reader.take("NULLS"):
        place = "first" if reader.take("FIRST") else "last"
        reader.take("LAST")
        words += reader.wording.say(f" with missing ones {place}")
    return words


def read_limit(reader: Reader) -> str:
    count = reader.expression().text
    if reader.take(","):
        return reader.wording.say(
            "limited to the first {} after skipping {}", reader.expression().text, count
        )
    return reader.wording.say("limited to the first {}", count)


def read_offset(reader: Reader) -> str:
    return reader.wording.say("after skipping the first {}", reader.expression().text)


def read_fetch(reader: Reader) -> str:
    reader.take("FIRST", "NEXT")
    count = reader.primary().text if not reader.ended and reader.key() not in ("ROW", "ROWS") else "one"
    while reader.take("ROW", "ROWS", "ONLY", "TIES", "WITH"):
        pass
    return reader.wording.say("limited to the first {}", count)


def _key_words(phrase: Phrase) -> str:
    """A sort or group key; a plain name goes without its article."""
    return phrase.text.removeprefix("the ") if phrase.bond == ATOM else phrase.inside(LOOSE)
