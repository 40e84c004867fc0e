"""Convert dialogues to tokens: the words, actions and slots that a seat hears and says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

from birdenv.cocoa.acts._listener import Listener
from birdenv.dialogue.games import Game
from birdenv.dialogue.move import Move, View
from birdenv.dialogue.seat import Action, Field

PAD, UNKNOWN, OWN, OTHER, END = "<pad>", "<unknown>", "<own>", "<other>", "<end>"
MARKS: Final = (PAD, UNKNOWN, OWN, OTHER, END)
ANY_WORD: Final = "<any word>"
TALK: Final = "message"
COUNT: Final = "{count}"
_MOST_WORDS: Final = 60
"""The maximum number of words in a message that the seat generates."""
_MOST_CHARACTERS: Final = 1000
"""The number of characters of a message that are read; the rest of a longer message is ignored."""
_WORD: Final = re.compile(r"\{[^{}\s][^{}]*\}|\w+(?:['’]\w+)*|[^\w\s]")
_SHARE: Final = re.compile(r"\{([$~])(\d+(?:\.\d+)?)\}")
_STEPS: Final = 20
"""The number of price steps from zero to the target, or between two prices."""
_NUMBERS: Final = "zero one two three four five six seven eight nine ten".split()
_PLAIN: Final = str.maketrans("’{}", "'()")
"""Braces in messages are replaced, because they mark slots."""
_TIGHT: Final = re.compile(r" (?=[.,!?;:%)])|(?<=[$(]) ")


def is_word(token: str) -> bool:
    """Return True if a token is a word or a slot in a message.

    Speaker markers, actions, numbers in moves, and tokens from `DialogueTokens.context` are not words.
    """
    if token in MARKS or (len(token) > 1 and token[0] in "<#="):
        return False
    return " " not in token or token.startswith("{")


class DialogueTokens:
    """Converts a dialogue from one seat's point of view to tokens, and tokens to the seat's moves.

    Words are in lower case. Every action except `message` becomes a token, and so does every whole number in
    a move's data (`=2`). Slots replace everything that is specific to the scenario:

    * prices, as in `Lexicon`, with fractions rounded to twentieths;
    * things, ranked by their value to the seat (`{thing 1}` or, in the plural, `{things 1}` is the best);
    * values of the items that the seat can choose, ranked by their frequency in the seat's list
      (`{Company 1}` is the most frequent company);
    * numbers in the seat's own messages: `{count}` is the number of the seat's items that have one of the
      values in the partner's last message.

    Args:
        view: any view of the seat.
        game: the game.
        is_public: True to leave out the seat's values for things, and to rank things by count instead. Both
            seats then get the same tokens, except for the markers that show who is speaking.

    Attributes:
        actions: the seat's actions, keyed by name.
    """

    def __init__(self, view: View, game: Game, is_public: bool = False) -> None:
        self.actions = game.seats[view.seat].by_name
        self._listener = Listener(view, game)
        self._kb, self._choices = view.kb, view.choices
        self._kinds = _kinds(view, is_public)
        self._is_public = is_public
        most = max((kind["Count"] for kind in self._kinds.values()), default=-1)
        numbers = {*range(most + 1), *(kind["Value"] for kind in self._kinds.values())}
        self._numbers = {str(number) for number in numbers}
        values = {} if self._kinds else self._listener.lexicon.values
        self._ranked = {name: Counter(found).most_common() for name, found in values.items()}
        self._values: dict[str, str] = {}
        for name, ranked in self._ranked.items():
            self._values |= {f"{{{name} {rank}}}": value for rank, (value, _) in enumerate(ranked, 1)}
        for rank, name in enumerate(self._kinds, 1):
            self._values |= {f"{{thing {rank}}}": name, f"{{things {rank}}}": f"{name}s"}
        self._slots = {value.lower(): slot for slot, value in self._values.items()}
        names = "|".join(map(re.escape, sorted(self._slots, key=lambda name: (-len(name), name))))
        self._names = re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE) if names else None
        self._asked: list[str] = []
        self._seen = 0

    def context(self) -> list[str]:
        """Return the seat's knowledge as a list of tokens. The meaning of a token depends on its position."""
        found: list[str] = []
        for name, ranked in self._ranked.items():
            found += [f"has {name}", *(f"#{count}" for _, count in ranked)]
        for name, kind in self._kinds.items():
            found += [f"is {name}", f"#{kind['Count']}", "#?" if self._is_public else f"#{kind['Value']}"]
        if isinstance(self._kb, Mapping) and "personal" in self._kb:
            personal, price = self._kb["personal"], self._kb["item"]["Price"] or 1
            target = round(min(personal["Target"] / price, 9) * _STEPS)
            found += [f"role {personal['Role']}", f"target {target}"]
        return found

    def follow(self, view: View) -> list[str]:
        """Return the tokens of the events that were added to the seat's view since the last call."""
        news: list[str] = []
        for place in range(self._seen, len(view.heard)):
            event = view.heard[place]
            if event.agent in range(2) and not (event.metadata or {}).get("refused"):
                made = self.of(Move(event.action, event.data), event.agent == view.seat)
                news += [OWN if event.agent == view.seat else OTHER, *made]
                if event.agent != view.seat:
                    self._asked = [token for token in made if token in self._values]
            self._listener.follow(view._replace(heard=view.heard[: place + 1]))
        self._seen = len(view.heard)
        return news

    def talk(self, view: View, action: str) -> list[str]:
        """Return the tokens of new events, but only those before the first move with the token `action`."""
        news = self.follow(view)
        return news[: news.index(action) - 1] if action in news else news

    def of(self, move: Move, is_own: bool = True) -> list[str]:
        """Return the tokens for the next move by the seat or, if `is_own` is False, by the partner."""
        if move.action == TALK:
            return [*self._words(move.data, is_own), END]
        action = self.actions.get(move.action)
        data = {} if action is None or move.data is None else action.arguments_of(move.data)
        found = [f"<{move.action}>"]
        for field in () if action is None else self._arguments(action):
            value = data.get(field.name)
            if field.kind == "integer" and isinstance(value, int):
                found.append(f"={value}")
            elif field.kind == "number" and isinstance(value, int | float):
                prices = self._listener.prices
                found.append(_stepped(str(self._listener.lexicon.slot_of(float(value), prices))))
        return found

    def _words(self, text: Any, is_own: bool) -> list[str]:
        said = text[:_MOST_CHARACTERS].translate(_PLAIN) if isinstance(text, str) else ""
        if self._names is not None:
            said = self._names.sub(lambda found: self._slots.get(found.group().lower(), found.group()), said)
        if isinstance(self._kb, Mapping):
            said = _stepped(self._listener.lexicon.take_out(said, self._listener.prices))
        words = [each if each.startswith("{") else each.lower() for each in _WORD.findall(said)]
        is_counted = bool(self._choices) and is_own
        return [COUNT if is_counted and each.isdecimal() else each for each in words]

    def can_say(self, word: str) -> bool:
        """Return True if the seat can use a word or a slot in a message now.

        A slot must currently have a value, and a number must occur in the scenario.
        """
        if word.startswith("{"):
            return self._filled(word) is not None
        number = str(_NUMBERS.index(word)) if self._kinds and word in _NUMBERS else word
        return not number.isdecimal() or number in self._numbers

    def _filled(self, slot: str) -> str | None:
        """Return the text that fills a slot now, or None if nothing does."""
        if slot == COUNT:
            asked = {self._values[each] for each in self._asked}
            fits = sum(not asked.isdisjoint(map(str, choice.values())) for choice in self._choices)
            return str(fits) if asked else None
        price = self._listener.lexicon.price_of(slot.strip("{}"), self._listener.prices)
        return self._values.get(slot) if price is None else f"{price:.0f}"

    def next(self, made: Sequence[str], legal: Sequence[str]) -> frozenset[str]:
        """Return the possible next tokens in a move, or an empty set if the move is complete.

        Args:
            made: the tokens of the move so far.
            legal: the names of the actions that are legal now.
        """
        if not made:
            talk = {ANY_WORD} if TALK in legal else set()
            return frozenset({f"<{name}>" for name in legal if name != TALK} | talk)
        action = self.actions.get(made[0].strip("<>")) if made[0].startswith("<") else None
        if action is None:
            more = {ANY_WORD, END} if len(made) < _MOST_WORDS else {END}
            return frozenset(more if made[-1] != END else ())
        fields = self._arguments(action)[len(made) - 1 :]
        if not fields:
            return frozenset()
        if fields[0].kind == "integer":
            most = int(self._kinds.get(fields[0].name, {}).get("Count", fields[0].high))
            return frozenset(f"={number}" for number in range(int(fields[0].low), most + 1))
        shares = [f"{{{sign}{step / _STEPS:.2f}}}" for sign in "$~" for step in range(2 * _STEPS + 1)]
        return frozenset(filter(self.can_say, ("{own}", "{theirs}", *shares)))

    def shares(self, made: Sequence[str]) -> list[list[str]]:
        """Return all divisions of the things that can complete the move `made`, each as a list of tokens.

        A division has one token for each kind of thing, which is the number that the seat takes. If the
        move's action does not divide things, the result is empty.
        """
        action = self.actions.get(made[0].strip("<>")) if len(made) == 1 else None
        if action is None or not self._kinds or {each.name for each in action.fields} != self._kinds.keys():
            return []
        counts = [kind["Count"] for kind in self._kinds.values()]
        return [[f"={n}" for n in share] for share in product(*(range(count + 1) for count in counts))]

    def rest(self, share: Sequence[str]) -> list[str]:
        """Return the tokens for the things that remain for the partner after the seat takes `share`."""
        counts = [kind["Count"] for kind in self._kinds.values()]
        return [f"={count - int(taken[1:])}" for count, taken in zip(counts, share, strict=True)]

    def move(self, made: Sequence[str], view: View) -> Move:
        """Convert the tokens of a complete move to a move, whose data may be invalid."""
        action = self.actions.get(made[0].strip("<>")) if made[0].startswith("<") else None
        if action is None:
            words = [self._filled(word) or "" if word.startswith("{") else word for word in made[:-1]]
            return Move(TALK, _TIGHT.sub("", " ".join(words)))
        data: dict[str, Any] = {}
        for field, token in zip(self._arguments(action), made[1:], strict=True):
            is_price = field.kind == "number"
            data[field.name] = float(self._filled(token) or 0) if is_price else int(token[1:])
        items = [field.name for field in action.fields if field.kind == "item"]
        data |= zip(items, self._listener.best_items(view), strict=False)
        if len(action.fields) == 1:
            return Move(action.name, next(iter(data.values()), None))
        ordered = {field.name: data[field.name] for field in action.fields if field.name in data}
        return Move(action.name, ordered or None)

    def _arguments(self, action: Action) -> list[Field]:
        """Return the fields of an action that have tokens, in the order of the things that they count."""
        fields = [each for each in action.fields if each.kind in ("integer", "number") and not each.optional]
        ranks = list(self._kinds)
        return sorted(fields, key=lambda field: ranks.index(field.name) if field.name in ranks else -1)


def _kinds(view: View, is_public: bool) -> dict[str, Mapping[str, Any]]:
    """Return the kinds of things that a seat knows, with their counts and values, most valuable first."""
    listed = view.kb if isinstance(view.kb, list | tuple) and not view.choices else ()
    known = (each for each in listed if isinstance(each, Mapping))
    counted = (each for each in known if {"Name", "Count", "Value"} <= each.keys())
    ranked = sorted(
        counted, key=lambda kind: (-kind["Value"] * (not is_public), -kind["Count"], kind["Name"])
    )
    return {str(kind["Name"]): kind for kind in ranked}


def _stepped(text: str) -> str:
    """Return text with its price slots rounded to whole steps."""
    return _SHARE.sub(lambda share: f"{{{share[1]}{round(float(share[2]) * _STEPS) / _STEPS:.2f}}}", text)
