"""Compare runs on the same tasks, with intervals and significance tests for each difference.

All metrics are computed on the tasks that are rated in all runs. Each later run is compared with the first
run, task by task. If a task is played several times, the mean over its episodes is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from birdenv.dialogue.measures import Measure
from birdenv.errors import InputError
from birdenv.runs.summaries._means_over_tasks import METHODS, Estimate, estimate, values_of
from birdenv.runs.summaries.recorded_run import RecordedRun, exclusions
from birdenv.statistics import Interval, bootstrap_test, counted, mcnemar, paired_difference, rounded
from birdenv.users.identity import changed_facts

MCNEMAR = "McNemar's test, exact"
"""The test for rates if both runs played each task once."""

_SETTINGS = (
    "agent_options",
    "clean",
    "engine",
    "execute_sql",
    "max_turns",
    "no_evidence",
    "patience",
    "profile",
    "repeats",
    "seed",
    "sql_timeout_s",
    "user",
)
"""Settings that may differ, because they may be the subject of the comparison. The notes mention them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between a later run and the first run on one measure, over the same tasks.

    Attributes:
        measure: the measure on which the runs are compared.
        run: the index of the later run, from 1; the first run has the index 0.
        value: the mean of the later run minus the mean of the first run.
        over_tasks: the confidence interval of `value` over tasks; None without tasks.
        over_databases: the bootstrap interval of `value` over databases; None if there are fewer than two.
        p_over_tasks: the p value of `test` over tasks.
        p_over_databases: the p value of the bootstrap over databases.
        test: the name of the statistical test over tasks.
        better: the tasks on which the later run did better.
        worse: the tasks on which the later run did worse.
    """

    measure: Measure
    run: int
    value: float | None
    over_tasks: Interval | None
    over_databases: Interval | None
    p_over_tasks: float | None
    p_over_databases: float | None
    test: str
    better: tuple[str, ...]
    worse: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = rounded(
            {
                "value": self.value,
                "interval_over_tasks": self.over_tasks,
                "interval_over_databases": self.over_databases,
                "p_over_tasks": self.p_over_tasks,
                "test_over_tasks": self.test,
                "p_over_databases": self.p_over_databases,
                "better": self.better,
                "worse": self.worse,
            }
        )
        return found


@dataclass(frozen=True, slots=True)
class RunComparison:
    """A comparison of two or more runs on the tasks that they share.

    Attributes:
        runs: the compared runs.
        tasks: the tasks that are rated in all runs.
        databases: the number of databases that the tasks use.
        notes: sentences that name settings and data that differ between the runs.
        figures: the estimates of all measures over `tasks`, for each run.
        differences: the differences from the first run, with an entry for each later run and each measure.
    """

    runs: tuple[RecordedRun, ...]
    tasks: tuple[str, ...]
    databases: int
    notes: tuple[str, ...]
    figures: tuple[tuple[Estimate, ...], ...]
    differences: tuple[Difference, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object, omitting paths and dates."""
        differences: dict[str, dict[str, Any]] = defaultdict(dict)
        for difference in self.differences:
            name = f"{run_letter(difference.run)}-A"
            differences[difference.measure.name][name] = difference.to_json()
        return {
            "game": self.runs[0].game,
            "runs": {
                run_letter(number): {
                    "agent": run.agent,
                    "seed": run.config.get("seed"),
                    "repeats": run.repeats,
                    "finished": run.finished,
                    **({"exclusions": excluded.to_json()} if (excluded := exclusions(run)) else {}),
                    "figures": {of.measure.name: of.to_json() for of in self.figures[number]},
                }
                for number, run in enumerate(self.runs)
            },
            "tasks_compared": len(self.tasks),
            "databases": self.databases,
            "notes": list(self.notes),
            "differences": dict(differences),
            "methods": METHODS,
        }


def run_letter(number: int) -> str:
    """Return the label of the run with index `number` in a comparison: `A`, `B`, ..., `Z`, `A1`, `B1`, ..."""
    turns, letter = divmod(number, 26)
    return f"{chr(ord('A') + letter)}{turns or ''}"


def compare(runs: Sequence[RecordedRun], *, allow_different: bool = False) -> RunComparison:
    """Compare every later run with the first run.

    Args:
        runs: the runs to compare, at least two.
        allow_different: True to compare the common tasks even if the data, the grader or the tasks differ, or
            if a run is not finished.

    Raises:
        InputError: the games differ, no task is rated in all runs, or the runs differ in a way that
            `allow_different` would allow.
    """
    first, *others = runs
    letters = [run_letter(number) for number in range(len(runs))]
    notes: list[str] = []
    for letter, other in zip(letters[1:], others, strict=True):
        if other.game != first.game:
            raise InputError(f"the runs are of different games: {first.game} (A) and {other.game} ({letter})")
        notes += [f"A and {letter} differ in {what}" for what in run_differences(first, other)]
    notes += [
        f"{letter} is not finished: {len(run.outcomes)} of {run.expected} episodes"
        for letter, run in zip(letters, runs, strict=True)
        if not run.finished
    ]
    if notes and not allow_different:
        raise InputError(
            f"these runs cannot be compared: {'; '.join(notes)}. To compare the tasks that they share "
            "anyway, use --allow-different"
        )
    for letter, other in zip(letters[1:], others, strict=True):
        notes += [f"A and {letter} differ in the setting {what}" for what in _settings(first, other)]
        notes += _different_users(first, other, letter)
    tasks, left_out = _common_tasks(runs)
    notes += left_out
    return _compared(tuple(runs), tasks, tuple(notes))


def run_differences(a: RecordedRun, b: RecordedRun) -> list[str]:
    """Describe differences in data, databases, grader and tasks that rule out a comparison of two runs."""
    differences = []
    if a.config.get("data_sha256") != b.config.get("data_sha256"):
        differences.append("the task file (data_sha256)")
    for name, what in (("databases_sha256", "databases"), ("notes_sha256", "schemas and knowledge")):
        changed = _changed(a.config.get(name), b.config.get(name))
        if changed:
            differences.append(f"the {what} ({name}) of {', '.join(changed)}")
    graders = a.config.get("grader"), b.config.get("grader")
    if graders[0] != graders[1]:
        differences.append(f"the grader's version ({graders[0]} and {graders[1]})")
    only_a, only_b = (len(set(x.tasks) - set(y.tasks)) for x, y in ((a, b), (b, a)))
    if only_a or only_b:
        differences.append(f"the tasks ({only_a} only in the first, {only_b} only in the second)")
    return differences


def _changed(a: Any, b: Any) -> list[str]:
    """Return the databases that have different digests in the two runs."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return [] if a == b else ["all databases"]
    return sorted(name for name in a.keys() & b.keys() if a[name] != b[name])


def _settings(a: RecordedRun, b: RecordedRun) -> list[str]:
    defaults = {"repeats": 1}
    pairs = {
        name: (a.config.get(name, defaults.get(name)), b.config.get(name, defaults.get(name)))
        for name in sorted({*_SETTINGS, *a.measured.settings})
    }
    return [f"{name} ({left} and {right})" for name, (left, right) in pairs.items() if left != right]


def _different_users(a: RecordedRun, b: RecordedRun, letter: str) -> list[str]:
    """Return a line if a run's user differs from the first run's, which makes scores incomparable."""
    one, other = a.config.get("user_facts"), b.config.get("user_facts")
    if one == other:
        return []
    if not isinstance(one, dict) or not isinstance(other, dict):
        silent = "A" if not isinstance(one, dict) else letter
        return [f"A and {letter} may have had different users: {silent} does not record its user"]
    return [f"A and {letter} had different users: {', '.join(changed_facts(one, other))}"]


def _common_tasks(runs: Sequence[RecordedRun]) -> tuple[tuple[str, ...], list[str]]:
    """Return the tasks that every run rates, in the order of the first run, and a note on excluded tasks."""
    rated = [{o.instance_id for o in run.outcomes if o.rated} for run in runs]
    everywhere = set[str].intersection(*(set(run.tasks) for run in runs))
    common = set[str].intersection(*rated)
    if not common:
        raise InputError("no task is rated in all of these runs")
    notes = []
    if len(common) < len(everywhere):
        unrated = len(everywhere) - len(common)
        why = "no gold, broken" if all(run.finished for run in runs) else "no gold, broken, not yet played"
        notes.append(f"Left out: {counted(unrated, 'common task')} not rated ({why}) in at least one run")
    return tuple(name for name in runs[0].tasks if name in common), notes


def _compared(runs: tuple[RecordedRun, ...], tasks: tuple[str, ...], notes: tuple[str, ...]) -> RunComparison:
    kept = set(tasks)
    database = {o.instance_id: o.database for o in runs[0].outcomes}
    measures = [m for m in runs[0].measures if m.compared and all(m in run.measures for run in runs)]
    figures = tuple(
        tuple(
            estimate([o for o in run.outcomes if o.instance_id in kept], measure, repeated=run.repeats > 1)
            for measure in measures
        )
        for run in runs
    )
    differences = tuple(
        _difference(measure, number, runs[0], run, tasks, database)
        for measure in measures
        for number, run in enumerate(runs[1:], 1)
    )
    databases = len({database[name] for name in tasks} - {None})
    return RunComparison(runs, tasks, databases, notes, figures, differences)


def _difference(
    measure: Measure,
    number: int,
    a: RecordedRun,
    b: RecordedRun,
    tasks: Sequence[str],
    database: Mapping[str, str | None],
) -> Difference:
    """Use Newcombe and McNemar for rates of tasks played once, and otherwise the bootstrap."""
    values_a, values_b = _by_task(a, measure), _by_task(b, measure)
    names = [name for name in tasks if name in values_a and name in values_b]
    gaps = [values_b[name] - values_a[name] for name in names]
    more = tuple(name for name, gap in zip(names, gaps, strict=True) if gap > 0)
    less = tuple(name for name, gap in zip(names, gaps, strict=True) if gap < 0)
    better, worse = (less, more) if measure.less_is_better else (more, less)
    over_databases = bootstrap_test(gaps, [database[name] for name in names])
    if measure.is_rate and a.repeats == b.repeats == 1:
        both = sum(values_a[name] == values_b[name] == 1 for name in names)
        neither = len(names) - both - len(better) - len(worse)
        interval = paired_difference(both, len(worse), len(better), neither)
        p = mcnemar(len(worse), len(better)) if names else None
        test = MCNEMAR
    else:
        over_tasks = bootstrap_test(gaps, names)
        interval, p = over_tasks or (None, None)
        test = "paired bootstrap"
    return Difference(
        measure,
        number,
        fmean(gaps) if gaps else None,
        interval,
        over_databases.interval if over_databases else None,
        p,
        over_databases.p if over_databases else None,
        test,
        better,
        worse,
    )


def _by_task(run: RecordedRun, measure: Measure) -> dict[str, float]:
    """Return the mean of a measure over the episodes of each task that count for it."""
    values: dict[str, list[float]] = defaultdict(list)
    for o, value in values_of(run.outcomes, measure):
        values[o.instance_id].append(value)
    return {name: fmean(of) for name, of in values.items()}
