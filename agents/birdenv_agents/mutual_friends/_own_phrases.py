"""The phrase bank of the rule-based MutualFriends player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

ACTS: Final[Mapping[str, set[str]]] = {
    "greet": set(),
    "ask": {"values", "attribute"},
    "open": {"attribute"},
    "inform": {"values", "attribute", "count"},
    "pair": {"values", "other", "attribute"},
    "only": {"values", "attribute"},
    "must": {"values", "attribute"},
    "they": {"values", "attribute"},
    "deny": {"values", "attribute"},
    "yes": {"count"},
    "many": {"count"},
    "no": set(),
}
"""The acts, with the slots that their phrases may have.

`many` tells how many friends fit a question. `only` says that all friends have one of the values, `must` that
the mutual friend does, and `they` that all friends in question do. `pair` says that there is a friend with
these values and, for another attribute, the value `other`.
"""

_WHO: Final[Mapping[str, tuple[str, str]]] = {
    "Name": ("named {values}", "are named {values}"),
    "School": ("from {values}", "went to {values}"),
    "Major": ("who studied {values}", "studied {values}"),
    "Company": ("at {values}", "work at {values}"),
    "Hobby": ("who like {values}", "like {values}"),
    "Time Preference": ("who prefer the {values}", "prefer the {values}"),
    "Location Preference": ("who prefer {values}", "prefer {values}"),
}
_ANY: Final = ("whose {attribute} is {values}", "have the {attribute} {values}")


def _phrases() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [
        {"act": "greet", "text": "Hi!"},
        {"act": "open", "text": "What about the {attribute} of yours?"},
        {"act": "yes", "text": "Yes, {count}."},
        {"act": "many", "text": "I have {count}."},
        {"act": "no", "text": "No."},
    ]
    for about, (who, does) in [*_WHO.items(), (None, _ANY)]:
        texts = {
            "ask": f"Do you have any friends {who}?",
            "inform": f"I have {{count}} {who}.",
            "only": f"All of mine {does}.",
            "must": f"It must be one of those that {does}.",
            "they": f"They all {does}.",
            "deny": f"I have none {who}.",
        }
        made += [{"act": act, "about": about, "text": text} for act, text in texts.items()]
    return made


PHRASES: Final = _phrases()


def listed(values: Sequence[str], last: str = "or") -> str:
    """Return values as a list in words, such as "a, b or c"."""
    *first, end = values
    return f"{', '.join(first)} {last} {end}" if first else end
