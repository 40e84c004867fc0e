"""Load a study's game, and check that the study's players can sit in the game's seats."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from birdenv.dialogue import Arena, Game, make_game
from birdenv.dialogue.games import find_game
from birdenv.dialogue.players import close_players
from birdenv.errors import BirdenvError, InputError
from birdenv.studies.study._config import StudyConfig
from birdenv.studies.study._running_dialogue import seat_factory
from birdenv.studies.study._store import Store


def study_arena(game: str | Game, config: StudyConfig, settings: Mapping[str, Any]) -> Arena:
    """Load a game and its tasks for a study. `Game.with_people` supplies defaults for missing settings.

    Raises:
        InputError: the game, a setting, a player or a file cannot be used.
    """
    found = find_game(game) if isinstance(game, str) else game
    check_players(found, config)
    defaults: dict[str, Any] = {}
    for seat in seats_of_people(found, config):
        defaults |= found.with_people.get(seat, {})
    arena = make_game(found, **{**defaults, **settings})
    try:
        _make_players_once(arena, config)
    except BaseException:
        arena.close()
        raise
    return arena


def check_players(game: Game, config: StudyConfig) -> None:
    """Check that the seats and players in a study's configuration exist.

    Raises:
        InputError: a seat or a player does not exist.
    """
    for seat, spec in _players(game, config):
        try:
            seat_factory(game, seat, spec)
        except InputError as error:
            raise InputError(f"{error}{_missing_seat(game, config, seat, spec)}") from None


def _missing_seat(game: Game, config: StudyConfig, seat: int, spec: str) -> str:
    """Return a hint about the configuration if a player can sit only in the other seat."""
    if config.seat is not None or len(game.seats) != 2:
        return ""
    try:
        seat_factory(game, 1 - seat, spec)
    except InputError:
        return ""
    name, other = game.seat_names[seat], game.seat_names[1 - seat]
    return f'. {spec!r} can only be the {other}, so people must be the {name}: write "seat": "{name}"'


def _players(game: Game, config: StudyConfig) -> Iterator[tuple[int, str]]:
    """Yield the players of a study with the seats in which they may sit."""
    taken = None if config.seat is None else game.seat_index(config.seat)
    for partner in config.partners.values():
        for seat in range(len(game.seats)):
            if partner.player is not None and seat != taken:
                yield seat, partner.player


def _make_players_once(arena: Arena, config: StudyConfig) -> None:
    """Create each player once, so that errors such as a missing API key are found before people wait."""
    task = arena.ids[0]
    for seat, spec in _players(arena.game, config):
        factory, argument = seat_factory(arena.game, seat, spec)
        dialogue = arena.start(task)
        try:
            close_players([factory(argument, arena.context(dialogue, task, seat))])
        except BirdenvError as error:
            raise InputError(f"the player {spec!r} cannot play: {error}") from None
        finally:
            dialogue.close()


def seats_of_people(game: Game, config: StudyConfig) -> tuple[str, ...]:
    """Return the seats that people may sit in."""
    if config.seat is None or any(each.player is None for each in config.partners.values()):
        return game.seat_names
    return (game.seat_names[game.seat_index(config.seat)],)


def keep_settings(arena: Arena, store: Store) -> None:
    """Store the game and the settings of a new study, or compare them with those of an existing study.

    Raises:
        InputError: the study was begun with a different game or different settings.
    """
    settings = arena.settings.model_dump(mode="json")
    told = json.dumps({"game": arena.game.name, "settings": settings}, sort_keys=True)
    store.setting("game", told)
    begun = store.game()
    before = begun["settings"]
    if begun["game"] != arena.game.name:
        why = f"{begun['game']}, not {arena.game.name}"
    elif before != settings:
        names = sorted(name for name in {*before, *settings} if before.get(name) != settings.get(name))
        why = ", ".join(f"{name} {before.get(name)!r} (now {settings.get(name)!r})" for name in names)
    else:
        return
    raise InputError(
        f"this study was started with {why}: use the same settings, or choose a different folder"
    )
