"""A game of two seats without SQL, in as few lines as a game takes: guess a number, with hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from birdenv.dialogue import Action, Field, Game, Move, Reply, Rules, Seat
from birdenv.dialogue.games import Settings, TaskList
from birdenv.dialogue.measures import GameMeasures, Measure, Record

GUESS = Action("guess", (Field("number", "integer", 0, 99),), "Guess the number.")
SEATS = (
    Seat("guesser", (Action("ask", (Field("words"),)), GUESS), ("keeper", "judge"), {"turns_left": 9}),
    Seat("keeper", (Action("hint", (Field("words"),)),), ("guesser", "judge")),
)


class Guess(Rules):
    seats = SEATS

    def __init__(self, number: int) -> None:
        self.number, self.left, self.asked = number, 9, False

    def open(self) -> tuple[int, ...]:
        return () if self.status else (1,) if self.asked else (0,)

    def legal(self, seat: int) -> tuple[str, ...]:
        return self.seats[seat].kinds

    def instruction(self, seat: int) -> str:
        return f"Your number is {self.number}." if seat else "Guess my number: a whole number below 100."

    def gauges(self, seat: int) -> Mapping[str, float]:
        return {} if seat else {"turns_left": self.left}

    def private_brief(self, seat: int) -> int | None:
        return self.number if seat else None

    def play(self, seat: int, move: Move) -> Reply:
        self.asked = move.action == "ask"
        if move.action != "guess":
            return Reply()
        self.left -= 1
        if move.data == self.number or not self.left:
            self.status, self.rewards = "completed", (float(move.data == self.number),) * 2
        return Reply("Right." if self.rewards[0] else "Wrong.")


class GuessAtOnce(Guess):
    """Both seats may act at any time, and be silent."""

    seats = tuple(replace(seat, waits=True) for seat in SEATS)

    def open(self) -> tuple[int, ...]:
        return () if self.status else (0, 1)


class Numbers(Settings):
    numbers: tuple[int, ...] = (7, 42, 64)


class Tasks(TaskList):
    def start(self, instance_id: str) -> Rules:
        return Guess(int(instance_id))


class TasksAtOnce(TaskList):
    def start(self, instance_id: str) -> Rules:
        return GuessAtOnce(int(instance_id))


def _load(settings: Numbers) -> TaskList:
    return TasksAtOnce([str(number) for number in settings.numbers])


def _guesses(record: Record) -> float | None:
    """Guesses of an episode; one that never began has none."""
    if "example" not in record:
        return None
    return float(sum(event["action"] == "guess" for event in record["example"]["events"]))


MEASURES = GameMeasures(
    (
        Measure("found", "Numbers found", lambda record: record.get("reward")),
        Measure("guesses", "Guesses", _guesses, is_rate=False, most=9.0, less_is_better=True),
    )
)
AT_ONCE = Game("guess-at-once", GuessAtOnce.seats, Numbers, _load)
GAME = Game(
    "guess",
    SEATS,
    Numbers,
    lambda settings: Tasks([str(n) for n in settings.numbers]),
    measures=MEASURES,
)
