"""Report the metrics of a run with intervals, for `overall.json`, `summary.txt` and `birdenv summary`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from birdenv.dialogue.measures import UNRATED, Details, Measure
from birdenv.errors import InputError
from birdenv.runs._run_folder import player_name
from birdenv.runs.summaries._episode_figures import USAGE, Outcome, model_figures, model_lines
from birdenv.runs.summaries._means_over_tasks import (
    METHODS,
    NAME_WIDTH,
    Estimate,
    PassRates,
    estimate,
    figure_line,
    pass_rates,
    repeats_lines,
    usage_lines,
)
from birdenv.runs.summaries.recorded_run import RecordedRun, exclusions
from birdenv.statistics import between, counted, rounded, rule, strip, strip_scale

FEW_DATABASES = 10
"""With fewer databases, intervals over databases are too narrow (Cameron, Gelbach & Miller 2008)."""

_FEW_TASKS: Final = 10


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of `overall.json` and `summary.txt` (`text`), and the first screen of `birdenv summary`."""

    overall: dict[str, Any]
    text: str
    first_screen: str


@dataclass(frozen=True)
class RunReport:
    """All metrics of a run.

    Attributes:
        run: the recorded run.
        figures: the estimate of each measure.
        repeats: pass^k and pass@k, keyed by measure (only rates); empty if each task was played once.
        details: the game's metrics that are not means over episodes, with text about them.
    """

    run: RecordedRun
    figures: tuple[Estimate, ...]
    repeats: Mapping[Measure, Sequence[PassRates]]
    details: Details

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, tuple[Estimate, ...]]]:
        """The estimates of all measures for each group of tasks, keyed by kind and name of group.

        They are computed on first use, because the computation is slow and the first screen does not need
        them.
        """
        run = self.run
        by_group = [measure for measure in run.measures if measure.by_group]
        return {
            kind: {
                name: _estimates(run, [o for o in run.outcomes if name in o.groups[kind]], by_group)
                for name in _names(run, kind)
            }
            for kind in run.measured.group_titles
        }

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data, without paths and dates, so that equal runs produce equal JSON."""
        run = self.run
        counts = Counter(o.status for o in run.outcomes)
        repeated = {measure.name: [rate.to_json() for rate in of] for measure, of in self.repeats.items()}
        usage = {of.measure.name: _usage(of) for of in self.figures if of.measure in USAGE.values()}
        excluded = exclusions(run)
        return {
            "game": run.game,
            "agent": run.agent,
            "seed": run.config.get("seed"),
            "grader": run.config.get("grader"),
            "engine": run.config.get("engine"),
            **self.settings(),
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
            **({"exclusions": excluded.to_json()} if excluded else {}),
            "figures": _by_name(self.figures),
            "by": {
                kind: {name: _by_name(of) for name, of in groups.items()}
                for kind, groups in self.groups.items()
            },
            **self.details.figures,
            **({"usage": {name: usage.get(name) for name in USAGE}} if usage else {}),
            **model_figures(run.records),
            **({"pass": repeated} if repeated else {}),
            "methods": METHODS,
        }

    def text(self) -> str:
        """Return the whole report as text, for `summary.txt`."""
        run = self.run
        rated = [o for o in run.outcomes if o.rated]
        databases = len({o.database for o in rated} - {None})
        grader = run.config.get("grader")
        title = f"{run.game}: {run.agent}, seed {run.config.get('seed')}"
        title += "" if grader is None else f", grader {grader}"
        lines = [rule("="), title, rule("=")]
        engine = run.config.get("engine")
        head = [f"{'Engine':<24}{engine:>13}"] if isinstance(engine, str) else []  # not recorded in old runs
        settings = ", ".join(f"{name} {value}" for name, value in self.settings().items())
        head += [settings] if settings else []
        head += self._users()
        lines += [*head, ""] if head else []
        if not run.finished:
            lines += [
                f"UNFINISHED: {len(run.outcomes)} of {run.expected} episodes; the metrics cover only these.",
                "",
            ]
        times = f", {run.repeats} times each" if run.repeats > 1 else ""
        lines.append(f"{len(run.tasks)} tasks{times}; {len(rated)} episodes rated{on_databases(databases)}")
        has_intervals = any(of.method != "none" for of in self.figures)
        lines += ["", interval_heads(databases)] if has_intervals else [""]
        used = [of for of in self.figures if of.measure in USAGE.values()]
        lines += [
            figure_line(of, last=over_databases(of) if databases and has_intervals else "")
            for of in self.figures
            if of not in used
        ]
        lines += ["", *self.details.lines] if self.details.lines else []
        lines += ["", *self.details.reference] if self.details.reference else []
        lines += ["", *usage_lines(used, len(run.outcomes))] if used else []
        lines += model_lines(model_figures(run.records))
        lines += self._breakdowns()
        if self.repeats:
            lines += ["", *repeats_lines({measure.title: of for measure, of in self.repeats.items()})]
        lines += ["", "Status"]
        lines += [f"  {name:<22}{count:>5}" for name, count in _statuses(run.outcomes)]
        lines += ["", *self._notes(rated)]
        lines += [*(method_notes(databases) if has_intervals else ["One episode: no intervals."]), rule("=")]
        return "\n".join(lines) + "\n"

    def _breakdowns(self) -> list[str]:
        """Return a table for each kind of group and each drawn measure, unless there are few tasks."""
        if len(self.run.tasks) < _FEW_TASKS:
            return ["", f"Breakdowns of fewer than {_FEW_TASKS} tasks are only in overall.json (`by`)."]
        tables = (group_lines(heading, groups) for heading, groups in self.drawn_groups(self.groups))
        return [line for table in tables for line in table]

    def _users(self) -> list[str]:
        """Return who answers the agent's questions, if the game has a user, and how well."""
        user = self.run.config.get("user")
        if not isinstance(user, str) or "patience" not in self.run.config:
            return []
        from birdenv.runs.user_evaluation import user_line
        from birdenv.users.identity import standard_line

        models = self.run.config.get("models")
        facts = self.run.config.get("user_facts")
        lines = [user_line(player_name(user, models.get("user_model") if isinstance(models, dict) else None))]
        return lines + ([standard_line(facts)] if isinstance(facts, dict) else [])

    def drawn_groups(self, kinds: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Estimate]]]:
        """Yield the title of each chart, and the estimates to draw, keyed by group.

        For each specified kind of group, there is a chart for every measure that is drawn.
        """
        titles = self.run.measured.group_titles
        for kind in kinds:
            groups = self.groups[kind]
            for column in zip(*groups.values(), strict=True):
                measure = column[0].measure
                if measure.drawn:
                    yield f"{measure.title} {titles[kind].lower()}", dict(zip(groups, column, strict=True))

    def settings(self) -> dict[str, Any]:
        """Return the run's settings, keyed by name, that the game selects for summaries."""
        config = self.run.config
        return {name: config[name] for name in self.run.measured.settings if name in config}

    def _notes(self, rated: Sequence[Outcome]) -> list[str]:
        run = self.run
        notes = [*self.details.notes, *_status_notes(Counter(o.status for o in run.outcomes))]
        excluded = exclusions(run)
        notes += [excluded.line(run.agent)] if excluded else []
        for measure in run.measures:
            outcomes = rated if measure.over == "rated" else run.outcomes
            silent = sum(o.values[measure.name] is None for o in outcomes)
            if silent and measure.silent:
                notes.append(f"{measure.title} leaves out {counted(silent, 'episode')} {measure.silent}.")
        notes += [f"{measure.note}." for measure in run.measures if measure.note]
        return [f"Note: {note}" for note in notes]


def report(run: RecordedRun) -> RunReport:
    """Compute all metrics of a run from its records.

    Raises:
        InputError: a record lacks a field that the game's metrics need.
    """
    measures, measured = run.measures, run.measured
    rates = [m for m in measures if m.is_rate and m.compared] if run.repeats > 1 else []
    passes = {m: pass_rates(run.outcomes, m, run.repeats) for m in rates}
    try:
        details = measured.details(run.records, run.private)
    except KeyError as error:
        raise InputError(f"{run.path}: a record is damaged: the field `{error.args[0]}` is missing") from None
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise InputError(f"{run.path}: a record is damaged: a value is not a number") from None
    return RunReport(run, _estimates(run, run.outcomes, measures), passes, details)


def _estimates(
    run: RecordedRun, outcomes: Sequence[Outcome], measures: Sequence[Measure]
) -> tuple[Estimate, ...]:
    made = (estimate(outcomes, measure, repeated=run.repeats > 1) for measure in measures)
    if len(run.outcomes) > 1:
        return tuple(made)
    return tuple(replace(each, over_tasks=None, over_databases=None, method="none") for each in made)


def _names(run: RecordedRun, kind: str) -> list[str]:
    """Return the groups in the game's order, such as from easy to hard, and all others sorted by name."""
    names = {name for o in run.outcomes if o.rated for name in o.groups[kind]}
    known = [name for name in run.measured.group_order if name in names]
    return [*known, *sorted(names - set(known))]


def _by_name(estimates: Sequence[Estimate]) -> dict[str, Any]:
    return {of.measure.name: of.to_json() for of in estimates}


def _usage(of: Estimate) -> dict[str, Any]:
    total = int(of.total) if of.total.is_integer() else of.total
    return {"episodes": of.count, "total": rounded(total), "mean": rounded(of.value)}


def group_lines(title: str, groups: Mapping[str, Estimate]) -> list[str]:
    """Return a table of a measure by group, with a chart of the intervals. The first line is empty."""
    width = max([NAME_WIDTH, *(len(f"  {name} ") for name in groups)])
    has_intervals = any(of.method != "none" for of in groups.values())
    head = "95 % over tasks" if has_intervals else ""
    return ["", f"{title:<{width + 22}}{head:<18}{strip_scale()}"] + [
        figure_line(of, f"  {name}", strip(of.value, of.over_tasks), width=width)
        for name, of in groups.items()
    ]


def _statuses(outcomes: Sequence[Outcome]) -> list[tuple[str, int]]:
    return sorted(Counter(o.status for o in outcomes).items())


def on_databases(count: int) -> str:
    """Return a phrase like `, on 3 databases`, or an empty string for a game without databases."""
    return f", on {counted(count, 'database')}" if count else ""


def interval_heads(databases: int) -> str:
    """Return the header for a table of metrics with intervals. `databases` is the number of databases."""
    return f"{'95 % intervals':<46}{'over tasks':<18}{'over databases' if databases else ''}".rstrip()


def over_databases(of: Estimate) -> str:
    """Format an estimate's interval over databases for the last column of a table."""
    return between(of.over_databases, share=of.measure.is_rate)


def method_notes(databases: int) -> list[str]:
    """Return lines that explain how intervals are computed, to print below a table of metrics."""
    lines = ["Over tasks: Wilson's score interval for rates of tasks played once, otherwise bootstrap."]
    if databases:
        resamples = METHODS["databases"].split(", ")[1]
        lines.append(f"Over databases: bootstrap that resamples whole databases ({resamples}).")
    lines.append("Rates of 0 % and 100 %: Wilson's, in which each task (or database) counts once.")
    if databases == 1:
        lines.append("There is only one database, so there is no interval over databases.")
    elif 0 < databases < FEW_DATABASES:
        lines.append(f"Intervals over only {databases} databases are rough and too narrow.")
    return lines


def _status_notes(status: Mapping[str, int]) -> list[str]:
    """Return notes on the episodes that rates exclude. `status` holds the number of episodes by status."""
    notes = {
        "ungraded": ("task", "without gold: played, but neither graded nor counted."),
        "skipped": ("task", "without gold: skipped."),
        "infra_error": ("episode", "not played or graded (task, database, endpoint): not counted."),
        "partner error": ("episode", "ended with an error of another seat's player: not counted."),
        "test_error": ("task", "without test cases that run: not counted."),
        "agent context limit": ("episode", "ended because the model's context was full: counted as failed."),
        "task_error": ("episode", "ended with an error of the agent: counted as failed."),
        "task error": ("episode", "ended with an error of the agent: counted as failed."),
    }
    return [
        f"{counted(status[name], noun)} {note}" for name, (noun, note) in notes.items() if status.get(name)
    ]
