"""The data that a stored run was played on: where it is, and whether it is still the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from birdenv.databases import DatabaseSource, Limits, open_source
from birdenv.errors import BirdenvError, InputError
from birdenv.files import exists, file_digest


def place_of(config: Mapping[str, Any], key: str, option: str, given: Path | None) -> Path:
    """The path that was given, or that the run was played with; `InputError` where there is nothing."""
    if given is not None:
        return given
    path = Path(str(config.get(key, "")))
    if key not in config or not exists(path):
        raise InputError(f"the run's {key} ({path}) is not there any more; say where it is with {option}")
    return path


def limits_of(config: Mapping[str, Any]) -> Limits:
    """The limits that the run was graded under."""
    seconds = config.get("sql_timeout_s")
    return Limits(seconds=float(seconds)) if isinstance(seconds, int | float) else Limits()


def source_of(config: Mapping[str, Any], folder: Path) -> DatabaseSource:
    """The databases of a folder on the engine of the run, and at its day, if it has one; on the server that
    `open_source` finds."""
    return open_source(folder, str(config.get("dialect", "sqlite")), today=config.get("today"))


def check_unchanged(
    config: Mapping[str, Any], data_file: Path, source: DatabaseSource, names: Iterable[str], allowed: bool
) -> list[str]:
    """What has changed since the run, in words; `InputError` that says so unless that is `allowed`."""
    changes = changes_since(config, data_file, source, names)
    if changes and not allowed:
        raise InputError(
            f"the data have changed since the run: {'; '.join(changes)}. The verdicts would be about other "
            "data: name the old ones (see --help), or accept that with --allow-changed"
        )
    return changes


def changes_since(
    config: Mapping[str, Any], data_file: Path, source: DatabaseSource, names: Iterable[str]
) -> list[str]:
    """By the digests in `config.json`."""
    changes = []
    if file_digest(data_file) != config.get("data_sha256"):
        changes.append(f"the task file {data_file}")
    digests = config.get("databases_sha256")
    before = digests if isinstance(digests, dict) else {}
    for name in names:
        try:
            same = source.digest(name) == before.get(name)
        except BirdenvError as error:
            raise InputError(f"{error}; every database of the run is needed to grade it again") from None
        if not same:
            changes.append(f"the database {name}")
    return changes


def data_notes(changes: Sequence[str], left_out: Sequence[str]) -> list[str]:
    """Return the last lines of a report: what has changed since the run, and what is no longer there."""
    lines = [f"Changed since the run: {'; '.join(changes)}"] if changes else []
    return lines + ([f"Not in the task file any more, left out: {', '.join(left_out)}"] if left_out else [])
