"""The figures that runs of c-Interact and a-Interact have in common, and their text (BIRD-Interact §5.2).

The figures of a run of a-Interact, from its records (BIRD-Interact §5.2).

The figures of a run of c-Interact, from its records (BIRD-Interact §5.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from birdenv.runs._directory import episode_name
from birdenv.runs.analysis._lines import engine_line, rule, status_notes
from birdenv.runs.analysis._measures import (
    GROUPS,
    EpisodeScore,
    group_figures,
    official_figures,
    passed,
    phase_figures,
    rated,
    task_groups,
)
from birdenv.runs.analysis._text import answers_line, group_table, official_lines, questions_line, rate_lines
from birdenv.tasks import TOOLS

_CALLS: Final = ("labelled", "unlabelled", "unanswerable", "unclear")
_DEBUG: Final = frozenset(
    ("a", "b", "c", "d", "phase_1_first", "phase_1_debug_gain", "phase_2_first", "phase_2_debug_gain")
)
"""Figures that say nothing where a later submission is worth as much as the first."""


@dataclass(frozen=True, slots=True)
class PhaseCounting:
    """How a game counts: the passes of an episode by its record, as `EpisodeScore` has them, and whether a
    first try is told from a later one; `own` are figures of its own, over the episodes that were played."""

    passes: Callable[[Mapping[str, Any]], frozenset[tuple[int, str]]]
    own: Callable[[Sequence[Mapping[str, Any]]], dict[str, Any]]
    tells_first: bool


def interact_figures(
    runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]], counting: PhaseCounting
) -> dict[str, Any]:
    """`overall.json` of a run: its figures over the episodes that say something about the agent, also by
    group; and as they are published, over all tasks (`official`)."""
    details = {_name(record): record for record in private}
    standings = [_standing(run, details.get(_name(run), {}), counting) for run in runs]
    valid = rated(standings)
    answers = Counter(
        entry["call"] for record in private for entry in record["log"] if entry["kind"] == "answer"
    )
    calls = [call for call in _CALLS if answers[call] or call != "unclear"]

    def shown(figures: Mapping[str, Any]) -> dict[str, Any]:
        return {name: of for name, of in figures.items() if counting.tells_first or name not in _DEBUG}

    return {
        **shown(phase_figures(valid)),
        "follow_ups_without_gold": sum(standing.follow_up == "ungraded" for standing in valid),
        "status": dict(sorted(Counter(run["status"] for run in runs).items())),
        "attempts": dict(sorted(Counter(a["status"] for run in runs for a in run["attempts"]).items())),
        **counting.own([run for run in runs if "example" in run]),
        "answers": {call: answers[call] for call in calls},
        "answer_shares": {
            call: round(answers[call] / answers.total(), 6) if answers else None for call in calls
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


def _standing(run: Mapping[str, Any], private: Mapping[str, Any], counting: PhaseCounting) -> EpisodeScore:
    return EpisodeScore(
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


def tool_figures(runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`overall.json` of a run: `interact_figures`; and submissions, budget and calls of each tool as means
    over the tasks that were played."""
    return interact_figures(runs, private, PhaseCounting(_passes, _spending, tells_first=False))


def tool_text(overall: Mapping[str, Any], engine: str) -> str:
    """`summary.txt` of a run on an engine (`SQLite 3.40.1`)."""
    total = overall["budget"]
    of_total = "" if total is None else f"  of {total:.2f}"
    lines = [
        f"{'Submissions per task':<24}{_mean(overall['submissions'], 13)}",
        f"{'Budget used per task':<24}{_mean(overall['budget_used'], 13)}{of_total}",
        "",
        "Calls per task",
        *(f"  {kind:<33}{_mean(overall['calls'][kind], 6)}" for kind in TOOLS),
        f"  {'malformed':<33}{_mean(overall['malformed'], 6)}",
        "",
    ]
    title = f"a-Interact: profile {overall['profile']}, patience {overall['patience']}"
    return interact_text(title, engine, overall, lines)


def _passes(run: Mapping[str, Any]) -> frozenset[tuple[int, str]]:
    """A pass counts as one at the first try, whenever it came: later submissions earn no less."""
    return frozenset((phase, "first") for phase in (1, 2) if passed(run, phase))


def _spending(played: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "submissions": mean([len(run["attempts"]) for run in played]),
        "budget": mean([run["budget"] for run in played]),
        "budget_used": mean([run["budget_used"] for run in played]),
        "calls": {kind: mean([run["calls"].get(kind, 0) for run in played]) for kind in TOOLS},
        "malformed": mean([run["malformed"] for run in played]),
    }


def _mean(value: float | None, width: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.2f}"


_PLACES = [(phase, attempt) for phase in (1, 2) for attempt in ("first", "debug")]


def dialogue_figures(
    runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """`overall.json` of a run: `interact_figures`; and questions asked and allowed, means over the tasks."""
    return interact_figures(runs, private, PhaseCounting(_passes_by_attempt, _questions, tells_first=True))


def dialogue_text(overall: Mapping[str, Any], engine: str) -> str:
    """`summary.txt` of a run on an engine (`SQLite 3.40.1`)."""
    tool = "with execute_sql" if overall["execute_sql"] else "without execute_sql"
    title = f"c-Interact: profile {overall['profile']}, patience {overall['patience']}, {tool}"
    questions = questions_line(overall["questions_asked"], overall["questions_allowed"])
    return interact_text(title, engine, overall, [questions])


def _passes_by_attempt(run: Mapping[str, Any]) -> frozenset[tuple[int, str]]:
    return frozenset(place for place in _PLACES if passed(run, *place))


def _questions(played: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "questions_asked": mean([run["questions"] for run in played]),
        "questions_allowed": mean([run["max_questions"] for run in played]),
    }
