"""Settings of CoCoA's games: which scenarios, and how long a dialogue may be."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from pydantic import Field, field_validator

from birdenv.cocoa.files import Scenario, Schema, read_scenarios, read_schema
from birdenv.cocoa.games._two_seats import MOST_EVENTS
from birdenv.dialogue.games import Settings
from birdenv.files import file_identity

GENERATED = 200
"""Scenarios that are generated without `limit`."""


class ScenarioSettings(Settings):
    """Settings of CoCoA's games."""

    scenarios: str | None = Field(None, description="File of scenarios; default: generated ones.")
    limit: int | None = Field(None, ge=1, description="Play the first N scenarios only.")
    scenario_seed: int = Field(0, description="Decides generated scenarios.")
    max_events: int = Field(46, ge=1, le=MOST_EVENTS, description="Moves until a dialogue is truncated.")
    cross_talk: bool = Field(False, description="Both may speak at any time; else not twice in a row.")

    @field_validator("scenarios", "schema_file", "listings", check_fields=False)
    @classmethod
    def _from_any_folder(cls, file: str | None) -> str | None:
        """Runs and studies keep the place of the file, and may be looked at from another folder."""
        return None if file is None else str(Path(file).absolute())

    @property
    def number(self) -> int:
        """How many scenarios are generated."""
        return self.limit or GENERATED

    def identity(self) -> Hashable:
        return file_identity(None if self.scenarios is None else Path(self.scenarios))

    def read(self) -> list[Scenario] | None:
        """Return the scenarios of the file; None if there is none.

        Raises:
            InputError: the file cannot be used.
        """
        if self.scenarios is None:
            return None
        return read_scenarios(Path(self.scenarios), self.read_schema())[: self.limit]

    def read_schema(self) -> Schema | None:
        """Return the schema that generated scenarios, and such without attributes, have."""
        return None


class SchemaSettings(ScenarioSettings):
    """Settings of a game whose scenarios are drawn from a schema of one's own."""

    schema_file: str | None = Field(None, description="Schema of generated scenarios; default: a small one.")

    def identity(self) -> Hashable:
        return (
            super().identity(),
            file_identity(None if self.schema_file is None else Path(self.schema_file)),
        )

    def read_schema(self) -> Schema | None:
        return None if self.schema_file is None else read_schema(Path(self.schema_file))
