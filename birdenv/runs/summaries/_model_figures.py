"""What the records say of language models: what they did wrong, and what the other seats' models took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from birdenv.dialogue.measures import Record

USAGE_TITLES: Final[Mapping[str, str]] = {
    "calls": "Model calls",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
    "cost_usd": "Cost (USD)",
}
"""The fields of `birdenv.dialogue.Usage`, by their names in tables (BIRD-Interact §5.2).

A player that knows what an episode took has a method `usage`. Nothing is made up for one that has none. An
episode that is played again because its server was lost counts with its last trial."""


def model_figures(records: Sequence[Record]) -> dict[str, Any]:
    """Return `model_faults` by seat and kind, and `usage_of_others` by seat; nothing where no model played.

    A figure that not every episode reports is left out of `usage_of_others`.
    """
    faults: dict[str, Counter[str]] = {}
    used: dict[str, list[Record]] = {}
    for record in records:
        for seat, kinds in record.get("model_faults", {}).items():
            faults.setdefault(seat, Counter()).update(kinds)
        for seat, usage in record.get("usage_of_others", {}).items():
            used.setdefault(seat, []).append(usage)
    found: dict[str, Any] = {}
    if faults:
        found["model_faults"] = {seat: dict(sorted(kinds.items())) for seat, kinds in sorted(faults.items())}
    if used:
        found["usage_of_others"] = {
            seat: {
                name: round(sum(each[name] for each in of), 10)
                for name in USAGE_TITLES
                if all(name in each for each in of)
            }
            for seat, of in sorted(used.items())
        }
    return found


def model_lines(figures: dict[str, Any]) -> list[str]:
    """Return the same for people."""
    lines = [
        f"Usage of the {seat}: " + ", ".join(f"{USAGE_TITLES[name].lower()} {n}" for name, n in used.items())
        for seat, used in figures.get("usage_of_others", {}).items()
    ]
    lines += [
        f"Noted of the {seat}'s model: " + ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        for seat, kinds in figures.get("model_faults", {}).items()
    ]
    return ["", *lines] if lines else []
