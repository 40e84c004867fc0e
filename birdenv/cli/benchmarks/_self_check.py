"""`birdenv self-check`: check that every gold query passes its own grading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.cli.command import progress, visible
from birdenv.cli.options import _run_options as options
from birdenv.cli.options._run_options import DefectsFile, Dialect, Dsn, databases_in, save_defects
from birdenv.databases import DatabaseSource, Limits
from birdenv.errors import InputError
from birdenv.files import check_writable, file_digest, write_text
from birdenv.grading import GRADER_VERSION, GoldCheck, check_gold
from birdenv.grading.compare import MODES
from birdenv.statistics import counted
from birdenv.tasks import Defects, SqlSettings, select
from birdenv.tasks.bird import BirdTask, load_tasks

_Checks = Mapping[str, GoldCheck]


def self_check(
    data_file: Annotated[Path, typer.Argument(help="Task file with gold SQL (JSON or JSONL).")],
    db_dir: Annotated[Path, typer.Argument(help="Folder of <db_id>/<db_id>.sqlite.")],
    database: options.Database = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Check at most this many tasks.")
    ] = None,
    sql_timeout: Annotated[
        float, typer.Option("--sql-timeout", help="Time limit per statement (seconds).")
    ] = 30.0,
    slow: Annotated[
        float, typer.Option("--slow", help="List gold queries that take at least this many seconds.")
    ] = 5.0,
    out: Annotated[Path | None, typer.Option("--out", help="Write all findings to this file (JSON).")] = None,
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    defects: DefectsFile = None,
) -> None:
    """Check that each gold query passes its own grading.

    No system can pass a task whose gold query fails here. Also lists gold queries that are poor references:
    they are slow, return nothing, read the clock or random numbers (their text says so, or two runs differ),
    or have a LIMIT that cuts through a tie, so that other answers are equally correct.

    The exit code is 0 if all gold queries pass, 1 if a gold query fails, and 2 if the data cannot be read.

    Example: birdenv self-check mini_dev_sqlite.json dev_databases --database superhero
    """
    if sql_timeout <= 0:
        raise InputError("--sql-timeout must be more than 0 seconds")
    settings = SqlSettings(databases=tuple(database) if database else None, limit=limit)
    source = databases_in(db_dir, dialect, dsn)
    tasks = select(load_tasks(data_file, source.dialect), settings)
    for name in sorted({task.public.db_id for task in tasks}):
        source.check(name)
    for path in filter(None, (out, defects)):
        check_writable(path)
    golds = {name: (task, sql) for task in tasks for name, sql in _golds(task)}
    if not golds:
        raise InputError(f"{data_file} has no gold SQL to check")
    with closing(source):
        checks = _checked(golds, source, Limits(seconds=sql_timeout))
    lines = _lines(checks, slow)
    without = sum(not task.has_gold for task in tasks)
    if without:
        lines.append(f"{counted(without, 'task')} without gold SQL: not checked.")
    print(visible("\n".join(lines)))
    if out is not None:
        found = _report(golds, checks, source, data_file)
        write_text(out, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        print(f"Written: {out}")
    if defects is not None:
        save_defects(defects, _defects(golds, checks))
    if not all(check.passed for check in checks.values()):
        raise typer.Exit(1)


def _golds(task: BirdTask) -> list[tuple[str, str]]:
    """Return the gold queries of a task, each with its name in the report."""
    name = task.public.instance_id
    golds = task.private.gold
    return [(f"{name} gold {i + 1}" if len(golds) > 1 else name, sql) for i, sql in enumerate(golds)]


def _checked(
    golds: Mapping[str, tuple[BirdTask, str]],
    source: DatabaseSource,
    limits: Limits,
) -> dict[str, GoldCheck]:
    checks = {}
    with progress("checking golds", len(golds)) as move:
        for name, (task, sql) in golds.items():
            checks[name] = check_gold(source, task.public.db_id, sql, limits)
            move(advance=1)
    return checks


def _lines(checks: _Checks, slow: float) -> list[str]:
    passed = sum(check.passed for check in checks.values())
    lines = [f"{passed}/{len(checks)} golds pass their own grading ({100 * passed / len(checks):.1f} %)"]
    ran = {name: check for name, check in checks.items() if check.rows is not None}
    for mode in (*MODES, "soft_f1"):
        right = sum(mode not in check.failures for check in ran.values())
        lines.append(f"  {mode:<10} {right}/{len(checks)}")
    lines += _listed("do not run", {n: c.failures["gold"] for n, c in checks.items() if "gold" in c.failures})
    lines += _listed(
        "do not pass their own grading",
        {n: "; ".join(f"{m}: {why}" for m, why in c.failures.items()) for n, c in ran.items() if c.failures},
    )
    lines += _listed(
        f"take {slow:g} s or more",
        {n: f"{c.seconds:.1f} s" for n, c in checks.items() if c.seconds >= slow},
    )
    lines += _listed(
        "return nothing (no rows, or only NULLs), so a match proves little",
        {n: counted(c.rows or 0, "row") for n, c in ran.items() if c.is_empty},
    )
    lines += _listed(
        "read the clock or random numbers",
        {
            n: " and ".join(
                [
                    *(["by its text"] if c.reads_clock else []),
                    *(["two runs differed"] if c.has_changed else []),
                ]
            )
            for n, c in checks.items()
            if c.reads_clock or c.has_changed
        },
    )
    lines += _listed("allow other answers", {n: c.tie for n, c in ran.items() if c.tie})
    return lines


def _defects(golds: Mapping[str, tuple[BirdTask, str]], checks: _Checks) -> Defects:
    """Return the defects of each task's gold queries, in words that do not quote the gold."""
    found: dict[str, list[str]] = {}
    for name, check in checks.items():
        reasons = {
            "does not run": "gold" in check.failures,
            "does not pass its own grading": check.rows is not None and not check.passed,
            "reads the clock or random numbers": check.reads_clock or check.has_changed,
        }
        for reason in (f"a gold {reason}" for reason, holds in reasons.items() if holds):
            known = found.setdefault(golds[name][0].public.instance_id, [])
            known += [] if reason in known else [reason]
    return found


def _listed(what: str, found: Mapping[str, str]) -> list[str]:
    if not found:
        return []
    lines = [f"  {name:<12} {' '.join(why.split())}" for name, why in found.items()]
    return ["", f"{len(found)} {what}:", *lines]


def _report(
    golds: Mapping[str, tuple[BirdTask, str]], checks: _Checks, source: DatabaseSource, data_file: Path
) -> dict[str, Any]:
    """Return the findings for the JSON file, which is private because reasons quote rows of gold results."""
    names: Sequence[str] = sorted({task.public.db_id for task, _ in golds.values()})
    return {
        "data_sha256": file_digest(data_file),
        "databases_sha256": {name: source.digest(name) for name in names},
        "engine": source.engine,
        "grader": GRADER_VERSION,
        "golds": len(checks),
        "passed": sum(check.passed for check in checks.values()),
        "checks": [
            {"gold": name, "db_id": golds[name][0].public.db_id, "passed": check.passed, **asdict(check)}
            for name, check in checks.items()
        ],
    }
