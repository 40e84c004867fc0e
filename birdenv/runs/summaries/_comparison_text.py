"""Format a comparison of runs as the text that `birdenv compare` prints."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.runs.summaries._comparison import MCNEMAR, Difference, RunComparison, run_letter
from birdenv.runs.summaries._means_over_tasks import Estimate, figure_line
from birdenv.runs.summaries._run_report import FEW_DATABASES, interval_heads, method_notes, on_databases
from birdenv.runs.summaries.recorded_run import exclusions
from birdenv.statistics import Interval, between, in_digits, percent, rule


def comparison_text(comparison: RunComparison, *, tasks: bool = False, everything: bool = False) -> str:
    """Return a comparison as text, with each later run beside the first run on every measure.

    Args:
        comparison: the comparison to show.
        tasks: True to list the tasks on which the runs differ, for each measure.
        everything: True to add both intervals, both tests and a description of the methods.
    """
    lines = _head(comparison)
    for number in range(1, len(comparison.runs)):
        lines += _table(comparison, number)
    if tasks and not everything:
        for difference in comparison.differences:
            name = f"{difference.measure.title}, {run_letter(difference.run)} and A"
            lines += ["", name, *_task_lines(difference, tasks=True)]
    return "\n".join([*lines, *(_blocks(comparison, tasks) if everything else _end(comparison))]) + "\n"


def _head(comparison: RunComparison) -> list[str]:
    lines = [rule("="), f"{comparison.runs[0].game}: {len(comparison.runs)} runs", rule("=")]
    for number, run in enumerate(comparison.runs):
        times = f", {run.repeats} repeats" if run.repeats > 1 else ""
        lines.append(f"{run_letter(number)}  {run.agent}, seed {run.config.get('seed')}{times}  ({run.path})")
        excluded = exclusions(run)
        lines += [f"   {excluded.line(run.agent)}"] if excluded else []
    lines.append(f"{len(comparison.tasks)} tasks compared{on_databases(comparison.databases)}")
    measures = [of_measure[0].measure for of_measure in zip(*comparison.figures, strict=True)]
    notes = [*comparison.notes, *(measure.note for measure in measures if measure.note)]
    return lines + [f"Note: {note}." for note in notes]


def _table(comparison: RunComparison, number: int) -> list[str]:
    """Compare run `number` with the first: both estimates, the difference, its interval over tasks, and p."""
    letter = run_letter(number)
    gap = f"{letter} - A"
    lines = ["", f"{'':<26}{'A':>8}{letter:>10}{gap:>10}   {'95 % interval':<18}       p"]
    for of_measure in zip(*comparison.figures, strict=True):
        measure = of_measure[0].measure
        found = [d for d in comparison.differences if d.measure == measure and d.run == number]
        for difference in found:
            values = "".join(
                f"{_plain(of.value, measure.is_rate):>{width}}"
                for of, width in ((of_measure[0], 8), (of_measure[number], 10))
            )
            value = "-" if difference.value is None else _signed(difference.value, measure.is_rate).strip()
            interval = _signed_between(difference.over_tasks, measure.is_rate)
            p = _p(difference.p_over_tasks).removeprefix("= ")
            lines.append(f"{measure.title:<26}{values}{value:>10}   {interval:<18}{p:>8}".rstrip())
    return lines


def _plain(value: float | None, share: bool) -> str:
    return "-" if value is None else f"{percent(value)} %" if share else in_digits(value)


def _end(comparison: RunComparison) -> list[str]:
    count = len(comparison.differences)
    many = [f"These are {count} tests; the p values are not corrected for that."] if count > 1 else []
    return [
        "",
        "The interval says how much the difference could change with other tasks. p: the chance of",
        "a difference at least this large if the runs were equally good.",
        *many,
        "Next: --all for intervals and tests over databases, --tasks for the tasks on which the runs differ.",
    ]


def _blocks(comparison: RunComparison, tasks: bool) -> list[str]:
    """Return a block for each measure with estimates, differences and tests."""
    lines = ["", interval_heads(comparison.databases)]
    for of_measure in zip(*comparison.figures, strict=True):
        measure = of_measure[0].measure
        found = [d for d in comparison.differences if d.measure == measure]
        lines.append(measure.title)
        lines += _figures(of_measure)
        for difference in found:
            lines += _difference_lines(difference, tasks)
    return [*lines, "", *_foot(comparison), rule("=")]


def _figures(of_measure: Sequence[Estimate]) -> list[str]:
    return [
        figure_line(of, f"  {run_letter(number)}", between(of.over_databases, share=of.measure.is_rate))
        for number, of in enumerate(of_measure)
    ]


def _difference_lines(difference: Difference, tasks: bool) -> list[str]:
    share = difference.measure.is_rate
    letter = run_letter(difference.run)
    value = "-" if difference.value is None else _signed(difference.value, share)
    over_tasks, over_databases = (
        _signed_between(interval, share) for interval in (difference.over_tasks, difference.over_databases)
    )
    lines = [
        f"{f'  {letter} - A':<37}{value:<9}{over_tasks:<18}{over_databases}".rstrip(),
        f"    over tasks p {_p(difference.p_over_tasks)} ({difference.test}), "
        f"over databases p {_p(difference.p_over_databases)} (paired bootstrap)",
    ]
    return lines + _task_lines(difference, tasks)


def _task_lines(difference: Difference, tasks: bool) -> list[str]:
    letter = run_letter(difference.run)
    said = "solved by {} only" if difference.test == MCNEMAR else "better in {}"
    sides = ((said.format(letter), difference.better), (said.format("A"), difference.worse))
    if tasks:
        return [f"    {side}: {', '.join(names) or '-'}" for side, names in sides]
    return ["    " + ", ".join(f"{side}: {len(names)}" for side, names in sides)]


def _p(value: float | None) -> str:
    return "-" if value is None else "< 0.0001" if value < 0.0001 else f"= {value:.4f}"


def _signed(value: float, share: bool) -> str:
    return f"{100 * value:+6.1f}" if share else in_digits(value, "+")


def _signed_between(interval: Interval | None, share: bool) -> str:
    if interval is None:
        return "     -"
    return f"{_signed(interval.low, share)} .. {_signed(interval.high, share).strip()}"


def _foot(comparison: RunComparison) -> list[str]:
    """Return a description of the methods."""
    lines = [
        *method_notes(comparison.databases),
        "Differences over tasks: Newcombe's for rates of tasks played once, otherwise paired bootstrap.",
        "p: the chance of a difference at least this large if the runs were equally good.",
    ]
    if 1 < comparison.databases < FEW_DATABASES:
        lines.append(
            f"p over {comparison.databases} databases is never below {0.5 ** (comparison.databases - 1):.4f}."
        )
    if len(comparison.differences) > 1:
        count = len(comparison.differences)
        lines.append(f"These are {count} tests; the p values are not corrected for that.")
    return lines
