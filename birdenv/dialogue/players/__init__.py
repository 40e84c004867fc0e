"""The protocol for players, functions that create players, and the loops that ask players for moves."""

from birdenv.dialogue.players._player import (
    SILENT_ROUNDS,
    Player,
    PlayerContext,
    PlayerFactory,
    SeatError,
    Watched,
    advance,
    close_players,
    play,
    seat_rng,
)
from birdenv.dialogue.players._specs import (
    AGENTS,
    USERS,
    PlayerSpec,
    as_factory,
    player_names,
    plays,
    refuse_async,
)

__all__ = [
    "AGENTS",
    "SILENT_ROUNDS",
    "USERS",
    "Player",
    "PlayerContext",
    "PlayerFactory",
    "PlayerSpec",
    "SeatError",
    "Watched",
    "advance",
    "as_factory",
    "close_players",
    "play",
    "player_names",
    "plays",
    "refuse_async",
    "seat_rng",
]
