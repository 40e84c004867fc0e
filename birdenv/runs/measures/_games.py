"""How the game of a recorded run is measured: the one place where a game's name leads to its measures."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final

from birdenv.cocoa.games._measures import BARGAIN, DEAL_OR_NO_DEAL, MUTUAL_FRIENDS
from birdenv.dialogue.measures import GameMeasures, Measure, Record
from birdenv.tasks.bird.measures import BIRD
from birdenv.tasks.interact.measures import A_INTERACT, C_INTERACT

_GAMES: Final[Mapping[str, GameMeasures]] = {
    "bird": BIRD,
    "c-interact": C_INTERACT,
    "a-interact": A_INTERACT,
    "mutual-friends": MUTUAL_FRIENDS,
    "bargain": BARGAIN,
    "deal-or-no-deal": DEAL_OR_NO_DEAL,
}


def _reward(run: Record) -> float | None:
    reward = run.get("reward")
    return None if reward is None else float(reward)


_UNKNOWN: Final = GameMeasures(
    (
        Measure(
            "reward",
            "Mean reward",
            _reward,
            is_rate=False,
            least=-inf,
            most=inf,
            silent="whose record has no reward",
        ),
    )
)


def game_measures(game: str) -> GameMeasures:
    """Give the measures of the game that `config.json` names; of an unknown game, its reward."""
    return _GAMES.get(game, _UNKNOWN)
