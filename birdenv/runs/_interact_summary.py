"""The figures that runs of c-Interact and a-Interact have in common, and their text (BIRD-Interact §5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from birdenv.runs._directory import episode_name
from birdenv.runs._phase_figures import (
    GROUPS,
    Standing,
    group_figures,
    official_figures,
    phase_figures,
    rated,
    task_groups,
)
from birdenv.runs._phase_figures_text import answers_line, group_table, official_lines, rate_lines
from birdenv.runs._summary_text import engine_line, rule, status_notes

__all__ = ["Counting", "interact_figures", "interact_text", "mean"]

_CALLS: Final = ("labelled", "unlabelled", "unanswerable")
_DEBUG: Final = frozenset(
    ("a", "b", "c", "d", "phase_1_first", "phase_1_debug_gain", "phase_2_first", "phase_2_debug_gain")
)
"""Figures that say nothing where a later submission is worth as much as the first."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How a game counts: the passes of an episode by its record, as `Standing` has them, and whether a first
    try is told from a later one; `own` are figures of its own, over the episodes that were played."""

    passes: Callable[[Mapping[str, Any]], frozenset[tuple[int, str]]]
    own: Callable[[Sequence[Mapping[str, Any]]], dict[str, Any]]
    tells_first: bool


def interact_figures(
    runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]], counting: Counting
) -> dict[str, Any]:
    """`overall.json` of a run: its figures over the episodes that say something about the agent, also by
    group; and as they are published, over all tasks (`official`)."""
    details = {_name(record): record for record in private}
    standings = [_standing(run, details.get(_name(run), {}), counting) for run in runs]
    valid = rated(standings)
    answers = Counter(
        entry["call"] for record in private for entry in record["log"] if entry["kind"] == "answer"
    )

    def shown(figures: Mapping[str, Any]) -> dict[str, Any]:
        return {name: of for name, of in figures.items() if counting.tells_first or name not in _DEBUG}

    return {
        **shown(phase_figures(valid)),
        "follow_ups_without_gold": sum(standing.follow_up == "ungraded" for standing in valid),
        "status": dict(sorted(Counter(run["status"] for run in runs).items())),
        "attempts": dict(sorted(Counter(a["status"] for run in runs for a in run["attempts"]).items())),
        **counting.own([run for run in runs if "example" in run]),
        "answers": {call: answers[call] for call in _CALLS},
        "answer_shares": {
            call: round(answers[call] / answers.total(), 6) if answers else None for call in _CALLS
        },
        "official": shown(official_figures(standings)),
        **{
            f"by_{kind}": {name: shown(of) for name, of in group_figures(valid, kind).items()}
            for kind in GROUPS
        },
    }


def interact_text(title: str, engine: str, overall: Mapping[str, Any], own: Sequence[str]) -> str:
    """`summary.txt` of a run on an engine; `own` are the lines of the game's own figures."""
    reward = f"{overall['mean_reward']:.3f}" if overall["tasks"] else "-"
    lines = [rule("="), title, rule("="), engine_line(engine)]
    lines += rate_lines(overall)
    lines.append(f"{'Mean reward':<24}{reward:>13}")
    lines += official_lines(overall["official"])
    lines += rate_lines({"end_to_end": overall["official"]["phase_2"]})
    lines += [*own, answers_line(overall["answers"])]
    for kind, heading in GROUPS.items():
        lines += group_table(heading, overall[f"by_{kind}"])
    lines += ["", "Status"]
    lines += [f"  {name:<22}{count:>5}" for name, count in overall["status"].items()]
    return "\n".join([*lines, *_notes(overall), rule("=")]) + "\n"


def mean(values: Sequence[float]) -> float | None:
    """Of six digits; None of nothing."""
    return round(sum(values) / len(values), 6) if values else None


def _standing(run: Mapping[str, Any], private: Mapping[str, Any], counting: Counting) -> Standing:
    return Standing(
        run["instance_id"],
        run["status"],
        counting.passes(run),
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


def _notes(overall: Mapping[str, Any]) -> list[str]:
    notes = status_notes(overall["status"])
    if overall["follow_ups_without_gold"]:
        notes.append(
            f"{overall['follow_ups_without_gold']} follow-up(s) without gold were not asked or counted."
        )
    return ["", *(f"Note: {note}" for note in notes)] if notes else []
