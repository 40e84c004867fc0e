"""`birdenv doctor`: check what this machine can do."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import gymnasium
import typer

from birdenv.databases import SqliteSource
from birdenv.databases.sqlite import examine
from birdenv.demo import demo_folder
from birdenv.errors import InputError
from birdenv.plugins import plugins
from birdenv.runs import ENGINES
from birdenv.tasks import PUBLISHED
from birdenv.version import __version__

_IMAGES = {
    "memory-map": "mapped privately, copied page by page when written",
    "copy": "a plain copy",
}


_LIMITS = {
    "linux": "Linux: all limits hold.",
    "darwin": "macOS: address space and temporary files have no limit; a statement may outlive its program.",
}
"""The limits that each operating system enforces; docs/isolation.md has more."""


def doctor(
    db_dir: Annotated[
        Path | None,
        typer.Argument(help="Folder of <db_id>/<db_id>.sqlite to test with; default: the demo's."),
    ] = None,
) -> None:
    """Check how this machine can isolate episodes.

    Prints which limits this system enforces, which SQLite library runs the statements, whether worker
    processes start, and by which methods episodes can get a private copy of a database. Also prints where
    private files are stored, and removes files that killed processes left behind. The exit code is 1 if
    episodes cannot be isolated.

    Also prints which engines can play episodes, and which PostgreSQL server --dialect postgres would use.
    Neither engines nor servers are started or contacted.
    """
    source = SqliteSource(db_dir or demo_folder())
    names = source.names()
    if not names:
        raise InputError(f"{source.root} contains no databases")
    path = max((source.path(name) for name in names), key=lambda path: path.stat().st_size)
    health = examine(path)
    reach = "" if health.reaches_library else " (its functions cannot be called directly from this Python)"
    print(f"birdenv {__version__}, gymnasium {gymnasium.__version__}")
    print(f"Python {platform.python_version()} on {platform.platform()}")
    print(_LIMITS.get(sys.platform, f"{sys.platform}: birdenv has not been tested on this system."))
    print(f"SQLite {health.sqlite_version}, for statements, gold and scoring alike{reach}")
    print(f"\nPrivate images of {path} ({path.stat().st_size / 1e6:.1f} MB):")
    for kind, fault in health.images.items():
        mark = "chosen" if kind == health.chosen else "works" if not fault else "no"
        print(f"  {kind:<12}{mark:<8}{_IMAGES[kind]}{f': {fault}' if fault else ''}")
    print(f"\nWorker processes: {health.worker or 'work'}")
    print(f"Private files: {health.scratch} (BIRDENV_SCRATCH sets the folder above it)")
    if health.swept:
        print(f"Removed files that {len(health.swept)} killed process(es) had left there")
    _tell_engines()
    _tell_data()
    _tell_postgres()
    if health.chosen is None or health.worker:
        raise typer.Exit(1)


def _tell_engines() -> None:
    """Print the engines that can play episodes, without importing or starting them."""
    print(f"\nEngines (--engine): {', '.join(sorted(plugins(ENGINES)))}")
    print(f"  processes   one worker for each of {os.cpu_count()} processors")
    try:
        print(f"  ray         Ray {version('ray')}; cluster: {os.environ.get('RAY_ADDRESS', 'one per run')}")
    except PackageNotFoundError:
        print("  ray         not installed: pip install 'birdenv[ray]' (in a clone: -e '.[ray]')")


def _tell_data() -> None:
    print(f"\nBenchmark data: the demo, in {demo_folder()}, unless a command names others:")
    print("  birdenv bird TASK_FILE FOLDER                     FOLDER/<db_id>/<db_id>.sqlite, or dumps")
    print("  birdenv c-interact FOLDER [--data TASK_FILE]      the task file is looked for in FOLDER")
    print(f"  {PUBLISHED}")


def _tell_postgres() -> None:
    try:
        from birdenv.databases.postgres import server_choice
    except ImportError as error:  # raised by psycopg without libpq
        print(f"\nPostgreSQL (--dialect postgres): not available: its driver cannot be loaded: {error}")
        return
    print(f"\nPostgreSQL (--dialect postgres): {server_choice()}")
