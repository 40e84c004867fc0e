"""What went wrong in an evaluation: counts and a few examples of each bucket of `eval/details.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import exists, lines_of, parse_json
from birdenv.grading.em_esm import BUCKETS
from birdenv.runs._run_folder import RunDirectory
from birdenv.runs.em_esm._evaluate import METRIC_WORDS
from birdenv.runs.em_esm._pairs import check_holds_pairs

_LONGEST_SQL = 300


def read_details(folder: Path) -> list[dict[str, Any]]:
    """The records of an evaluated run; a torn last line is dropped, even with empty lines behind it; unknown
    fields are kept.

    Raises `InputError` if the run was not evaluated, or naming the first other line that is no record.
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
            raise InputError(f"{path}: line {number} has no bucket; evaluate the run again with birdenv")
        records.append(record)
    return records


def inspection_text(details: Sequence[Mapping[str, Any]], max_examples: int) -> str:
    """Count and percent of each bucket, then up to `max_examples` pairs of each that is not `ok`."""
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
    lines += ["", f"ESM: {METRIC_WORDS['esm']}."]
    return "\n".join(lines) + "\n"


def _example(record: Mapping[str, Any]) -> list[str]:
    scores = " ".join(f"{field}={record.get(field)}" for field in ("idx", "em", "esm", "etm"))
    why = record.get("error") or record.get("reason")
    return [
        f"- {scores}",
        *([f"  {'error' if record.get('error') else 'reason'}: {_on_a_line(why)}"] if why else []),
        f"  GOLD: {_on_a_line(record.get('gold_sql'))}",
        f"  PRED: {_on_a_line(record.get('pred_sql'))}",
    ]


def _on_a_line(text: Any) -> str:
    """At most 300 characters; what is no visible character (line breaks, terminal escapes) is a space."""
    cut = str(text or "")[:_LONGEST_SQL]
    return "".join(character if character.isprintable() else " " for character in cut)
