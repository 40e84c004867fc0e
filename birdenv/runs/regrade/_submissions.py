"""What an agent submitted in a stored c-Interact episode, read back from its public record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from birdenv.errors import InputError
from birdenv.tasks import SYSTEM

_NEVER_SUBMITTED = "malformed"  # an action that counted as an attempt, and was no submission


@dataclass(frozen=True, slots=True)
class Submission:
    """One attempt as it was played. `sql` is empty for an action that only counted as an attempt."""

    phase: int
    attempt: str
    sql: str
    status: str

    @property
    def passed(self) -> bool:
        return self.status == "passed"


def submissions_of(run: Mapping[str, Any], where: str) -> tuple[Submission, ...]:
    """The attempts of a record of `runs.jsonl`, in order, with their SQL.

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
    except (KeyError, TypeError):
        raise InputError(f"{where}: not the record of a c-Interact episode") from None
    if len(texts) != sum(status != _NEVER_SUBMITTED for *_, status in attempts):
        raise InputError(f"{where}: {len(texts)} submissions in the transcript do not fit its attempts")
    remaining = iter(texts)
    return tuple(
        Submission(phase, attempt, "" if status == _NEVER_SUBMITTED else next(remaining), status)
        for phase, attempt, status in attempts
    )
