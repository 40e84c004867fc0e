"""Players of the toy game, in the forms that a player may have."""

from __future__ import annotations

from typing import Any

from birdenv.dialogue import Move, PlayerContext, View


def keeper(view: View) -> Move:
    """Says how the last guess was, out of what it may see."""
    number = int(view.instruction.removeprefix("Your number is ").rstrip("."))
    guesses = [event.data for event in view.heard if event.action == "guess"]
    return Move("hint", "higher" if not guesses or guesses[-1] < number else "lower", {"number": number})


class Bisection:
    """Halves the range by hints; a new object for each episode."""

    def __init__(self) -> None:
        self.low, self.high, self.last = 0, 99, -1

    def move(self, view: View) -> Move:
        if view.message == "Wrong.":
            return Move("ask", "Is it higher?")
        if self.last >= 0:
            self.low, self.high = (
                (self.last + 1, self.high) if view.message == "higher" else (self.low, self.last - 1)
            )
        self.last = (self.low + self.high) // 2
        return Move("guess", self.last)


def guesser(argument: str, context: PlayerContext) -> Any:
    """A factory with an argument: guesses at random from there on."""
    start = int(argument or 0)
    return lambda_player(lambda view: Move("guess", context.rng.randrange(start, 100)))


class lambda_player:  # noqa: N801
    def __init__(self, function: Any) -> None:
        self.move = function
