"""`birdenv baselines optimum`: print the best reachable return by database, open points and price."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from birdenv.envs.candidates import PRICES, QUESTIONS
from birdenv_baselines.optimum._families import FamilyOptimum, family_optima


def optimum(
    data: Annotated[Path, typer.Argument(help="A generated benchmark: its folder, or a task file.")],
    price: Annotated[
        list[float] | None, typer.Option("--price", help="Price of a question; can be repeated.")
    ] = None,
    refusals: Annotated[float, typer.Option(min=0, max=1, help="Share of points that are refused.")] = 0.0,
    questions: Annotated[int, typer.Option(min=0, help="The budget of questions.")] = QUESTIONS,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write each family's figures, as JSON.")
    ] = None,
) -> None:
    """Print the best return that a policy without private knowledge can reach.

    All families are equally likely, as in the environment. The figures are exact.
    """
    prices = tuple(price) if price else PRICES
    families = family_optima(data, prices, refusals, questions)
    table = Table(
        title=f"Optimum of {len(families)} families ({refusals:.0%} refusals)",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in ("", "families", "never asks", *(f"at {each:g}" for each in prices), "mean"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=not name)
    groups: dict[str, list[FamilyOptimum]] = {}
    for family in families:
        groups.setdefault(family.database, []).append(family)
        groups.setdefault(f"{len(family.points)} open", []).append(family)
    for name in sorted(groups, key=lambda each: (each.endswith("open"), each)):
        table.add_row(*_row(name, groups[name], prices))
    table.add_section()
    table.add_row(*_row("all", families, prices))
    Console().print(table)
    if out is not None:
        out.write_text(json.dumps([family._asdict() for family in families], indent=1) + "\n")


def _row(name: str, families: Sequence[FamilyOptimum], prices: Sequence[float]) -> list[str]:
    never = fmean(family.never_asks for family in families)
    by_price = [fmean(family.best[price] for family in families) for price in prices]
    return [name, str(len(families)), *(f"{value:.3f}" for value in (never, *by_price, fmean(by_price)))]


if __name__ == "__main__":
    typer.run(optimum)
