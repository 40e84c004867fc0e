"""`birdenv inspect`: what went wrong in an evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli._run_folder import RunDir, RunsRoot, find_run
from birdenv.runs import inspection_text, read_details

__all__ = ["inspect"]


def inspect(
    run_dir: RunDir = None,
    runs_root: RunsRoot = Path("run"),
    max_examples: Annotated[
        int, typer.Option("--max_examples", "--max-examples", min=0, help="Pairs shown of each kind.")
    ] = 5,
) -> None:
    """Show what went wrong in an evaluation.

    Counts the pairs of eval/details.jsonl by what ESM made of them, and shows a few of each that is not ok.

    Example: birdenv inspect --run_dir run/run_20250908_001148
    """
    folder = find_run(run_dir, runs_root)
    details = read_details(folder)
    print(f"[inspect] run_dir = {folder}\n")
    print(inspection_text(details, max_examples), end="")
