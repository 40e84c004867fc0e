"""The names of what players use, in tables (BIRD-Interact §5.2).

A player that knows what an episode took has a method `usage`. Nothing is made up for one that has none. An
episode that is played again because its server was lost counts with its last trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

USAGE_TITLES: Final[Mapping[str, str]] = {
    "calls": "Model calls",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
    "cost_usd": "Cost (USD)",
}
"""The fields of `birdenv.dialogue.Usage`, by their names in tables."""
