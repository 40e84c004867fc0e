"""`birdenv report`: a run, or two side by side, as one HTML file."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli._terminal import visible
from birdenv.errors import InputError
from birdenv.files import check_writable, write_text


def report(
    run: Annotated[Path, typer.Argument(help="A run-... folder, or the folder above it for its latest run.")],
    other: Annotated[
        Path | None, typer.Argument(help="A second run of the same game, to show beside it.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path("report.html"),
    private: Annotated[
        bool,
        typer.Option("--private", help="Also show what agents must not see: golds, and what was meant."),
    ] = False,
) -> None:
    """Write one HTML file about a run, or about two side by side.

    It shows the figures with their intervals, all episodes to sort and filter, and each dialogue with its
    SQL, first rows, and how the result differs from the gold's. It needs no network, so it can be mailed.

    Without --private it holds no gold, only how many rows and cells differ.

    Example: birdenv report results/never-asks+rule-c-interact results/asks-first+rule-c-interact
    """
    from birdenv.report.offline_page import offline_page
    from birdenv.runs.episodes import RunEpisodes

    check_writable(output)
    with ExitStack() as stack:
        paths = [run] if other is None else [run, other]
        runs = [stack.enter_context(RunEpisodes(path, private=private)) for path in paths]
        if len({each.run.game for each in runs}) > 1:
            raise InputError(
                f"the runs are of {runs[0].run.game} and of {runs[1].run.game}: give two of one game"
            )
        write_text(output, "".join(offline_page(runs)))
        for note in dict.fromkeys(note for each in runs for note in each.notes):
            print(visible(f"Note: {note}"))
    told = " It holds golds: keep it from agents." if private else ""
    print(f"Written: {output}.{told}")
