"""The command line of the benchmark."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from birdenv_baselines.bench._databases import SIZES, build, cache_folder
from birdenv_baselines.bench._measure import Line, Outcome, Setting, measured
from birdenv_baselines.bench._table import as_json, machine, print_table
from birdenv_baselines.bench.lines import (
    candidates,
    commit,
    engines,
    episodes,
    models,
    postgres,
    processes,
    repeats,
    scoring,
    starts,
    statements,
    users,
)

GROUPS: Final[Mapping[str, Callable[[bool], list[Line]]]] = {
    "starts": starts.lines,
    "statements": statements.lines,
    "processes": processes.lines,
    "episodes": episodes.lines,
    "repeats": repeats.lines,
    "engines": engines.lines,
    "scoring": scoring.lines,
    "users": users.lines,
    "models": models.lines,
    "candidates": candidates.lines,
    "postgres": postgres.lines,
    "commit": commit.lines,
}
_JSON: Final = Path("results/bench.json")
_COMMIT: Final = "5bcae79"  # the last commit that could run SQL of others in the caller's process

_HELP = """Measure the speed of birdenv in comparison with other ways of doing the same work.

The contenders of a line take turns within this run, so that a busy machine slows all of them. Times are
medians; `figure` says how many times as fast birdenv is, how many times as long it takes, or what it adds. A
bar says which figures are good enough, and MISSED marks a figure that is not. Quote ratios rather than times.

Databases of 2 to 1,400 MB are built first and kept in the cache directory (~/.cache/birdenv/bench-*, or under
$XDG_CACHE_HOME). Copies are written to the usual folder for temporary files ($TMPDIR) and deleted again. BIRD
mini-dev is expected in $BIRDENV_SHARED_DATA. A line that cannot be measured here says why.

The groups are starts, statements, processes, episodes, repeats, engines, scoring, users, models, candidates,
postgres and commit, which compares runs and scoring with another commit of this repository. To measure one
subject in seconds:

    python -m birdenv_baselines.bench --quick --only '^statements:'

Exit codes: 0 all lines were measured, 1 a line failed or missed its bar, 2 options were unusable or there was
no room for the databases, 130 the run was interrupted (the table has the lines measured before).
"""


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Number of turns of each contender.")] = 5,
    only: Annotated[
        str,
        typer.Option(
            metavar="PATTERN", help="Measure only lines whose 'group: name' matches this expression."
        ),
    ] = "",
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Only check that lines work: 2 MB, one round, few episodes, no bars."),
    ] = False,
    commit: Annotated[
        str, typer.Option(metavar="COMMIT", help="Commit to compare with in the last group.")
    ] = _COMMIT,
    json_file: Annotated[
        Path, typer.Option("--json", metavar="FILE", help="Also write all figures to this file.")
    ] = _JSON,
) -> None:
    try:
        pattern = re.compile(only, re.IGNORECASE)
    except re.error as error:
        raise typer.BadParameter(f"not a regular expression: {error}", param_hint="--only") from None
    chosen = [
        (group, line)
        for group, make in GROUPS.items()
        for line in make(quick)
        if pattern.search(f"{group}: {line.name}")
    ]
    if not chosen:
        raise typer.BadParameter(f"no line has {only!r} in its name or group", param_hint="--only")
    json_file.parent.mkdir(parents=True, exist_ok=True)
    where = machine()
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="birdenv-bench-") as scratch, suppress(KeyboardInterrupt):
        setting = Setting(cache_folder(), Path(scratch), 1 if quick else rounds, quick, commit)
        for outcome in _measured(setting, chosen):
            outcomes.append(outcome)  # one at a time, so that Ctrl-C keeps the earlier ones
    print_table(outcomes, where)
    text = json.dumps(as_json(outcomes, where), indent=1, ensure_ascii=False)
    json_file.write_text(text + "\n", encoding="utf-8")
    print(f"All figures: {json_file}")
    if len(outcomes) < len(chosen):
        print("Stopped.", file=sys.stderr)
        raise typer.Exit(130)
    if any(each.status == "failed" or (each.met is False and not quick) for each in outcomes):
        raise typer.Exit(1)


def _measured(setting: Setting, chosen: Sequence[tuple[str, Line]]) -> Iterator[Outcome]:
    """Build the databases that the lines need, measure the lines in order, and report progress on stderr."""
    with Console(stderr=True, highlight=False).status("") as status:
        for size in SIZES:
            if any(size in line.needs for _, line in chosen):
                status.update(f"building the database of {size.label}")
                build(setting.folder, size)
        for group, line in chosen:
            status.update(f"{group}: {line.name}, against {line.against}")
            yield measured(group, line, setting)


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
