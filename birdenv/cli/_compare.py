"""`birdenv compare`: runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from birdenv.errors import InputError
from birdenv.runs import compare as compare_runs
from birdenv.runs import comparison_text, read_run

__all__ = ["compare"]


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Two or more run-... folders, or folders above them for their latest run."),
    ],
    allow_different: Annotated[
        bool,
        typer.Option(
            "--allow-different",
            help="Compare the common tasks even if data, grader or tasks differ or a run is not finished.",
        ),
    ] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="List the tasks on which the runs differ.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare runs on the same tasks.

    Each run is held against the first, task by task: the difference with its 95 % intervals, p values, and
    how many tasks only one of the two solved.

    Example: birdenv compare results/never-asks-bird results/asks-first-bird --tasks
    """
    if len(runs) < 2:
        raise InputError("give at least two runs to compare; one alone: birdenv summary")
    made = compare_runs([read_run(path) for path in runs], allow_different=allow_different)
    text = json.dumps(made.to_json(), indent=2) + "\n" if as_json else comparison_text(made, tasks=tasks)
    print(text, end="")
