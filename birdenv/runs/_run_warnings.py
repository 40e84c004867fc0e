"""What went wrong with the agent of a run as a whole: nobody should find that out from its score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from birdenv.dialogue import Arena
from birdenv.runs._run_folder import episode_name

_LOST: Final = "infra_error"
_QUIT: Final = "quit"
_ANSWER: Final = "submit_sql"
"""Where a game has this move, others are no answers."""


@dataclass(frozen=True, slots=True)
class RunWarnings:
    """RunWarnings of a run.

    Attributes:
        lines: what people should know, a line each; none if all went well.
        broken: episodes that broke off.
        lost: those of them that the machine, a server or an endpoint ended; they count for nobody.
        is_void: the run says nothing about the agent: every episode broke off, or it never answered.
    """

    lines: tuple[str, ...]
    broken: int
    lost: int
    is_void: bool


def run_warnings(arena: Arena, records: Iterable[Mapping[str, Any]]) -> RunWarnings:
    """Look for episodes that broke off, moves of no known name, and an agent that never answered."""
    runs = list(records)
    lines = []
    broken = [run for run in runs if "error" in run]
    lost = [run for run in broken if run["status"] == _LOST]
    failed = [run for run in broken if run["status"] != _LOST]
    for found, what in (
        (failed, "broke off and count as failed"),
        (lost, "were ended by the infrastructure, and count for nobody"),
    ):
        if found:
            first = found[0]
            lines.append(f"{len(found)} episode(s) {what}. The first, {_name(first)}: {first['error']}")
    seat = arena.game.seats[arena.game.evaluated]
    moves = [
        (run, event)
        for run in runs
        for event in run.get("example", {}).get("events", ())
        if event["agent"] == arena.game.evaluated and event["action"] != _QUIT
    ]
    unknown = [(run, event["action"]) for run, event in moves if event["action"] not in seat.by_name]
    if unknown:
        run, action = unknown[0]
        lines.append(
            f"{len(unknown)} moves were not possible; the first: {action!r} in {_name(run)}. The moves of "
            f"{arena.game.name} are {', '.join(seat.by_name)}."
        )
    answers = {_ANSWER} & seat.by_name.keys() or seat.by_name.keys()
    played = [run for run in runs if "example" in run]
    is_silent = bool(played) and not any(_is_answer(event, answers) for _, event in moves)
    if is_silent and len(broken) < len(runs):
        lines.append(f"The agent never answered ({' or '.join(answers)}) in {len(played)} episode(s).")
    return RunWarnings(
        tuple(lines), len(broken), len(lost), is_silent or (bool(runs) and len(broken) == len(runs))
    )


def _is_answer(event: Mapping[str, Any], answers: Iterable[str]) -> bool:
    data = event["data"]
    return event["action"] in answers and not (isinstance(data, str) and not data.strip())


def _name(record: Mapping[str, Any]) -> str:
    return episode_name(record["instance_id"], record.get("repeat"))
