"""The figures of one run with their intervals: what `birdenv summary` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.runs._episode import UNRATED
from birdenv.runs.analysis._estimates import METHODS, Estimate, estimate
from birdenv.runs.analysis._lines import engine_line, rule, status_notes
from birdenv.runs.analysis._measures import GROUPS, Measure, Outcome
from birdenv.runs.analysis._recorded_run import RecordedRun
from birdenv.runs.analysis._repeats import PassRates, pass_rates, repeats_lines
from birdenv.runs.analysis._text import NAME_WIDTH, between, figure_line, strip, strip_scale
from birdenv.tasks.bird import DIFFICULTIES

FEW_DATABASES = 10
"""With fewer, intervals over databases are too narrow (Cameron, Gelbach & Miller 2008)."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """All figures of a run. `groups[kind][name]` are estimates of the tasks of one group (one difficulty)."""

    run: RecordedRun
    figures: tuple[Estimate, ...]
    groups: Mapping[str, Mapping[str, tuple[Estimate, ...]]]
    repeats: Mapping[Measure, Sequence[PassRates]]

    def to_json(self) -> dict[str, Any]:
        """The report for machines; without paths and dates, so that the same run gives the same bytes."""
        run = self.run
        counts = Counter(o.status for o in run.outcomes)
        repeated = {measure.name: [rate.to_json() for rate in of] for measure, of in self.repeats.items()}
        return {
            "game": run.game,
            "agent": run.agent,
            "seed": run.config.get("seed"),
            "grader": run.config.get("grader"),
            "engine": run.config.get("engine"),
            "finished": run.finished,
            "tasks": len(run.tasks),
            "repeats": run.repeats,
            "episodes": {
                "expected": run.expected,
                "finished": len(run.outcomes),
                "rated": sum(o.rated for o in run.outcomes),
            },
            "status": dict(sorted(counts.items())),
            "left_out": {name: counts[name] for name in sorted(UNRATED) if counts[name]},
            "figures": _by_name(self.figures),
            "by": {
                kind: {name: _by_name(of) for name, of in groups.items()}
                for kind, groups in self.groups.items()
            },
            **({"pass": repeated} if repeated else {}),
            "methods": METHODS,
        }

    def text(self) -> str:
        """The report for people."""
        run = self.run
        rated = [o for o in run.outcomes if o.rated]
        databases = len({o.database for o in rated})
        title = f"{run.game}: {run.agent}, seed {run.config.get('seed')}, grader {run.config.get('grader')}"
        lines = [rule("="), title, rule("=")]
        engine = run.config.get("engine")
        if isinstance(engine, str):  # runs of before it was recorded have none
            lines += [engine_line(engine), ""]
        if not run.finished:
            lines += [
                f"UNFINISHED: {len(run.outcomes)} of {run.expected} episodes; the figures are of those.",
                "",
            ]
        times = f", {run.repeats} times each" if run.repeats > 1 else ""
        lines.append(
            f"{len(run.tasks)} tasks{times}; {len(rated)} episodes rated, on {databases} database(s)"
        )
        lines += ["", f"{'95 % intervals':<46}{'over tasks':<18}over databases"]
        lines += [
            figure_line(of, last=between(of.over_databases, share=of.measure.is_rate)) for of in self.figures
        ]
        for kind, groups in self.groups.items():
            lines += _group_lines(kind, groups)
        if self.repeats:
            lines += ["", *repeats_lines({measure.title: of for measure, of in self.repeats.items()})]
        lines += ["", "Status"]
        lines += [f"  {name:<22}{count:>5}" for name, count in _statuses(run.outcomes)]
        lines += ["", *_notes(run, rated), *method_notes(databases), rule("=")]
        return "\n".join(lines) + "\n"


def report(run: RecordedRun) -> RunReport:
    """Work out all figures of a run."""
    measures = run.measures
    repeated = run.repeats > 1

    def estimates(outcomes: Sequence[Outcome], of: Sequence[Measure]) -> tuple[Estimate, ...]:
        return tuple(estimate(outcomes, measure, repeated=repeated) for measure in of)

    shown = [measure for measure in measures if measure.in_groups]
    groups = {
        kind: {
            name: estimates([o for o in run.outcomes if name in o.groups[kind]], shown)
            for name in _names(run.outcomes, kind)
        }
        for kind in run.outcomes[0].groups
    }
    passes = {m: pass_rates(run.outcomes, m, run.repeats) for m in measures if m.is_rate} if repeated else {}
    return RunReport(run, estimates(run.outcomes, measures), groups, passes)


def _names(outcomes: Sequence[Outcome], kind: str) -> list[str]:
    """The groups in the order of the summary: BIRD's difficulties from easy to hard, the rest by name."""
    names = {name for o in outcomes if o.rated for name in o.groups[kind]}
    known = [name for name in DIFFICULTIES if name in names]
    return [*known, *sorted(names - set(known))]


def _by_name(estimates: Sequence[Estimate]) -> dict[str, Any]:
    return {of.measure.name: of.to_json() for of in estimates}


def _group_lines(kind: str, groups: Mapping[str, Sequence[Estimate]]) -> list[str]:
    lines: list[str] = []
    width = max([NAME_WIDTH, *(len(f"  {name} ") for name in groups)])
    for column in zip(*groups.values(), strict=True):
        title = f"{column[0].measure.title} {GROUPS[kind].lower()}"
        lines += ["", f"{title:<{width + 40}}{strip_scale()}"]
        for name, of in zip(groups, column, strict=True):
            lines.append(figure_line(of, f"  {name}", strip(of.value, of.over_tasks), width=width))
    return lines


def _statuses(outcomes: Sequence[Outcome]) -> list[tuple[str, int]]:
    return sorted(Counter(o.status for o in outcomes).items())


def _notes(run: RecordedRun, rated: Sequence[Outcome]) -> list[str]:
    notes = status_notes(Counter(o.status for o in run.outcomes))
    for measure in run.measures:
        silent = sum(o.values[measure.name] is None for o in rated)
        if silent:
            notes.append(f"{measure.title}: {silent} episode(s) {measure.silent} are not counted.")
    notes += [f"{measure.note}." for measure in run.measures if measure.note]
    return [f"Note: {note}" for note in notes]


def method_notes(databases: int) -> list[str]:
    """How the intervals are made, for the foot of a table."""
    lines = [
        "Over tasks: rates of tasks played once by Wilson's score interval, the rest by bootstrap.",
        f"Over databases: bootstrap that resamples whole databases ({METHODS['databases'].split(', ')[1]}).",
    ]
    if databases == 1:
        lines.append("One database: nothing says how others would go; no interval over databases.")
    elif databases < FEW_DATABASES:
        lines.append(f"With {databases} databases the intervals over databases are rough, and too narrow.")
    return lines
