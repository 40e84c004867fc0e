"""Settings, rules and task lists that CoCoA's games share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pydantic
from pydantic import TypeAdapter, ValidationError, field_validator

from birdenv.cocoa.files import Attribute, Scenario, Schema, game_of_knowledge, read_scenarios, read_schema
from birdenv.dialogue import Action, Field, Move, Reply, Rules
from birdenv.dialogue.games import Settings, TaskList
from birdenv.dialogue.people import ActionWords
from birdenv.dialogue.seat import Fault
from birdenv.errors import InputError
from birdenv.files import file_digest, file_identity

MOST_EVENTS: Final = 1000
"""The maximum value of the setting `max_events`."""

GENERATED = 200
"""The number of scenarios that are generated if `limit` is not set."""


_FILES: Final = ("scenarios", "schema_file", "listings")
"""The settings that name files, each of which some games have."""


class ScenarioSettings(Settings):
    """Settings shared by all CoCoA games."""

    scenarios: str | None = pydantic.Field(None, description="Scenario file (default: generate scenarios).")
    limit: int | None = pydantic.Field(None, ge=1, description="Play only the first N scenarios.")
    scenario_seed: int = pydantic.Field(0, description="Seed for generated scenarios.")
    max_events: int = pydantic.Field(
        46, ge=1, le=MOST_EVENTS, description="Number of moves after which a dialogue is truncated."
    )
    cross_talk: bool = pydantic.Field(
        False, description="Let both seats speak at any time, not only in turn."
    )

    @field_validator(*_FILES, check_fields=False)
    @classmethod
    def _from_any_folder(cls, file: str | None) -> str | None:
        """Return the absolute path, because runs and studies may be opened from a different folder."""
        return None if file is None else str(Path(file).absolute())

    @property
    def number(self) -> int:
        """Return the number of scenarios to generate if no scenario file is set."""
        return self.limit or GENERATED

    def identity(self) -> Hashable:
        paths = (getattr(self, name, None) for name in _FILES)
        return file_identity(*(Path(path) for path in paths if path is not None))

    def generated(self) -> list[Scenario]:
        """Generate scenarios, for use if no scenario file is set.

        Raises:
            InputError: a file or a setting cannot be used.
        """
        raise NotImplementedError

    def read(self) -> list[Scenario]:
        """Return the scenarios in the file, or generated scenarios if no file is set.

        Raises:
            InputError: a file or a setting cannot be used.
        """
        if self.scenarios is None:
            return self.generated()
        return read_scenarios(Path(self.scenarios), self.read_schema())[: self.limit]

    def read_schema(self) -> Schema | None:
        """Return the schema for generated scenarios and for scenarios without attributes, or None."""
        return None


class SchemaSettings(ScenarioSettings):
    """Settings for a game whose scenarios can be generated from a custom schema."""

    schema_file: str | None = pydantic.Field(
        None, description="Schema for generated scenarios (default: a small built-in schema)."
    )

    def read_schema(self) -> Schema | None:
        return None if self.schema_file is None else read_schema(Path(self.schema_file))


MESSAGE: Final = Action("message", (Field("text", max_length=4096),), "Say something to the other player.")

MESSAGE_WORDS: Final = ActionWords("Send", "Write to your partner")

_FEW: Final = 10
"""People see how many moves are left when this many or fewer remain."""


class TwoSeats(Rules):
    """A base class for two-seat rules. Subclasses implement `decide`, which plays moves other than messages.

    Args:
        kbs: the knowledge of each seat.
        cross_talk: True to let both seats move at any time, False to let them take turns.
        max_events: the number of moves after which the dialogue is truncated.
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
        """Play a move that is not a message, and return the reply to the seat that made it."""
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


class ScenarioTasks(TaskList):
    """A list of tasks, each with one scenario.

    Players see only the public part of a scenario. Transcripts contain the whole scenario.

    Args:
        scenarios: the scenarios.
        settings: the game's settings.
        start: a function that returns the rules for an episode on a scenario; it raises `ValueError` if the
            knowledge of the two seats does not match.
        knowledge: the type that each seat's knowledge must match.

    Raises:
        InputError: a scenario cannot be played.
    """

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        settings: ScenarioSettings,
        start: Callable[[Scenario, Any], Rules],
        knowledge: type[Any],
    ) -> None:
        super().__init__([scenario.uuid for scenario in scenarios])
        self._scenarios = {scenario.uuid: scenario for scenario in scenarios}
        self._public = [scenario.public() for scenario in scenarios]
        self._places = {scenario.uuid: place for place, scenario in enumerate(scenarios)}
        self._settings = settings
        self._start = start
        shape: TypeAdapter[Any] = TypeAdapter(list[knowledge])  # type: ignore[valid-type]
        for scenario in scenarios:  # before the first episode, not in the middle of a run
            try:
                shape.validate_python(scenario.kbs)
                start(scenario, settings)
            except ValueError as error:
                where = settings.scenarios or "a generated scenario"
                raise InputError(
                    f"{where}: the scenario {scenario.uuid!r} cannot be played: {_why(error, scenario.kbs)}"
                ) from None

    def start(self, instance_id: str) -> Rules:
        return self._start(self._scenarios[instance_id], self._settings)

    def public(self, instance_id: str) -> Any:
        return self._public[self._places[instance_id]]

    def all_public(self) -> Sequence[Any]:
        return self._public

    def scenario(self, instance_id: str) -> Mapping[str, Any]:
        return self._scenarios[instance_id].to_json()

    def config(self) -> dict[str, Any]:
        settings = self._settings
        file = settings.scenarios
        digest = {} if file is None else {"data_file": file, "data_sha256": file_digest(Path(file))}
        return settings.model_dump(mode="json", exclude={"scenarios"}) | digest


def _why(error: ValueError, kbs: Sequence[Any]) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    if len(first["loc"]) == 1 and (other := game_of_knowledge(kbs)):
        return f"it is a scenario of {other}"
    return f"{'.'.join(map(str, ('kbs', *first['loc'])))}: {first['msg']}"


def new_id(rng: Any, prefix: str = "S_") -> str:
    """Return a random id in CoCoA's style: a prefix followed by 16 letters and digits."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    return prefix + "".join(rng.choices(letters, k=16))


def column(name: str, value_type: str, entity: bool = True) -> Attribute:
    """Return an attribute with all keys set explicitly, so that every key is written to files."""
    return Attribute(name=name, value_type=value_type, unique=False, multivalued=False, entity=entity)
