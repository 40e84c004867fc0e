"""Regrade the submissions of a stored BIRD run, without playing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from birdenv.dialogue.measures import UNRATED
from birdenv.errors import InputError
from birdenv.grading import ExGrader
from birdenv.runs._run_folder import RunDirectory
from birdenv.runs.regrade._data import check_unchanged, data_notes, limits_of, place_of, source_of
from birdenv.statistics import rate_line, rule
from birdenv.tasks.bird import BirdTask, load_tasks
from birdenv.tasks.bird.measures import EX_BIRD_NOTE, EX_NOTE

_NOT_RATED = UNRATED | {"gold_error"}


@dataclass(frozen=True, slots=True)
class BirdRegrade:
    """The result of regrading a BIRD run.

    Attributes:
        played: the recorded `ex`, `ex_bird` (EX by the official set rule) and `status`, keyed by episode.
        now: the new values of the fields in `played`, and the `reason`, keyed by episode.
        clean: True if code fences and similar decoration were stripped from the SQL before computing EX.
        fail_doubtful: True if passes that the grader flagged as doubtful were graded as failures.
        changes: descriptions of the data that have changed since the run.
        left_out: the episodes whose task is no longer in the task file.
    """

    played: Mapping[str, Mapping[str, Any]]
    now: Mapping[str, Mapping[str, Any]]
    clean: bool
    fail_doubtful: bool
    changes: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def different(self) -> list[str]:
        """Return the episodes whose new EX differs from the recorded EX, by either rule."""
        return [
            name
            for name, now in self.now.items()
            if any(now[metric] != self.played[name][metric] for metric in ("ex", "ex_bird"))
        ]


def regrade_bird(
    directory: RunDirectory,
    *,
    clean: bool = False,
    data_file: Path | None = None,
    db_dir: Path | None = None,
    allow_changed: bool = False,
    fail_doubtful: bool = False,
    parallel: int = 1,
) -> BirdRegrade:
    """Regrade a stored BIRD run by EX, and by EX with the official set rule.

    With `clean`, or if the run was played with this setting, code fences and similar decoration are stripped
    from the SQL before computing EX. `data_file` and `db_dir` are the new paths of the task file and the
    database folder, if they have moved since the run. For the other arguments, see `regrade_interact`.
    """
    config = directory.read_config(hint="")
    clean = clean or bool(config.get("clean"))
    fail_doubtful = fail_doubtful or bool(config.get("fail_doubtful"))
    file = place_of(config, "data_file", "--data", data_file)
    source = source_of(config, place_of(config, "db_dir", "--data-dir", db_dir))
    tasks = {task.public.instance_id: task for task in load_tasks(file, source.dialect)}
    runs = directory.read("runs")
    there = {name: run for name, run in runs.items() if run["instance_id"] in tasks}
    names = sorted({tasks[run["instance_id"]].public.db_id for run in there.values()})
    changes = check_unchanged(config, file, source, names, allow_changed)
    limits = limits_of(config)
    grader = ExGrader(source, limits, clean=clean, fail_doubtful=fail_doubtful)

    def judge(name: str) -> Mapping[str, Any]:
        task, sql = tasks[there[name]["instance_id"]], _submitted(there[name], directory, name)
        if not task.has_gold or sql is None:
            return {"status": there[name]["status"], "ex": 0, "ex_bird": 0, "reason": ""}
        return _executed(grader, task, sql)

    with closing(source), ThreadPoolExecutor(parallel) as pool:
        now = dict(zip(there, pool.map(judge, there), strict=True))
    return BirdRegrade(
        played={name: _as_played(run) for name, run in there.items()},
        now=now,
        clean=clean,
        fail_doubtful=fail_doubtful,
        changes=tuple(changes),
        left_out=tuple(name for name in runs if name not in there),
    )


def _submitted(run: Mapping[str, Any], directory: RunDirectory, name: str) -> str | None:
    sql = run.get("result", {}).get("predicted_sql")
    if sql is not None and not isinstance(sql, str):
        raise InputError(f"{directory.file('runs')}: {name}: the field `predicted_sql` must be text")
    return sql


def _executed(grader: ExGrader, task: BirdTask, sql: str) -> dict[str, Any]:
    verdict = grader.grade(task.public.db_id, task.private.gold, sql)
    return {
        "status": verdict.status,
        "ex": int(verdict.ex),
        "ex_bird": int(verdict.ex_bird),
        "reason": verdict.reason,
    }


def _as_played(run: Mapping[str, Any]) -> dict[str, Any]:
    result = run.get("result", {})
    return {
        "status": run["status"] if run["status"] in UNRATED else result.get("verdict") or run["status"],
        "ex": int(result.get("ex", 0)),
        "ex_bird": int(result.get("ex_bird", 0)),
    }


def bird_regrade_text(regrade: BirdRegrade, *, reasons: bool = False) -> str:
    """Return the old and new EX, and the episodes in which they differ, as text.

    If `reasons` is true, the text includes the reasons for verdicts, which are private.
    """
    cleaned = ", cleaned" if regrade.clean else ""
    doubtful = ", with fail_doubtful" if regrade.fail_doubtful else ""
    lines = [rule("="), f"BIRD, regraded{doubtful}", rule("=")]
    for title, metric in (("EX", "ex"), ("EX (BIRD set)", "ex_bird")):
        lines.append(rate_line(f"{title}, as played", _rate(regrade.played.values(), metric)))
        now = f"{title}, now{cleaned if metric == 'ex' else ''}"
        lines.append(rate_line(now, _rate(regrade.now.values(), metric)))
    lines += ["", f"Judged differently: {len(regrade.different)}"]
    for name in regrade.different:
        played, now_ = regrade.played[name], regrade.now[name]
        lines.append(f"  {name:<16} {_shown(played)} -> {_shown(now_)}")
        if reasons and now_["reason"]:
            lines.append(f"      {now_['reason']}")
    lines += ["", f"{len(regrade.now)} episodes", f"Note: {EX_NOTE}.", f"Note: {EX_BIRD_NOTE}."]
    lines += data_notes(regrade.changes, regrade.left_out)
    return "\n".join(lines) + "\n"


def bird_regrade_record(regrade: BirdRegrade) -> dict[str, Any]:
    """Return the result of regrading a BIRD run as an object for `regraded.json`, omitting reasons."""
    return {
        "clean": regrade.clean,
        "fail_doubtful": regrade.fail_doubtful,
        "figures": {
            when: {metric: _rate(records.values(), metric) for metric in ("ex", "ex_bird")}
            for when, records in (("as played", regrade.played), ("now", regrade.now))
        },
        "disagreements": regrade.different,
        "changes": list(regrade.changes),
        "left_out": list(regrade.left_out),
    }


def _shown(record: Mapping[str, Any]) -> str:
    return f"{record['status']} (EX {record['ex']}, set {record['ex_bird']})"


def _rate(records: Iterable[Mapping[str, Any]], metric: str) -> dict[str, Any]:
    rated = [record for record in records if record["status"] not in _NOT_RATED]
    passed = sum(record[metric] for record in rated)
    return {"passed": passed, "total": len(rated), "accuracy": passed / len(rated) if rated else 0.0}
