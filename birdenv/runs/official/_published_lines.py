"""Read the lines of the published pipeline's files, keeping only the data that affect the score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from birdenv.errors import InputError
from birdenv.files import exists, lines_of, parse_json
from birdenv.runs.official._pipeline_turns import MARKER
from birdenv.tasks.interact.measures import task_groups

CALLS: Final = {
    "labeled": "labelled",
    "unlabeled": "unlabelled",
    "unanswerable": "unanswerable",
    "unclear": "unclear",
}
"""The calls of the user's first stage in the pipeline and in birdenv. Only birdenv has `unclear`."""

_TURN: Final = "prediction_turn_"
_CALL: Final = "birdenv_call_turn_"
_FAULTS: Final = ("DB reset error: ", "DB connection error: ")
_T = TypeVar("_T")


@dataclass(slots=True)
class PublishedNotes:
    """Notes about irregularities in the files, collected for display."""

    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.lines.append(line)

    def about(self, names: Iterable[str], what: str) -> None:
        """Add a note that consists of `what` and the first few tasks in `names`, unless `names` is empty."""
        told = list(names)
        if told:
            more = f" and {len(told) - 3} more" if len(told) > 3 else ""
            self.add(f"{what}: {', '.join(told[:3])}{more}")


@dataclass(frozen=True, slots=True)
class ResultRow:
    """The result of one task in a result file.

    Attributes:
        passed: True if the verdict is `success`.
        message: the pipeline's error message.
        status: the status that birdenv gave the episode; None if the file has no such field.
        groups: the groups that the task belongs to, such as its category, keyed by kind of group.
        questions: the turns, by number, in which the user was asked a question.
        allowed: the number of allowed questions; None if unknown.
        free: the number of questions that were not charged for.
    """

    passed: bool
    message: str
    status: str | None
    groups: Mapping[str, tuple[str, ...]]
    questions: frozenset[int]
    allowed: int | None
    free: int

    @property
    def is_fault(self) -> bool:
        """True if the machine or the database was at fault, although the pipeline blames the model."""
        return not self.passed and self.message.startswith(_FAULTS)


def read_results(path: Path, notes: PublishedNotes) -> dict[str, ResultRow] | None:
    """Read the tasks' results, keyed by `instance_id`. Return None if there is no such file."""
    return read_rows(path, notes, _result)


def read_calls(path: Path, notes: PublishedNotes) -> dict[str, dict[int, str]] | None:
    """Read the user's classification of each question, keyed by `instance_id` and turn number.

    Classes have birdenv's names; an unknown class is an empty string. The result is None if the file does not
    exist.
    """
    return read_rows(path, notes, _calls)


def read_rows(
    path: Path, notes: PublishedNotes, keep: Callable[[Mapping[str, Any]], _T]
) -> dict[str, _T] | None:
    """Return the value of `keep` for each line, keyed by `instance_id`; None if there is no such file.

    An incomplete last line is ignored. If a task has several lines, the last line is used. In both cases, a
    note is added to `notes`.

    Raises:
        InputError: a line other than the last is not a record, or `keep` raises a `ValueError`; the message
            names the line.
    """
    if not exists(path):
        return None
    rows: dict[str, _T] = {}
    twice: dict[str, None] = {}
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            record = parse_json(line.decode("utf-8-sig", "replace"), str(path), line=number)
        except InputError:
            if not line.endswith(b"\n"):
                notes.add(f"{path.name}: the last line is incomplete and was left out")
                continue
            raise
        name = record.get("instance_id") if isinstance(record, dict) else None
        if not isinstance(name, str) or not name:
            raise InputError(f"{path}: line {number} is not a task record: it has no instance_id")
        if name in rows:
            twice[name] = None
        try:
            rows[name] = keep(record)
        except ValueError as error:
            raise InputError(f"{path}: line {number} ({name}): {error}") from None
    notes.about(twice, f"{path.name}: several lines for a task, the last of which was used")
    return rows


def record_groups(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the groups that a task belongs to, keyed by kind of group.

    Groups are read from the record or, if the record lacks the field, from the task's id.
    """
    name = str(record.get("instance_id", ""))
    by_id = "Management" if "_M_" in name else "Query"
    high_level = record.get("high_level")
    return task_groups(
        category=str(record.get("category") or by_id),
        difficulty=str(record.get("difficulty_tier") or "unknown"),
        database=str(record.get("selected_database") or name.split("_M_")[0].rsplit("_", 1)[0]),
        high_level=high_level if isinstance(high_level, bool) else None,
        ambiguity=_ambiguity_types(record),
    )


def _ambiguity_types(record: Mapping[str, Any]) -> Iterator[str]:
    annotated = record.get("user_query_ambiguity")
    lists = list(annotated.values()) if isinstance(annotated, Mapping) else []
    for items in [*lists, record.get("knowledge_ambiguity")]:
        for item in items if isinstance(items, list) else []:
            name = item.get("type") if isinstance(item, Mapping) else None
            if isinstance(name, str) and name:
                yield name


def _result(record: Mapping[str, Any]) -> ResultRow:
    status, message = record.get("status"), record.get("error_msg") or ""
    if status not in ("success", "failed"):
        raise ValueError("the field `status` must be success or failed")
    ours = record.get("birdenv_status")
    return ResultRow(
        passed=status == "success",
        message=str(message),
        status=ours if isinstance(ours, str) else None,
        groups=record_groups(record),
        questions=frozenset(number for number, text in _turns(record).items() if _is_question(text)),
        allowed=_allowed(record),
        free=record["birdenv_free_questions"] if isinstance(record.get("birdenv_free_questions"), int) else 0,
    )


def _allowed(record: Mapping[str, Any]) -> int | None:
    """Return the number of allowed questions. The pipeline's first submission takes the last turn."""
    ours, max_turn = record.get("birdenv_max_questions"), record.get("max_turn")
    if isinstance(ours, int):
        return ours
    return max(max_turn - 1, 0) if isinstance(max_turn, int) else None


def _turns(record: Mapping[str, Any], field: str = _TURN) -> dict[int, str]:
    return {
        int(key.removeprefix(field)): text
        for key, text in record.items()
        if key.startswith(field) and key.removeprefix(field).isdecimal() and isinstance(text, str)
    }


def _is_question(text: str) -> bool:
    """Return True if the pipeline takes the text for a question: it closes a tag before the next turn."""
    return "</s>" in text.partition(MARKER)[0]


def _calls(record: Mapping[str, Any]) -> dict[int, str]:
    said = _turns(record) | _turns(record, _CALL)
    return {number: _call(text) for number, text in said.items()}


def _call(text: str) -> str:
    said = text.partition("</s>")[0].rpartition("<s>")[2].strip()
    return CALLS.get(said.partition("(")[0].strip(), "")
