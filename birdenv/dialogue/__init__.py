"""The dialogue room: games, their dialogues, and the players in their seats. Nothing here knows of SQL.

* `Rules`: what a move comes to in one game; `Seat`, `Action`, `Field` declare its sides.
* `Dialogue`: the append-only log of one episode over its rules; `replay` plays a log again.
* `Player`, `View`, `Move`: one protocol for every seat.
* `Game`, `TaskList`, `Settings`: a registered game; `make_game` gives an `Arena` of it, with episodes.

The shapes of the log follow CoCoA's (events with `agent`, `time`, `action`, `data`; transcripts as
`Example`).
"""

from birdenv.dialogue.arena import Arena, make_game
from birdenv.dialogue.chat import tools_as
from birdenv.dialogue.dialogue import Dialogue, DialogueOver, replay, seen_by
from birdenv.dialogue.episode import Episode
from birdenv.dialogue.games import Game
from birdenv.dialogue.move import Event, Move, View
from birdenv.dialogue.players import Player, PlayerContext, play
from birdenv.dialogue.rules import Reply, Rules
from birdenv.dialogue.seat import Action, Field, Seat
from birdenv.dialogue.usage import Usage

__all__ = [
    "Action",
    "Arena",
    "Dialogue",
    "DialogueOver",
    "Episode",
    "Event",
    "Field",
    "Game",
    "Move",
    "Player",
    "PlayerContext",
    "Reply",
    "Rules",
    "Seat",
    "Usage",
    "View",
    "make_game",
    "play",
    "replay",
    "seen_by",
    "tools_as",
]
