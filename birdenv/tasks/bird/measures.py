"""BIRD's measures (EX, optional metrics, the official table), and the display of its episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, sqrt
from typing import Any, Final

from birdenv.dialogue.measures import (
    UNRATED,
    Details,
    GameDisplay,
    GameMeasures,
    JudgedSubmission,
    Measure,
    Phase,
    Record,
    Section,
)
from birdenv.statistics import counted
from birdenv.tasks.bird._task import DIFFICULTIES
from birdenv.tasks.sql._doubtful_passes import doubtful_notes, doubtful_passes
from birdenv.tasks.sql._settings import REPORTED


def _phases(record: Record) -> Sequence[Phase]:
    result = record.get("result", {})
    return [Phase("Submission", str(result.get("verdict") or record["status"]), record["reward"])]


def _submissions(record: Record, private: Record) -> Sequence[JudgedSubmission]:
    result = record.get("result", {})
    golds = tuple(map(str, private.get("gold_sql", ())))
    return [
        JudgedSubmission(
            place, event["data"], str(result.get("db_id", "")), golds, str(result.get("verdict"))
        )
        for place, event in enumerate(record["example"]["events"])
        if event["action"] == "submit_sql" and event["data"] == result.get("predicted_sql")
    ]


def _secrets(record: Record, private: Record) -> Sequence[Section]:
    golds = [str(sql) for sql in private.get("gold_sql", ())]
    made = [Section("Gold SQL", "sql", ";\n\n".join(golds))] if golds else []
    reason = str(private.get("reason") or private.get("gold_error") or "")
    return [*made, Section("Why it was judged so", text=reason)] if reason else made


DISPLAY: Final = GameDisplay(phases=_phases, submissions=_submissions, secrets=_secrets)


METRIC_TITLES: Final[Mapping[str, str]] = {
    "ex": "EX",
    "ex_bird": "EX (BIRD set)",
    "ordered": "EX in order",
    "colperm": "EX any columns",
    "superset": "EX superset",
    "soft_f1": "Soft-F1",
    "r_ves": "R-VES",
}
"""The titles of BIRD's metrics in tables, keyed by name, in the order of the rows."""

EX_NOTE: Final = "EX (execution accuracy) compares multisets of rows, with a tolerance for floats"
EX_BIRD_NOTE: Final = "EX (BIRD set) compares sets of rows, as the official script does, floats exactly"

R_VES_NOTE: Final = (
    "R-VES is measured and depends on this machine and on what else it does; compare only figures of one "
    "idle machine (R-VES: reward-based valid efficiency score)"
)

GOLDS_COUNTED: Final = "golds that fail count as failed, as in the reference"
"""The note below the official table if gold SQL failed. All other figures leave such tasks out."""

_COLUMNS: Final = {"simple": 10, "moderate": 10, "challenging": 12, "total": 8}
"""The columns of the official table, and the width of each column in characters."""


_REFERENCE_STATUS: Final = {
    "completed": "completed",
    "agent context limit": "context_limit",
    "context_limit": "context_limit",
    "task limit reached": "task_limit_reached",
    "task error": "task_error",
}
"""The statuses of episodes in `runs.jsonl`, and the reference harness's name for each in `overall.json`."""


def ex_differences(results: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Count the submissions that EX accepts but EX (BIRD set) does not, or vice versa, keyed by reason.

    Only EX accepts results that are correct within the float tolerance or after cleaning. Only EX (BIRD set)
    accepts results that repeat rows more or less often than the gold result.

    Args:
        results: the results of graded episodes, with the fields `ex`, `ex_bird` and optionally `clean_steps`.
    """
    more = [of for of in results if of["ex"] and not of["ex_bird"]]
    cleaned = sum(bool(of.get("clean_steps")) for of in more)
    less = sum(bool(of["ex_bird"] and not of["ex"]) for of in results)
    return {
        "only_ex": {"float_tolerance": len(more) - cleaned, "cleaning": cleaned},
        "only_ex_bird": {"row_counts": less},
    }


def ex_difference_notes(differences: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return sentences that explain the counts from `ex_differences`."""
    notes = []
    for name, rule, other in (("only_ex", "EX", "EX (BIRD set)"), ("only_ex_bird", "EX (BIRD set)", "EX")):
        reasons = {reason.replace("_", " "): n for reason, n in differences[name].items() if n}
        if reasons:
            why = ", ".join(f"{n} by {reason}" for reason, n in reasons.items())
            notes.append(
                f"{rule} counts {counted(sum(reasons.values()), 'answer')} that {other} does not: {why}."
            )
    return notes


def _reference(records: Sequence[Record]) -> tuple[dict[str, Any], list[str]]:
    """Return the metrics and the console output of the reference harness, which cover every graded task."""
    graded = [run for run in records if run["status"] not in ("ungraded", "skipped")]
    results = [run["result"] for run in graded]

    def passed(of: Sequence[Record]) -> dict[str, Any]:
        count = sum(bool(result["ex"]) for result in of)
        return {"total": len(of), "passed": count, "accuracy": count / len(of) if of else 0.0}

    def by(field: str, names: Iterable[str]) -> dict[str, Any]:
        return {name: passed([of for of in results if of[field] == name]) for name in names}

    whole = passed(results)
    failed = whole["total"] - whole["passed"]
    found = {result["difficulty"] for result in results}
    status = Counter(run["status"] for run in records)
    for ours, theirs in _REFERENCE_STATUS.items():
        status[theirs] = status[theirs] if ours == theirs else status[theirs] + status[ours]
    figures = {
        "total": whole["total"],
        "overall": {"passed": whole["passed"], "failed": failed, "accuracy": whole["accuracy"]},
        "status": dict(sorted(status.items())),
        "by_difficulty": by("difficulty", [*DIFFICULTIES, *sorted(found - set(DIFFICULTIES))]),
        "by_database": by("db_id", sorted({result["db_id"] for result in results})),
    }
    lines = [
        f"Total:       {whole['total']}",
        f"Passed (EX): {whole['passed']}",
        f"Failed:      {failed}",
        f"Accuracy:    {100 * whole['accuracy']:.1f}%",
    ]
    for title, groups in (("By difficulty:", "by_difficulty"), ("By database:", "by_database")):
        lines.append(title)
        lines += [
            f"  {name + ':':<24} {of['passed']}/{of['total']} ({100 * of['accuracy']:.1f}%)"
            for name, of in figures[groups].items()
        ]
    return figures, lines


def is_rated(run: Record) -> bool:
    """Return True if rates include the episode, that is, if its status is not in `UNRATED`."""
    return run["status"] not in UNRATED


def difficulty_means(
    difficulties: Sequence[str], scores: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, float | int | None]]:
    """Return the official table of mean scores in percent, by metric and difficulty (mini_dev `print_data`).

    Args:
        difficulties: the difficulty of each episode. Episodes of an unknown difficulty count only in the
            total.
        scores: the scores of the episodes for each metric, in the same order, from 0 to 1.

    Returns:
        For each metric, a mapping from the difficulties and `total` to mean scores. A mean over no episodes
        is None. The additional metric `count` holds the numbers of episodes instead.
    """
    members = {name: [i for i, other in enumerate(difficulties) if other == name] for name in _COLUMNS}
    members["total"] = list(range(len(difficulties)))
    means: dict[str, dict[str, float | int | None]] = {
        metric: {
            name: round(100 * fsum(of[i] for i in chosen) / len(chosen), 2) if chosen else None
            for name, chosen in members.items()
        }
        for metric, of in scores.items()
    }
    return {"count": {name: len(chosen) for name, chosen in members.items()}, **means}


def difficulty_table(
    means: Mapping[str, Mapping[str, float | int | None]], titles: Mapping[str, str]
) -> list[str]:
    """Return the means from `difficulty_means` as lines of a table. `titles` has each metric's title."""
    lines = ["".join([" " * 15, *(f"{name:>{width}}" for name, width in _COLUMNS.items())])]
    for metric, of in means.items():
        cells = [f"{_figure(of[name]):>{width}}" for name, width in _COLUMNS.items()]
        lines.append(f"{titles.get(metric, metric):<15}" + "".join(cells))
    return lines


def _figure(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _has_broken_gold(run: Record) -> bool:
    """Return True if the gold SQL failed or was too slow, so that the submission could not be judged."""
    result = run["result"]
    return bool(result.get("verdict") == "gold_error")


def _of_gradable(value: Callable[[Record], float | None]) -> Callable[[Record], float | None]:
    """Return a function like `value` that returns None for a rated episode whose gold SQL failed."""
    return lambda run: None if is_rated(run) and _has_broken_gold(run) else value(run)


def _ex(name: str) -> Callable[[Record], float]:
    return lambda run: float(run["result"][name])


def _metric(name: str) -> Callable[[Record], float]:
    """Return a function that reads a metric from a record, and returns 0 if nothing was submitted."""
    return lambda run: float(run["result"].get("metrics", {}).get(name, 0.0))


_METRICS: Final = tuple(
    Measure(name, title, _of_gradable(_metric(name)), is_rate=name != "soft_f1")
    for name, title in METRIC_TITLES.items()
    if name not in ("ex", "ex_bird", "r_ves")
)
_R_VES: Final = Measure(
    "r_ves",
    METRIC_TITLES["r_ves"],
    _of_gradable(lambda run: run.get("r_ves")),
    is_rate=False,
    most=sqrt(1.25),
    silent="whose speed was not measured",
    note=R_VES_NOTE,
)


def _asked_for(records: Sequence[Record]) -> tuple[Measure, ...]:
    """Return the measures of the optional metrics that at least one of the records contains."""
    found: set[str] = set()
    for record in records:
        result = record.get("result")
        metrics = result.get("metrics") if isinstance(result, Mapping) else None
        found |= set(metrics) if isinstance(metrics, Mapping) else set()
        found |= {"r_ves"} & record.keys()
    return tuple(measure for measure in (*_METRICS, _R_VES) if measure.name in found)


def _groups(record: Record, private: Record) -> dict[str, tuple[str, ...]]:
    fields = record.get("result", record)
    return {"difficulty": (fields["difficulty"],), "database": (fields["db_id"],)}


def _details(records: Sequence[Record], private: Sequence[Record]) -> Details:
    """Return the official table, the lengths of the dialogues, and gold SQL that fails or returns no rows."""
    rated = list(filter(is_rated, records))
    lengths = [len(run.get("history", ())) for run in records] or [0]
    empty = _once(of["instance_id"] for of in private if of.get("gold_empty"))
    broken = _once(run["instance_id"] for run in rated if _has_broken_gold(run))
    table = _table(rated)
    reference, block = _reference(records)
    differences = ex_differences([run["result"] for run in rated])
    doubtful = doubtful_passes(records, private)
    figures: dict[str, Any] = {
        **reference,
        **doubtful,
        "table": table,
        "ex_differences": differences,
        "history": {
            "average_length": sum(lengths) / len(lengths),
            "min_length": min(lengths),
            "max_length": max(lengths),
        },
        "gold_empty": empty,
        "gold_errors": broken,
    }
    basis = f" ({GOLDS_COUNTED})" if broken else ""
    heading = f"As in the official table, times 100{basis}"
    lines = [heading, *difficulty_table(table, METRIC_TITLES)]
    notes = [*ex_difference_notes(differences), *doubtful_notes(doubtful)]
    if empty:
        notes.append(
            f"The gold SQL of {counted(len(empty), 'task')} returns nothing (no rows, or only NULLs), "
            f"so a match there proves little: {', '.join(empty)}"
        )
    if broken:
        names = ", ".join(broken)
        notes.append(
            f"The gold SQL of {counted(len(broken), 'task')} fails or is too slow, which says nothing about "
            "the agent. Such tasks are left out of every rate, but count as failed in the official table: "
            f"{names}"
        )
    return Details(figures, lines, notes, {"EX by difficulty": _by_difficulty(rated)} if rated else {}, block)


def _by_difficulty(rated: Sequence[Record]) -> str:
    return ", ".join(
        f"{name} {100 * of['accuracy']:.1f} % of {of['total']}"
        for name, of in _reference(rated)[0]["by_difficulty"].items()
        if of["total"]
    )


def _once(names: Iterable[str]) -> list[str]:
    """Return each name once, because a task may have been played several times."""
    return list(dict.fromkeys(names))


def _table(runs: Sequence[Record]) -> dict[str, Any]:
    """Return the means of EX and of the optional metrics, except R-VES, by difficulty."""
    measures = [measure for measure in (*BIRD.measures, *_asked_for(runs)) if measure is not _R_VES]
    scores = {measure.name: [measure.value(run) or 0.0 for run in runs] for measure in measures}
    return difficulty_means([run["result"]["difficulty"] for run in runs], scores)


BIRD: Final = GameMeasures(
    measures=(
        Measure("ex", METRIC_TITLES["ex"], _of_gradable(_ex("ex")), drawn=True, note=EX_NOTE),
        Measure("ex_bird", METRIC_TITLES["ex_bird"], _of_gradable(_ex("ex_bird")), note=EX_BIRD_NOTE),
    ),
    optional=_asked_for,
    groups=_groups,
    group_titles={"difficulty": "By difficulty", "database": "By database"},
    group_order=tuple(DIFFICULTIES),
    clusters="database",
    details=_details,
    settings=("no_schema", *REPORTED),
)
