"""The settings of a run, as used by `run_episodes`, the command line, workers and `config.json`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, field_validator

from birdenv.checks import CheckedSettings
from birdenv.dialogue.games import Option
from birdenv.llm import ModelSettings

MAY_DIFFER: Final = frozenset({"parallel", "move_timeout", "run_engine", "workers"})
"""The fields of `config.json` that do not affect the records of a run."""


class RunSettings(CheckedSettings):
    """The settings of a run, excluding those of the game and its players.

    Each field with a description is also a command-line option. The remaining fields are:

    Attributes:
        episodes: the number of episodes to play, starting with the first; None to play all episodes.
        options: the players' options, keyed by name.
        models: the settings of the language models.
    """

    owner = "a run"

    parallel: Annotated[
        int,
        Option(("--parallel", "-p")),
        Field(ge=1, description="Number of episodes to play at the same time, over all workers."),
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
            description="Time limit in seconds for a move, if the player runs in a separate process.",
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
        """Return the settings to record in `config.json`.

        Raises:
            InputError: a prompt file cannot be read.
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
        """Return a copy of the settings for workers in other folders or on other machines.

        The copy contains no API keys.

        Raises:
            InputError: a base URL cannot be used.
        """
        return self.model_copy(update={"models": self.models.to_travel()})


def in_shard(index: int, shard: str | None) -> bool:
    """Return True if a shard includes the episode with this index.

    Args:
        index: the index of the episode in the whole run, from 0.
        shard: the shard, such as `3/16`; None for the whole run.

    Raises:
        ValueError: the shard does not have the form I/N.
    """
    if shard is None:
        return True
    part, parts = _part_of(shard)
    return index % parts == part - 1


def _part_of(shard: str) -> tuple[int, int]:
    """Return the numbers I and N of `I/N`, or raise `ValueError` for any other text."""
    part, _, parts = shard.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ValueError("must be I/N with I from 1 to N, such as 3/16")
    return int(part), int(parts)
