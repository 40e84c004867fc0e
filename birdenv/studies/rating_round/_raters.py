"""The logic of a rating round, independent of its web pages.

The round chooses items for each rater, and leads raters from consent to completion code.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import combinations
from random import Random, SystemRandom
from typing import Any, Final, NamedTuple
from uuid import UUID

from birdenv.errors import BirdenvError, InputError
from birdenv.studies._platform import TAKEN, is_same_visit
from birdenv.studies._questions import read_answer, read_words
from birdenv.studies.rating_round._config import RatingConfig
from birdenv.studies.rating_round._store import Rater, RatingStore
from birdenv.studies.replay import ReplayedDialogue, SeatView


class Item(NamedTuple):
    """An item for raters to judge: one seat in a dialogue, or the same seat in two dialogues.

    Attributes:
        seat: the judged seat.
        record: the dialogue.
        other: the second dialogue of a comparison, in which a different player took the seat; None if the
            item is not a comparison.
    """

    seat: int
    record: ReplayedDialogue
    other: ReplayedDialogue | None = None

    @property
    def id(self) -> str:
        """Return the item's id for web pages. The id does not reveal which systems talked."""
        said = " ".join([*(each.id for each in self.sides), self.seat_name])
        return sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]

    @property
    def seat_name(self) -> str:
        """Return the name of the judged seat."""
        return self.record.seats[self.seat]

    @property
    def names(self) -> dict[str, str]:
        """Return the names of all seats as raters see them.

        These are the names that partners use for each other, or `Speaker 1`, `Speaker 2` and so on.
        """
        seats = () if self.record.arena is None else self.record.arena.game.seats
        called = {voice: name for each in seats for voice, name in each.words.voices.items()}
        found = {name: called.get(name, "") for name in self.record.seats}
        if len({*found.values()} - {""}) == len(found):
            return found
        return {name: f"Speaker {place}" for place, name in enumerate(found, 1)}

    @property
    def sides(self) -> tuple[ReplayedDialogue, ...]:
        """Return the dialogue to rate, or both dialogues to compare."""
        return (self.record,) if self.other is None else (self.record, self.other)


def items_of(records: Iterable[ReplayedDialogue], config: RatingConfig) -> list[Item]:
    """Return the items for raters to judge, excluding dialogues without words.

    Raises:
        InputError: there are no items, for example because no dialogue has the configured seats.
    """
    seated = [(record, seat) for record in records if _has_words(record) for seat in _seats(record, config)]
    single = config.compare is None
    made = [Item(seat, record) for record, seat in seated] if single else list(_pairs(seated))
    if made:
        return made
    where = f" with a seat named {' or '.join(config.seats)}" if config.seats else ""
    if single:
        raise InputError(f"there are no dialogues to rate{where}")
    raise InputError(f"there is nothing to compare: no task has dialogues with two systems{where}")


def side_of(record: ReplayedDialogue, seat: int, config: RatingConfig) -> SeatView:
    """Return the part of a dialogue that raters see: the seat's view, or only the seat's last move."""
    try:
        view = record.view(seat)
    except BirdenvError:  # the game or its data are not available
        view = record.everything(seat)
    if config.compare != "answers":
        return view
    own = [line for line in view.lines if line["seat"] == record.seats[seat] and not line["refused"]]
    return view._replace(lines=[{**line, "reply": None} for line in own[-1:]])


def _has_words(record: ReplayedDialogue) -> bool:
    try:
        events = record.load()
    except BirdenvError:
        return True  # the page shows why
    return any(isinstance(event.data, str) and event.data.strip() for event in events if event.agent >= 0)


def _seats(record: ReplayedDialogue, config: RatingConfig) -> list[int]:
    if config.seats is None:
        return [0 if record.arena is None else record.arena.game.evaluated]
    return [seat for seat, name in enumerate(record.seats) if name in config.seats]


def _pairs(seated: Iterable[tuple[ReplayedDialogue, int]]) -> Iterable[Item]:
    """Yield comparisons: for each task and pair of systems, their first dialogues, then their second, etc."""
    groups: dict[tuple[str, str, int], dict[str, list[ReplayedDialogue]]] = {}
    for record, seat in seated:
        systems = groups.setdefault((record.game, record.task, seat), {})
        systems.setdefault(record.players[seat], []).append(record)
    for (_, _, seat), systems in groups.items():
        for one, two in combinations(sorted(systems), 2):
            for left, right in zip(systems[one], systems[two], strict=False):
                yield Item(seat, left, right)


WINNERS: Final = {
    "left": "The left one",
    "right": "The right one",
    "tie": "Both are equally good",
    "both_bad": "Both are bad",
}
"""The possible results of a comparison, with their labels on the page."""


class Ratings:
    """A thread-safe rating round, which assigns items to raters and stores their judgements.

    No rater judges an item twice. Items with the fewest raters are chosen first, until every item has as many
    raters as the configuration requires. A returning rater continues with the item begun earlier.

    Attributes:
        config: the configuration.
        items: the items to be judged, keyed by id.
        store: the database of raters and judgements.
    """

    def __init__(
        self,
        items: Sequence[Item],
        config: RatingConfig,
        store: RatingStore,
        *,
        clock: Callable[[], float] = time.time,
        rng: Random | None = None,
    ) -> None:
        self.config = config
        self.store = store
        shuffled = sorted(items, key=lambda item: item.id)
        Random(config.seed).shuffle(shuffled)
        self.items = {item.id: item for item in shuffled}
        self._clock = clock
        self._rng = rng or SystemRandom()
        self._lock = threading.Lock()

    def new_id(self) -> str:
        """Return a random id for a new rater."""
        return UUID(int=self._rng.getrandbits(128), version=4).hex

    def agree(self, id: str, external: str | None = None, platform: Mapping[str, str] | None = None) -> Rater:
        """Admit a rater who has given consent, or return the rater who began earlier in the same visit.

        Args:
            id: the id of a new rater.
            external: the rater's id on a recruiting platform; None if no platform sent the rater.
            platform: the parameters that the platform sent.

        Raises:
            InputError: the id on the platform is in use, probably by somebody else.
        """
        platform = platform or {}
        rater = self.store.add_rater(id, external, platform, self._clock())
        if rater.id != id and not is_same_visit(rater.platform, platform):
            raise InputError(TAKEN)
        return rater

    def progress(self, rater: str) -> tuple[int, int]:
        """Return the number of items that a rater has judged, and the maximum number for each rater."""
        most = len(self.items) if self.config.most is None else min(self.config.most, len(self.items))
        return sum(self.store.begun(rater).values()), most

    def next(self, rater: str) -> Item | None:
        """Return a rater's current item. If no item is left, store a completion code and return None."""
        with self._lock, self.store.transaction():
            found = self.store.rater(rater)
            if found is None or found.code is not None:
                return None
            begun = self.store.begun(rater)
            now = self._clock()
            item = self._chosen(begun, now)
            if item is None:
                done = sum(begun.values())
                self.store.set_code(rater, self._code("done" if done else "full"))
            else:
                self.store.begin(item.id, rater, now)
            return item

    def judge(self, rater: str, id: str, fields: Mapping[str, str]) -> None:
        """Store a rater's judgement of an item. A form that is sent twice counts once.

        Args:
            rater: the id of the rater.
            id: the id of the item.
            fields: the fields of the form.

        Raises:
            InputError: a required answer is missing, or an answer is invalid.
        """
        item = self.items.get(id)
        if item is None or self.store.begun(rater).get(id) is not False:
            return
        said = self._rated(item, fields) if item.other is None else self._compared(item, rater, fields)
        self.store.finish(id, rater, self._clock(), said)

    def is_turned(self, item: Item, rater: str) -> bool:
        """Return True if a rater sees the second dialogue of a comparison on the left."""
        return Random(f"{self.config.seed}/{item.id}/{rater}").random() < 0.5

    def sides(self, item: Item, rater: str) -> tuple[Any, ...]:
        """Return the dialogues of an item in the order in which a rater sees them, from left to right."""
        return item.sides[::-1] if self.is_turned(item, rater) else item.sides

    def _chosen(self, begun: Mapping[str, bool], now: float) -> Item | None:
        for id, done in begun.items():
            if not done and id in self.items:
                return self.items[id]
        if self.config.most is not None and sum(begun.values()) >= self.config.most:
            return None
        taken = self.store.taken(now - self.config.hold)
        free = [id for id in self.items if id not in begun and taken[id] < self.config.raters]
        return self.items[min(free, key=taken.__getitem__)] if free else None

    def _rated(self, item: Item, fields: Mapping[str, str]) -> dict[str, Any]:
        answers = {each.name: read_answer(each, fields.get(each.name, "")) for each in self.config.questions}
        record = item.record
        return {
            "dialogue": record.dialogue,
            "answers": answers,
            "seat": item.seat_name,
            "system": record.players[item.seat],
            "task": record.task,
        }

    def _compared(self, item: Item, rater: str, fields: Mapping[str, str]) -> dict[str, Any]:
        winner = fields.get("winner", "")
        if winner not in WINNERS:
            raise InputError(f"please answer: {self.config.criterion}")
        reason = read_words("Why?", fields.get("justification", ""), self.config.justification)
        left, right = self.sides(item, rater)
        return {
            "left": left.players[item.seat],
            "right": right.players[item.seat],
            "winner": winner,
            "justification": reason,
            "left_dialogue": left.dialogue,
            "right_dialogue": right.dialogue,
            "seat": item.seat_name,
            "task": item.record.task,
        }

    def _code(self, ending: Any) -> str:
        return self.config.codes.get(ending) or f"{self.config.prefix}-{self.new_id()[:16].upper()}"
