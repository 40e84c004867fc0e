"""The figures of a run of c-Interact, from its records (BIRD-Interact §5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from birdenv.runs._directory import episode_name
from birdenv.runs._measures import passed
from birdenv.runs._phase_figures import (
    GROUPS,
    Standing,
    group_figures,
    official_figures,
    phase_figures,
    rated,
    task_groups,
)
from birdenv.runs._phase_figures_text import dialogue_lines, group_table, official_lines, phase_lines
from birdenv.runs._summary_text import rule, status_notes

__all__ = ["dialogue_figures", "dialogue_text"]

_PLACES = [(phase, attempt) for phase in (1, 2) for attempt in ("first", "debug")]
_CALLS = ("labelled", "unlabelled", "unanswerable")


def dialogue_figures(
    runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """`overall.json` of a run: its figures over the episodes that say something about the agent, also by
    group; and as they are published, over all tasks (`official`)."""
    details = {_name(record): record for record in private}
    standings = [_standing(run, details.get(_name(run), {})) for run in runs]
    valid = rated(standings)
    played = [run for run in runs if run["status"] != "skipped"]
    calls = Counter(
        entry["call"] for record in private for entry in record["log"] if entry["kind"] == "answer"
    )
    return {
        **phase_figures(valid),
        "follow_ups_without_gold": sum(standing.follow_up == "ungraded" for standing in valid),
        "status": dict(sorted(Counter(run["status"] for run in runs).items())),
        "attempts": dict(sorted(Counter(a["status"] for run in runs for a in run["attempts"]).items())),
        "questions_asked": _mean([run["questions"] for run in played]),
        "questions_allowed": _mean([run["max_questions"] for run in played]),
        "answers": {call: calls[call] for call in _CALLS},
        "official": official_figures(standings),
        **{f"by_{kind}": group_figures(valid, kind) for kind in GROUPS},
    }


def dialogue_text(overall: Mapping[str, Any]) -> str:
    """`summary.txt` of a run."""
    tool = "with execute_sql" if overall["execute_sql"] else "without execute_sql"
    lines = [rule("="), f"c-Interact: profile {overall['profile']}, patience {overall['patience']}, {tool}"]
    lines.append(rule("="))
    lines += phase_lines(overall)
    reward = f"{overall['mean_reward']:.3f}" if overall["tasks"] else "-"
    lines.append(f"{'Mean reward':<24}{reward:>13}")
    lines += official_lines(overall["official"])
    lines += dialogue_lines(overall["questions_asked"], overall["questions_allowed"], overall["answers"])
    for kind, title in GROUPS.items():
        lines += group_table(title, overall[f"by_{kind}"])
    lines += ["", "Status"]
    lines += [f"  {name:<22}{count:>5}" for name, count in overall["status"].items()]
    lines += _notes(overall)
    return "\n".join([*lines, rule("=")]) + "\n"


def _standing(run: Mapping[str, Any], private: Mapping[str, Any]) -> Standing:
    return Standing(
        run["instance_id"],
        run["status"],
        frozenset(place for place in _PLACES if passed(run, *place)),
        run["follow_up"],
        task_groups(
            category=run["category"],
            difficulty=run["difficulty"],
            database=run["database"],
            high_level=run.get("high_level"),  # runs of before it was recorded
            ambiguity=private.get("ambiguity_types", ()),
        ),
    )


def _name(record: Mapping[str, Any]) -> str:
    return episode_name(record["instance_id"], record.get("repeat"))


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def _notes(overall: Mapping[str, Any]) -> list[str]:
    notes = status_notes(overall["status"])
    if overall["follow_ups_without_gold"]:
        notes.append(
            f"{overall['follow_ups_without_gold']} follow-up(s) without gold were not asked or counted."
        )
    return ["", *(f"Note: {note}" for note in notes)] if notes else []
