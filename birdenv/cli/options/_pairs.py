"""Options of `evaluate` and `inspect`: where the pairs are, and the database on which their queries run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli.options._run_options import databases_in
from birdenv.databases import DIALECTS, DatabaseSource, Limits, NoAnswerError
from birdenv.databases.sqlite import SqliteFileSource
from birdenv.errors import InputError
from birdenv.files import is_directory
from birdenv.grading.em_esm import PairRules, RunQuery
from birdenv.runs.em_esm import (
    ScoredPair,
    holds_pairs,
    newest_run,
    pairs_folder,
    queries_on,
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
        help="PostgreSQL database for all pairs, postgresql://user@host:port/database, as a role that may "
        "only read. With --db, the server on which to load that folder, as in `birdenv score`.",
    ),
]


Dialect = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        help="SQL dialect of the queries: sqlite, or postgres (with --db FOLDER they run on birdenv's own "
        "server, which loads missing databases from the folder). Default: postgres with --dsn, else sqlite.",
    ),
]


@dataclass(frozen=True, slots=True)
class PairDatabase:
    """The database on which pairs run. `run` is None if no query has to run; `shown` has no password."""

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
    """Return the database that the options name.

    Raises:
        InputError: the options do not fit together, or the database cannot be used.
        InfrastructureError: birdenv's server cannot be reached.
        typer.Exit: the server of `--dsn` cannot be reached.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise InputError(f"--dialect {dialect!r} is unknown; known: {', '.join(DIALECTS)}")
    if dialect == "sqlite" and dsn is not None:
        raise InputError("--dsn names a PostgreSQL server: leave it out, or give --dialect postgres")
    if dialect is None and dsn is not None and db is not None:
        raise InputError(
            "give --dsn (PostgreSQL) or --db (SQLite), not both; to load the folder of --db on the server of "
            "--dsn, give --dialect postgres"
        )
    chosen = dialect or ("sqlite" if dsn is None else "postgres")
    if dsn is not None and db is None:
        return _on_one_database(dsn, limits, rules.esm)
    if db is None:
        if rules.esm:
            raise InputError(
                "ESM runs the queries: give --dsn (PostgreSQL) or --db (SQLite; PostgreSQL with --dialect "
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
                f"pair {nameless.idx} does not name its database in {db}: give "
                f"{'the file itself (--db FILE)' if chosen == 'sqlite' else 'that database (--dsn alone)'}, "
                "or a pairs.jsonl with `db_id`"
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
            "Warning: this role is a superuser, so a predicted query can read and write files of the server; "
            "use a role that may only read",
            file=sys.stderr,
        )
    return PairDatabase(
        lambda sql, db_id: queries.query(sql, limits), "postgres", server.engine, queries.shown
    )


Run = Annotated[
    Path | None,
    typer.Argument(
        help="Folder with gold.txt and preds.txt, or a run folder of `birdenv bird`, or the folder above it "
        "for the latest run. Default: the newest run_... in --runs-root.",
    ),
]
RunDir = Annotated[Path | None, typer.Option("--run-dir", help="Same as RUN.")]
RunsRoot = Annotated[Path, typer.Option("--runs-root", help="Folder in which to look for the newest run_*.")]


def find_run(run: Path | None, run_dir: Path | None, runs_root: Path) -> Path:
    """Return the given folder, or else the newest complete run. Skipped runs are reported on standard error.

    Raises:
        InputError: no run is found, or two are given.
    """
    if run is not None and run_dir is not None:
        raise InputError(f"RUN and --run-dir mean the same: give {run} or {run_dir}, not both")
    if (named := run or run_dir) is not None:
        return pairs_folder(named)
    found = newest_run(runs_root, holds_pairs)
    for reason in found.skipped:
        print(f"Warning: skipped {reason}", file=sys.stderr)
    return found.folder
