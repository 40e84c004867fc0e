"""The names that the system's views and observations share in the SQL games."""

from __future__ import annotations

from typing import Final

SENDERS: Final = ("user", "database", "judge")
"""Voices that the system hears."""

TURNS: Final = 1000
"""`turns_left` is below this."""

BUDGET: Final = 1000.0
"""`budget` is at most this."""
