"""`birdenv db`: manage the PostgreSQL server and its databases."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birdenv.cli.command import progress
from birdenv.cli.options._run_options import Dsn
from birdenv.databases import SqliteSource
from birdenv.errors import BirdenvError, InputError
from birdenv.files import check_writable, write_text
from birdenv.statistics import counted

if TYPE_CHECKING:
    from birdenv.databases.postgres import Cluster, Leftover, Loaded, PostgresServer, Template


_NOTES_SHOWN = 3

app = typer.Typer(
    no_args_is_help=True,
    help="""Manage the PostgreSQL server and its databases.

After `pip install 'birdenv[postgres]'` (in a clone: -e '.[postgres]') there is nothing to set up: commands
start birdenv's own server, without a network port, and stop it when the last command ends. Loaded databases
stay in the cache. Name any other server with --dsn or BIRDENV_DSN.

Begin with `birdenv db load`, then look at `birdenv db status`.""",
)

Names = Annotated[list[str] | None, typer.Option("--database", help="Only this database; may be repeated.")]
Expect = Annotated[
    str | None,
    typer.Option(
        "--expect",
        help='Expected row counts: a JSON file {"database": {"table": rows}}, or `lite` or `full` for the '
        "counts that the authors of BIRD-Interact publish.",
    ),
]


@app.command()
def status(dsn: Dsn = None) -> None:
    """Show the server in use and its databases. Starts birdenv's own server if necessary."""
    from birdenv.databases.postgres import Cluster, leftovers, templates

    with _server(dsn) as server:
        print(f"{server.version} at {server.shown}")
        if server.is_ours:
            stays = "until `birdenv db stop`" if Cluster().is_kept_running() else "while it is in use"
            print(f"birdenv's own server: runs {stays}")
        found = templates(server)
        if found:
            _print_templates(found)
        else:
            print("No databases are loaded. Next: birdenv db load FOLDER")
        beside = leftovers(server)
    if beside:
        print(f"\nIn addition to the loaded databases, birdenv has {_counted(beside)} there:")
        for each in beside:
            print(f"  {each.kind:<10}  {each.name}" + (f"  {each.size / 1e6:.1f} MB" if each.size else ""))
        print("`birdenv db clean` removes those that no running process is using.")


def _print_templates(found: Mapping[str, Template]) -> None:
    width = max(len("database"), *map(len, found))
    print(f"\n{'database':<{width}}  {'tables':>6}  {'rows':>9}  {'MB':>7}  digest")
    for name, each in found.items():
        size = each.size / 1e6
        print(
            f"{name:<{width}}  {len(each.stamp.tables):>6}  {each.rows:>9,}  {size:>7.1f}  "
            f"{each.stamp.digest[:12]}"
        )


def _counted(beside: Sequence[Leftover]) -> str:
    """Return how many databases and roles there are, such as `2 databases, 1 role`."""
    counts = Counter(each.kind for each in beside)
    return ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in sorted(counts.items()))


@app.command()
def clean(dsn: Dsn = None) -> None:
    """Remove birdenv's databases and roles that no running process is using. Loaded databases are kept.

    This includes the leftovers of killed processes, and the copies that runs share. The next run that needs a
    copy re-creates it.
    """
    from birdenv.databases.postgres import leftovers, remove_leftovers

    with _server(dsn) as server:
        removed = remove_leftovers(server)
        for each in removed:
            print(f"removed {each.kind} {each.name}")
        left = leftovers(server)
    print(f"Removed {_counted(removed)}." if removed else "There was nothing to remove.")
    if left:
        print(f"Not removed: {_counted(left)}, in use by running processes.")


@app.command()
def start() -> None:
    """Start birdenv's own server and leave it running, so that commands do not have to start it each time."""
    server = _own()
    for note in server.use():
        typer.echo(f"Note: {note}", err=True)
    server.keep()
    server.release()
    print(f"PostgreSQL {server.version} is running at {server.place.root}; stop it with `birdenv db stop`")


@app.command()
def stop(
    force: Annotated[
        bool, typer.Option("--force", help="Stop it even if other processes are using it.")
    ] = False,
) -> None:
    """Stop birdenv's own server, which restarts when a command needs it. Loaded databases are kept."""
    print("Stopped." if _own().stop(force) else "The server was not running.")


@app.command()
def load(
    path: Annotated[
        Path,
        typer.Argument(
            help="Folder of <db>_template/<table>.sql (the official dumps), one <db>_template folder, a "
            "folder of .sql files, or one .sql file; with --from-sqlite, a folder of <db>/<db>.sqlite."
        ),
    ],
    from_sqlite: Annotated[
        bool, typer.Option("--from-sqlite", help="Convert SQLite databases instead of loading dumps.")
    ] = False,
    names: Names = None,
    expect: Expect = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also load databases that are already loaded and unchanged.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List everything that could not be converted unchanged.")
    ] = False,
    dsn: Dsn = None,
) -> None:
    """Load databases into PostgreSQL, from dumps or from SQLite files.

    A database becomes available once all its tables are loaded and counted. If loading a database fails, its
    name is printed and nothing of it remains on the server. Databases that are already loaded are skipped.
    The exit code is 1 if a database could not be loaded.
    """
    jobs = _jobs(path, from_sqlite)
    chosen = _chosen(list(jobs), names)
    rows = _expectations(expect)
    failed: list[str] = []
    loaded: dict[str, dict[str, int]] = {}
    with _server(dsn) as server, progress("loading", len(chosen)) as move:
        for name in chosen:
            move(advance=1)
            try:
                done = jobs[name](server, again=again, expected=rows.get(name))
            except BirdenvError as error:
                failed.append(name)
                typer.echo(f"{name}: NOT loaded: {error}", err=True)
                continue
            loaded[name] = done.tables
            _print_loaded(done, verbose)
    _end([*_set_differences(expect, rows, loaded, names), *failed], f"{len(loaded)} of {len(chosen)} loaded")


@app.command()
def verify(
    names: Names = None,
    expect: Expect = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the row counts to this file, for --expect.")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Count the rows of every loaded table, and compare them with the counts at loading and with --expect.

    The exit code is 0 if all counts agree, and 1 otherwise.
    """
    from birdenv.databases.postgres import templates

    if write is not None:
        check_writable(write)
    rows = _expectations(expect)
    with _server(dsn) as server:
        found = templates(server)
        if not found:
            raise InputError(f"no databases are loaded at {server.shown}: run `birdenv db load` first")
        problems: list[str] = []
        for name in _chosen(list(found), names):
            problems += _verify(server, name, found[name], rows.get(name))
    present = {name: each.stamp.tables for name, each in found.items()}
    problems += _set_differences(expect, rows, present, names)
    if write is not None:
        chosen = {name: present[name] for name in _chosen(list(found), names)}
        write_text(write, json.dumps(chosen, indent=1, ensure_ascii=False) + "\n")
    _end(problems, counted(len(problems), "problem") if problems else "all as loaded")


Job = Callable[..., "Loaded"]


def _jobs(path: Path, from_sqlite: bool) -> dict[str, Job]:
    """Return, for each database in a folder, the function that loads the database."""
    from birdenv.databases.postgres import find_dumps, load_dump, load_from_sqlite

    if not from_sqlite:
        return {
            dump.db_id: lambda server, dump=dump, **rest: load_dump(server, dump, **rest)
            for dump in find_dumps(path)
        }
    source = SqliteSource(path)
    names = source.names()
    if not names:
        raise InputError(f"{path} contains no databases: expected <db>/<db>.sqlite")

    return {
        name: lambda server, name=name, **rest: load_from_sqlite(server, source, name, **rest)
        for name in names
    }


def _print_loaded(done: Loaded, verbose: bool) -> None:
    rows = sum(done.tables.values())
    state = " (already loaded)" if done.skipped else ""
    print(f"{done.db_id}: {len(done.tables)} tables, {rows:,} rows{state}")
    shown = done.notes if verbose else done.notes[:_NOTES_SHOWN]
    for note in shown:
        print(f"    {note}")
    if len(shown) < len(done.notes):
        print(f"    and {len(done.notes) - len(shown)} more (--verbose prints all)")


def _verify(
    server: PostgresServer, name: str, template: Template, expected: dict[str, int] | None
) -> list[str]:
    """Check the row counts of a database, print the result, and return the name if a count is wrong."""
    from birdenv.databases.postgres import differences, verify_template

    wrong = verify_template(server, template)
    if expected is not None:
        wrong += [f"{line} (by --expect)" for line in differences(expected, template.stamp.tables)]
    print(f"{name}: {len(template.stamp.tables)} tables, {template.rows:,} rows: {'; '.join(wrong) or 'ok'}")
    return [name] if wrong else []


def _expectations(expect: str | None) -> dict[str, dict[str, int]]:
    from birdenv.databases.postgres import OFFICIAL_SETS, read_expectations

    if expect is None or expect in OFFICIAL_SETS:
        return {}
    return read_expectations(Path(expect))


def _set_differences(
    expect: str | None,
    rows: dict[str, dict[str, int]],
    present: dict[str, dict[str, int]],
    names: Sequence[str] | None,
) -> list[str]:
    """Print and return which databases are missing, and how the set differs from the authors' counts."""
    from birdenv.databases.postgres import OFFICIAL_SETS

    if names:  # only some were requested
        return []
    wrong = [f"database {name!r} is expected but not loaded" for name in rows if name not in present]
    official = OFFICIAL_SETS.get(expect or "")
    if official is not None:
        wrong += [f"{line} (the authors' counts for {expect})" for line in official.differences(present)]
    for line in wrong:
        print(line)
    return wrong


def _chosen(present: Sequence[str], names: Sequence[str] | None) -> list[str]:
    for name in names or ():
        if name not in present:
            raise InputError(f"--database {name!r} is not available; available: {', '.join(present)}")
    return [name for name in present if not names or name in names]


def _server(dsn: str | None) -> PostgresServer:
    from birdenv.databases.postgres import find_server

    server = find_server(dsn)
    for note in server.notes:
        typer.echo(f"Note: {note}", err=True)
    return server


def _own() -> Cluster:
    from birdenv.databases.postgres import DSN_VARIABLE, Cluster

    if os.environ.get(DSN_VARIABLE):
        raise InputError(f"{DSN_VARIABLE} refers to a different server, which birdenv does not start or stop")
    return Cluster()


def _end(problems: Sequence[str], line: str) -> None:
    print(line)
    if problems:
        raise typer.Exit(1)
