"""`birdenv merge`: one run out of the parts that `--shard` played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli.command import visible


def merge(
    parts: Annotated[list[Path], typer.Argument(help="The run folders of all parts.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The run folder to make.")],
) -> None:
    """Join the parts of a run that was played with --shard.

    The result is the run folder that one machine would have made, byte for byte but for durations and for
    what config.json says of engine, workers and command. Parts of different settings, data or code are
    refused, and so are missing episodes and those that are in two parts. Official files are not joined.

    Example: birdenv merge parts/*/latest -o results/whole
    """
    from birdenv.runs import merge_runs

    directory, summary = merge_runs(parts, output)
    print(visible(summary.first_screen), end="")
    print(f"Results: {directory.path}")
