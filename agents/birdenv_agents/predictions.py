"""The player `predictions`, which submits recorded SQL from prediction files or a folder of .sql files."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from birdenv.benchmarks import has_2024_signature, keys_of_2024
from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv.files import check_text, file_errors, is_directory, parse_json, read_records, read_text
from birdenv.tasks import as_script
from birdenv.tasks.bird import PublicBirdTask

__all__ = ["predictions"]

SEPARATOR = "\t----- bird -----\t"
"""Separates SQL and db_id in the values of the official prediction files; the last occurrence counts."""

_POSITION = re.compile(r"0|[1-9][0-9]*")
_STAGES: Final = ("sql_results", "sql_results_debug", "sql_results_fu", "sql_results_fu_debug")
_ENDINGS: Final = (".jsonl", "_output_with_status.jsonl")
_SQL_FIELDS = ("sql", "predicted_sql", "pred_sqls", "prediction")

_ORDER_HELP = (
    "has positions as keys, which mean different questions in the 2024 and 2025 editions of mini-dev. Use "
    "the 2024 task file (500 rows, questions 137 and 138 twice); or --predictions-order 2024 for the "
    "published files (119 and 120 then have no submission); or --predictions-order file if the positions are "
    "those of this task file"
)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The recorded attempts of each phase, in order."""

    first: tuple[str, ...]
    follow_up: tuple[str, ...] = ()


@plays("bird", "c-interact", "a-interact")
def predictions(argument: str, context: PlayerContext) -> _Playback:
    """Return a player that submits recorded SQL (`predictions:FILE`).

    FILE is one of

    * a JSON object with positions as keys: `{"0": "SQL<tab>----- bird -----<tab>db_id", ...}`
    * JSON records or lines with `instance_id` (or `question_id`) and `sql` (a text, or a list of attempts);
      for c-Interact, also `follow_up_sql`
    * a folder with files `<instance_id>.sql` and `<instance_id>.follow_up.sql`
    * a result folder of the published c-Interact pipeline, or one of its files: `sql_results.jsonl`,
      `sql_results_debug.jsonl`, `sql_results_fu.jsonl`, `sql_results_fu_debug.jsonl`, with or without
      verdicts. All attempts in the folder are played.

    A task without a recorded statement ends as `no_submission`.

    Raises:
        InputError: the file cannot be used.
    """
    if not argument:
        raise InputError("predictions needs a file: --agent predictions:FILE")
    try:
        path = Path(argument).expanduser()
    except RuntimeError:
        raise InputError(f"{argument}: there is no such home directory; give the full path") from None
    recorded = _read_once(path, context)
    return _Playback(recorded.get(context.instance_id, _Recorded(())))


class _Playback:
    def __init__(self, recorded: _Recorded) -> None:
        self._left = {1: list(recorded.first), 2: list(recorded.follow_up)}

    def move(self, view: View) -> Move:
        left = self._left[view.phase]
        return Move("submit_sql", left.pop(0)) if left else Move("quit")


_lock = threading.Lock()
_known: dict[Any, tuple[Any, Mapping[str, _Recorded]]] = {}


def _read_once(path: Path, context: PlayerContext) -> Mapping[str, _Recorded]:
    """Return the recorded SQL of each task. A file is read once for each list of tasks."""
    status = path.stat() if path.exists() else None
    version = (status.st_mtime_ns, status.st_size) if status else None
    key = (path, version, id(context.tasks), context.options.get("predictions_order"))
    with _lock:
        if key not in _known:
            _known.clear()
            _known[key] = context.tasks, _read(path, context)
        return _known[key][1]


def _read(path: Path, context: PlayerContext) -> Mapping[str, _Recorded]:
    stages = _stage_files(path)
    if stages:
        return _read_stages(stages)
    if is_directory(path):
        return _read_directory(path)
    text = read_text(path)
    repeated: list[str] = []
    if text.lstrip().startswith("{"):
        try:
            whole = parse_json(text, str(path), pairs_hook=lambda pairs: _noting_repeats(pairs, repeated))
        except InputError:
            whole = None  # one object per line, or an error that `_read_rows` reports
        if isinstance(whole, dict) and not _is_record(whole):
            if repeated:
                raise InputError(f"{path}: the key {repeated[0]!r} occurs twice")
            check_text(whole, str(path))
            return _read_positions(path, whole, context)
    return _read_rows(path)


def _noting_repeats(pairs: Sequence[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            repeated.append(key)
        made[key] = value
    return made


def _is_record(row: Mapping[str, Any]) -> bool:
    return any(field in row for field in ("instance_id", "question_id"))


def _read_positions(path: Path, values: Mapping[str, Any], context: PlayerContext) -> Mapping[str, _Recorded]:
    bad = next((key for key in values if not _POSITION.fullmatch(key)), None)
    if bad is not None:
        raise InputError(f'{path}: the key {bad!r} is not a position; expected "0", "1", ...')
    tasks = [task for task in context.tasks if isinstance(task, PublicBirdTask)]
    if len(tasks) < len(context.tasks):
        raise InputError(f"{path} has positions as keys, which is possible only for BIRD task files")
    recorded = {}
    for position, task in _tasks_by_position(path, tasks, context.options.get("predictions_order")):
        value = values.get(str(position))
        text = value if isinstance(value, str) else ""
        sql, separator, db_id = text.rpartition(SEPARATOR) if SEPARATOR in text else (text, "", "")
        if separator and db_id.strip() != task.db_id:
            raise InputError(
                f"{path}: key {position} is about {db_id.strip()!r}, but question {task.instance_id} is "
                f"about {task.db_id!r}; is this the right task file?"
            )
        if sql.strip():
            recorded[task.instance_id] = _Recorded((sql,))
    return recorded


def _tasks_by_position(
    path: Path, tasks: Sequence[PublicBirdTask], order: str | None
) -> list[tuple[int, PublicBirdTask]]:
    if order == "file" or (order is None and has_2024_signature([task.question_id for task in tasks])):
        return [(task.index, task) for task in tasks]
    if order is None:
        raise InputError(f"{path} {_ORDER_HELP}")
    positions = {key: position for position, key in enumerate(keys_of_2024())}
    keyed = [(positions.get((task.question_id, task.occurrence)), task) for task in tasks]
    return [(position, task) for position, task in keyed if position is not None]


def _read_rows(path: Path) -> Mapping[str, _Recorded]:
    recorded: dict[str, _Recorded] = {}
    for number, row in enumerate(read_records(path, "predictions"), 1):
        where = f"{path}: record {number}"
        name = row.get("instance_id", row.get("question_id"))
        if name is None:
            raise InputError(f"{where} has neither `instance_id` nor `question_id`")
        if isinstance(name, bool) or not isinstance(name, int | str):
            raise InputError(f"{where}: the id must be a whole number or text")
        if str(name) in recorded:
            raise InputError(f"{where}: {name} occurs twice")
        field = next((field for field in _SQL_FIELDS if field in row), None)
        if field is None:
            raise InputError(f"{where} has none of the fields {', '.join(_SQL_FIELDS)}")
        attempts = _attempts(row[field], where)
        if field == "pred_sqls":  # the reference pipeline's list: one submission of several statements
            attempts = (as_script(attempts),) if attempts else ()
        recorded[str(name)] = _Recorded(attempts, _attempts(row.get("follow_up_sql"), where))
    return recorded


def _stage_files(path: Path) -> dict[str, Path]:
    """Return the result files of the published c-Interact pipeline in a folder.

    Args:
        path: the folder, or one of the files in it.

    Returns:
        The existing files by the name of their stage; empty if the path is anything else. Later stages are
        missing if no task reached them.
    """
    names = {f"{stage}{ending}" for stage in _STAGES for ending in _ENDINGS}
    if not path.is_dir() and path.name not in names:
        return {}
    folder = path if path.is_dir() else path.parent
    found = {}
    for stage in _STAGES:
        files = [folder / f"{stage}{ending}" for ending in _ENDINGS]
        there = [file for file in files if file.is_file()]
        is_reached = there and (stage == _STAGES[0] or there[0].stat().st_size)
        if is_reached:
            found[stage] = there[0]
    return found


def _read_stages(files: Mapping[str, Path]) -> Mapping[str, _Recorded]:
    """Return the attempts of each task: the first attempt and the debug attempt of each phase."""
    rows = {stage: _read_rows(file) for stage, file in files.items()}

    def attempts(name: str, first: str, debug: str) -> tuple[str, ...]:
        return tuple(
            sql for stage in (first, debug) if name in rows.get(stage, {}) for sql in rows[stage][name].first
        )

    names = dict.fromkeys(name for of in rows.values() for name in of)
    return {
        name: _Recorded(
            attempts(name, "sql_results", "sql_results_debug"),
            attempts(name, "sql_results_fu", "sql_results_fu_debug"),
        )
        for name in names
    }


def _attempts(value: Any, where: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value or []
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise InputError(f"{where}: SQL must be a string or a list of strings")
    return tuple(item for item in values if item.strip())


def _read_directory(path: Path) -> Mapping[str, _Recorded]:
    with file_errors(path):
        files = sorted(file for file in path.iterdir() if file.suffix == ".sql")
    if not files:
        raise InputError(f"{path} contains no .sql files; expected <instance_id>.sql")
    texts = {file.name.removesuffix(".sql"): read_text(file) for file in files}
    return {
        name: _Recorded((sql,), (texts[f"{name}.follow_up"],) if f"{name}.follow_up" in texts else ())
        for name, sql in texts.items()
        if not name.endswith(".follow_up")
    }
