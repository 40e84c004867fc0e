"""The player `retrieval:FILE`, which repeats moves from the most similar situations in other dialogues.

The file contains dialogues as `birdenv export --format cocoa` writes them. Slots replace words from the
recorded seat's private knowledge, and are filled with words from the current episode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from birdenv.cocoa.acts import Lexicon, Listener
from birdenv.cocoa.files import ExampleRecord, read_examples
from birdenv.dialogue import Game, Move, PlayerContext, View
from birdenv.dialogue.dialogue import spoken
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError
from birdenv_agents.learned._grounding import grounded, last_resort

_CANDIDATES: Final = 25
"""The number of most similar situations that are tried."""

_START: Final = "startofdialogue"
_WORD: Final = re.compile(r"\w+|\?")


class Place(NamedTuple):
    """A recorded move. Slots replace words from the recorded scenario.

    Attributes:
        before: a text that describes the situation: the task's question, and all messages since the seat's
            last move.
        action: the name of the action.
        data: the data of the move, such as its text.
    """

    before: str
    action: str
    data: Any


class Memory:
    """A BM25 index of recorded moves by their situations.

    Raises:
        InputError: the package `bm25s` is not installed.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        try:
            import bm25s
        except ImportError:
            raise InputError("the agent `retrieval` needs bm25s: pip install 'birdenv[retrieval]'") from None
        self._places = places
        self._index = bm25s.BM25()
        self._index.index([_tokens(place.before) for place in places], show_progress=False)

    def like(self, before: str) -> list[Place]:
        """Return the moves from the most similar situations, beginning with the most similar."""
        count = min(_CANDIDATES, len(self._places))
        found, _ = self._index.retrieve([_tokens(before)], k=count, show_progress=False)
        return [self._places[int(place)] for place in found[0]]


def _tokens(text: str) -> list[str]:
    return _WORD.findall(text.lower()) or ["nothing"]


def retrieval(argument: str, context: PlayerContext) -> RetrievalPlayer:
    """Return a player that repeats moves from a file of dialogues.

    Raises:
        InputError: the file is missing, cannot be read, or has no moves for this seat.
    """
    if not argument:
        raise InputError(
            "retrieval:FILE needs dialogues: make them with birdenv export RUN --format cocoa -o FILE"
        )
    path = Path(argument)
    seat = find_game(context.game).seats[context.seat]
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    game = find_game(context.game)
    has_scenarios = "scenarios" in game.settings.model_fields
    memory = _memory(path, stamp, context.seat, seat.kinds, has_scenarios)
    return RetrievalPlayer(memory, game, context)


@lru_cache(maxsize=8)
def _memory(path: Path, stamp: int, seat: int, kinds: tuple[str, ...], has_scenarios: bool) -> Memory:
    """Return the index of a seat's moves in a file. All episodes of a run share the index."""
    places = [place for each in read_examples(path) for place in _places(each, seat, has_scenarios)]
    known = [place for place in places if place.action in kinds]
    if not known:
        raise InputError(f"{path}: seat {seat} made no move with an action of the game ({', '.join(kinds)})")
    return Memory(known)


def _places(example: ExampleRecord, seat: int, has_scenarios: bool) -> Iterator[Place]:
    scenario = example.scenario if has_scenarios else None
    words = Lexicon(None if scenario is None else scenario.kbs[seat])
    question = example.scenario.to_json().get("question", "") if example.scenario is not None else ""
    before = [_START]
    for record in example.events:
        event = record.event()
        text = words.take_out(spoken(event))
        if event.agent == seat:
            data = text if isinstance(event.data, str) else event.data
            if isinstance(data, Mapping) and isinstance(data.get("price"), int | float):
                data = {**data, "price": words.slot_of(data["price"])}
            yield Place(" ".join([question, *before]), event.action, data)
            before = [f"after{event.action}"]
        else:
            before.append(text)
        reply = (event.metadata or {}).get("reply")
        if reply:
            before.append(words.take_out(str(reply)[:500]))


class RetrievalPlayer:
    """A player that always makes the possible recorded move whose situation was most similar.

    Args:
        memory: the index of moves.
        game: the game that is played.
        context: the seat, the task and the random generator.
    """

    def __init__(self, memory: Memory, game: Game, context: PlayerContext) -> None:
        self._memory = memory
        self._game = game
        self._seat = game.seats[context.seat]
        self._rng = context.rng
        self._question = getattr(context.scenario, "question", "")
        self._listener: Listener | None = None
        self._made: list[Move] = []

    def move(self, view: View) -> Move | None:
        """Return the best retrieved move that is possible now and was not made before in this dialogue."""
        listener = self._listener = self._listener or Listener(view, self._game)
        listener.follow(view)
        last = f"after{self._made[-1].action}" if self._made else _START
        words = listener.lexicon.take_out(view.message)
        for place in self._memory.like(f"{self._question} {last} {words}"):
            if place.action not in view.legal:
                continue
            action = self._seat.by_name[place.action]
            move = Move(action.name, grounded(action, place.data, listener, view, self._rng))
            if action.fault(move.data, view.choices) is None and move not in self._made:
                self._made.append(move)
                return move
        return self._otherwise(view, listener)

    def _otherwise(self, view: View, listener: Listener) -> Move | None:
        """Return a move for the case that no retrieved move is possible: select an item, or fall back."""
        for action in self._seat.actions:
            if action.name in view.legal and [field.kind for field in action.fields] == ["item"]:
                return Move(action.name, grounded(action, None, listener, view, self._rng))
        return last_resort(view, self._made, self._seat)
