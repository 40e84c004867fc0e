"""`birdenv evaluate`: EM and ESM of the pairs of a run; `birdenv inspect`: the pairs that failed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.cli.command import progress, visible
from birdenv.cli.options._metrics import MatchOptions, one_of
from birdenv.cli.options._pairs import (
    Db,
    Dialect,
    Dsn,
    PairDatabase,
    Run,
    RunDir,
    RunsRoot,
    find_run,
    pair_database,
)
from birdenv.cli.options.settings_command import SettingsCommand, choices
from birdenv.databases import Limits
from birdenv.errors import InputError
from birdenv.files import exists
from birdenv.grading import PairGrader
from birdenv.grading.em_esm import PairRules
from birdenv.runs import RunDirectory
from birdenv.runs.em_esm import (
    SOURCES,
    evaluate_pairs,
    inspection_text,
    read_details,
    read_pairs,
)

app = typer.Typer(rich_markup_mode=None)


class _EvaluateCommand(SettingsCommand):
    groups = (MatchOptions(),)


@app.command()
def inspect(
    run: Run = None,
    run_dir: RunDir = None,
    runs_root: RunsRoot = Path("run"),
    max_examples: Annotated[
        int, typer.Option("--max-examples", min=0, help="Number of pairs to show of each kind.")
    ] = 5,
) -> None:
    """Show what went wrong in an evaluation.

    Counts the pairs of eval/details.jsonl by their outcome under ESM (execution match), and shows a few pairs
    of each outcome that is not ok.

    Example: birdenv inspect run/run_20250908_001148
    """
    folder = find_run(run, run_dir, runs_root)
    details = read_details(folder)
    print(f"[inspect] run_dir = {folder}\n")
    print(visible(inspection_text(details, max_examples)), end="")


_ROWS, _BYTES = 100_000, 64 * 2**20  # limits for each side


@app.command(cls=_EvaluateCommand)
def evaluate(
    context: typer.Context,
    run: Run = None,
    run_dir: RunDir = None,
    runs_root: RunsRoot = Path("run"),
    db: Db = None,
    dialect: Dialect = None,
    dsn: Dsn = None,
    exec_timeout: Annotated[
        float,
        typer.Option(
            "--exec-timeout",
            help="Seconds per query, including its rows. A slower query runs again, alone, with twice that.",
        ),
    ] = 30.0,
    allow_truncate: Annotated[
        bool,
        typer.Option("--allow-truncate", help="Ignore the extra lines of the longer file."),
    ] = False,
    source: Annotated[
        str,
        typer.Option(
            "--source",
            help="Files to use if both kinds exist and disagree: pairs (pairs.jsonl) or lines (gold.txt, "
            "preds.txt); auto stops with an error.",
        ),
    ] = "auto",
    parallel: Annotated[
        int, typer.Option("--parallel", "-p", min=1, help="Number of pairs to compare at the same time.")
    ] = 1,
) -> None:
    """Score the pairs of a run by EM and ESM.

    EM (exact match) compares the text of two queries, ESM (execution match) the rows that they return.

    Reads gold.txt and preds.txt, with a query on each line (or pairs.jsonl if it exists), and writes
    eval/details.jsonl, eval/eval_summary.json and eval/canon/ beside them. `birdenv bird --export-pairs`
    makes such a folder. The run folder of `birdenv bird` works, too; its databases are used if --db is left
    out.

    EM levels: strict compares the text as it is; conservative ignores comments, spacing and the case of
    keywords; folded also ignores the case and needless quotes of names.

    The SQL is read as SQLite's unless --dsn or --dialect postgres says that it is PostgreSQL's.

    Exit code 3: the database cannot be reached.

    Example: birdenv evaluate run/run_20250908_001148 --db dev_databases
    """
    limits = _limits(exec_timeout)
    rules = choices(context).group(MatchOptions).rules()
    folder = find_run(run, run_dir, runs_root)
    print(f"[evalx] Using run_dir: {folder}")
    chosen = one_of("--source", source, SOURCES)
    pairs = read_pairs(folder, allow_truncate=allow_truncate, source=chosen)
    if db is None and dsn is None:
        db, dialect = _of_run(folder, dialect)
    database = pair_database(dialect, dsn, db, pairs, limits, rules)
    config = _config(folder, database, exec_timeout, allow_truncate, rules)
    grader = PairGrader(database.run, database.dialect, rules)
    versions = {"engine": database.engine} if database.engine else {}
    with closing(database), progress("evaluating", len(pairs)) as move:
        on_done = partial(move, advance=1)
        text = evaluate_pairs(folder, pairs, grader, config, versions, on_done, parallel)
    print(visible(text), end="")


def _of_run(folder: Path, dialect: str | None) -> tuple[Path | None, str | None]:
    """Return the databases and the dialect of a run folder, or no databases for another folder."""
    if not exists(folder / "runs.jsonl"):
        return None, dialect
    config = RunDirectory(folder).read_config(hint="")
    engine = str(config.get("engine", "")).lower()
    of_run = "postgres" if engine.startswith("postgres") else "sqlite"
    return Path(str(config.get("db_dir"))), dialect or of_run


def _limits(seconds: float) -> Limits:
    if not 0 < seconds < float("inf"):
        raise InputError(f"--exec-timeout must be a number of seconds above 0, not {seconds:g}")
    return Limits(seconds=seconds, rows=_ROWS, bytes=_BYTES)


def _config(
    folder: Path, database: PairDatabase, exec_timeout: float, allow_truncate: bool, rules: PairRules
) -> dict[str, Any]:
    return {
        "run_dir": str(folder),
        "database": database.shown,
        "dialect": database.dialect,
        "exec_timeout": exec_timeout,
        "most_rows": _ROWS,
        "most_bytes": _BYTES,
        "allow_truncate": allow_truncate,
        **asdict(rules),
        "none_aliases": sorted(rules.none_aliases),
    }
