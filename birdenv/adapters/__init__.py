"""Adapters for training and evaluation frameworks. Each module requires the extra of the same name.

* `inspect`: tasks, solver and scorer for Inspect (`inspect eval birdenv/c_interact`).
* `openenv`: a server for OpenEnv, which TRL, SkyRL, verifiers and NeMo Gym can also use.
* `trl`: an environment class and a rollout function for TRL's GRPO trainer.
* `verifiers`: a taskset and an environment for verifiers v1.
* `mcp`: a server for agents that speak the Model Context Protocol.
* `skyrl`: a text environment for SkyRL.

All adapters play a `birdenv.dialogue.Episode`, so identical messages earn identical rewards everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["CANNOT_EXPRESS", "missing"]

_NO_CALL: Final = frozenset({"prose", "nothing", "arguments are no JSON", "arguments are a list"})

CANNOT_EXPRESS: Final[Mapping[str, frozenset[str]]] = {
    "inspect": frozenset({"arguments are no JSON", "arguments are a list"}),
    "mcp": _NO_CALL | {"two calls"},
    "openenv": frozenset(),
    "skyrl": frozenset(),
    "trl environment_factory": _NO_CALL | {"two calls", "unknown tool"},
    "trl rollout_func": frozenset(),
    "verifiers": frozenset(),
}
"""The kinds of malformed messages (`birdenv.testing.MALFORMED`) that each framework handles itself."""


def missing(extra: str, error: ImportError) -> ImportError:
    """Return an error that names the extra to install for a missing framework."""
    return ImportError(
        f"birdenv.adapters.{extra} needs {error.name}: pip install 'birdenv[{extra}]'", name=error.name
    )
