"""Compute EM (exact match) and ESM (execution match) for all pairs in a folder, and show failed pairs.

The results are written to `eval/details.jsonl` and `eval/eval_summary.json`, and the normalised queries that
EM compares to `eval/canon/`. Pairs are sorted into buckets by outcome, such as `ok`; `birdenv inspect` shows
examples from each bucket.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from birdenv.databases import DatabaseSource, Limits, NoAnswerError, QueryError, Result
from birdenv.errors import InputError
from birdenv.files import check_own, check_writable, exists, lines_of, parse_json, write_records, write_text
from birdenv.grading import GRADER_VERSION, PairGrader, is_late, with_second_run
from birdenv.grading.em_esm import BUCKETS, PairVerdict, RunQuery
from birdenv.runs._run_folder import RunDirectory
from birdenv.runs.em_esm._pairs import ScoredPair, check_holds_pairs, write_lines
from birdenv.version import __version__

_LONGEST_SQL = 300


def read_details(folder: Path) -> list[dict[str, Any]]:
    """Read the records in `eval/details.jsonl`, the result of evaluating a folder.

    An incomplete last line is ignored, and unknown fields are kept.

    Raises:
        InputError: the folder was not evaluated, or any other line is not a record; the message names the
            line.
    """
    path = folder / "eval" / "details.jsonl"
    if not exists(path):
        if exists(folder / "config.json"):
            check_holds_pairs(RunDirectory(folder))
        raise InputError(f"{path}: no such file; run `birdenv evaluate {folder}` first")
    records: list[dict[str, Any]] = []
    torn: InputError | None = None
    for number, line in lines_of(path):
        text = line.decode("utf-8", "replace").rstrip("\x00\r\n\t ")
        if not text:
            continue
        if torn is not None:
            raise torn
        try:
            record = parse_json(text, str(path), line=number)
        except InputError as error:
            torn = error
            continue
        if not isinstance(record, dict) or not isinstance(record.get("bucket"), str):
            raise InputError(f"{path}: line {number} has no bucket; re-evaluate the run with birdenv")
        records.append(record)
    return records


def inspection_text(details: Sequence[Mapping[str, Any]], max_examples: int) -> str:
    """Describe the size of each bucket, and up to `max_examples` pairs from each bucket other than `ok`."""
    names = [*BUCKETS, *sorted({record["bucket"] for record in details} - set(BUCKETS))]
    members = {name: [record for record in details if record["bucket"] == name] for name in names}
    lines = ["=== ESM issue breakdown ==="]
    for name in names:
        percent = 100 * len(members[name]) / len(details) if details else 0.0
        lines.append(f"{name:>12}: {len(members[name]):>3}  ({percent:5.1f}%)")
    lines += ["", f"=== Examples (up to {max_examples} each) ==="]
    for name in names:
        shown = members[name][:max_examples] if name != "ok" else []
        lines += ["", f"[{name}]"] if shown else []
        for record in shown:
            lines += _example(record)
    return "\n".join(lines) + "\n"


def _example(record: Mapping[str, Any]) -> list[str]:
    fields = [field for field in ("idx", "em", "esm", "etm") if record.get(field) is not None]
    scores = " ".join(f"{field}={record[field]}" for field in fields)
    why = record.get("error") or record.get("reason")
    return [
        f"- {scores}",
        *([f"  {'error' if record.get('error') else 'reason'}: {_on_a_line(why)}"] if why else []),
        f"  GOLD: {_on_a_line(record.get('gold_sql'))}",
        f"  PRED: {_on_a_line(record.get('pred_sql'))}",
    ]


def _on_a_line(text: Any) -> str:
    """Return at most 300 characters, with spaces for line breaks and control characters."""
    cut = str(text or "")[:_LONGEST_SQL]
    return "".join(character if character.isprintable() else " " for character in cut)


METRICS = ("em", "esm")
METRIC_WORDS: Final[Mapping[str, str]] = {
    "em": "exact match, the text of two queries",
    "esm": "execution match, the rows that two queries return",
}
"""The meaning of the metrics, for every output that shows them."""

_MODES = ("multiset", "ordered", "bird")


def queries_on(source: DatabaseSource, limits: Limits) -> RunQuery:
    """Return a function that runs queries, each on a freshly opened database from `source`.

    If a query exceeds a limit, the function reruns the query on its own, with twice the limit. If a database
    cannot be opened, the function returns a `NoAnswerError`. If a server is lost, it raises an
    `InfrastructureError`.
    """
    second = f"the second run, alone and with twice the limit of {limits.seconds:g} s"

    def run(sql: str, db_id: str) -> Result:
        def once(limits: Limits) -> Result:
            with source.open(db_id, limits) as database:
                return database.query(sql)

        try:
            found = with_second_run(once, limits, is_late)
        except InputError as error:
            return NoAnswerError("engine", str(error))
        if isinstance(found, QueryError) and is_late(found):
            return replace(found, message=f"{found.message}: {second}")
        return found

    return run


def evaluate_pairs(
    folder: Path,
    pairs: Sequence[ScoredPair],
    grader: PairGrader,
    config: Mapping[str, Any],
    versions: Mapping[str, str],
    progress: Callable[[], None] = lambda: None,
    parallel: int = 1,
) -> str:
    """Grade all pairs, write the results to the folder `eval`, and return the metrics as text.

    Args:
        folder: the folder that contains the pairs, in which `eval` is created.
        pairs: the pairs to grade.
        grader: the grader for the pairs.
        config: settings to record in the summary.
        versions: versions of third-party software to record in the summary, keyed by software name.
        progress: a function that is called after each pair.
        parallel: the number of pairs to grade at the same time.

    Raises:
        InputError: the files cannot be written, or `eval` is a link or contains links or special files. This
            is checked before anything is graded.
    """
    out = folder / "eval"
    check_own(out)
    check_writable(out / "details.jsonl")

    def judge(pair: ScoredPair) -> PairVerdict:
        verdict = grader.grade(pair.gold, pair.pred, pair.db_id)
        progress()
        return verdict

    with ThreadPoolExecutor(parallel) as pool:
        verdicts = list(pool.map(judge, pairs))
    golds, preds = [v.gold.sql for v in verdicts], [v.pred.sql for v in verdicts]
    summary = _summary(verdicts, sum(grader.is_none(verdict.gold) for verdict in verdicts))
    own = {"birdenv": __version__, "grader": GRADER_VERSION}
    summary |= {"config": dict(config), "versions": own | dict(versions)}
    keys = [v.keys[0] for v in verdicts], [v.keys[1] for v in verdicts]
    write_lines(out / "canon", *keys, grader.dialect)
    write_lines(out / "canon", golds, preds, grader.dialect, prefix="ran_")
    write_records(out / "details.jsonl", map(_detail, pairs, verdicts))
    write_text(out / "eval_summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    return _text(summary, {metric: getattr(grader.rules, metric) for metric in METRICS})


def _detail(pair: ScoredPair, verdict: PairVerdict) -> dict[str, Any]:
    """Return a line of `details.jsonl`. Its first seven fields are those of the reference implementation."""
    return {
        "idx": pair.idx,
        "pred_sql": verdict.pred.sql,
        "gold_sql": verdict.gold.sql,
        "em": verdict.em,
        "esm": verdict.esm,
        "etm": None,
        "error": verdict.error,
        "db_id": pair.db_id,
        "instance_id": pair.instance_id,
        "bucket": verdict.bucket,
        "reason": verdict.reason,
        "side": verdict.side,
        "rows_gold": verdict.rows_gold,
        "rows_pred": verdict.rows_pred,
        "ms_gold": _milliseconds(verdict.gold_seconds),
        "ms_pred": _milliseconds(verdict.pred_seconds),
        "modes": dict(verdict.modes),
        "flags": list(verdict.flags),
        "clean_steps": {"gold": list(verdict.gold.steps), "pred": list(verdict.pred.steps)},
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(1000 * seconds, 1)


def _summary(verdicts: Sequence[PairVerdict], unanswerable: int) -> dict[str, Any]:
    buckets = Counter(verdict.bucket for verdict in verdicts)
    total = len(verdicts)
    counts = {metric: _count([getattr(v, metric) for v in verdicts]) for metric in METRICS}
    return {
        "total": total,
        "counts": counts | {"etm": _count([])},
        "skips": {"empty_pred": sum(v.is_empty for v in verdicts), "unanswerable": unanswerable},
        "errors": sum(verdict.error is not None for verdict in verdicts),
        "rates": {metric: _rate(count, total) for metric, count in counts.items()},
        "esm_breakdown": {bucket: buckets[bucket] for bucket in BUCKETS},
        "order_unchecked": sum("order_unchecked" in v.flags for v in verdicts),
        "modes": {mode: sum(bool(v.modes.get(mode)) for v in verdicts) for mode in _MODES},
    }


def _count(values: Sequence[bool | None]) -> dict[str, int]:
    return {"pass": values.count(True), "fail": values.count(False)}


def _rate(count: Mapping[str, int], total: int) -> dict[str, Any]:
    attempted = count["pass"] + count["fail"]
    return {
        "attempted": attempted,
        "pass_pct_total": _percent(count["pass"], total),
        "pass_pct_attempted": _percent(count["pass"], attempted),
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def _text(summary: Mapping[str, Any], asked: Mapping[str, bool]) -> str:
    skips, total = summary["skips"], summary["total"]
    lines = ["=== EVAL SUMMARY ===", f"total: {total}"]
    lines.append(f"empty_preds: {skips['empty_pred']} ; unanswerable: {skips['unanswerable']}")
    for metric in METRICS:
        if not asked[metric]:
            lines.append(f"{metric.upper():<3} - not computed (--no-{metric})")
            continue
        passed, rate = summary["counts"][metric]["pass"], summary["rates"][metric]
        lines.append(
            f"{metric.upper():<3} - {passed}/{total} {rate['pass_pct_total']}% "
            f"(of attempted: {passed}/{rate['attempted']} {rate['pass_pct_attempted']}%)"
        )
    if asked["esm"]:
        lines += ["", "=== ESM breakdown ==="]
        lines += [f"{bucket:>12}: {count}" for bucket, count in summary["esm_breakdown"].items()]
    if unchecked := summary["order_unchecked"]:
        lines += [
            "",
            f"{unchecked} passed with rows in a different order, because the gold's sort keys do not show "
            "which rows are tied (order_unchecked)",
        ]
    lines += ["", *(f"{metric.upper()}: {METRIC_WORDS[metric]}." for metric in METRICS if asked[metric])]
    return "\n".join(lines) + "\n"
