"""`birdenv evaluate`: score the pairs of a run by EM and ESM. `birdenv inspect`: show failed pairs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.cli.command import progress, visible
from birdenv.cli.options._metrics import MatchOptions, one_of
from birdenv.cli.options._run_options import databases_in
from birdenv.cli.options.settings_command import SettingsCommand, choices
from birdenv.databases import DIALECTS, DatabaseSource, Limits, NoAnswerError
from birdenv.databases.sqlite import SqliteFileSource
from birdenv.errors import InputError
from birdenv.files import exists, is_directory
from birdenv.grading import PairGrader
from birdenv.grading.em_esm import PairRules, RunQuery
from birdenv.runs import RunDirectory
from birdenv.runs.em_esm import (
    SOURCES,
    ScoredPair,
    evaluate_pairs,
    holds_pairs,
    inspection_text,
    newest_run,
    pairs_folder,
    queries_on,
    read_details,
    read_pairs,
)

UNREACHABLE = 3
"""Exit code if the database cannot be reached before the first pair."""


Db = Annotated[
    Path | None,
    typer.Option("--db", help="One SQLite file for all pairs, or a folder of <db_id>/<db_id>.sqlite."),
]


Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        help="PostgreSQL database for all pairs, postgresql://user@host:port/database, with a read-only "
        "role. With --db, the server on which to load that folder, as in `birdenv score`.",
    ),
]


Dialect = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        help="SQL dialect of the queries: sqlite, or postgres (with --db FOLDER they run on birdenv's own "
        "server, which loads missing databases from the folder). Default: sqlite, or postgres with --dsn.",
    ),
]


@dataclass(frozen=True, slots=True)
class PairDatabase:
    """The database that the pairs' queries run on.

    Attributes:
        run: a function that runs a query; None if no query needs to run.
        dialect: the SQL dialect of the queries.
        engine: the name and version of the database engine; empty if no query needs to run.
        shown: the address of the database without the password, for display.
        source: the database source, to be closed at the end; None if there is nothing to close.
    """

    run: RunQuery | None
    dialect: str
    engine: str
    shown: str
    source: DatabaseSource | None = None

    def close(self) -> None:
        if self.source is not None:
            self.source.close()


def pair_database(
    dialect: str | None,
    dsn: str | None,
    db: Path | None,
    pairs: Sequence[ScoredPair],
    limits: Limits,
    rules: PairRules,
) -> PairDatabase:
    """Return the database selected by the options `--dialect`, `--dsn` and `--db`.

    Raises:
        InputError: the options contradict each other, or a database cannot be used.
        InfrastructureError: birdenv's own server cannot be reached.
        typer.Exit: the server of `--dsn` cannot be reached.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise InputError(f"--dialect {dialect!r} is unknown; choose from {', '.join(DIALECTS)}")
    if dialect == "sqlite" and dsn is not None:
        raise InputError("--dsn refers to a PostgreSQL server: leave it out, or use --dialect postgres")
    if dialect is None and dsn is not None and db is not None:
        raise InputError(
            "specify --dsn (PostgreSQL) or --db (SQLite), not both; to load the --db folder on the --dsn "
            "server, use --dialect postgres"
        )
    chosen = dialect or ("sqlite" if dsn is None else "postgres")
    if dsn is not None and db is None:
        return _on_one_database(dsn, limits, rules.esm)
    if db is None:
        if rules.esm:
            raise InputError(
                "ESM runs the queries: specify --dsn (PostgreSQL) or --db (SQLite; PostgreSQL with --dialect "
                "postgres), or leave ESM out with --no-esm"
            )
        return PairDatabase(None, chosen, "", "")
    if chosen == "postgres" and not rules.esm:
        return PairDatabase(None, chosen, "", str(db))
    source: DatabaseSource
    if is_directory(db):
        source = databases_in(db, chosen, dsn)
        nameless = next((pair for pair in pairs if not pair.db_id), None)
        if nameless is not None:
            raise InputError(
                f"pair {nameless.idx} has no `db_id`, so its database in {db} is unknown: name one database "
                f"for all pairs ({'--db FILE' if chosen == 'sqlite' else '--dsn, without --db'}), or add "
                "`db_id` to pairs.jsonl"
            )
    elif chosen == "postgres":
        raise InputError(f"--dialect postgres loads databases from a folder, and {db} is not a folder")
    else:
        source = SqliteFileSource(db)
    for name in sorted({pair.db_id for pair in pairs}):
        source.check(name)
    return PairDatabase(queries_on(source, limits), chosen, source.engine, str(db), source)


def _on_one_database(dsn: str, limits: Limits, needed: bool) -> PairDatabase:
    from birdenv.databases.postgres import PostgresQueries

    queries = PostgresQueries(dsn)
    if not needed:
        return PairDatabase(None, "postgres", "", queries.shown)
    server = queries.server()
    if isinstance(server, NoAnswerError):
        print(f"Error: {server.message}", file=sys.stderr)
        raise typer.Exit(UNREACHABLE)
    if server.superuser:
        print(
            "Warning: this role is a superuser, so a predicted query can read and write files on the server; "
            "use a read-only role",
            file=sys.stderr,
        )
    return PairDatabase(
        lambda sql, db_id: queries.query(sql, limits), "postgres", server.engine, queries.shown
    )


Run = Annotated[
    Path | None,
    typer.Argument(
        help="Folder with gold.txt and preds.txt, or a run folder of `birdenv bird`, or its parent folder "
        "for the latest run. Default: the newest run_... in --runs-root.",
    ),
]
RunDir = Annotated[Path | None, typer.Option("--run-dir", help="Same as RUN.")]
RunsRoot = Annotated[Path, typer.Option("--runs-root", help="Folder in which to look for the newest run_*.")]


def find_run(run: Path | None, run_dir: Path | None, runs_root: Path) -> Path:
    """Return the given folder of pairs or, if none is given, the newest complete folder in `runs_root`.

    The reasons why newer folders were skipped are printed on standard error.

    Raises:
        InputError: there is no such folder, or both `run` and `run_dir` are given.
    """
    if run is not None and run_dir is not None:
        raise InputError(f"RUN and --run-dir mean the same: specify {run} or {run_dir}, not both")
    if (named := run or run_dir) is not None:
        return pairs_folder(named)
    found = newest_run(runs_root, holds_pairs)
    for reason in found.skipped:
        print(f"Warning: skipped {reason}", file=sys.stderr)
    return found.folder


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
            help="Time limit in seconds for a query, including its rows. A query that exceeds the limit is "
            "retried on its own, with twice the limit.",
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

    Reads gold.txt and preds.txt, which have a query on each line, or pairs.jsonl if it exists. Writes
    eval/details.jsonl, eval/eval_summary.json and eval/canon/ to the same folder. `birdenv bird
    --export-pairs` creates such a folder. RUN can also be a run folder of `birdenv bird`, whose databases are
    used by default.

    EM levels: strict compares the text as it is; conservative ignores comments, spacing and the case of
    keywords; folded also ignores the case of names and unnecessary quotes around them.

    The SQL dialect is SQLite's unless --dsn or --dialect postgres is given.

    The exit code is 3 if the database cannot be reached.

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
    """Return the databases and the dialect of a run folder. For other folders, return None and `dialect`."""
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
