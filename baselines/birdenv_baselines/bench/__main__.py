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
_COMMIT: Final = "5bcae79"  # the last one that could run SQL of others in the caller's process

_HELP = """Measure how fast birdenv is, against other ways of doing the same.

What a line compares takes turns within this run, so that a busy machine slows all of it. Times are medians;
`figure` says how many times as fast we are, how many times as long we take, or what we add. A bar says which
figures are good enough, and MISSED that one is not. Quote ratios.

Databases of 2 to 1,400 MB are built at first and kept in the cache directory (~/.cache/birdenv/bench-*, or
under $XDG_CACHE_HOME). Copies go to the usual place of temporary files ($TMPDIR), and are deleted again. BIRD
mini-dev is looked for in $BIRDENV_SHARED_DATA. A line that cannot be measured here says why.

The groups: starts, statements, processes, episodes, repeats, engines, scoring, users, models, candidates,
postgres, and commit: runs and scoring against another commit of this repository. One subject in seconds:

    python -m birdenv_baselines.bench --quick --only '^statements:'

Exit codes: 0 measured, 1 a line failed or a bar is missed, 2 unusable options or no room for the databases,
130 interrupted (the table then has what was measured).
"""


def main(
    rounds: Annotated[int, typer.Option(min=1, help="How often those who are compared take turns.")] = 5,
    only: Annotated[
        str,
        typer.Option(metavar="PATTERN", help="Only lines in whose 'group: name' this expression is found."),
    ] = "",
    quick: Annotated[
        bool,
        typer.Option("--quick", help="See that lines work: 2 MB, one round, few episodes; no bar counts."),
    ] = False,
    commit: Annotated[str, typer.Option(metavar="COMMIT", help="The other one of the last group.")] = _COMMIT,
    json_file: Annotated[
        Path, typer.Option("--json", metavar="FILE", help="Where all figures go, too.")
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
            outcomes.append(outcome)  # one by one, so that Ctrl-C leaves those before it
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
    """Build what the lines read, then measure them one by one; says on stderr what it is doing."""
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
