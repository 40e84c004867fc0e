"""Read and write pairs of gold and predicted SQL.

`gold.txt` and `preds.txt` have a line for each pair. `pairs.jsonl` also names the database of each pair,
preserves line breaks in strings, and has the fields that `birdenv score` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, Literal, get_args

from birdenv.errors import InputError
from birdenv.files import exists, file_errors, is_directory, lines_of, read_records, write_records, write_text
from birdenv.runs._run_folder import RunDirectory
from birdenv.sql import one_line

GOLD, PREDS, PAIRS = "gold.txt", "preds.txt", "pairs.jsonl"
_NAMES = ("db_id", "instance_id", "difficulty")
_USAGE = ("prompt_tokens", "completion_tokens", "cost_usd")
_LFS = b"version https://git-lfs"
UNANSWERED: Final = "None"
"""The exported text for a missing answer, as in the reference."""

Source = Literal["auto", "pairs", "lines"]
SOURCES: Final[tuple[Source, ...]] = get_args(Source)
"""Which files are read: `pairs.jsonl`, the two text files, or, with `auto`, the first that exists, as long as
they agree."""


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair of gold and predicted SQL.

    Attributes:
        idx: the zero-based index of the pair.
        gold: the first gold query.
        pred: the predicted query.
        db_id: the name of the database; empty if unknown.
        instance_id: the id of the task; empty if unknown.
        difficulty: the difficulty of the task; empty if unknown.
        golds: all gold queries.
        record: the record that the pair was read from.
    """

    idx: int
    gold: str
    pred: str
    db_id: str = ""
    instance_id: str = ""
    difficulty: str = ""
    golds: tuple[str, ...] = field(default=(), compare=False)
    record: Mapping[str, Any] = field(default_factory=dict, compare=False)


def read_pairs(folder: Path, *, allow_truncate: bool = False, source: Source = "auto") -> list[ScoredPair]:
    """Return the pairs in a folder, or the pairs of gold and submitted SQL in a BIRD run.

    In the text files, only a line feed ends a line, so queries can contain other line separators. Byte order
    marks and carriage returns before line feeds are removed.

    Args:
        folder: the folder with the pair files, or the run folder.
        allow_truncate: True to ignore the extra lines of the longer text file.
        source: `pairs` to read `pairs.jsonl`, `lines` to read the text files, `auto` to read `pairs.jsonl` if
            it exists and the text files otherwise.

    Raises:
        InputError: a file is missing, empty or cannot be read; the text files have different lengths; or,
            with `auto`, the files disagree.
    """
    if not is_directory(folder):
        raise InputError(f"{folder}: no such directory; specify a folder with {GOLD} and {PREDS}")
    if source != "lines" and exists(folder / PAIRS):
        pairs = read_pair_records(folder / PAIRS)
        if several := next((pair for pair in pairs if len(pair.golds) > 1), None):
            raise InputError(
                f"{folder / PAIRS}: record {several.idx + 1}: the field `gold_sql` must be a string, or a "
                "list containing one string"
            )
        if source == "auto":
            _check_agreement(folder, pairs)
        return pairs
    if source == "auto" and exists(folder / "config.json") and not exists(folder / PREDS):
        return _from_run(RunDirectory(folder))
    if source == "pairs":
        raise InputError(f"{folder} contains no {PAIRS}, which --source pairs requires")
    missing = [name for name in (PREDS, GOLD) if not exists(folder / name)]
    if missing:
        raise InputError(f"{folder} contains no {' and no '.join(missing)}; is the run still in progress?")
    golds, preds = _lines(folder / GOLD), _lines(folder / PREDS)
    if len(golds) != len(preds) and not allow_truncate:
        raise InputError(
            f"{folder}: {GOLD} has {len(golds)} lines and {PREDS} has {len(preds)}, so they do not pair up "
            "(an empty query needs a line, too); fix them, or ignore the extra lines with --allow-truncate"
        )
    if not golds or not preds:
        raise InputError(f"{folder}: {GOLD if not golds else PREDS} is empty")
    return [ScoredPair(idx, *pair) for idx, pair in enumerate(zip(golds, preds, strict=False))]


def check_holds_pairs(directory: RunDirectory) -> None:
    """Raise `InputError` if a run is not a BIRD run. The message names the command to use instead."""
    game = directory.read_config(hint="").get("game")
    if game != "bird":
        raise InputError(
            f"{directory.path} is a run of {game}, but only runs of bird have pairs. For its metrics, use "
            f"`birdenv summary {directory.path}`"
        )


def _from_run(directory: RunDirectory) -> list[ScoredPair]:
    check_holds_pairs(directory)
    pairs = pairs_of_run(directory.read("runs"), directory.read("private"))
    if not pairs:
        raise InputError(f"{directory.path}: no episode with gold SQL has finished yet")
    return pairs


def _check_agreement(folder: Path, pairs: Sequence[ScoredPair]) -> None:
    """Raise an `InputError` that names the first pair that differs between the two kinds of files."""
    for name, queries in ((GOLD, [p.gold for p in pairs]), (PREDS, [p.pred for p in pairs])):
        if not exists(folder / name):
            continue
        lines = _lines(folder / name)
        for number, (sql, line) in enumerate(zip_longest(queries, lines)):
            if sql is None or line is None:
                what = f"only one of them has pair {number}"
            elif line in (sql, *(one_line(sql, dialect) for dialect in ("sqlite", "postgres"))):
                continue
            else:
                what = f"the first difference is pair {number}: {_parts(one_line(sql, 'sqlite'), line)}"
            raise InputError(
                f"{folder}: {PAIRS} and {name} disagree, {what}; choose one with --source pairs or "
                "--source lines"
            )


def _parts(sql: str, line: str) -> str:
    place = next(place for place, (a, b) in enumerate(zip_longest(sql, line)) if a != b)
    shown = slice(max(place - 40, 0), place + 40)
    return f"{sql[shown]!r} and {line[shown]!r}"


def write_pairs(folder: Path, pairs: Sequence[ScoredPair], dialect: str) -> None:
    """Write pairs to `pairs.jsonl`, `gold.txt` and `preds.txt`.

    The SQL `dialect` is used to put each query on one line.
    """
    write_records(folder / PAIRS, map(_record, pairs))
    write_lines(folder, [pair.gold for pair in pairs], [pair.pred for pair in pairs], dialect)


def write_lines(
    folder: Path, golds: Sequence[str], preds: Sequence[str], dialect: str, prefix: str = ""
) -> None:
    """Write queries, one per line, to `<prefix>gold.txt` and `<prefix>preds.txt`."""
    for name, queries in ((GOLD, golds), (PREDS, preds)):
        write_text(folder / f"{prefix}{name}", "".join(one_line(sql, dialect) + "\n" for sql in queries))


def export_pairs(directory: RunDirectory, folder: Path, dialect: str = "sqlite") -> int:
    """Write the pairs of a BIRD run to a folder, and return the number of pairs.

    Also write `summary.jsonl`, which contains the duration of each episode in seconds (`latency_s`), and its
    tokens and cost if the agent reports them.
    """
    runs, timings = directory.read("runs"), directory.read("timings")
    pairs = pairs_of_run(runs, directory.read("private"))
    write_pairs(folder, pairs, dialect)
    write_records(
        folder / "summary.jsonl",
        (
            {
                "idx": pair.idx,
                "instance_id": pair.instance_id,
                "db_id": pair.db_id,
                "status": runs[pair.instance_id]["status"],
                "latency_s": timings.get(pair.instance_id, {}).get("wall_s"),
                **dict.fromkeys(_USAGE),
                **runs[pair.instance_id].get("usage", {}),
            }
            for pair in pairs
        ),
    )
    return len(pairs)


def pairs_of_run(
    runs: Mapping[str, Mapping[str, Any]], private: Mapping[str, Mapping[str, Any]]
) -> list[ScoredPair]:
    """Return a pair for each episode of a BIRD run that was played and has gold SQL.

    If a task has several gold queries, the pair contains the query that matched or, if no query matched, the
    first query. If nothing was submitted, the prediction is the text `None`, which counts as incorrect.

    Args:
        runs: the public record of each episode, keyed by `instance_id`.
        private: the private record of each episode, keyed by `instance_id`.
    """
    pairs: list[ScoredPair] = []
    for name, run in runs.items():
        golds = private.get(name, {}).get("gold_sql") or []
        if golds:
            gold = golds[private[name].get("matched_gold") or 0]
            result = run["result"]
            pred = result.get("predicted_sql") or UNANSWERED
            db_id, difficulty = (str(result.get(field) or "") for field in ("db_id", "difficulty"))
            pairs.append(ScoredPair(len(pairs), gold, pred, db_id, name, difficulty))
    return pairs


def _lines(path: Path) -> list[str]:
    lines: list[str] = []
    for number, line in lines_of(path):
        if number == 1 and line.startswith(_LFS):
            raise InputError(f"{path} is a Git LFS pointer, not the data: run `git lfs pull`")
        with file_errors(path):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        lines.append(text.removesuffix("\n").removesuffix("\r"))
    return lines


def _record(pair: ScoredPair) -> dict[str, Any]:
    known = {"difficulty": pair.difficulty} if pair.difficulty else {}
    return {
        "idx": pair.idx,
        "instance_id": pair.instance_id,
        "db_id": pair.db_id,
        "gold_sql": pair.gold,
        "predicted_sql": pair.pred,
        **known,
    }


def read_pair_records(path: Path) -> list[ScoredPair]:
    """Read the pairs in a file written by `write_pairs` or `birdenv score --out`.

    Raises:
        InputError: the file cannot be read, or a record is not a pair.
    """
    pairs = []
    for idx, record in enumerate(read_records(path, "pairs")):
        where = f"{path}: record {idx + 1}"
        gold, pred = record.get("gold_sql"), record.get("predicted_sql", 0)
        golds = [gold] if isinstance(gold, str) else gold
        if not isinstance(golds, list) or not golds or not all(isinstance(sql, str) for sql in golds):
            raise InputError(f"{where}: the field `gold_sql` must be a string or a list of strings")
        if not isinstance(pred, str | None):
            raise InputError(f"{where}: the field `predicted_sql` must be text or null")
        db_id, instance_id, difficulty = (record.get(name, "") for name in _NAMES)
        if not all(isinstance(value, str) for value in (db_id, instance_id, difficulty)):
            raise InputError(f"{where}: the fields {', '.join(f'`{name}`' for name in _NAMES)} must be text")
        pairs.append(
            ScoredPair(idx, golds[0], pred or "", db_id, instance_id, difficulty, tuple(golds), record)
        )
    return pairs
