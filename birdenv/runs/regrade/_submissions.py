"""What an agent submitted in a stored episode of BIRD-Interact, read back from its public record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from birdenv.errors import InputError
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
    """Whether the calls of an a-Interact episode cost more than its budget, as only its end can."""
    spent = sum(COSTS[kind] * count for kind, count in run["calls"].items())
    spent += MALFORMED_COST * run["malformed"]
    return bool(round(10 * spent) > 10 * run["budget"])
