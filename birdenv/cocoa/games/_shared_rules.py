"""Settings and rules that CoCoA's games share: the scenarios, and which seat may speak when."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Final

import pydantic
from pydantic import field_validator

from birdenv.cocoa.files import Scenario, Schema, read_scenarios, read_schema
from birdenv.dialogue import Action, Field, Move, Reply, Rules
from birdenv.dialogue.games import Settings
from birdenv.dialogue.people import ActionWords
from birdenv.dialogue.seat import Fault
from birdenv.files import file_identity

MOST_EVENTS: Final = 1000
"""The largest setting of `max_events`."""

GENERATED = 200
"""The number of scenarios that are generated if `limit` is not set."""


class ScenarioSettings(Settings):
    """Settings of CoCoA's games."""

    scenarios: str | None = pydantic.Field(None, description="File of scenarios (default: generated ones).")
    limit: int | None = pydantic.Field(None, ge=1, description="Play the first N scenarios only.")
    scenario_seed: int = pydantic.Field(0, description="Seed for generated scenarios.")
    max_events: int = pydantic.Field(
        46, ge=1, le=MOST_EVENTS, description="Number of moves after which a dialogue is truncated."
    )
    cross_talk: bool = pydantic.Field(
        False, description="Both seats may speak at any time, not only in turn."
    )

    @field_validator("scenarios", "schema_file", "listings", check_fields=False)
    @classmethod
    def _from_any_folder(cls, file: str | None) -> str | None:
        """Return the absolute path, because runs and studies may be opened from another folder."""
        return None if file is None else str(Path(file).absolute())

    @property
    def number(self) -> int:
        """Return the number of scenarios to generate."""
        return self.limit or GENERATED

    def identity(self) -> Hashable:
        return file_identity(None if self.scenarios is None else Path(self.scenarios))

    def read(self) -> list[Scenario] | None:
        """Return the scenarios of the file, or None if no file is set.

        Raises:
            InputError: the file cannot be used.
        """
        if self.scenarios is None:
            return None
        return read_scenarios(Path(self.scenarios), self.read_schema())[: self.limit]

    def read_schema(self) -> Schema | None:
        """Return the schema for generated scenarios and for scenarios without attributes, or None."""
        return None


class SchemaSettings(ScenarioSettings):
    """Settings of a game whose scenarios can be generated from a custom schema."""

    schema_file: str | None = pydantic.Field(
        None, description="Schema for generated scenarios (default: a small one)."
    )

    def identity(self) -> Hashable:
        return (
            super().identity(),
            file_identity(None if self.schema_file is None else Path(self.schema_file)),
        )

    def read_schema(self) -> Schema | None:
        return None if self.schema_file is None else read_schema(Path(self.schema_file))


MESSAGE: Final = Action("message", (Field("text", max_length=4096),), "Say something to the other.")

MESSAGE_WORDS: Final = ActionWords("Send", "Write to your partner")

_FEW: Final = 10
"""People are told the number of remaining moves when there are no more than this."""


class TwoSeats(Rules):
    """A game of two seats, which may speak at any time or, without cross-talk, not twice in a row.

    Subclasses implement `decide`, which plays all moves except messages.
    """

    def __init__(self, kbs: Any, cross_talk: bool, max_events: int) -> None:
        self.kbs = kbs
        self.left = max_events
        self._cross_talk = cross_talk
        self._last: int | None = None  # who spoke last

    def open(self) -> tuple[int, ...]:
        if self.status:
            return ()
        return (0, 1) if self._cross_talk or self._last is None else (1 - self._last,)

    def gauges(self, seat: int) -> Mapping[str, float]:
        return {"events_left": self.left}

    def left_in_words(self, seat: int) -> str:
        if self.left > _FEW or self.status:
            return ""
        messages = "message" if self.left == 1 else "messages"
        return f"Only {self.left} more {messages} can be sent, by both of you together."

    def knowledge(self, seat: int) -> Any:
        return self.kbs[seat]

    def decide(self, seat: int, move: Move) -> Reply:
        """Play a move that is not a message."""
        raise NotImplementedError

    def play(self, seat: int, move: Move) -> Reply:
        reply = Reply() if move.action == MESSAGE.name else self.decide(seat, move)
        if not reply.refused:
            self._last = seat
        self._count()
        return reply

    def refuse(self, seat: int, move: Move, why: Fault) -> Reply:
        self._count()
        return super().refuse(seat, move, why)

    def _count(self) -> None:
        self.left -= 1
        if not self.left and not self.status:
            self.stop("event limit")
