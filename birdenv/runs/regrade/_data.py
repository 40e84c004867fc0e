"""Find the data of a stored run, check whether the data have changed, and read the agent's submissions."""

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

_NEVER_SUBMITTED = "malformed"  # the status of an action that counted as an attempt without a submission


@dataclass(frozen=True, slots=True)
class Submission:
    """An attempt recorded in a run.

    Attributes:
        phase: the phase of the attempt.
        attempt: the name or number of the attempt within the phase.
        sql: the submitted SQL; empty if the agent's move counted as an attempt but contained no SQL.
        status: the recorded verdict.
        is_last: True if the attempt exceeded the budget in a-Interact, which ended the episode.
    """

    phase: int
    attempt: AttemptName
    sql: str
    status: str
    is_last: bool = False

    @property
    def passed(self) -> bool:
        return self.status == "passed"


def submissions_of(run: Mapping[str, Any], where: str) -> tuple[Submission, ...]:
    """Return the attempts in a record of `runs.jsonl`, in the order in which they were made.

    Raises:
        InputError: the attempts contradict the transcript; the message names `where`.
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
        raise InputError(f"{where}: this is not a BIRD-Interact episode record") from None
    if len(texts) != sum(status != _NEVER_SUBMITTED for *_, status in attempts):
        raise InputError(
            f"{where}: the transcript has {len(texts)} submissions, which contradicts the recorded attempts"
        )
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
    """Return True if the calls of an a-Interact episode cost more than its budget."""
    spent = sum(COSTS[kind] * count for kind, count in run["calls"].items())
    spent += MALFORMED_COST * run["malformed"]
    return bool(round(10 * spent) > 10 * run["budget"])


def place_of(config: Mapping[str, Any], key: str, option: str | None, given: Path | None) -> Path:
    """Return the path `given` or, if `given` is None, the path in the run's configuration.

    Args:
        config: the run's configuration.
        key: the configuration field that contains the path.
        option: the command-line option that the error message suggests; None if there is no such option.
        given: the path that overrides the configuration; None to use the configuration.

    Raises:
        InputError: `given` is None, and the configured path no longer exists.
    """
    if given is not None:
        return given
    path = Path(str(config.get(key, "")))
    if key not in config or not exists(path):
        advice = f"specify its new path with {option}" if option else "move it back to this path"
        raise InputError(f"the run's {key} ({path}) no longer exists; {advice}")
    return path


def limits_of(config: Mapping[str, Any]) -> Limits:
    """Return the limits for SQL that applied when the run was graded."""
    seconds = config.get("sql_timeout_s")
    return Limits(seconds=float(seconds)) if isinstance(seconds, int | float) else Limits()


def source_of(config: Mapping[str, Any], folder: Path) -> DatabaseSource:
    """Open the databases in a folder with the SQL dialect and the reference date of the run."""
    return open_source(folder, str(config.get("dialect", "sqlite")), today=config.get("today"))


def check_unchanged(
    config: Mapping[str, Any], data_file: Path, source: DatabaseSource, names: Iterable[str], allowed: bool
) -> list[str]:
    """Return a description of each change in the data since the run.

    Raises:
        InputError: data have changed, and `allowed` is false.
    """
    changes = changes_since(config, data_file, source, names)
    if changes and not allowed:
        raise InputError(
            f"the data have changed since the run: {'; '.join(changes)}. The verdicts would be about other "
            "data: specify the old data (see --help), or accept the changes with --allow-changed"
        )
    return changes


def changes_since(
    config: Mapping[str, Any], data_file: Path, source: DatabaseSource, names: Iterable[str]
) -> list[str]:
    """Return a description of each part of the data whose digest differs from that in `config.json`."""
    changes = []
    if file_digest(data_file) != config.get("data_sha256"):
        changes.append(f"the task file {data_file}")
    digests = config.get("databases_sha256")
    before = digests if isinstance(digests, dict) else {}
    for name in names:
        try:
            same = source.digest(name) == before.get(name)
        except BirdenvError as error:
            raise InputError(f"{error}; every database of the run is needed to regrade it") from None
        if not same:
            changes.append(f"the database {name}")
    return changes


def data_notes(changes: Sequence[str], left_out: Sequence[str]) -> list[str]:
    """Return lines for the end of a report that name the changed data and the missing tasks."""
    lines = [f"Changed since the run: {'; '.join(changes)}"] if changes else []
    return lines + ([f"Left out, no longer in the task file: {', '.join(left_out)}"] if left_out else [])
