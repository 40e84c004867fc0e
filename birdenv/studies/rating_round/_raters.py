"""Raters from consent to completion code, and who judges what. No network, any clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from random import Random, SystemRandom
from typing import Any, Final
from uuid import UUID

from birdenv.errors import InputError
from birdenv.studies._platform import TAKEN, is_same_visit
from birdenv.studies.rating_round._config import RatingConfig
from birdenv.studies.rating_round._items import Item
from birdenv.studies.rating_round._store import Rater, RatingStore
from birdenv.studies.study._answers import read_answer, read_words

WINNERS: Final = ("left", "right", "tie", "both_bad")
"""What a rater may say of two sides."""


class Ratings:
    """One round of ratings. Safe from any thread.

    Nobody has an item twice. Items with the fewest raters come next, each with as many as the configuration
    asks for. One who comes back goes on with the item that they began.

    Attributes:
        config: the settings.
        items: what is judged, by id.
        store: the database.
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
        """Return a random id."""
        return UUID(int=self._rng.getrandbits(128), version=4).hex

    def agree(self, id: str, external: str | None = None, platform: Mapping[str, str] | None = None) -> Rater:
        """Take a rater in who agreed; one whom the platform sent before goes on if it is the same visit.

        Raises:
            InputError: somebody else rates under this id of the platform, as far as can be told.
        """
        platform = platform or {}
        rater = self.store.add_rater(id, external, platform, self._clock())
        if rater.id != id and not is_same_visit(rater.platform, platform):
            raise InputError(TAKEN)
        return rater

    def progress(self, rater: str) -> tuple[int, int]:
        """Return how many items a rater has judged, and how many they judge at most."""
        most = len(self.items) if self.config.most is None else min(self.config.most, len(self.items))
        return sum(self.store.begun(rater).values()), most

    def next(self, rater: str) -> Item | None:
        """Return what a rater judges now; None when they have finished, and have their code."""
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
        """Keep what a rater says of the item that they have. A page that is sent twice counts once.

        Raises:
            InputError: a needed answer is missing, or one is not possible.
        """
        item = self.items.get(id)
        if item is None or self.store.begun(rater).get(id) is not False:
            return
        said = self._rated(item, fields) if item.other is None else self._compared(item, rater, fields)
        self.store.finish(id, rater, self._clock(), said)

    def is_turned(self, item: Item, rater: str) -> bool:
        """Return True if a rater sees the second dialogue on the left."""
        return Random(f"{self.config.seed}/{item.id}/{rater}").random() < 0.5

    def sides(self, item: Item, rater: str) -> tuple[Any, ...]:
        """Return the dialogues of an item as a rater sees them, from the left."""
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
