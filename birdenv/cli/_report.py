"""`birdenv report`: write an HTML file about runs. `birdenv view`: serve live pages about runs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli.command import visible
from birdenv.cli.options._run_options import Private, Run
from birdenv.errors import InputError
from birdenv.files import check_writable, write_text


def report(
    run: Run,
    other: Annotated[
        Path | None, typer.Argument(help="A second run of the same game, to show beside it.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path("report.html"),
    private: Private = False,
) -> None:
    """Write one HTML file about a run, or about two side by side.

    The page shows the metrics with their confidence intervals, a list of all episodes that you can sort and
    filter, and each dialogue with its SQL, the first rows, and how the result differs from the gold result.
    The page works offline, so you can send it by e-mail.

    Without --private, the page contains no gold data, only the numbers of rows and cells that differ.

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
                f"the runs are of different games, {runs[0].run.game} and {runs[1].run.game}: specify two "
                "runs of the same game"
            )
        write_text(output, "".join(offline_page(runs)))
        for note in dict.fromkeys(note for each in runs for note in each.notes):
            print(visible(f"Note: {note}"))
    told = " It contains gold SQL: do not show it to agents." if private else ""
    print(f"Written: {output}.{told}")


def view(
    root: Annotated[Path, typer.Argument(help="Folder in which to look for runs.")] = Path("results"),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 picks a free one.")] = 8001,
    private: Private = False,
) -> None:
    """Serve live pages about the runs in a folder.

    The list shows the progress of each run, its main metric with the confidence interval, and the cost so
    far. Tick two runs to see them side by side. The server accepts requests only from this machine, and only
    at the address that contains the token.

    Example: birdenv view results
    """
    from birdenv.report.serving import served, web_extra

    if not root.is_dir():
        raise InputError(f"{root} is not a folder; commands that play write runs to results/, or to --output")
    with web_extra():
        from birdenv.report.live_pages import make_view_app
    app, token = make_view_app(root, private=private)
    with served(app, "127.0.0.1", port) as address:
        print(f"Runs: {address}/open/{token}", flush=True)
