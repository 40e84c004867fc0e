"""`birdenv score`: EX of recorded pairs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from birdenv.cli import _options as options
from birdenv.databases import SqliteSource
from birdenv.errors import InputError
from birdenv.files import check_writable, read_records, write_records
from birdenv.grading import ExGrader

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
    isolation: options.Isolation = "auto",
    parallel: Annotated[
        int, typer.Option("--parallel", "-p", min=1, help="Pairs compared at the same time.")
    ] = 1,
) -> None:
    """Score recorded pairs of SQL by EX.

    Runs gold and prediction of every record and adds `ex`, `ex_bird` and `reason`.

    `ex` compares multisets of rows with a tolerance for floats; `ex_bird` is the official set rule on the SQL
    exactly as submitted.
    """
    records = read_records(pairs, "pairs")
    source = SqliteSource(db_dir, options.isolation_for(isolation, "predictions"))
    for number, record in enumerate(records, 1):
        _check(record, f"{pairs}: record {number}")
    for name in sorted({record["db_id"] for record in records}):
        source.check(name)
    if out is not None:
        check_writable(out)
    grader = ExGrader(source, clean=clean)

    def judge(record: dict[str, Any]) -> dict[str, Any]:
        gold = record["gold_sql"]
        verdict = grader.grade(
            record["db_id"], [gold] if isinstance(gold, str) else gold, record["predicted_sql"]
        )
        added = {"ex": int(verdict.ex), "ex_bird": int(verdict.ex_bird), "reason": verdict.reason}
        return record | added | ({"clean_steps": list(verdict.clean_steps)} if clean else {})

    console = Console(stderr=True)
    with ThreadPoolExecutor(parallel) as pool:
        judged = list(
            track(
                pool.map(judge, records),
                "scoring",
                total=len(records),
                console=console,
                transient=True,
                disable=not console.is_terminal,
            )
        )
    for name, label in (("ex", "EX"), ("ex_bird", "EX (BIRD set)")):
        passed = sum(record[name] for record in judged)
        print(f"{label:<14} {passed}/{len(judged)}  {100 * passed / len(judged):.1f} %")
    if out is not None:
        write_records(out, judged)
        print(f"Written: {out}")


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
