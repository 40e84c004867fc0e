"""What a finished run is summed up in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Summary:
    """A run's figures: `overall` for machines, `text` for people."""

    overall: dict[str, Any]
    text: str
