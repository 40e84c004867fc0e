"""Games, their dialogues, and the players in their seats. Nothing in this package depends on SQL.

* `Rules` decide what each move in a game does; `Seat`, `Action` and `Field` declare the roles in a game and
  their possible moves.
* `Dialogue` passes the moves of one episode to the rules and logs them; `replay` restores a dialogue from its
  log.
* `Player`, `View` and `Move` are the protocol between a dialogue and the players in its seats.
* `Game`, `TaskList` and `Settings` describe a registered game; `make_game` returns an `Arena`, which starts
  episodes of the game.

The log has the format of CoCoA's logs: events with `agent`, `time`, `action` and `data`. `Example` is the
format of a whole transcript.
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
