"""Write the page about speed, `docs/speed.md`, from the results of the benchmark, `docs/bench.json`.

python -m birdenv_baselines.bench --json docs/bench.json
python docs/speed_page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent

_HEAD = """# Speed

This page compares birdenv's speed with that of other ways of doing the same work. `make bench` measures it on
your machine, and `docs/speed_page.py` makes this page from such a measurement. The contenders of a row take
turns within one run, so that a busy machine slows both: compare ratios, not times.

A figure with "x" says how many times as fast birdenv is, unless its row says otherwise. The last column has
the middle half of the measurements. EX is execution accuracy: the share of answers whose rows are those of
the gold SQL.
"""


def page(measured: dict[str, Any]) -> str:
    """Return the text of the page."""
    machine = measured["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, load {machine['load']} at the start"
    versions = f"Python {machine['python']}, SQLite {machine['sqlite']}"
    parts = [_HEAD, f"Measured on {machine['date'][:10]}: {where}; {versions}."]
    group = ""
    for line in measured["lines"]:
        if line["status"] != "measured":
            continue
        if line["group"] != group:
            group = line["group"]
            parts.append(
                f"\n## {group.capitalize()}\n\n| what | against | figure | middle half |\n|---|---|---|---|"
            )
        figure = line["figure"]
        note = f" ({figure['note']})" if figure["note"] else ""
        middle = "" if figure["low"] is None else f"{plain(figure['low'])} to {plain(figure['high'])}"
        parts.append(
            f"| {line['name']}{note} | {line['against']} "
            f"| {plain(figure['value'])} {figure['unit']} | {middle} |"
        )
    return "\n".join(parts) + "\n"


def plain(value: float) -> str:
    """Return a number with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


if __name__ == "__main__":
    measured = json.loads((DOCS / "bench.json").read_text(encoding="utf-8"))
    (DOCS / "speed.md").write_text(page(measured), encoding="utf-8")
