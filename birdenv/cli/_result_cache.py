"""`--cache` and `--no-cache`: where results of statements are kept from one scoring to the next."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from birdenv.errors import InputError
from birdenv.grading import ResultStore

__all__ = ["Cache", "NoCache", "open_store", "tell_counts"]

_FILE = "results.sqlite"

Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="Folder in which results of statements are kept, so that what is known is not executed again. "
        "It says what golds return: keep it from agents.  [default: ~/.cache/birdenv]",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Execute everything, and keep nothing.")]


def open_store(cache: Path | None, no_cache: bool) -> ResultStore | None:
    """The store that the two options ask for, after telling what is wrong with it, if anything is; None
    where it cannot be used.

    Raises `InputError` if both are given, or the folder's file is another program's database.
    """
    if no_cache:
        if cache is not None:
            raise InputError("--cache and --no-cache contradict each other; give one of them")
        return None
    try:
        folder = cache or _default_folder()
    except RuntimeError:  # a user without home directory
        return None
    store = ResultStore(folder / _FILE)
    _tell_fault(store)
    return store if store.is_usable else None


def tell_counts(store: ResultStore) -> None:
    """One line on what the store was good for, and its fault if it met one."""
    print(f"Statements executed: {store.executed}; results known from before: {store.found} ({store.path})")
    _tell_fault(store)


def _tell_fault(store: ResultStore) -> None:
    if store.fault:
        print(f"Note: {store.fault}", file=sys.stderr)
        store.fault = ""


def _default_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "birdenv"
