"""The dialogue room: games, their dialogues, and the players in their seats. Nothing here knows of SQL.

* `Rules`: what a move comes to in one game; `Seat`, `Action`, `Field` declare its sides.
* `Dialogue`: the append-only log of one episode over its rules; `replay` plays a log again.
* `Player`, `View`, `Move`: one protocol for every seat.
* `Game`, `TaskList`, `Settings`: a registered game; `make_game` gives an `Arena` of it, with episodes.

The shapes of the log follow CoCoA's (events with `agent`, `time`, `action`, `data`; transcripts as
`Example`).
"""

from birdenv.dialogue._arena import Arena, listed, make_game, read_settings
from birdenv.dialogue._chat import chat_messages, read_tool_call, tool_schemas
from birdenv.dialogue._dialogue import Dialogue, DialogueOver, replay
from birdenv.dialogue._episode import Episode, Step, advance
from birdenv.dialogue._event import HOUSE, Event
from birdenv.dialogue._example import Example
from birdenv.dialogue._games import (
    Game,
    Question,
    Settings,
    TaskList,
    find_game,
    game_names,
    register_game,
)
from birdenv.dialogue._measures import Details, GameMeasures, Measure, Record
from birdenv.dialogue._move import Move, View
from birdenv.dialogue._players import (
    AGENTS,
    USERS,
    Player,
    PlayerContext,
    PlayerSpec,
    play,
    player_names,
    seat_rng,
)
from birdenv.dialogue._rules import Reply, Rules
from birdenv.dialogue._seat import Action, Field, Seat
from birdenv.dialogue._usage import ReportsUsage, Usage, usage_of

__all__ = [
    "AGENTS",
    "HOUSE",
    "USERS",
    "Action",
    "Arena",
    "Details",
    "Dialogue",
    "DialogueOver",
    "Episode",
    "Event",
    "Example",
    "Field",
    "Game",
    "GameMeasures",
    "Measure",
    "Move",
    "Player",
    "PlayerContext",
    "PlayerSpec",
    "Question",
    "Record",
    "Reply",
    "ReportsUsage",
    "Rules",
    "Seat",
    "Settings",
    "Step",
    "TaskList",
    "Usage",
    "View",
    "advance",
    "chat_messages",
    "find_game",
    "game_names",
    "listed",
    "make_game",
    "play",
    "player_names",
    "read_settings",
    "read_tool_call",
    "register_game",
    "replay",
    "seat_rng",
    "tool_schemas",
    "usage_of",
]
