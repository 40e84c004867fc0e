"""Players: their protocol, their creation from specs, objects or functions, and the loops that play them."""

from birdenv.dialogue.players._player import (
    SILENT_ROUNDS,
    Player,
    PlayerContext,
    PlayerFactory,
    SeatError,
    SeesEnd,
    Watched,
    advance,
    play,
    seat_rng,
)
from birdenv.dialogue.players._specs import AGENTS, USERS, PlayerSpec, as_factory, player_names, plays

__all__ = [
    "AGENTS",
    "SILENT_ROUNDS",
    "USERS",
    "Player",
    "PlayerContext",
    "PlayerFactory",
    "PlayerSpec",
    "SeatError",
    "SeesEnd",
    "Watched",
    "advance",
    "as_factory",
    "play",
    "player_names",
    "plays",
    "seat_rng",
]
