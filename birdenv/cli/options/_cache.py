"""`--cache` and `--paranoid`: where results of statements are kept from one command to the next."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from birdenv.databases.cache import ResultCache
from birdenv.errors import InputError
from birdenv.grading import ResultStore

_FILE = "results.sqlite"

Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        help="Keep results of statements in this folder, and do not execute what is known there. It says "
        "what golds return: keep it from agents.  [default: nothing is kept]",
    ),
]
Paranoid = Annotated[
    int,
    typer.Option(
        "--paranoid",
        metavar="N",
        min=0,
        help="Execute every Nth statement that the cache knows again, and stop if its result differs "
        "(0: never).",
    ),
]


def open_store(cache: Path | None, paranoid: int) -> ResultStore | None:
    """Open the store of a folder, after telling what is wrong with it; None where it cannot be used.

    Raises:
        InputError: there is nothing to check, or the folder's file is another program's database.
    """
    if cache is None:
        if paranoid:
            raise InputError("--paranoid checks a cache: name its folder with --cache")
        return None
    store = ResultStore(cache / _FILE)
    _tell_fault(store)
    return store if store.is_usable else None


@contextmanager
def opened_cache(cache: Path | None, paranoid: int) -> Iterator[ResultCache | None]:
    """Give the cache that the two options ask for, and say at the end what it was good for.

    None stands for no option. Raises `InputError` as `open_store`.
    """
    store = open_store(cache, paranoid)
    if store is None:
        yield None
        return
    with store:
        yield ResultCache(store, check_every=paranoid)
    tell_counts(store)


def tell_counts(store: ResultStore) -> None:
    """Print one line on what the store was good for, and its fault if it met one."""
    print(f"Statements executed: {store.executed}; results known from before: {store.found} ({store.path})")
    _tell_fault(store)


def _tell_fault(store: ResultStore) -> None:
    if store.fault:
        print(f"Note: {store.fault}", file=sys.stderr)
        store.fault = ""
