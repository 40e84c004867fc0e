"""Finding the run that `evaluate` and `inspect` are about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from birdenv.runs import holds_pairs, newest_run

__all__ = ["RunDir", "RunsRoot", "find_run"]

RunDir = Annotated[
    Path | None,
    typer.Option(
        "--run_dir", "--run-dir", help="Folder with gold.txt and preds.txt; default: the newest run."
    ),
]
RunsRoot = Annotated[
    Path, typer.Option("--runs_root", "--runs-root", help="Where the newest run_* is looked for.")
]


def find_run(run_dir: Path | None, runs_root: Path) -> Path:
    """The folder given, else the newest complete run; what was passed over is said on standard error.

    Raises `InputError` if there is none.
    """
    if run_dir is not None:
        return run_dir
    found = newest_run(runs_root, holds_pairs)
    for reason in found.skipped:
        print(f"Warning: passed over {reason}", file=sys.stderr)
    return found.folder
