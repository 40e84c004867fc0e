"""`birdenv score-official`: the published score of official result files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from birdenv.files import check_writable, read_records, write_text
from birdenv.runs import score_official as read_score

__all__ = ["score_official"]


def score_official(
    results: Annotated[
        Path,
        typer.Argument(
            help="A folder of stage files, an eval_<mode>.json or its folder, or a run with official files."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Task file: all of its tasks count, those without a result as failed."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Also write the figures here (JSON).")] = None,
) -> None:
    """Score official c-Interact result files.

    (0.7a + 0.5b + 0.3c + 0.2d) / N over all tasks: a and b passed phase 1 at once and after debug, c and d
    phase 2. With success before and after debug, and by category, difficulty, level, ambiguity and database.

    Reads the result folder of the original pipeline (sql_results_*_output_with_status.jsonl), the
    eval_<mode>.json of the tool-calling service, and what `birdenv c-interact --official-files` writes; a run
    has the same score in its overall.json (official).

    Example: birdenv score-official results/asks-first-c-interact/latest --out score.json
    """
    if out is not None:
        check_writable(out)
    made = read_score(results, None if data is None else read_records(data))
    print(made.text(), end="")
    print(f"Read: {made.path}")
    if out is not None:
        write_text(out, json.dumps(made.to_json(), indent=2, ensure_ascii=False) + "\n")
