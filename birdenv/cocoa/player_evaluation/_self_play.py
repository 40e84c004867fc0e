"""How players play a game with each other: successes, lengths and rewards over some dialogues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

from birdenv.dialogue import Dialogue, Game, make_game, play


@dataclass
class SelfPlay:
    """What became of dialogues between players.

    Attributes:
        players: their names.
        successes: for each dialogue, True if it came to what the game wants of both: the same friend, a deal.
        events: the length of each.
        selections: all moves called `select`.
        rewards: of each dialogue, by player.
    """

    players: Sequence[str]
    successes: list[bool] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    selections: int = 0
    rewards: list[tuple[float, ...]] = field(default_factory=list)

    def add(self, dialogue: Dialogue, turned: int = 0) -> None:
        """Add a finished dialogue; `turned` seats on, the one who sits in the first seat comes."""
        outcome = dialogue.outcome()
        self.successes.append(bool(outcome.get("valid_deal", outcome.get("reward"))))
        self.events.append(len(dialogue.events))
        self.selections += sum(event.action == "select" for event in dialogue.events)
        self.rewards.append(dialogue.rewards[turned:] + dialogue.rewards[:turned])

    def figures(self) -> dict[str, Any]:
        """Return the figures by name; null where one is not defined."""
        found = sum(self.successes)
        return {
            "dialogues": len(self.successes),
            "success": round(mean(self.successes), 4),
            "median_events": median(self.events),
            "success_per_select": round(found / self.selections, 4) if self.selections else None,
            "rewards": [round(mean(each), 4) for each in zip(*self.rewards, strict=True)],
        }


def self_play(
    game: Game,
    players: Sequence[str],
    number: int,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
    settings: Mapping[str, Any] | None = None,
    turning: bool = True,
) -> SelfPlay:
    """Let players hold dialogues on the game's tasks.

    They change seats in the second half, and the seats begin in turn.

    Args:
        game: the game.
        players: specs, as many as seats; figures follow their order.
        number: how many dialogues; after the last task comes the first again.
        seed: seeds the players.
        progress: is told the share of the dialogues that is done.
        settings: of the game.
        turning: they change seats.
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
                found.add(dialogue, turned)
                progress((place + 1) / number)
            done += count
    return found
