"""Reading `eval_<mode>.json`, the result file of the published tool-calling service (BIRD-Interact-ADK).

It does not say whether a phase was passed at once or after debug; the reward does, where it is one of the
sums of the schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import read_json
from birdenv.runs.official._published_lines import (
    PublishedNotes,
    record_groups,
)
from birdenv.runs.official._read import OfficialResults
from birdenv.tasks.interact.official_score import EpisodeScore, FollowUpKind

_ADK_FIRST: Final = "first"
_ADK_DEBUG: Final = "debug"
_ATTEMPTS: Final = {
    (True, False, 0.7): (_ADK_FIRST, ""),
    (True, False, 0.5): (_ADK_DEBUG, ""),
    (True, True, 1.0): (_ADK_FIRST, _ADK_FIRST),
    (True, True, 0.9): (_ADK_FIRST, _ADK_DEBUG),
    (True, True, 0.8): (_ADK_DEBUG, _ADK_FIRST),
    (True, True, 0.7): (_ADK_DEBUG, _ADK_DEBUG),
    (False, False, 0.0): ("", ""),
}
"""By phase 1, phase 2 and the reward: at which attempt each was passed."""


def read_adk_file(path: Path) -> OfficialResults:
    """The results of the file. Raises `InputError` naming the first result that cannot be read.

    A reward that fits no way of passing (a known fault of the service gives one phase's reward twice) is
    replaced by what the two flags earn at least: at once for a whole phase that was rewarded twice, else
    after debug.
    """
    value = read_json(path)
    results = value.get("results") if isinstance(value, dict) else None
    if not isinstance(results, list):
        raise InputError(f"{path}: expected a JSON object with a list `results`, as the service writes it")
    notes = PublishedNotes()
    standings: dict[str, EpisodeScore] = {}
    twice: list[str] = []
    crashed: list[str] = []
    odd: list[str] = []
    for number, result in enumerate(results, 1):
        name = _name(result)
        if name is None:
            raise InputError(f"{path}: result {number} has no instance_id or task_id")
        if name in standings:
            twice.append(name)
        if result.get("error") and "phase1_passed" not in result:
            crashed.append(name)
            standings[name] = EpisodeScore(name, "infra_error", frozenset(), "none", _groups(name, result))
            continue
        attempts = _attempts(result, f"{path}: result {number} ({name})")
        if attempts is None:
            odd.append(f"{name} {result['total_reward']:g}")
            attempts = _least(result)
        passes = frozenset((phase, attempt) for phase, attempt in enumerate(attempts, 1) if attempt)
        followed: FollowUpKind = "graded" if result.get("has_follow_up") else "none"
        standings[name] = EpisodeScore(name, "completed", passes, followed, _groups(name, result))
    notes.about(twice, "several results for one task, of which the last counts")
    notes.about(crashed, "crashed, counted as failed in N")
    notes.about(odd, "the reward fits no way of passing the two phases; replaced by the least that they earn")
    return OfficialResults(tuple(standings.values()), tuple(notes.lines))


def _name(result: Any) -> str | None:
    if not isinstance(result, dict):
        return None
    name = result.get("instance_id") or result.get("task_id")
    return name if isinstance(name, str) else None


def _groups(name: str, result: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return record_groups({"instance_id": name, "selected_database": result.get("database")})


def _attempts(result: Mapping[str, Any], where: str) -> tuple[str, str] | None:
    flags = [result.get("phase1_passed"), result.get("phase2_passed", False)]
    reward = result.get("total_reward")
    if not all(isinstance(flag, bool) for flag in flags) or not isinstance(reward, int | float):
        raise InputError(f"{where}: needs phase1_passed, phase2_passed (true or false) and total_reward")
    return _ATTEMPTS.get((bool(flags[0]), bool(flags[1]), round(float(reward), 6)))


def _least(result: Mapping[str, Any]) -> tuple[str, str]:
    if not result["phase1_passed"]:
        return "", ""
    at_once = round(float(result["total_reward"]), 6) == 1.4  # 0.7 granted twice
    return _ADK_FIRST if at_once else _ADK_DEBUG, _ADK_DEBUG if result.get("phase2_passed") else ""
