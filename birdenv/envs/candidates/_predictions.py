"""Candidates from prediction files: what each of several systems wrote for a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from birdenv.errors import InputError
from birdenv.files import read_records


class Candidates(NamedTuple):
    """The statements to choose from, for the request and for the follow-up."""

    first: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()


def read_candidates(files: str | Sequence[str] | None) -> Mapping[str, Candidates] | None:
    """Return the statements of prediction files by task, without repeats; None without files.

    A file holds records with `instance_id` and `sql`, text or a list, and `follow_up_sql` likewise.

    Raises:
        InputError: a file cannot be used.
    """
    if files is None:
        return None
    found: dict[str, Candidates] = {}
    for file in [files] if isinstance(files, str) else files:
        for number, record in enumerate(read_records(Path(file)), 1):
            name = record.get("instance_id")
            if not isinstance(name, str):
                raise InputError(f"{file}: record {number} has no instance_id")
            known = found.get(name, Candidates())
            found[name] = Candidates(
                _joined(known.first, record.get("sql"), f"{file}: {name}: sql"),
                _joined(known.follow_up, record.get("follow_up_sql"), f"{file}: {name}: follow_up_sql"),
            )
    return found


def _joined(known: tuple[str, ...], more: Any, where: str) -> tuple[str, ...]:
    statements = [] if more is None else [more] if isinstance(more, str) else more
    if not isinstance(statements, list) or not all(isinstance(each, str) for each in statements):
        raise InputError(f"{where} must be text or a list of texts")
    return tuple(dict.fromkeys([*known, *(each for each in statements if each.strip())]))
