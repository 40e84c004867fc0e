"""A game of two seats without SQL, in as few lines as a game takes: guess a number, with one hint a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birdenv.dialogue import Action, Field, Move, Reply, Rules, Seat, TaskList

GUESSER = Seat(
    "guesser",
    (Action("ask", (Field("words"),)), Action("guess", (Field("number", "integer", 0, 99),))),
    ("keeper", "judge"),
    {"turns_left": 9},
)
KEEPER = Seat("keeper", (Action("hint", (Field("words"),)),), ("guesser", "judge"))


class Guess(Rules):
    """The keeper knows a number; the guesser asks for hints and guesses."""

    seats = (GUESSER, KEEPER)

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

    def play(self, seat: int, move: Move) -> Reply:
        self.asked = move.action == "ask"
        if move.action != "guess":
            return Reply()
        self.left -= 1
        if move.data == self.number or not self.left:
            won = move.data == self.number
            self.status, self.rewards = "completed", (float(won), float(won))
        return Reply("Right." if self.rewards[0] else "Wrong.")


class Numbers(TaskList):
    """The episodes: one a number."""

    def start(self, instance_id: str) -> Rules:
        return Guess(int(instance_id))


def episodes(settings: Any) -> Numbers:
    return Numbers([str(number) for number in settings.numbers])
