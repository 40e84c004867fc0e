"""Warnings about a run, for example that the agent never returned a valid answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from birdenv.dialogue import Arena
from birdenv.dialogue.chat import MALFORMED, NO_CALL
from birdenv.dialogue.measures import PARTNER_ERROR
from birdenv.runs._episode_status import RETRIED
from birdenv.runs._run_folder import name_of
from birdenv.runs.summaries._episode_figures import model_figures
from birdenv.statistics import counted

_LOST: Final = "infra_error"
_QUIT: Final = "quit"
_ANSWER: Final = "submit_sql"
"""In a game with this move, only this move is an answer."""

_UNREAD: Final = (MALFORMED, NO_CALL)
_NO_SQL: Final = "no fenced SQL"
"""The note about a message of a model that the published protocol submits as `ERROR!`."""

_UNUSABLE: Final = ("no choice after two tries", "nothing said", "refused after two tries")
"""Notes about a user's model that gave nothing usable (`birdenv.users.model_user`)."""


@dataclass(frozen=True, slots=True)
class RunWarnings:
    """The warnings about a run, and how many of the episodes that ended with an error are played again.

    Attributes:
        lines: a line for each warning.
        retried: the number of episodes that ended with an error and that `--resume` plays again.
        lost: how many of the `retried` episodes ended because of the machine, a server or a model endpoint.
        is_void: True if the run says nothing about the agent, because all episodes ended with an error or the
            agent never answered.
    """

    lines: tuple[str, ...]
    retried: int
    lost: int
    is_void: bool


def run_warnings(arena: Arena, records: Iterable[Mapping[str, Any]]) -> RunWarnings:
    """Return warnings about errors, moves unknown to the game, and seats that never answered.

    Args:
        arena: the game of the run.
        records: the public record of each episode.
    """
    runs = list(records)
    lines = []
    broken = [run for run in runs if "error" in run]
    lost = [run for run in broken if run["status"] == _LOST]
    void = [run for run in broken if run["status"] == PARTNER_ERROR]
    failed = [run for run in broken if run["status"] not in (_LOST, PARTNER_ERROR)]
    for found, what in (
        (failed, "ended early and counted as failed"),
        (void, "ended early with an error of another seat's player and did not count"),
        (lost, "ended early because the infrastructure failed and did not count"),
    ):
        if found:
            first, count = found[0], counted(len(found), "episode")
            lines.append(f"{count} {what}. The first is {name_of(first)}: {first['error']}")
    seat = arena.game.seats[arena.game.evaluated]
    moves = [
        (run, event)
        for run in runs
        for event in run.get("example", {}).get("events", ())
        if event["agent"] == arena.game.evaluated and event["action"] != _QUIT
    ]
    unread = sum(event["action"] in _UNREAD for _, event in moves)
    unknown = [
        (run, event["action"]) for run, event in moves if event["action"] not in (*seat.by_name, *_UNREAD)
    ]
    if unknown:
        run, action = unknown[0]
        lines.append(
            f"{counted(len(unknown), 'unknown move')}; the first: {action!r} in {name_of(run)}. The moves of "
            f"{arena.game.name} are {', '.join(seat.by_name)}."
        )
    noted = model_figures(runs).get("model_faults", {})
    own = noted.pop(seat.name, {})
    why = _listed(own)
    if unread := unread + own.get(_NO_SQL, 0):
        lines.append(f"{counted(unread, 'message')} of the agent could not be read as a move{why}.")
    answers = {_ANSWER} & seat.by_name.keys() or seat.by_name.keys()
    played = [run for run in runs if "example" in run]
    is_silent = bool(played) and not any(_is_answer(event, answers) for _, event in moves)
    if is_silent and len(broken) < len(runs):
        lines.append(
            f"The agent never answered ({' or '.join(answers)}) in {counted(len(played), 'episode')}"
            f"{'' if unread else why}."
        )
    lines += _useless_models(arena, runs, noted)
    retried = sum(run["status"] in RETRIED for run in broken)
    is_void = is_silent or (bool(runs) and len(broken) == len(runs))
    return RunWarnings(tuple(lines), retried, len(lost), is_void)


def _useless_models(
    arena: Arena, runs: Sequence[Mapping[str, Any]], noted: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """Return a line for each other seat whose model gave no usable answer at least half of the time."""
    lines = []
    for name, kinds in noted.items():
        seat = arena.game.seat_index(name)
        said = sum(e["agent"] == seat for run in runs for e in run.get("example", {}).get("events", ()))
        if 2 * sum(kinds.get(kind, 0) for kind in _UNUSABLE) >= max(said, 1):
            answers = counted(said, "answer")
            lines.append(f"The {name}'s model often gave no usable answer{_listed(kinds)}: {answers}.")
    return lines


def _is_answer(event: Mapping[str, Any], answers: Iterable[str]) -> bool:
    data = event["data"]
    return event["action"] in answers and not (isinstance(data, str) and not data.strip())


def _listed(faults: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{kind} {count}' for kind, count in faults.items())})" if faults else ""
