"""What tells one database, with one contents, from others."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Version"]


@dataclass(frozen=True, slots=True)
class Version:
    """Which database, as it was loaded; compared by value. What there is to compare each engine adds."""
