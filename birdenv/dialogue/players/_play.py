"""Players play: a dialogue to its end, or until a seat may act that is played from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.move import as_move
from birdenv.dialogue.players._protocol import Player, SeesEnd

SILENT_ROUNDS: Final = 2
"""Rounds in which all open seats are silent; then the dialogue is over as `silence`."""


def play(
    dialogue: Dialogue,
    players: Sequence[Player | None],
    *,
    first: int = 0,
    patience: int = SILENT_ROUNDS,
    most_events: int | None = None,
) -> None:
    """Let players (one a seat, by index) play a dialogue to its end.

    Open seats are asked in index order from `first`. When all of them are silent for `patience` rounds, the
    dialogue is stopped as `silence`; after `most_events` events as `event limit`.

    Raises:
        TypeError: a player returns something that is no move.
    """
    silent = 0
    count = len(players)
    while seats := dialogue.open:
        spoke = False
        for place in range(count):
            seat = (first + place) % count
            player = players[seat]
            if seat not in seats or player is None or seat not in dialogue.open:
                continue
            move = as_move(player.move(dialogue.view(seat)))
            if move is None:
                continue
            dialogue.apply(seat, move)
            spoke = True
            if most_events is not None and len(dialogue.events) >= most_events:
                dialogue.stop("event limit")
        silent = 0 if spoke else silent + 1
        if silent >= patience:
            dialogue.stop("silence")
    for seat, player in enumerate(players):
        if isinstance(player, SeesEnd):
            earned = {"status": dialogue.status, "reward": dialogue.rewards[seat]}
            player.see_end(dialogue.view(seat), {**dialogue.outcome(), **earned})


def advance(dialogue: Dialogue, players: Sequence[Player | None], seat: int) -> int | None:
    """Let the others play until the caller's seat may act or the dialogue is over.

    Every other open seat is asked once, in index order; while the caller's seat may not act, the others go
    on, until all are silent.

    Returns:
        the seat that waits for words from outside, if one does.
    """
    silent = 0
    while seats := dialogue.open:
        if seat in seats and len(seats) == 1:
            return None
        spoke = False
        for other in sorted(seats):
            if other == seat or other not in dialogue.open:
                continue
            player = players[other]
            if player is None:
                return other
            move = as_move(player.move(dialogue.view(other)))
            if move is not None:
                dialogue.apply(other, move)
                spoke = True
        if seat in dialogue.open:
            return None
        silent = 0 if spoke else silent + 1
        if silent >= SILENT_ROUNDS:
            dialogue.stop("silence")
    return None
