"""The dialogue room: an append-only event log between two seats, and the state machine over it.

A `Controller` holds the rules of a game and is stepped by pushing one move at a time; everything that
drives it (Gymnasium, PettingZoo, `play`, the batch runner) is free of rules. The shapes follow CoCoA's
(events with `agent`, `time`, `action`, `data`; transcripts as `Example`), so that its files can be read and
written. Nothing here knows of SQL.
"""

from birdenv.dialogue._controller import Controller, Move, Session, play
from birdenv.dialogue._event import Event
from birdenv.dialogue._example import Example
from birdenv.dialogue._measures import Details, GameMeasures, Measure, Record

__all__ = [
    "Controller",
    "Details",
    "Event",
    "Example",
    "GameMeasures",
    "Measure",
    "Move",
    "Record",
    "Session",
    "play",
]
