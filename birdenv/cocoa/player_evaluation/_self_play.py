"""Let players play a game with each other, and record successes, lengths and rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import median
from typing import Any

from birdenv.dialogue import Dialogue, Game, make_game, play
from birdenv.statistics import Figure, Ratio, ratio_figure


@dataclass
class SelfPlay:
    """The results of dialogues between players.

    Attributes:
        players: the players, such as `learned:FILE`.
        successes: True for each dialogue that reached the game's goal, such as a deal.
        events: the number of events in each dialogue.
        selections: the total number of `select` moves.
        rewards: the rewards in each dialogue, in the order of `players`.
        tasks: the id of each dialogue's task, because dialogues about the same task are not independent.
        optimal: True for each deal that was Pareto-optimal (see `is_optimal`); None for dialogues without a
            deal, and for games that do not divide things.
    """

    players: Sequence[str]
    successes: list[bool] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    selections: int = 0
    rewards: list[tuple[float, ...]] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    optimal: list[bool | None] = field(default_factory=list)

    def add(self, dialogue: Dialogue, task: str, turned: int = 0) -> None:
        """Add the results of a finished dialogue.

        Args:
            dialogue: the dialogue.
            task: the id of the dialogue's task.
            turned: the index of the seat of `players[0]`.
        """
        outcome = dialogue.outcome()
        self.successes.append(bool(outcome.get("valid_deal", outcome.get("reward"))))
        self.events.append(len(dialogue.events))
        self.selections += sum(event.action == "select" for event in dialogue.events)
        self.rewards.append(dialogue.rewards[turned:] + dialogue.rewards[:turned])
        self.tasks.append(task)
        divides = "item_split" in outcome and self.successes[-1]
        kbs = [dialogue.rules.knowledge(seat) for seat in range(len(self.players))]
        self.optimal.append(is_optimal(kbs, outcome["item_split"]) if divides else None)

    def figures(self) -> dict[str, Any]:
        """Return all results, keyed by name. An undefined result is None or a `Figure` without a value."""
        found = sum(self.successes)
        return {
            "dialogues": len(self.successes),
            "success": self._figure(self.successes, is_rate=True),
            "events": self._figure(self.events),
            "median_events": median(self.events),
            "success_per_select": round(found / self.selections, 4) if self.selections else None,
            "rewards": [self._figure(each) for each in zip(*self.rewards, strict=True)],
            "pareto": self._figure(self.optimal, is_rate=True),
        }

    def _figure(self, values: Sequence[float | None], *, is_rate: bool = False) -> Figure:
        """Return the mean of values, with a confidence interval over tasks."""
        pairs = [
            (float(value), task) for value, task in zip(values, self.tasks, strict=True) if value is not None
        ]
        return ratio_figure(
            [Ratio(value) for value, _ in pairs], [task for _, task in pairs], is_rate=is_rate
        )


def is_optimal(kbs: Sequence[Sequence[Mapping[str, Any]]], split: Sequence[Mapping[str, int]]) -> bool:
    """Return True if a division of the things is Pareto-optimal.

    A division is Pareto-optimal if no other division is better for one seat without being worse for the
    other.

    Args:
        kbs: the knowledge of each seat, which lists the kinds of things with their counts and values.
        split: the number of things of each kind that each seat gets.
    """
    values = [[kind["Value"] for kind in kb] for kb in kbs]
    counts = [kind["Count"] for kind in kbs[0]]

    def points(first: Sequence[int]) -> tuple[int, int]:
        mine = sum(value * taken for value, taken in zip(values[0], first, strict=True))
        pairs = zip(values[1], counts, first, strict=True)
        return mine, sum(value * (count - taken) for value, count, taken in pairs)

    made = points([split[0][kind["Name"]] for kind in kbs[0]])
    shares = map(points, product(*(range(count + 1) for count in counts)))
    return not any(
        other != made and all(a >= b for a, b in zip(other, made, strict=True)) for other in shares
    )


def self_play(
    game: Game,
    players: Sequence[str],
    number: int,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
    settings: Mapping[str, Any] | None = None,
    turning: bool = True,
) -> SelfPlay:
    """Let players play a game's tasks with each other, and return the results.

    The seats take turns in making the first move of a dialogue.

    Args:
        game: the game.
        players: a player for each seat, such as `learned:FILE`. Results are listed in this order.
        number: the number of dialogues; tasks are repeated if the game has fewer tasks.
        seed: the seed for the players.
        progress: a function that is called with the completed share of the dialogues, from 0 to 1.
        settings: the settings of the game; None for its defaults.
        turning: True to swap the players' seats after the first half of the dialogues.
    """
    found = SelfPlay(players)
    done = 0
    halves = (number - number // 2, number // 2) if turning else (number,)
    for turned, count in enumerate(halves):
        sitting = [*players[-turned:], *players[:-turned]] if turned else players
        seats = dict(zip(game.seat_names, sitting, strict=True))
        with make_game(game, **(settings or {}), **seats) as arena:
            for place in range(done, done + count):
                repeat, task = divmod(place, len(arena.ids))
                instance_id = arena.ids[task]
                dialogue = arena.start(instance_id)
                seated = arena.seat_players(dialogue, instance_id, seed=seed, repeat=repeat)
                play(dialogue, seated, first=place % len(seated))
                dialogue.close()
                found.add(dialogue, instance_id, turned)
                progress((place + 1) / number)
            done += count
    return found
