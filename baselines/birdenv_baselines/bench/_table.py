"""Print the results of the benchmark as a table, and convert them to JSON."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

import birdenv
from birdenv_baselines.bench._measure import Figure, Outcome

__all__ = ["as_json", "machine", "print_table", "processor"]

_WIDEST = 1_000
"""The maximum width in characters; a table is as wide as its cells, so that no cell is cut off."""

_DIRECTIONS = {"at least": "≥", "at most": "≤"}
_CPU_INFO = Path("/proc/cpuinfo")


def machine() -> dict[str, str | int]:
    """Return the date, the machine, and the software versions that the benchmark runs with."""
    return {
        "date": datetime.now().astimezone().isoformat(timespec="minutes"),
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "load": f"{os.getloadavg()[0]:.1f}",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "birdenv": birdenv.__version__,
    }


def print_table(outcomes: Sequence[Outcome], where: dict[str, str | int]) -> None:
    """Print a row for each outcome, the notes, the number of requirements that are met, and the machine.

    Args:
        outcomes: the outcomes of the lines.
        where: the result of `machine`.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("what", "against"):
        table.add_column(name, no_wrap=True)
    for name in ("ours", "theirs", "figure", "middle half", "bar"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    notes: list[str] = []
    for i, outcome in enumerate(outcomes):
        figure = outcome.figure
        words = outcome.reason or (figure.note if figure else "")
        if words and words not in notes:
            notes.append(words)
        table.add_row(
            escape(outcome.name) + (f" ({notes.index(words) + 1})" if words else ""),
            escape(outcome.against),
            _duration(figure.ours if figure else None),
            _duration(figure.theirs if figure else None),
            f"{_plain(figure.value)} {figure.unit}" if figure else "",
            _middle_half(figure),
            f"{_DIRECTIONS[outcome.bar.direction]} {_plain(outcome.bar.limit)}" if outcome.bar else "",
            _word(outcome),
            end_section=i + 1 == len(outcomes) or outcomes[i + 1].group != outcome.group,
        )
    console = Console(width=Console(width=_WIDEST).measure(table).maximum, highlight=False)
    console.print(table)
    for number, words in enumerate(notes, 1):
        console.print(Text(f"({number}) {words}"), soft_wrap=True)
    judged = [outcome for outcome in outcomes if outcome.met is not None]
    console.print(f"\n{sum(outcome.met is True for outcome in judged)} of {len(judged)} bars met.")
    console.print(Text(", ".join(f"{name} {value}" for name, value in where.items())), soft_wrap=True)


def as_json(outcomes: Sequence[Outcome], where: dict[str, str | int]) -> dict[str, Any]:
    """Return the machine and all outcomes as a JSON object, with times in seconds."""
    return {"machine": where, "lines": [{**asdict(outcome), "met": outcome.met} for outcome in outcomes]}


def _word(outcome: Outcome) -> str:
    if outcome.status != "measured":
        return "[yellow]not measured[/]" if outcome.status == "not measured" else "[red]FAILED[/]"
    return {True: "[green]met[/]", False: "[red]MISSED[/]", None: ""}[outcome.met]


def _middle_half(figure: Figure | None) -> str:
    if figure is None or figure.low is None or figure.high is None:
        return ""
    return f"{_plain(figure.low)} to {_plain(figure.high)}"


def _plain(value: float) -> str:
    """Return a number with three significant digits, and with commas if it is large."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def processor() -> str:
    """Return the name of the processor, or the name of its architecture if the model is not known."""
    if _CPU_INFO.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", _CPU_INFO.read_text(), re.MULTILINE)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()
