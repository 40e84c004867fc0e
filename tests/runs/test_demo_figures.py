"""Every figure that `overall.json` had when it was worked out apart from the report is in it, and equal.

`demo_figures.json` holds the files of before, by game, agent, number of tasks and repeats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from arenas import a_interact, bird, c_interact, play

BEFORE: Mapping[str, Any] = json.loads((Path(__file__).parent / "demo_figures.json").read_text())
GAMES: Mapping[str, Any] = {"bird": bird, "c-interact": c_interact, "a-interact": a_interact}
SAME = (
    *("profile", "patience", "execute_sql", "table", "history", "gold_empty", "gold_errors", "attempts"),
    *("follow_ups_without_gold", "questions_asked", "questions_allowed", "submissions", "budget", "repeats"),
    *("budget_used", "calls", "malformed", "answers", "answer_shares", "official"),
)
STATUSES = {
    "context_limit": "agent context limit",
    "task_limit_reached": "task limit reached",
    "task_error": "task error",
}
"""Names of statuses in BIRD's old `overall.json`, where they differ from those of the records."""


def rate(new: Mapping[str, Any], old: Mapping[str, Any], *, repeated: bool) -> None:
    assert (new["passed"], new["total"]) == (old["passed"], old["total"])
    assert (new["value"] or 0.0) == pytest.approx(old["accuracy"], abs=1e-6)
    if not repeated and old.get("interval"):
        assert new["interval_over_tasks"] == old["interval"]


def figures(new: Mapping[str, Any], old: Mapping[str, Any], *, repeated: bool) -> None:
    """Of a run, or of a group of tasks, in c-Interact and a-Interact."""
    phases = [name for name in old if name.startswith("phase_")]
    assert phases
    for name in phases:
        rate(new[name], old[name], repeated=repeated)
    assert new["reward"]["value"] == pytest.approx(old["mean_reward"], abs=1e-6)
    assert new["phase_1"]["total"] == old["tasks"]


def bird_figures(new: Mapping[str, Any], old: dict[str, Any], *, repeated: bool) -> None:
    assert new["episodes"]["rated"] == old.pop("total")
    ex = new["figures"]["ex"]
    whole = old.pop("overall")
    assert (ex["passed"], ex["total"] - ex["passed"]) == (whole["passed"], whole["failed"])
    for name in ("ex", "ex_bird"):
        rate(new["figures"][name], old.pop(name), repeated=repeated)
    for kind in ("difficulty", "database"):
        groups = {name: of for name, of in old.pop(f"by_{kind}").items() if of["total"]}
        assert groups.keys() == new["by"][kind].keys()
        for name, group in groups.items():
            rate(new["by"][kind][name]["ex"], group, repeated=repeated)
            assert new["by"][kind][name]["ex_bird"]["value"] == pytest.approx(group["ex_bird"], abs=1e-6)
    statuses = {STATUSES.get(name, name): count for name, count in old.pop("status").items() if count}
    assert {name: count for name, count in new["status"].items() if count} == statuses


def interact_figures(new: Mapping[str, Any], old: dict[str, Any], *, repeated: bool) -> None:
    assert new["episodes"]["rated"] == old["tasks"]
    figures(new["figures"], old, repeated=repeated)
    for name in [name for name in old if name.startswith("phase_") or name in ("tasks", "mean_reward")]:
        del old[name]
    for name in [name for name in old if name.startswith("by_")]:
        groups, now = old.pop(name), new["by"][name.removeprefix("by_")]
        assert groups.keys() == now.keys()
        for group in groups:
            figures(now[group], groups[group], repeated=repeated)
    assert new["status"] == old.pop("status")


@pytest.mark.every(2)
@pytest.mark.parametrize("played", BEFORE)
def test_no_figure_is_lost(demo: Path, tmp_path: Path, played: str) -> None:
    name, agent, count, repeats = played.split()
    directory = play(GAMES[name](demo, int(count)), agent, tmp_path, repeats=int(repeats))
    new, old = json.loads((directory.path / "overall.json").read_text()), dict(BEFORE[played])
    (bird_figures if name == "bird" else interact_figures)(new, old, repeated=int(repeats) > 1)
    for measure, of in old.pop("means", {}).items():
        assert new["figures"][measure] == of
    for measure, rates in old.pop("pass", {}).items():
        assert new["pass"][measure] == rates
    for name in SAME:
        if name in old:
            assert new[name] == old.pop(name), name
    assert old == {}, "every key is accounted for"
