"""Lines of `summary.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["breakdown", "rate_line", "rule"]

_WIDTH = 55


def rule(character: str) -> str:
    return character * _WIDTH


def rate_line(name: str, rate: Mapping[str, Any]) -> str:
    """`EX             40/52   76.9 %`; a dash where there is nothing to divide by."""
    total = rate["total"]
    percent = f"{100 * rate['passed'] / total:6.1f} %" if total else "      -"
    return f"{name:<24}{rate['passed']:>6}/{total:<6}{percent}"


def breakdown(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [rate_line(f"  {name}", rate) for name, rate in groups.items()]
    return ["", title, *lines] if lines else []
