"""A player that says what was said before in the most similar place: the agent `retrieval:FILE`.

The file holds dialogues as `birdenv export --format cocoa` writes them. Words that a seat knows from its own
half of a scenario are taken out of them, and those of the present episode put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from birdenv.dialogue import Action, Move, PlayerContext, Seat, View
from birdenv.dialogue._dialogue import spoken
from birdenv.dialogue.cocoa import ExampleRecord, read_examples
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError

__all__ = ["retrieval"]

_CANDIDATES: Final = 25
"""The most similar places that are looked at, best first."""

_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_PRICE: Final = re.compile(r"(?<![\w.,{])\d[\d,]*(?:\.\d+)?(?![\w{])")
_START: Final = "startofdialogue"
_WORD: Final = re.compile(r"\w+|\?")


class Place(NamedTuple):
    """What somebody did, and what it was an answer to; words of the scenario are slots."""

    before: str
    action: str
    data: Any


class Words:
    """The words that a seat knows, by the names under which it knows them, and the price of what is sold."""

    def __init__(self, kb: Any) -> None:
        self.values: dict[str, list[str]] = {}
        for name, value in _leaves(kb, ""):
            self.values.setdefault(name, []).append(value)
        self._names = {value.lower(): name for name, values in self.values.items() for value in values}
        longest = sorted(self._names, key=lambda value: (-len(value), value))
        joined = "|".join(map(re.escape, longest))
        self._pattern = re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE) if joined else None
        item = kb.get("item") if isinstance(kb, Mapping) else None
        self.price = float(item["Price"]) if isinstance(item, Mapping) and item.get("Price") else 0.0

    def take_out(self, text: str) -> str:
        """Return a text with slots for what the seat knows: `{Company}`, `{$0.85}`."""
        if self._pattern is not None:
            text = self._pattern.sub(lambda found: f"{{{self._names[found.group().lower()]}}}", text)
        return _PRICE.sub(self._share, text) if self.price else text

    def _share(self, found: re.Match[str]) -> str:
        share = float(found.group().replace(",", "")) / self.price
        return f"{{${share:.2f}}}" if 0.2 <= share <= 1.7 else found.group()

    def put_in(self, text: str, said: str, rng: Random) -> str | None:
        """Return a text with its slots filled, first with words that were said; None if one cannot be."""
        slots = _SLOT.findall(text)
        if not all(slot.startswith("$") or self.values.get(slot) for slot in slots):
            return None
        left: dict[str, list[str]] = {}
        for slot in sorted(set(slots) & set(self.values)):
            values = list(dict.fromkeys(self.values[slot]))
            rng.shuffle(values)
            left[slot] = sorted(values, key=lambda value: value.lower() in said)  # taken from the end

        def fill(found: re.Match[str]) -> str:
            slot = found.group(1)
            if slot.startswith("$"):
                return f"{round(float(slot[1:]) * self.price)}"
            return left[slot].pop() if len(left[slot]) > 1 else left[slot][0]

        return _SLOT.sub(fill, text)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """The short texts in JSON data, with the keys that lead to them."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner, name)
    elif isinstance(value, str) and 2 < len(value) <= 60 and name not in ("Role", "Category", "Description"):
        yield name, value


class Memory:
    """The places of one seat in a file of dialogues, found by their likeness (BM25)."""

    def __init__(self, places: Sequence[Place]) -> None:
        try:
            import bm25s
        except ImportError:
            raise InputError("the agent `retrieval` needs bm25s: pip install 'birdenv[retrieval]'") from None
        self._places = places
        self._index = bm25s.BM25()
        self._index.index([_tokens(place.before) for place in places], show_progress=False)

    def like(self, before: str) -> list[Place]:
        """Return the places that are most like this one, the best first."""
        count = min(_CANDIDATES, len(self._places))
        found, _ = self._index.retrieve([_tokens(before)], k=count, show_progress=False)
        return [self._places[int(place)] for place in found[0]]


def _tokens(text: str) -> list[str]:
    return _WORD.findall(text.lower()) or ["nothing"]


def retrieval(argument: str, context: PlayerContext) -> RetrievalPlayer:
    """Make the player of a seat from a file of dialogues.

    Raises:
        InputError: there is no file, it cannot be read, or nobody moved in this seat.
    """
    if not argument:
        raise InputError("retrieval:FILE needs dialogues: birdenv export RUN --format cocoa -o FILE")
    path = Path(argument)
    seat = find_game(context.game).seats[context.seat]
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    memory = _memory(path, stamp, context.seat, seat.kinds)
    return RetrievalPlayer(memory, seat, context.rng, getattr(context.scenario, "question", ""))


@lru_cache(maxsize=8)
def _memory(path: Path, stamp: int, seat: int, kinds: tuple[str, ...]) -> Memory:
    """One index a file and seat, for all episodes of a run."""
    places = [place for example in read_examples(path) for place in _places(example, seat)]
    known = [place for place in places if place.action in kinds]
    if not known:
        raise InputError(f"{path}: nobody moved in seat {seat} with {', '.join(kinds)}")
    return Memory(known)


def _places(example: ExampleRecord, seat: int) -> Iterator[Place]:
    words = Words(example.scenario.kbs[seat] if example.scenario is not None else None)
    question = example.scenario.to_json().get("question", "") if example.scenario is not None else ""
    before = [_START]
    for record in example.events:
        event = record.event()
        text = words.take_out(spoken(event))
        if event.agent == seat:
            data = text if isinstance(event.data, str) else event.data
            if event.action == "offer" and isinstance(data, Mapping) and words.price and data.get("price"):
                data = {**data, "price": data["price"] / words.price}
            yield Place(" ".join([question, *before]), event.action, data)
            before = [f"after{event.action}"]
        else:
            before.append(text)
        reply = (event.metadata or {}).get("reply")
        if reply:
            before.append(words.take_out(str(reply)[:500]))


class RetrievalPlayer:
    """Plays what was played in the most similar place, if it is possible now.

    Args:
        memory: the places.
        seat: its seat.
        rng: fills slots for which there are several words.
        question: what the whole dialogue is about, where the game has that.
    """

    def __init__(self, memory: Memory, seat: Seat, rng: Random, question: str = "") -> None:
        self._memory = memory
        self._seat = seat
        self._rng = rng
        self._question = question
        self._words: Words | None = None
        self._seen = 0
        self._made: list[Move] = []

    def move(self, view: View) -> Move | None:
        """Return the first move of the similar places that is possible and was not made before."""
        words = self._words = self._words or Words(view.kb)
        last = f"after{self._made[-1].action}" if self._made else _START
        said = view.message.lower()
        for place in self._memory.like(f"{self._question} {last} {words.take_out(view.message)}"):
            if place.action not in view.legal:
                continue
            action = self._seat.by_name[place.action]
            move = Move(action.name, self._data(action, place.data, view, words, said))
            if action.fault(move.data, view.choices) is None and move not in self._made:
                self._made.append(move)
                return move
        return self._otherwise(view)

    def _data(self, action: Action, data: Any, view: View, words: Words, said: str) -> Any:
        """The data of a remembered move, made to fit this episode."""
        if any(field.kind == "item" for field in action.fields):
            return self._item(view)
        if isinstance(data, str):
            return words.put_in(data, said, self._rng)
        if isinstance(data, Mapping) and isinstance(data.get("price"), int | float) and words.price:
            return {**data, "price": round(data["price"] * words.price)}
        return data

    def _item(self, view: View) -> Any:
        """The choice that shares most with what was said, and was not made before."""
        heard = " ".join(spoken(event).lower() for event in view.heard if event.agent != view.seat)
        made = [move.data for move in self._made]
        left = [choice for choice in view.choices if choice not in made] or list(view.choices)
        return max(left, key=lambda choice: sum(value.lower() in heard for _, value in _leaves(choice, "")))

    def _otherwise(self, view: View) -> Move | None:
        """Where nothing fits: take what is there, say the last words again, or leave."""
        for name in ("accept", "select"):
            if name in view.legal and self._seat.items:
                return Move(name, self._item(view))
        if "accept" in view.legal:
            return Move("accept")
        again = next((move for move in reversed(self._made) if move.action in view.legal), None)
        return again or Move("quit")
