"""The game of a study: its settings where people play, and who may sit where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birdenv.dialogue import Arena, Game, make_game
from birdenv.dialogue.games import find_game
from birdenv.web.study._config import StudyConfig
from birdenv.web.study._running_dialogue import seat_factory


def study_arena(game: str | Game, config: StudyConfig, settings: Mapping[str, Any]) -> Arena:
    """Load a game for a study: settings that are not given have the game's defaults for people's seats.

    Raises:
        InputError: the game, a setting, a player or a file cannot be used.
    """
    found = find_game(game) if isinstance(game, str) else game
    check_players(found, config)
    defaults: dict[str, Any] = {}
    for seat in seats_of_people(found, config):
        defaults |= found.with_people.get(seat, {})
    return make_game(found, **{**defaults, **settings})


def check_players(game: Game, config: StudyConfig) -> None:
    """Check seats and players before anybody waits for them.

    Raises:
        InputError: one does not exist.
    """
    taken = None if config.seat is None else game.seat_index(config.seat)
    for partner in config.partners.values():
        for seat in range(len(game.seats)):
            if partner.player is not None and seat != taken:
                seat_factory(game, seat, partner.player)


def seats_of_people(game: Game, config: StudyConfig) -> tuple[str, ...]:
    """Return the seats in which people may sit."""
    if config.seat is None or any(each.player is None for each in config.partners.values()):
        return game.seat_names
    return (game.seat_names[game.seat_index(config.seat)],)
