"""The figures of a run of a-Interact, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from birdenv.runs._directory import episode_name
from birdenv.runs._figure_text import between
from birdenv.runs._measures import passed
from birdenv.runs._phase_figures import GROUPS, Standing, phase_figures, rated, task_groups
from birdenv.runs._statistics import Interval
from birdenv.runs._summary_text import rate_line, rule, status_notes
from birdenv.tasks import TOOLS

__all__ = ["tool_figures", "tool_text"]

_FIGURES: Final = ("tasks", "phase_1", "phase_2", "phase_2_of_reached", "mean_reward")
_CALLS: Final = ("labelled", "unlabelled", "unanswerable")


def tool_figures(runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`overall.json` of a run: success and reward over the episodes that say something about the agent, also
    by group; submissions, budget and calls of each tool as means over the tasks that were played."""
    details = {_name(record): record for record in private}
    valid = rated([_standing(run, details.get(_name(run), {})) for run in runs])
    played = [run for run in runs if "example" in run]
    answers = Counter(
        entry["call"] for record in private for entry in record["log"] if entry["kind"] == "answer"
    )
    return {
        **_figures(valid),
        "follow_ups_without_gold": sum(standing.follow_up == "ungraded" for standing in valid),
        "status": dict(sorted(Counter(run["status"] for run in runs).items())),
        "attempts": dict(sorted(Counter(a["status"] for run in runs for a in run["attempts"]).items())),
        "submissions": _mean([len(run["attempts"]) for run in played]),
        "budget": _mean([run["budget"] for run in played]),
        "budget_used": _mean([run["budget_used"] for run in played]),
        "calls": {kind: _mean([run["calls"].get(kind, 0) for run in played]) for kind in TOOLS},
        "malformed": _mean([run["malformed"] for run in played]),
        "answers": {call: answers[call] for call in _CALLS},
        **{f"by_{kind}": _groups(valid, kind) for kind in GROUPS},
    }


def tool_text(overall: Mapping[str, Any]) -> str:
    """`summary.txt` of a run."""
    lines = [rule("="), f"a-Interact: patience {overall['patience']}", rule("=")]
    lines.append(_rate_line("Phase 1", overall["phase_1"]))
    lines.append(_rate_line("Phase 2", overall["phase_2"]))
    lines.append(_rate_line("  of those that reached it", overall["phase_2_of_reached"]))
    reward = f"{overall['mean_reward']:.3f}" if overall["tasks"] else "-"
    lines.append(f"{'Mean reward':<24}{reward:>13}")
    lines.append(f"{'Submissions per task':<24}{overall['submissions']:>13.2f}")
    spent = f"{overall['budget_used']:>13.2f}  of {overall['budget']:.2f}"
    lines += [f"{'Budget used per task':<24}{spent}", "", "Calls per task"]
    lines += [f"  {kind:<33}{overall['calls'][kind]:>6.2f}" for kind in TOOLS]
    lines.append(f"  {'malformed':<33}{overall['malformed']:>6.2f}")
    for kind, title in GROUPS.items():
        lines += _group_table(title, overall[f"by_{kind}"])
    lines += ["", "Status"]
    lines += [f"  {name:<22}{count:>5}" for name, count in overall["status"].items()]
    return "\n".join([*lines, *_notes(overall), rule("=")]) + "\n"


def _figures(standings: Sequence[Standing]) -> dict[str, Any]:
    figures = phase_figures(standings)
    return {name: figures[name] for name in _FIGURES}


def _groups(standings: Sequence[Standing], kind: str) -> dict[str, dict[str, Any]]:
    names = sorted({name for standing in standings for name in standing.groups[kind]})
    return {name: _figures([s for s in standings if name in s.groups[kind]]) for name in names}


def _standing(run: Mapping[str, Any], private: Mapping[str, Any]) -> Standing:
    """A pass counts as one at the first try, whenever it came: later submissions earn no less."""
    return Standing(
        run["instance_id"],
        run["status"],
        frozenset((phase, "first") for phase in (1, 2) if passed(run, phase)),
        run["follow_up"],
        task_groups(
            category=run["category"],
            difficulty=run["difficulty"],
            database=run["database"],
            high_level=run["high_level"],
            ambiguity=private.get("ambiguity_types", ()),
        ),
    )


def _name(record: Mapping[str, Any]) -> str:
    return episode_name(record["instance_id"], record.get("repeat"))


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 6) if values else 0.0


def _rate_line(name: str, rate: Mapping[str, Any]) -> str:
    interval = between(Interval(*rate["interval"])) if rate["interval"] else ""
    return f"{rate_line(name, rate)}  {interval}".rstrip()


def _group_table(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if not groups:
        return []
    lines = ["", f"{title:<30}{'tasks':>6}{'P1':>9}{'P2':>9}  reward"]
    for name, figures in groups.items():
        cells = "".join(f"{_percent(figures[phase]):>9}" for phase in ("phase_1", "phase_2"))
        lines.append(f"  {name:<28}{figures['tasks']:>6}{cells}{figures['mean_reward']:>8.3f}")
    return lines


def _percent(rate: Mapping[str, Any]) -> str:
    return f"{100 * rate['accuracy']:.1f}" if rate["total"] else "-"


def _notes(overall: Mapping[str, Any]) -> list[str]:
    notes = status_notes(overall["status"])
    if overall["follow_ups_without_gold"]:
        notes.append(
            f"{overall['follow_ups_without_gold']} follow-up(s) without gold were not asked or counted."
        )
    return ["", *(f"Note: {note}" for note in notes)] if notes else []
