"""`birdenv ratings`: inter-rater agreement, mean answers, and a ranking of players from comparisons."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli.command import visible
from birdenv.errors import InputError
from birdenv.files import check_writable, is_directory, write_bytes
from birdenv.statistics import counted
from birdenv.studies.ratings._agreement import LEVELS
from birdenv.studies.ratings._judgements import joined, read_judgements
from birdenv.studies.ratings._ratings_report import rating_plot, rating_report
from birdenv.studies.ratings._sources import (
    check_dialogues,
    import_judgements,
    judged_folder,
    rating_folder,
    read_source,
)


def ratings(
    sources: Annotated[
        list[Path], typer.Argument(help="Rating files (CSV or JSONL), or run or study folders.")
    ],
    level: Annotated[
        str | None,
        typer.Option("--level", help="Level of measurement for alpha: nominal, ordinal or interval."),
    ] = None,
    added: Annotated[
        list[Path] | None,
        typer.Option("--import", help="Add the ratings in this file to the folder; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also plot the means and the ranking to this PNG file.")
    ] = None,
) -> None:
    """Show how well raters agree, and how they rank the players.

    Rating files have the columns dialogue, rater, question and value, and optionally seat, system and
    justification. Comparison files have the columns left, right, winner (left, right, tie or both_bad) and
    rater, and optionally justification and task. A study's survey answers are shown separately from ratings.

    The output contains Krippendorff's alpha, Fleiss' kappa, means, and a Bradley-Terry ranking, with 95%
    confidence intervals. If a statistic is undefined, the output gives the reason.

    \b
    birdenv ratings ratings.csv comparisons.csv
    birdenv ratings study-c-interact --import ratings.csv
    """
    known = next((each for each in LEVELS if each == level), None)
    if level is not None and known is None:
        raise InputError(f"--level {level!r} is unknown; choose from {', '.join(LEVELS)}")
    if plot is not None:
        if plot.suffix.lower() != ".png":
            raise InputError(f"--plot {plot}: the file name must end in .png")
        check_writable(plot)
    if added:
        _import(sources, added)
    found = joined(map(read_source, sources))
    if not found.ratings and not found.comparisons:
        raise InputError(f"{sources[0]} contains no answers")
    made = rating_report(found, known)
    picture = None if plot is None else rating_plot(made)
    print(visible(json.dumps(made.to_json(), indent=2) + "\n" if as_json else made.text()), end="")
    if plot is not None and picture is not None:
        write_bytes(plot, picture)
        print(f"Written: {plot}", file=sys.stderr)


def _import(sources: list[Path], added: list[Path]) -> None:
    if len(sources) != 1 or not is_directory(sources[0]):
        raise InputError("--import needs exactly one run or study folder")
    found = joined(map(read_judgements, added))
    folder = rating_folder(sources[0])
    check_dialogues(folder, found)
    before = judged_folder(sources[0])
    both = joined([before, found])
    import_judgements(folder, found)
    counts = (
        len(both.ratings) - len(before.ratings),
        len(both.comparisons) - len(before.comparisons),
    )
    known = len(found.ratings) + len(found.comparisons) - sum(counts)
    new = f"{counted(counts[0], 'rating')}, {counted(counts[1], 'comparison')}"
    print(f"Imported: {new}; already known: {known}", file=sys.stderr)
