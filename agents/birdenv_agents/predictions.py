"""Plays recorded SQL: published prediction files, a JSONL, or a directory of .sql files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from birdenv.benchmarks import has_2024_signature, keys_of_2024
from birdenv.dialogue import Move, Session
from birdenv.errors import InputError
from birdenv.runs import Setting
from birdenv.tasks import SystemView, as_script, read_records, read_text
from birdenv.tasks.bird import PublicBirdTask

__all__ = ["PredictionsAgent"]

SEPARATOR = "\t----- bird -----\t"
"""Between SQL and db_id in the values of the official prediction files."""

_SQL_FIELDS = ("sql", "predicted_sql", "pred_sqls", "prediction")

_ORDER_HELP = (
    "is keyed by position, and positions mean different questions in the 2024 and 2025 editions of mini-dev. "
    "Use the 2024 task file (500 rows, questions 137 and 138 twice), or --predictions-order 2024 for the "
    "published files (119 and 120 then have no submission), or --predictions-order file if the positions are "
    "those of this task file"
)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The attempts of each phase, in order."""

    first: tuple[str, ...]
    follow_up: tuple[str, ...] = ()


class PredictionsAgent:
    """`predictions:FILE`.

    FILE is one of
    * a JSON object `{"0": "SQL<tab>----- bird -----<tab>db_id", ...}` keyed by position,
    * JSON records or lines with `instance_id` (or `question_id`) and `sql`: text, or a list of attempts;
      `follow_up_sql` likewise for c-Interact,
    * a directory with `<instance_id>.sql` and `<instance_id>.follow_up.sql`.

    A task without a recorded statement ends as `no_submission`.
    """

    sees_private = False

    def __init__(self, argument: str, setting: Setting) -> None:
        if not argument:
            raise InputError("predictions needs a file: --agent predictions:FILE")
        self._recorded = _read(Path(argument).expanduser(), setting)

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return _Playback(self._recorded.get(task.instance_id, _Recorded(())))


class _Playback:
    def __init__(self, recorded: _Recorded) -> None:
        self._left = {1: list(recorded.first), 2: list(recorded.follow_up)}

    def move(self, view: SystemView) -> Move:
        left = self._left[view.phase]
        return Move("submit_sql", left.pop(0)) if left else Move("quit")


def _read(path: Path, setting: Setting) -> Mapping[str, _Recorded]:
    if path.is_dir():
        return _read_directory(path)
    text = read_text(path)
    if text.lstrip().startswith("{"):
        try:
            whole = json.loads(text, object_pairs_hook=lambda pairs: _no_repeats(path, pairs))
        except json.JSONDecodeError:
            whole = None  # one object a line
        if isinstance(whole, dict) and not _is_record(whole):
            return _read_positions(path, whole, setting)
    return _read_rows(path)


def _no_repeats(path: Path, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"{path}: the key {twice!r} occurs twice")
    return dict(pairs)


def _is_record(row: Mapping[str, Any]) -> bool:
    return any(field in row for field in ("instance_id", "question_id"))


def _read_positions(path: Path, values: Mapping[str, Any], setting: Setting) -> Mapping[str, _Recorded]:
    bad = next((key for key in values if not (key.isascii() and key.isdigit())), None)
    if bad is not None:
        raise InputError(f'{path}: the key {bad!r} is not a position; expected "0", "1", ...')
    tasks = [task for task in setting.tasks if isinstance(task, PublicBirdTask)]
    if len(tasks) < len(setting.tasks):
        raise InputError(f"{path} is keyed by position, which only BIRD task files are")
    recorded = {}
    for position, task in _tasks_by_position(path, tasks, setting.options.get("predictions_order")):
        value = values.get(str(position))
        sql, separator, db_id = (value if isinstance(value, str) else "").partition(SEPARATOR)
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
    for number, row in enumerate(read_records(path), 1):
        where = f"{path}: record {number}"
        name = row.get("instance_id", row.get("question_id"))
        if name is None:
            raise InputError(f"{where} has neither `instance_id` nor `question_id`")
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


def _attempts(value: Any, where: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value or []
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise InputError(f"{where}: SQL must be text or a list of texts")
    return tuple(item for item in values if item.strip())


def _read_directory(path: Path) -> Mapping[str, _Recorded]:
    files = sorted(path.glob("*.sql"))
    if not files:
        raise InputError(f"{path} holds no .sql files; expected <instance_id>.sql")
    texts = {file.name.removesuffix(".sql"): read_text(file) for file in files}
    return {
        name: _Recorded((sql,), (texts[f"{name}.follow_up"],) if f"{name}.follow_up" in texts else ())
        for name, sql in texts.items()
        if not name.endswith(".follow_up")
    }
