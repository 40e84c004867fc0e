"""A stored run's data (where they are, whether they are still the same), and what its agent submitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from birdenv.databases import DatabaseSource, Limits, open_source
from birdenv.errors import BirdenvError, InputError
from birdenv.files import exists, file_digest
from birdenv.tasks import SYSTEM
from birdenv.tasks.a_interact import COSTS, MALFORMED_COST
from birdenv.tasks.c_interact import AttemptName

_NEVER_SUBMITTED = "malformed"  # an action that counted as an attempt, and was no submission


@dataclass(frozen=True, slots=True)
class Submission:
    """One attempt as it was played. `sql` is empty for an action that only counted as an attempt; in
    a-Interact, `is_last` says that the budget did not pay for it, so that it ended the episode."""

    phase: int
    attempt: AttemptName
    sql: str
    status: str
    is_last: bool = False

    @property
    def passed(self) -> bool:
        return self.status == "passed"


def submissions_of(run: Mapping[str, Any], where: str) -> tuple[Submission, ...]:
    """Return the attempts of a record of `runs.jsonl`, in order, with their SQL.

    Raises `InputError`, naming `where`, if its attempts and its transcript do not belong together.
    """
    try:
        attempts = [(a["phase"], a["attempt"], a["status"]) for a in run["attempts"]]
        events = run["example"]["events"] if attempts else []
        texts = [
            event["data"]
            for event in events
            if event["agent"] == SYSTEM and event["action"] == "submit_sql" and isinstance(event["data"], str)
        ]
        ended = "budget" in run and _overspent(run)
    except (AttributeError, KeyError, TypeError):
        raise InputError(f"{where}: not the record of an episode of BIRD-Interact") from None
    if len(texts) != sum(status != _NEVER_SUBMITTED for *_, status in attempts):
        raise InputError(f"{where}: {len(texts)} submissions in the transcript do not fit its attempts")
    remaining = iter(texts)
    return tuple(
        Submission(
            phase,
            attempt,
            "" if status == _NEVER_SUBMITTED else next(remaining),
            status,
            is_last=ended and number == len(attempts),
        )
        for number, (phase, attempt, status) in enumerate(attempts, 1)
    )


def _overspent(run: Mapping[str, Any]) -> bool:
    """Return whether the calls of an a-Interact episode cost more than its budget, as only its end can."""
    spent = sum(COSTS[kind] * count for kind, count in run["calls"].items())
    spent += MALFORMED_COST * run["malformed"]
    return bool(round(10 * spent) > 10 * run["budget"])


def place_of(config: Mapping[str, Any], key: str, option: str, given: Path | None) -> Path:
    """Return the path that was given, or that the run was played with; `InputError` where there is
    nothing.
    """
    if given is not None:
        return given
    path = Path(str(config.get(key, "")))
    if key not in config or not exists(path):
        raise InputError(f"the run's {key} ({path}) no longer exists; say where it is with {option}")
    return path


def limits_of(config: Mapping[str, Any]) -> Limits:
    """Return the limits that the run was graded under."""
    seconds = config.get("sql_timeout_s")
    return Limits(seconds=float(seconds)) if isinstance(seconds, int | float) else Limits()


def source_of(config: Mapping[str, Any], folder: Path) -> DatabaseSource:
    """Return the databases of a folder on the run's engine, with its reference date if it has one."""
    return open_source(folder, str(config.get("dialect", "sqlite")), today=config.get("today"))


def check_unchanged(
    config: Mapping[str, Any], data_file: Path, source: DatabaseSource, names: Iterable[str], allowed: bool
) -> list[str]:
    """Return what has changed since the run, in words; `InputError` that says so unless that is `allowed`."""
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
