"""`birdenv score`: score recorded pairs by EX. `birdenv score-official`: score official result files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.cli.command import progress, visible
from birdenv.cli.options import _run_options as options
from birdenv.cli.options._metrics import Metrics, RVesRuns, SpeedPair, asked_for, measure_speeds
from birdenv.cli.options._run_options import Dialect, Dsn, databases_in
from birdenv.databases import DatabaseSource
from birdenv.errors import InputError
from birdenv.files import check_writable, read_records, write_records, write_text
from birdenv.grading import (
    R_VES_RUNS,
    ExVerdict,
    Pair,
    score_pairs,
)
from birdenv.runs.em_esm import ScoredPair, read_pair_records
from birdenv.runs.official.score import grade_official
from birdenv.runs.official.score import score_official as read_score
from birdenv.statistics import counted
from birdenv.tasks.bird.measures import (
    EX_BIRD_NOTE,
    EX_NOTE,
    GOLDS_COUNTED,
    METRIC_TITLES,
    R_VES_NOTE,
    difficulty_means,
    difficulty_table,
    ex_difference_notes,
    ex_differences,
)

_SHOWN = 5
"""Number of pairs to name whose published verdict differs."""


def score(
    pairs: Annotated[
        Path, typer.Argument(help="Records with db_id, gold_sql (text or list), predicted_sql.")
    ],
    db_dir: Annotated[Path, typer.Argument(help="Folder of <db_id>/<db_id>.sqlite.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the pairs with their verdicts to this file (JSONL).")
    ] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Strip code fences and the like for `ex`.")] = False,
    metrics: Metrics = None,
    r_ves_runs: RVesRuns = R_VES_RUNS,
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    parallel: Annotated[
        int,
        typer.Option(
            "--parallel", "-p", min=1, help="Number of processes that score pairs at the same time."
        ),
    ] = 1,
) -> None:
    """Score recorded pairs of SQL by EX (execution accuracy).

    Runs the gold and the predicted SQL of every record, and adds `ex`, `ex_bird` and `reason` to the record.
    On a mismatch, it also adds `first_difference`: the first row in each result that the other result lacks.

    `ex` compares multisets of rows with a tolerance for floats; `ex_bird` applies the official set rule to
    the SQL exactly as submitted. If the records have a `difficulty`, the official table is printed. If they
    have a `system`, there is a line for each system. If they have `published_ex`, the output says how often
    `ex_bird` agrees with it.

    Example: birdenv score pairs.jsonl dev_databases --metrics soft-f1,r-ves --out scored.jsonl
    """
    asked = asked_for(metrics)
    scored = read_pair_records(pairs)
    records = [pair.record for pair in scored]
    source = databases_in(db_dir, dialect, dsn)
    for number, record in enumerate(records, 1):
        if not record.get("db_id"):
            raise InputError(f"{pairs}: record {number}: the field `db_id` is missing")
        if record.get("published_ex") not in (0, 1, None):
            raise InputError(
                f"{pairs}: record {number}: the field `published_ex` must be 0 or 1, true or false, or null"
            )
    for name in sorted({pair.db_id for pair in scored}):
        source.check(name)
    if out is not None:
        check_writable(out)
    with closing(source), progress("scoring", len(records)) as move:
        verdicts = score_pairs(
            [Pair(pair.db_id, pair.golds, pair.record["predicted_sql"]) for pair in scored],
            source,
            clean=clean,
            metrics=asked.metrics,
            workers=parallel,
            on_done=lambda more: move(advance=more),
        )
    judged = [_judged(record, verdict, clean) for record, verdict in zip(records, verdicts, strict=True)]
    if asked.r_ves:
        judged = _with_speeds(judged, scored, source, r_ves_runs)
    names = [name for name in METRIC_TITLES if all(name in record for record in judged)]
    for line in _lines(judged, names, [verdict.status == "gold_error" for verdict in verdicts]):
        print(visible(line))
    for note in ex_difference_notes(ex_differences(judged)):
        print(f"Note: {visible(note)}")
    print(f"Note: {EX_NOTE}.\nNote: {EX_BIRD_NOTE}.")
    if asked.r_ves:
        print(f"Note: {R_VES_NOTE} ({r_ves_runs} runs of each query).")
    if out is not None:
        write_records(out, judged)
        print(f"Written: {out}")


def _judged(record: Mapping[str, Any], verdict: ExVerdict, clean: bool) -> dict[str, Any]:
    added = {"ex": int(verdict.ex), "ex_bird": int(verdict.ex_bird), "reason": verdict.reason}
    if verdict.expected or verdict.returned:
        added["first_difference"] = {"expected": verdict.expected, "returned": verdict.returned}
    added |= {"flags": list(verdict.flags)} if verdict.flags else {}
    added |= verdict.metrics
    return {**record, **added} | ({"clean_steps": list(verdict.clean_steps)} if clean else {})


def _with_speeds(
    records: Sequence[dict[str, Any]], pairs: Sequence[ScoredPair], source: DatabaseSource, runs: int
) -> list[dict[str, Any]]:
    """Return the records with `r_ves` added, which is 0 unless `ex_bird` is true."""
    agreeing = [
        SpeedPair(pair.db_id, pair.golds, pair.pred)
        for pair, record in zip(pairs, records, strict=True)
        if record["ex_bird"]
    ]
    measured = iter(measure_speeds(agreeing, source, runs))
    return [record | {"r_ves": next(measured).score if record["ex_bird"] else 0.0} for record in records]


def _lines(records: Sequence[dict[str, Any]], names: Sequence[str], is_broken: Sequence[bool]) -> list[str]:
    """Return the mean of each metric without pairs whose gold fails, and over all pairs if they differ."""
    gradable = [record for record, broken in zip(records, is_broken, strict=True) if not broken]
    lines = _mean_lines(gradable, names)
    if len(gradable) < len(records):
        count = len(records) - len(gradable)
        fails = (
            f"The gold SQL of {counted(count, 'pair')} fails or is too slow; such pairs are left out above."
        )
        lines += [f"Note: {fails}", "", f"Over all pairs ({GOLDS_COUNTED})", *_mean_lines(records, names)]
    if all(isinstance(record.get("difficulty"), str) for record in records):
        scores = {name: [float(record[name]) for record in records] for name in names}
        means = difficulty_means([record["difficulty"] for record in records], scores)
        lines += ["", "As in the official table, times 100", *difficulty_table(means, METRIC_TITLES)]
    if records and all(isinstance(record.get("system"), str) for record in records):
        lines += ["", *_system_table(gradable, names)]
    return lines + _published_lines(records)


def _system_table(records: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    systems: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        systems.setdefault(record["system"], []).append(record)
    width = max(map(len, ["System", *systems]))
    titles = [METRIC_TITLES[name] for name in names]
    lines = ["  ".join([f"{'System':<{width}}", "pairs", *(f"{title:>7}" for title in titles)])]
    for system, of in systems.items():
        means = [f"{100 * sum(record[name] for record in of) / len(of):.1f} %" for name in names]
        cells = [f"{mean:>{max(7, len(title))}}" for mean, title in zip(means, titles, strict=True)]
        lines.append("  ".join([f"{system:<{width}}", f"{len(of):>5}", *cells]))
    return lines


def _published_lines(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return how often `ex_bird` agrees with the published verdicts in the records."""
    known = [(place, each) for place, each in enumerate(records, 1) if each.get("published_ex") is not None]
    if not known:
        return []
    others = [_name(each, place) for place, each in known if each["ex_bird"] != each["published_ex"]]
    agreeing = (
        f"{METRIC_TITLES['ex_bird']} agrees with published_ex on {len(known) - len(others)} of {len(known)}"
    )
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    return [
        "",
        f"{agreeing} pairs{': it differs on ' + ', '.join(others[:_SHOWN]) + more if others else ''}.",
    ]


def _name(record: dict[str, Any], place: int) -> str:

    name = str(record.get("instance_id", record.get("question_id", f"record {place}")))
    return f"{name} ({record['system']})" if record.get("system") else name


def _mean_lines(records: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    lines = []
    for name in names:
        total = sum(record[name] for record in records)
        count = f"{total}/{len(records)}  " if name in ("ex", "ex_bird") else ""
        mean = f"{100 * total / len(records):.1f} %" if records else "-"
        lines.append(f"{METRIC_TITLES[name]:<14} {count}{mean}")
    return lines


def score_official(
    results: Annotated[
        Path,
        typer.Argument(
            help="Folder of stage files, an eval_<mode>.json or its folder, or a run with official files."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="Task file. All its tasks count; tasks without a result count as failed."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write the results to this file (JSON).")
    ] = None,
    grade: Annotated[
        bool,
        typer.Option("--grade", help="Run and grade the SQL of sql_results*.jsonl, for the tasks of --data."),
    ] = False,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", help="With --grade: folder of the databases, if not that of --data."),
    ] = None,
    profile: Annotated[
        str,
        typer.Option("--profile", help="With --grade: the rules (shell: those of the original pipeline)."),
    ] = "shell",
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    parallel: options.Parallel = 1,
) -> None:
    """Score official c-Interact result files.

    The score is (0.7a + 0.5b + 0.3c + 0.2d) / N, from 0 to 1. N is the number of tasks, a and b are the
    numbers of tasks that passed phase 1 at the first attempt and after debug, and c and d are the same for
    phase 2. Also prints success before and after debug, and by category, difficulty, level, ambiguity and
    database.

    Reads the result folder of the original pipeline (sql_results_*_output_with_status.jsonl), the
    eval_<mode>.json of the tool-calling service, and the files of `birdenv c-interact --official-files`. The
    overall.json of a run contains the same score (official). With --grade, the files do not need verdicts,
    because every attempt in sql_results.jsonl, _debug, _fu and _fu_debug is run on the databases.

    Example: birdenv score-official results/asks-first+rule-c-interact/latest --out score.json
    """
    if out is not None:
        check_writable(out)
    if grade and data is None:
        raise InputError("--grade needs --data: the task file, with the ground truth merged in")
    records = None if data is None else read_records(data)
    if grade and data is not None and records is not None:
        settings = {
            "data": str(data),
            "data_dir": str(data_dir or data.parent),
            "profile": profile,
            "dialect": dialect,
            "dsn": dsn,
        }
        made = grade_official(results, records, parallel=parallel, **settings)
    else:
        made = read_score(results, records)
    print(visible(made.text()), end="")
    print(f"Read: {made.path}")
    if out is not None:
        write_text(out, json.dumps(made.to_json(), indent=2, ensure_ascii=False) + "\n")
