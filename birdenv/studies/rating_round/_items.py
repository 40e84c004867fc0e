"""What is judged: one seat of a dialogue, or that of two dialogues on one task, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from itertools import combinations
from typing import NamedTuple

from birdenv.errors import BirdenvError, InputError
from birdenv.studies.rating_round._config import RatingConfig
from birdenv.studies.replay import RecordedDialogue, SeatView


class Item(NamedTuple):
    """One seat of a dialogue or, with `other`, of two; who sat there differs."""

    seat: int
    record: RecordedDialogue
    other: RecordedDialogue | None = None

    @property
    def id(self) -> str:
        """Tell the item from others; it says nothing of who talked, and stands in pages."""
        said = " ".join([*(each.id for each in self.sides), self.seat_name])
        return sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]

    @property
    def seat_name(self) -> str:
        """The name of the judged seat."""
        return self.record.seats[self.seat]

    @property
    def sides(self) -> tuple[RecordedDialogue, ...]:
        """The dialogues."""
        return (self.record,) if self.other is None else (self.record, self.other)


def items_of(records: Iterable[RecordedDialogue], config: RatingConfig) -> list[Item]:
    """Return what is to be judged; dialogues in which nobody said a word are left out.

    Raises:
        InputError: there is nothing, or a seat that no dialogue has is named.
    """
    seated = [(record, seat) for record in records if _has_words(record) for seat in _seats(record, config)]
    single = config.compare is None
    made = [Item(seat, record) for record, seat in seated] if single else list(_pairs(seated))
    if made:
        return made
    where = f" with a seat named {' or '.join(config.seats)}" if config.seats else ""
    if single:
        raise InputError(f"there is no dialogue to rate{where}")
    raise InputError(f"there is nothing to compare: no task has dialogues of two systems{where}")


def side_of(record: RecordedDialogue, seat: int, config: RatingConfig) -> SeatView:
    """Return what raters see of one side: the dialogue from the seat's eyes, or its last move alone."""
    try:
        view = record.view(seat)
    except BirdenvError:  # of a file of others, or the data are gone
        view = record.everything(seat)
    if config.compare != "answers":
        return view
    own = [line for line in view.lines if line["seat"] == record.seats[seat] and not line["refused"]]
    return view._replace(lines=[{**line, "reply": None} for line in own[-1:]])


def _has_words(record: RecordedDialogue) -> bool:
    try:
        events = record.load()
    except BirdenvError:
        return True  # raters are shown why
    return any(isinstance(event.data, str) and event.data.strip() for event in events if event.agent >= 0)


def _seats(record: RecordedDialogue, config: RatingConfig) -> list[int]:
    if config.seats is None:
        return [0 if record.arena is None else record.arena.game.evaluated]
    return [seat for seat, name in enumerate(record.seats) if name in config.seats]


def _pairs(seated: Iterable[tuple[RecordedDialogue, int]]) -> Iterable[Item]:
    """The first dialogue of each system with the first of each other one on the task, and so on."""
    groups: dict[tuple[str, str, int], dict[str, list[RecordedDialogue]]] = {}
    for record, seat in seated:
        systems = groups.setdefault((record.game, record.task, seat), {})
        systems.setdefault(record.players[seat], []).append(record)
    for (_, _, seat), systems in groups.items():
        for one, two in combinations(sorted(systems), 2):
            for left, right in zip(systems[one], systems[two], strict=False):
                yield Item(seat, left, right)
