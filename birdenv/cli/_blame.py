"""`birdenv blame`: whose fault the failures of a run were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli.terminal import visible
from birdenv.runs import run_folder


def blame(
    run: Annotated[Path, typer.Argument(help="A run-... folder, or the folder above it for its latest run.")],
    data: Annotated[Path | None, typer.Option("--data", help="Task file, if it has moved.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of the databases, if it has moved.")
    ] = None,
    episodes: Annotated[bool, typer.Option("--episodes", help="Print a line for each failure.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say whose fault the failures of a run were.

    For each failed episode of c-Interact or a-Interact: was every ambiguous point asked about, was the
    question answered, are the words true to the annotation, and is the point in the submitted SQL?

    The terms are the annotation's: keep the output from agents.

    Example: birdenv blame results/never-asks+rule-c-interact --episodes
    """
    from birdenv.runs.blame import blame_run

    found = blame_run(run_folder(run), data=data, data_dir=data_dir)
    text = json.dumps(found.to_json(), indent=2) + "\n" if as_json else found.text(episodes=episodes)
    print(visible(text), end="")
