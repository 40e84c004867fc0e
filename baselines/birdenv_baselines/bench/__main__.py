"""The command line of the benchmark."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from birdenv_baselines.bench import (
    candidates,
    commit,
    episodes,
    isolation,
    models,
    postgres,
    scoring,
    steps,
    users,
    wall,
)
from birdenv_baselines.bench._databases import SIZES, build, cache_folder
from birdenv_baselines.bench._measure import Effort, Line, Outcome, Skip, measured
from birdenv_baselines.bench._setting import MINI_DEV, Setting
from birdenv_baselines.bench._table import as_json, machine, print_table

GROUPS: Mapping[str, Callable[[Setting], list[Line]]] = {
    "isolation": isolation.lines,
    "steps": steps.lines,
    "episodes": episodes.lines,
    "commit": commit.lines,
    "models": models.lines,
    "users": users.lines,
    "candidates": candidates.lines,
    "scoring": scoring.lines,
    "postgres": postgres.lines,
    "wall": wall.lines,
}
_SECONDS_A_ROUND = 0.1


class Sizes(StrEnum):
    TINY = "tiny"
    SMALL = "small"
    ALL = "all"


_HOW_MANY = {Sizes.TINY: 1, Sizes.SMALL: 2, Sizes.ALL: len(SIZES)}

_HELP = """Measure how fast birdenv is, against other ways of doing the same.

Every line of the table has contenders that take turns within this run, so that a busy machine slows all of
them. Times are medians; `figure` is what they make: how many times as fast we are, how many times as long we
take, or what we add. The bar says which figures are good enough, and MISSED where one is not. Quote ratios.

Databases of 2 MB, 20 MB, 300 MB and 1.4 GB are built at first (half a minute) and kept in the cache
directory (~/.cache/birdenv/bench-*, or under $XDG_CACHE_HOME; remove them when you like). Copies go to the
usual place of temporary files ($TMPDIR) and to /dev/shm, and are deleted again.

The groups: isolation (starting and writing episodes), wall (what worker processes cost), steps (what the
environment adds to a statement), episodes (whole ones, and are the verdicts the official ones?), commit
(whole ones against an earlier commit's, which git checks out), models (many episodes with a language model
at once), users (a question), candidates (batches of candidate episodes), scoring (13 systems' answers to
BIRD mini-dev, on databases made for its schemas; its data are looked for in $BIRDENV_SHARED_DATA), postgres
(episodes on PostgreSQL servers of the benchmark's own, the package's and an installed one, with copies of
the databases of 2 and 300 MB, loaded at first and kept).

Everything takes about ten minutes; `--sizes small` one. For one subject in seconds:

\b
    python -m birdenv_baselines.bench --sizes small --only '^(steps|wall):'

Exit codes: 0 measured (whether or not the bars are met), 1 a line failed or a verdict differs from the
official rule, 2 unusable options or no room for the databases, 130 interrupted (the table then has what was
measured).
"""


def main(
    sizes: Annotated[Sizes, typer.Option(help="Up to which database: 2 MB, 20 MB, or 1.4 GB.")] = Sizes.ALL,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each line at least.")] = 5,
    only: Annotated[
        str,
        typer.Option(metavar="PATTERN", help="Only lines in whose 'group: name' this expression is found."),
    ] = "",
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all figures to this file too.")
    ] = None,
) -> None:
    try:
        pattern = re.compile(only, re.IGNORECASE)
    except re.error as error:
        raise typer.BadParameter(f"not a regular expression: {error}", param_hint="--only") from None
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="birdenv-bench-") as scratch:
        setting = Setting(
            folder, SIZES[: _HOW_MANY[sizes]], Path(scratch), Effort(rounds, rounds * _SECONDS_A_ROUND)
        )
        chosen = [
            (group, line)
            for group, make in GROUPS.items()
            for line in make(setting)
            if pattern.search(f"{group}: {line.name}, against {line.against}")
        ]
        if not chosen:
            raise typer.BadParameter(f"no line has {only!r} in its name or group", param_hint="--only")
        where = machine()
        outcomes: list[Outcome] = []
        with suppress(KeyboardInterrupt):
            for outcome in _measure(setting, chosen):
                outcomes.append(outcome)  # one by one, so that Ctrl-C leaves those before it
    print_table(outcomes, where)
    if json_file is not None:
        text = json.dumps(as_json(outcomes, where), indent=1, ensure_ascii=False)
        json_file.write_text(text + "\n", encoding="utf-8")
    if len(outcomes) < len(chosen):
        print("Stopped.", file=sys.stderr)
        raise typer.Exit(130)
    if any(outcome.status == "failed" or _is_wrong(outcome) for outcome in outcomes):
        raise typer.Exit(1)


def _measure(setting: Setting, chosen: Sequence[tuple[str, Line]]) -> Iterator[Outcome]:
    """Build what the lines read, then measure them one by one; says on stderr what it is doing."""
    console = Console(stderr=True, highlight=False)
    columns = (SpinnerColumn(), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(
        *columns, TextColumn("{task.description}", markup=False), console=console, transient=True
    )
    needed = {db_id for _, line in chosen for db_id in line.needs}
    with progress:
        task = progress.add_task("", total=len(chosen))
        for size in setting.sizes:
            if size.db_id in needed:
                progress.update(task, description=f"building the database of {size.label}")
                build(setting.folder, size)
        if MINI_DEV in needed:
            with suppress(Skip):  # each line says so itself
                setting.mini_dev.build(
                    lambda db_id: progress.update(task, description=f"building mini-dev's {db_id}")
                )
        for group, line in chosen:
            progress.update(task, description=f"{group}: {line.name}, against {line.against}")
            yield measured(group, line)
            progress.advance(task)


def _is_wrong(outcome: Outcome) -> bool:
    return outcome.name in (episodes.VERDICTS, scoring.VERDICTS) and outcome.met is False


def _run() -> None:
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})(main)
    try:
        app(prog_name="python -m birdenv_baselines.bench")
    except (OSError, sqlite3.Error) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    _run()
