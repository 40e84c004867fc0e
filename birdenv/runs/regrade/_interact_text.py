"""Show the result of regrading a c-Interact or a-Interact run as text and as a JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from birdenv.runs.regrade._data import data_notes
from birdenv.runs.regrade._interact import AS_PLAYED, Disagreement, Figures, Regrade, Verdict
from birdenv.statistics import counted, rule

_NAME, _COLUMN = 24, 17
_ROWS: Final = {
    "c-interact": (
        ("Phase 1, first try", "phase_1_first", "tasks"),
        ("Phase 1, after debug", "phase_1", "tasks"),
        ("Phase 2, first try", "phase_2_first", "followed"),
        ("Phase 2, after debug", "phase_2", "followed"),
    ),
    "a-interact": (("Phase 1", "phase_1", "tasks"), ("Phase 2", "phase_2", "followed")),
}
_CUT_SHORT: Final = (
    "Cut short: under that profile, the verdict is different and the episode would continue beyond the\n"
    "recorded dialogue, with a further attempt or phase 2. The outcome is unknown and counts as not passed,\n"
    "so the profile's figures are lower bounds."
)


def regrade_text(regrade: Regrade, *, reasons: bool = False) -> str:
    """Return the metrics and the disagreements as text.

    If `reasons` is true, the text includes the reasons for verdicts, which are private.
    """
    columns = list(regrade.figures)
    title = f"{regrade.game}, regraded (played under {regrade.played_profile})"
    lines = [rule("="), title, *(["strict with fail_doubtful"] if regrade.fail_doubtful else []), rule("=")]
    lines.append(" " * _NAME + "".join(f"{column:>{_COLUMN}}" for column in columns))
    for title, passed, total in _ROWS[regrade.game]:
        cells = [_rate(regrade.figures[column], passed, total) for column in columns]
        lines.append(f"{title:<{_NAME}}" + "".join(f"{cell:>{_COLUMN}}" for cell in cells))
    rewards = [f"{figures.mean_reward:.3f}" if figures.tasks else "-" for figures in regrade.figures.values()]
    lines.append(f"{'Mean reward':<{_NAME}}" + "".join(f"{cell:>{_COLUMN}}" for cell in rewards))
    cut = ["-" if column == AS_PLAYED else str(regrade.figures[column].cut_short) for column in columns]
    lines.append(f"{'Cut short':<{_NAME}}" + "".join(f"{cell:>{_COLUMN}}" for cell in cut))
    lines += _different(regrade.disagreements, reasons)
    lines += _cut_short(regrade)
    lines += ["", f"{regrade.submissions} submissions"]
    lines += data_notes(regrade.changes, regrade.left_out)
    return "\n".join(lines) + "\n"


def regrade_record(regrade: Regrade) -> dict[str, Any]:
    """Return the result of regrading a run as an object for `regraded.json`, omitting reasons."""
    return {
        "game": regrade.game,
        "played_profile": regrade.played_profile,
        "fail_doubtful": regrade.fail_doubtful,
        "figures": {column: _figures(regrade, column) for column in regrade.figures},
        "disagreements": [
            {
                "episode": found.episode,
                "phase": found.phase,
                "attempt": found.attempt,
                "verdicts": {column: _shown(verdict) for column, verdict in found.verdicts.items()},
            }
            for found in regrade.disagreements
        ],
        "cut_short": {profile: dict(episodes) for profile, episodes in regrade.cut_short.items()},
        "changes": list(regrade.changes),
        "left_out": list(regrade.left_out),
    }


def _figures(regrade: Regrade, column: str) -> dict[str, Any]:
    """Return the metrics under a profile. In a-Interact, first attempts have no metrics of their own."""
    found = asdict(regrade.figures[column])
    if regrade.game == "a-interact":
        del found["phase_1_first"], found["phase_2_first"]
    return found


def _rate(figures: Figures, passed: str, total: str) -> str:
    count, of = getattr(figures, passed), getattr(figures, total)
    return f"{count}/{of} {100 * count / of:5.1f} %" if of else "-"


def _different(disagreements: Sequence[Disagreement], reasons: bool) -> list[str]:
    if not disagreements:
        return ["", "All profiles judge every submission in the same way."]
    lines = ["", f"Judged differently: {counted(len(disagreements), 'submission')}"]
    for found in disagreements:
        verdicts = "; ".join(f"{column}: {_shown(verdict)}" for column, verdict in found.verdicts.items())
        attempt = found.attempt if isinstance(found.attempt, str) else f"attempt {found.attempt}"
        lines.append(f"  {found.episode:<16} phase {found.phase} {attempt:<6} {verdicts}")
        if reasons:
            told = [(column, verdict.reason) for column, verdict in found.verdicts.items() if verdict.reason]
            lines += [f"      {column}: {reason}" for column, reason in told]
    if not reasons:
        lines.append("  (why: --reasons, which quotes the gold)")
    return lines


def _shown(verdict: Verdict) -> str:
    return f"{verdict.status} (integrity)" if "integrity" in verdict.flags else verdict.status


def _cut_short(regrade: Regrade) -> list[str]:
    told = [
        f"  {profile}: {episode}: {why}"
        for profile, episodes in regrade.cut_short.items()
        for episode, why in episodes.items()
    ]
    return ["", _CUT_SHORT, *told] if told else []
