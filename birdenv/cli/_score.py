"""`birdenv score`: EX of recorded pairs, and other metrics beside it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from birdenv.cli import _options as options
from birdenv.cli._engine import Dialect, Dsn, databases_in
from birdenv.cli._metrics import R_VES_NOTE, Metrics, RVesRuns, SpeedPair, asked_for, measure_speeds
from birdenv.cli._result_cache import Cache, NoCache, open_store, tell_counts
from birdenv.databases import DatabaseSource
from birdenv.errors import InputError
from birdenv.files import check_writable, read_records, write_records
from birdenv.grading import R_VES_RUNS, ExVerdict, Pair, score_pairs
from birdenv.runs import METRIC_TITLES, difficulty_means, difficulty_table

__all__ = ["score"]


def score(
    pairs: Annotated[
        Path, typer.Argument(help="Records with db_id, gold_sql (text or list), predicted_sql.")
    ],
    db_dir: Annotated[Path, typer.Argument(help="Folder of <db_id>/<db_id>.sqlite.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the pairs with verdicts here (JSONL).")
    ] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Strip code fences and the like for `ex`.")] = False,
    metrics: Metrics = None,
    r_ves_runs: RVesRuns = R_VES_RUNS,
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    isolation: options.Isolation = "auto",
    parallel: Annotated[
        int, typer.Option("--parallel", "-p", min=1, help="Processes that score pairs at the same time.")
    ] = 1,
    cache: Cache = None,
    no_cache: NoCache = False,
) -> None:
    """Score recorded pairs of SQL by EX.

    Runs gold and prediction of every record and adds `ex`, `ex_bird` and `reason`; on a mismatch also
    `first_difference`, the first row of each side without a partner.

    `ex` compares multisets of rows with a tolerance for floats; `ex_bird` is the official set rule on the SQL
    exactly as submitted. Where records have a `difficulty`, the official table follows.

    What the queries return is kept (--cache), but for what reads the clock: scoring the same again, or other
    answers to the same questions, executes only what is new.

    Example: birdenv score pairs.jsonl dev_databases --metrics soft-f1,r-ves --out scored.jsonl
    """
    asked = asked_for(metrics)
    records = read_records(pairs, "pairs")
    source = databases_in(db_dir, dialect, dsn, isolation, "predictions")
    for number, record in enumerate(records, 1):
        _check(record, f"{pairs}: record {number}")
    for name in sorted({record["db_id"] for record in records}):
        source.check(name)
    if out is not None:
        check_writable(out)
    console = Console(stderr=True)
    store = open_store(cache, no_cache)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        closing(source),
        store or nullcontext(),
        Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar,
    ):
        scoring = bar.add_task("scoring", total=len(records))
        verdicts = score_pairs(
            [Pair(record["db_id"], tuple(_golds(record)), record["predicted_sql"]) for record in records],
            source,
            clean=clean,
            metrics=asked.metrics,
            workers=parallel,
            store=store,
            on_done=lambda more: bar.advance(scoring, more),
        )
    judged = [_judged(record, verdict, clean) for record, verdict in zip(records, verdicts, strict=True)]
    if asked.r_ves:
        judged = _with_speeds(judged, source, r_ves_runs)
    names = [name for name in METRIC_TITLES if all(name in record for record in judged)]
    for line in _lines(judged, names):
        print(line)
    if asked.r_ves:
        print(f"Note: {R_VES_NOTE} ({r_ves_runs} runs of each query).")
    if store is not None:
        tell_counts(store)
    if out is not None:
        write_records(out, judged)
        print(f"Written: {out}")


def _judged(record: dict[str, Any], verdict: ExVerdict, clean: bool) -> dict[str, Any]:
    added = {"ex": int(verdict.ex), "ex_bird": int(verdict.ex_bird), "reason": verdict.reason}
    if verdict.expected or verdict.returned:
        added["first_difference"] = {"expected": verdict.expected, "returned": verdict.returned}
    added |= {"flags": list(verdict.flags)} if verdict.flags else {}
    added |= verdict.metrics
    return record | added | ({"clean_steps": list(verdict.clean_steps)} if clean else {})


def _golds(record: dict[str, Any]) -> list[str]:
    gold = record["gold_sql"]
    return [gold] if isinstance(gold, str) else gold


def _with_speeds(
    records: Sequence[dict[str, Any]], source: DatabaseSource, runs: int
) -> list[dict[str, Any]]:
    """The records with `r_ves`: measured where the official rule says that the results agree, else 0."""
    measured = iter(
        measure_speeds(
            [
                SpeedPair(record["db_id"], _golds(record), record["predicted_sql"])
                for record in records
                if record["ex_bird"]
            ],
            source,
            runs,
        )
    )
    return [record | {"r_ves": next(measured).score if record["ex_bird"] else 0.0} for record in records]


def _lines(records: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    lines = []
    for name in names:
        total = sum(record[name] for record in records)
        count = f"{total}/{len(records)}  " if name in ("ex", "ex_bird") else ""
        lines.append(f"{METRIC_TITLES[name]:<14} {count}{100 * total / len(records):.1f} %")
    if all(isinstance(record.get("difficulty"), str) for record in records):
        scores = {name: [float(record[name]) for record in records] for name in names}
        means = difficulty_means([record["difficulty"] for record in records], scores)
        lines += ["", "As in the official table, times 100", *difficulty_table(means, METRIC_TITLES)]
    return lines


def _check(record: dict[str, Any], where: str) -> None:
    for field in ("db_id", "gold_sql", "predicted_sql"):
        if field not in record:
            raise InputError(f"{where}: the field `{field}` is missing")
    if not isinstance(record["db_id"], str):
        raise InputError(f"{where}: the field `db_id` must be text")
    gold = record["gold_sql"]
    golds = [gold] if isinstance(gold, str) else gold
    if not isinstance(golds, list) or not golds or not all(isinstance(sql, str) for sql in golds):
        raise InputError(f"{where}: the field `gold_sql` must be text or a list of texts")
    if not isinstance(record["predicted_sql"], str | None):
        raise InputError(f"{where}: the field `predicted_sql` must be text or null")
