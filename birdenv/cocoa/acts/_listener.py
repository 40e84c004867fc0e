"""Track a dialogue's acts, prices and state from one seat's point of view."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from birdenv.cocoa.acts._lexicon import Lexicon, PriceWords, leaves
from birdenv.dialogue.dialogue import spoken
from birdenv.dialogue.games import Game
from birdenv.dialogue.move import HOUSE, Event, Move, View
from birdenv.dialogue.seat import Action, FieldKind, Seat

_MOST_PARTS: Final = 8
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_KINDS: Final = {"$": "price", "~": "nearer price"}
"""Kinds of prices, by the first character of their slot."""

_INTENTS: Final = {
    "ask": r"\?|^\W*(?:(?:hi|hello|hey|ok|and|so|well)\W+)*(?:do|does|did|any|anyone|anybody|who|what|which|"
    r"how|where|is|are|can|could|would|will)\b",
    "refuse": r"\b(?:no|not|none|nobody|nope|nah|neither|nor|never|nothing|cannot|\w+n['’]?t|too (?:low|high|"
    r"much)|sorry)\b",
    "all": r"\b(?:all|every|everyone|everybody|each|both|only|must)\b",
    "agree": r"^\W*(?:yes|yeah|yep|yup|sure|ok|okay|fine|great|alright|perfect)\b|\b(?:deal|agreed?|sounds "
    r"(?:good|great|fair|fine)|works for me|that works)\b",
    "greet": r"^\W*(?:hi|hiya|hello|hey|howdy|good (?:morning|evening|afternoon))\b",
}
"""The patterns of sentences, by intent. The first matching pattern decides."""
_CUES: Final = {name: re.compile(cue, re.IGNORECASE) for name, cue in _INTENTS.items()}


class Act(NamedTuple):
    """A move, abstracted from the names, values and prices in its episode.

    Attributes:
        action: the name of the action.
        parts: the intent of each sentence and the attributes that the sentence mentions, such as
            `ask Company`. For an action that selects an item, `theirs` if the partner has named the item.
    """

    action: str
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}: {', '.join(self.parts)}" if self.parts else self.action


def intent_of(sentence: str) -> str:
    """Return the intent of a sentence: `ask`, `refuse`, `all`, `agree`, `greet` or, by default, `tell`."""
    return next((name for name, cue in _CUES.items() if cue.search(sentence)), "tell")


def parts_of(text: str) -> tuple[str, ...]:
    """Return up to eight distinct parts (see `Act`) of text with slots, sorted."""
    found = {part for sentence in _SENTENCE.split(text) if sentence.strip() for part in _parts(sentence)}
    return tuple(sorted(found)[:_MOST_PARTS])


def _parts(sentence: str) -> Iterator[str]:
    intent = intent_of(_SLOT.sub("it", sentence))
    slots = {
        _KINDS.get(slot[0]) or {"own": "own price", "theirs": "their price"}.get(slot, slot)
        for slot in _SLOT.findall(sentence)
    }
    yield from (f"{intent} {slot}" for slot in slots)
    if not slots:
        yield intent


_MOST_TURNS: Final = 2
_MOST_FIT: Final = 4
_NEWS: Final = 2  # acts of the partner
_REPLY: Final = 4  # words of the environment's reply


class Listener:
    """Tracks the state of a dialogue from one seat's point of view.

    Args:
        view: the seat's first view.
        game: the game. If it is None, all text counts as natural language, even SQL.

    Attributes:
        lexicon: the values that the seat knows.
        prices: the most recent prices named in the dialogue.
        news: the partner's acts since the seat's last move.
        moves: the number of moves that the seat has made.
        heard: the text of all the partner's moves, in lower case.
        offered: the last item that the partner named in an action and that the seat can also select; None if
            there is no such item.
    """

    def __init__(self, view: View, game: Game | None = None) -> None:
        seats = game.seats if game is not None else ()
        self._code = {action.name for action in _actions_with("code", seats)}
        self._with_items = {action.name: action for action in _actions_with("item", seats)}
        self.lexicon = Lexicon(view.kb)
        self.prices = PriceWords()
        self.news: list[Act] = []
        self.moves = 0
        self.heard = ""
        self.offered: Any = None
        self._last: Act | None = None
        self._named: list[Any] = []  # items in the seat's own moves
        self._reply = ""
        self._seen = 0

    def follow(self, view: View) -> None:
        """Process the events that were added to the seat's view since the last call."""
        news = view.heard[self._seen :]
        self._seen = len(view.heard)
        for event in news:
            if event.agent == HOUSE or (event.metadata or {}).get("refused"):
                continue
            act, _ = self.act_of(Move(event.action, event.data), view)
            items, _ = self._items_in(event.action, event.data)
            if event.agent == view.seat:
                self._last, self.news = act, []
                self._reply = " ".join(str((event.metadata or {}).get("reply", "")).lower().split()[:_REPLY])
                self._named += items
                self.moves += 1
            else:
                self.news.append(act)
                self.heard += f" {spoken(event).lower()}"
                self.offered = next((item for item in items if item in view.choices), self.offered)
            self._keep_price(event, event.agent == view.seat)

    def _keep_price(self, event: Event, is_own: bool) -> None:
        data = event.data
        named = data.get("price") if isinstance(data, Mapping) else self.lexicon.price_in(spoken(event))
        if isinstance(named, int | float):
            self.prices = self.prices._replace(**{"own" if is_own else "theirs": float(named)})

    def act_of(self, move: Move, view: View) -> tuple[Act, Any]:
        """Return the act for the seat's next move, and the move's data with slots such as `{Company}`.

        Items differ between episodes, so an act does not name the item that a move selects. The act only
        records whether the partner has named that item.
        """
        data = move.data
        if move.action in self._code:
            return Act(move.action), data
        if move.action in self._with_items:
            items, others = self._items_in(move.action, data)
            is_theirs = self.offered is not None and self.offered in items
            return Act(move.action, ("theirs",) if is_theirs else ()), others or None
        if isinstance(data, str):
            text = self.lexicon.take_out(data, self.prices)
            return Act(move.action, parts_of(text)), text
        if isinstance(data, Mapping) and isinstance(data.get("price"), int | float):
            slot = self.lexicon.slot_of(float(data["price"]), self.prices)
            return Act(move.action, parts_of(str(slot))), {**data, "price": slot}
        return Act(move.action), data

    def best_items(self, view: View) -> list[Any]:
        """Return the items that the seat can choose, best first.

        Items that the seat has not yet named precede items that it has named. In both groups, the item that
        the partner named last comes first, and the other items are sorted by the number of their values that
        the partner has mentioned.
        """
        return sorted(
            view.choices,
            key=lambda choice: (choice in self._named, choice != self.offered, -self._fit(choice)),
        )

    def _items_in(self, name: str, data: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return the items in the data of a move, and its other arguments, keyed by name."""
        action = self._with_items.get(name)
        if action is None:
            return [], {}
        others = action.arguments_of(data)
        names = [field.name for field in action.fields if field.kind == "item" and field.name in others]
        return [others.pop(name) for name in names], others

    def _fit(self, choice: Any) -> int:
        return sum(value.lower() in self.heard for _, value in leaves(choice))

    def state(self, view: View) -> list[str]:
        """Return the features of a view as short strings, such as `can select`."""
        return list(dict.fromkeys(self._features(view)))

    def _features(self, view: View) -> Iterator[str]:
        seat = f"seat {view.seat}"
        yield from ("always", seat, f"turn {min(self.moves, _MOST_TURNS)}")
        yield from (f"can {name}" for name in view.legal)
        if view.phase > 1:
            yield f"phase {view.phase}"
        if self._last is not None:
            yield from (f"I {part}" for part in (self._last.action, *self._last.parts))
        if self._reply:
            yield f"told {self._reply}"
        if not self.news:
            yield "no news"
        for act in self.news[-_NEWS:]:
            for part in (act.action, *act.parts):
                yield f"they {part}"
                yield f"{seat}, they {part}"
        own, theirs = self.prices
        if own is not None and theirs is not None and theirs:
            yield f"gap {min(round(abs(own - theirs) / max(own, theirs), 1), 0.5)}"
        if view.choices:
            fits = sorted(map(self._fit, view.choices), reverse=True)
            yield f"fit {min(fits[0], _MOST_FIT)}"
            yield f"fits {min(fits.count(fits[0]), _MOST_FIT)}"
            if self.offered in view.choices:
                yield "theirs is mine"


def _actions_with(kind: FieldKind, seats: Sequence[Seat]) -> Iterator[Action]:
    """Yield the actions that have a field of a kind."""
    actions = (action for seat in seats for action in seat.actions)
    return (each for each in actions if any(field.kind == kind for field in each.fields))
