"""The settings of a run, defined once for `run_episodes`, the command line, workers and `config.json`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, field_validator

from birdenv.checks import CheckedSettings
from birdenv.dialogue.games import Option
from birdenv.llm import ModelSettings

MAY_DIFFER: Final = frozenset({"parallel", "move_timeout", "run_engine", "workers"})
"""Fields of `config.json` on which the records of a run do not depend."""


class RunSettings(CheckedSettings):
    """All settings of a run, except for the game and the players.

    Commands have an option for each field that has a description. Workers receive all settings.
    """

    owner = "a run"

    parallel: Annotated[
        int,
        Option(("--parallel", "-p")),
        Field(ge=1, description="Number of episodes played at the same time, over all workers."),
    ] = 1
    seed: Annotated[
        int, Field(description="Random seed. The same seed and moves give an identical runs.jsonl.")
    ] = 0
    repeats: Annotated[
        int, Field(ge=1, description="Play every task this many times; adds pass^k and pass@k.")
    ] = 1
    move_timeout: Annotated[
        float | None,
        Field(
            ge=0.001,
            description="Seconds that an agent or user in its own process may take for a move.",
        ),
    ] = 3600.0
    engine: Annotated[
        str,
        Field(
            description="Where episodes are played: threads (of this process), processes (of this machine), "
            "or ray (a cluster; extra `ray`)."
        ),
    ] = "threads"
    address: Annotated[
        str | None,
        Field(description="Address of a running Ray cluster, such as auto or 10.0.0.1:6379."),
    ] = None
    shard: Annotated[
        str | None,
        Field(description="Play only part I of N (I/N, such as 3/16); `birdenv merge` merges the parts."),
    ] = None
    episodes: Annotated[int | None, Field(ge=1)] = None
    options: dict[str, str] = Field(default_factory=dict)
    models: ModelSettings = ModelSettings()

    @field_validator("shard")
    @classmethod
    def _check_shard(cls, value: str | None) -> str | None:
        if value is not None:
            _part_of(value)
        return value

    def config(self) -> dict[str, Any]:
        """Return the settings as `config.json` records them.

        Raises:
            InputError: a file of prompts cannot be read.
        """
        models = self.models.config()
        default = type(self).model_fields["move_timeout"].default
        return {
            "agent_options": dict(self.options),
            "seed": self.seed,
            "parallel": self.parallel,
            **({"repeats": self.repeats} if self.repeats > 1 else {}),
            **({"episodes": self.episodes} if self.episodes is not None else {}),
            **({"shard": self.shard} if self.shard is not None else {}),
            **({"move_timeout": self.move_timeout} if self.move_timeout != default else {}),
            **({"models": models} if models else {}),
        }

    def to_travel(self) -> RunSettings:
        """Return a copy of the settings for workers, which may run in another folder, environment or machine.

        The copy contains no API keys.

        Raises:
            InputError: the base URL cannot be used.
        """
        return self.model_copy(update={"models": self.models.to_travel()})


def in_shard(index: int, shard: str | None) -> bool:
    """Return True if the shard includes the episode with this index in the whole run.

    The shard None includes all episodes.

    Raises:
        ValueError: the shard is not of the form I/N.
    """
    if shard is None:
        return True
    part, parts = _part_of(shard)
    return index % parts == part - 1


def _part_of(shard: str) -> tuple[int, int]:
    """Return I and N of `I/N`. Raise a `ValueError` for anything else."""
    part, _, parts = shard.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ValueError("must be I/N with I from 1 to N, such as 3/16")
    return int(part), int(parts)
