"""Read the questions and the tasks that they are about, and decide which choices are right."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from birdenv.demo import demo_folder
from birdenv.tasks.c_interact import load_benchmark
from birdenv.tasks.interact._user_seat import brief_of
from birdenv.users import Brief
from birdenv.users.sql_in_words import tokenize
from birdenv.users.understanding import Choice
from birdenv.users.understanding._candidate import Candidate
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._left_open import TOGETHER

FOLDER = Path(__file__).parent
HELD_OUT = FOLDER / "held_out"
"""The folder with the questions that are never used to fit weights."""

GOLDS = FOLDER / "golds" / "mini_interact.jsonl"
VERDICTS = FOLDER / "verdicts" / "verdicts.jsonl"
"""The questions that deserve a yes or a no."""

WITH_GOLD = "+gold"
"""The end of the id of a Mini-Interact task with gold SQL of our own in place of the withheld gold SQL."""

FOLLOW_UP = "+follow-up"
"""The end of the id of a task in its second phase."""

_CLASS_WEIGHTS = {"labelled": 1.85, "unlabelled": 1.4, "refuse": 1.45, "ask_back": 1.7}
"""Weights by class. Mistaking an annotated point for another part counts more than the reverse."""

_FOLLOW_UP_WEIGHT = 2.0
"""The weight of questions about follow-ups, which are only one in a hundred."""

_LIKE_MODELS = frozenset("crane finch heron lark robin stork swift teal wren".split())
"""Authors who ask long, polite questions, as language models do. Few other authors do so."""

_WEIGHT_LIKE_MODELS = 2.5
"""The weight of these authors' questions."""

_TASKS_FOR_ANY = 4
"""The number of tasks for which a question that fits any task is asked."""


@dataclass(frozen=True)
class Row:
    """One question about one task.

    Attributes:
        brief: what the user knows about the task.
        task: the id of the task.
        question: the text of the question.
        kind: the class of the question, such as "labelled" or "refuse".
        expected: the terms, clauses or kinds that a right answer is about; empty if the question has no
            answer.
        hand: the short name of the question's author.
        weight: the weight of the question in training; less than 1 if it is asked about several tasks.
        any_task: True if the question fits any task.
        style: the style in which the question is phrased.
    """

    brief: Brief
    task: str
    question: str
    kind: str
    expected: tuple[str, ...]
    hand: str
    weight: float = 1.0
    any_task: bool = False
    style: str = ""

    @property
    def database(self) -> str:
        """Return the name of the task's database, which is part of the task's id."""
        return re.sub(r"(_M)?_\d+$", "", self.task.partition("+")[0])


def load_briefs(mini_interact: Path | None) -> dict[str, Brief]:
    """Read the users' briefs for the demo tasks, and for Mini-Interact if its folder is given.

    The keys are task ids. The brief for the second phase of a task has an id that ends in `FOLLOW_UP`. Some
    Mini-Interact tasks occur a second time with gold SQL of our own; their ids end in `WITH_GOLD`.
    """
    folders = [demo_folder(), *([mini_interact] if mini_interact else [])]
    tasks = [task for folder in folders for task in load_benchmark(folder).tasks]
    briefs = {task.public.instance_id: task.private.brief for task in tasks}
    briefs |= {
        f"{task.public.instance_id}{FOLLOW_UP}": brief_of(task, 2)
        for task in tasks
        if task.private.follow_up is not None
    }
    golds = {raw["instance_id"]: raw["sol_sql"] for raw in read_lines(GOLDS)}
    return briefs | {
        f"{name}{WITH_GOLD}": replace(briefs[name], gold=tuple(filled_in(sql, briefs[name]) for sql in gold))
        for name, gold in golds.items()
        if name in briefs
    }


_PLACE = re.compile(r"\{\{(\d+)\}\}")


def filled_in(sql: str, brief: Brief) -> str:
    """Replace each number in double braces by the annotated snippet with this number."""
    return _PLACE.sub(lambda match: brief.ambiguities[int(match[1])].snippet, sql)


def with_places(sql: str, brief: Brief) -> str:
    """Replace annotated snippets by their numbers in double braces, because they belong to the benchmark."""
    for number, item in sorted(enumerate(brief.ambiguities), key=lambda pair: -len(pair[1].snippet)):
        if len(item.snippet) > _SHORT:
            sql = sql.replace(item.snippet, f"{{{{{number}}}}}")
    return sql


_SHORT = 8
"""The maximum length of snippets that are too short to need replacing."""


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Read a file with one JSON object per line."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def load_rows(files: Iterable[Path], briefs: Mapping[str, Brief]) -> list[Row]:
    """Read the questions about the tasks in `briefs`; other questions are left out."""
    rows: list[Row] = []
    rng = random.Random(20)
    raws = [raw for file in files for raw in read_lines(file)]
    used = sorted({raw["instance_id"] for raw in raws} & set(briefs))
    for raw in raws:
        task = _task(raw)
        chosen = [task] if task != "*" else rng.sample(used, min(_TASKS_FOR_ANY, len(used)))
        weight = 1.0 if task != "*" else 1.0 / len(chosen)
        for one in raw.get("parts", [{**raw, "text": raw["question"]}]):
            asked = (one["text"], one["class"], tuple(one["expected"]), raw["hand"])
            rows += [
                Row(briefs[at], at, *asked, weight, task == "*", _style(raw)) for at in chosen if at in briefs
            ]
    rows = [replace(row, weight=row.weight * _weight(row)) for row in rows]
    rows.sort(key=lambda row: row.task)  # the index of a task is made once
    return [row for row in rows if row.kind != "kind" or any(map(partial(is_right, row), candidates(row)))]


def _weight(row: Row) -> float:
    follows = _FOLLOW_UP_WEIGHT if row.task.endswith(FOLLOW_UP) else 1.0
    like_models = _WEIGHT_LIKE_MODELS if row.hand in _LIKE_MODELS else 1.0
    return _CLASS_WEIGHTS.get(row.kind, 1.0) * follows * like_models


def _task(raw: Mapping[str, Any]) -> str:
    return f"{raw['instance_id']}{FOLLOW_UP if raw.get('phase') == 2 else ''}"


def _style(raw: Mapping[str, Any]) -> str:
    return "refuse" if raw.get("class") == "refuse" else str(raw.get("style", ""))


@dataclass(frozen=True)
class ListRow:
    """A message with several questions, and a row for each question."""

    message: str
    parts: tuple[Row, ...]


def load_lists(files: Iterable[Path], briefs: Mapping[str, Brief]) -> list[ListRow]:
    """Read the messages with several questions about the tasks in `briefs`."""
    found = []
    for raw in (raw for file in files for raw in read_lines(file)):
        if "parts" in raw and (task := _task(raw)) in briefs:
            rows = (
                Row(briefs[task], task, one["text"], one["class"], tuple(one["expected"]), raw["hand"])
                for one in raw["parts"]
            )
            found.append(ListRow(raw["question"], tuple(rows)))
    return found


def candidates(row: Row) -> tuple[Candidate, ...]:
    """Return all candidates for the subject of a question."""
    return index_of(row.brief).candidates


def is_right(row: Row, candidate: Candidate) -> bool:
    """Return True if an answer about this candidate is right."""
    if row.kind == "labelled":
        return bool(candidate.items) and candidate.target in row.expected
    if row.kind == "kind":
        kind = row.expected[0]
        if candidate.items:
            return candidate.group == "non_critical" and kind in candidate.kinds
        return candidate.clause == kind
    if row.kind == "unlabelled":
        return any(_fits(candidate, wanted) for wanted in row.expected)
    return False


def _fits(candidate: Candidate, wanted: str) -> bool:
    clause, _, text = wanted.partition(":")
    if clause == "term":
        return bool(candidate.items) and candidate.target == text
    if clause in ("none", "open"):
        is_open = candidate.group == "open" or candidate.answer == TOGETHER
        return is_open and text in ("", candidate.clause)
    if candidate.group not in ("part", "said") or candidate.clause != clause:
        return False
    return not text or any(text.lower() in part.sql.lower() for part in candidate.segments)


def outcome(row: Row, choice: Choice, candidates: Iterable[Candidate]) -> str:
    """Return the outcome of a choice: "right", "wrong", "asked back" or "refused"."""
    if choice.call == "unclear":
        return "right" if row.kind == "ask_back" else "asked back"
    if choice.call == "unanswerable":
        return "right" if row.kind == "refuse" else "refused"
    chosen = [c for c in candidates if _is_choice(c, choice)]
    right = [c for c in candidates if is_right(row, c)]
    return "right" if any(c in right or any(is_alike(c, one) for one in right) for c in chosen) else "wrong"


def is_alike(one: Candidate, other: Candidate) -> bool:
    """Return True if the SQL of two annotated points has nearly the same words, so that either will do."""
    said, told = (
        {
            token.text.lower()
            for item in point.items
            for token in tokenize(item.snippet)
            if token.kind != "symbol"
        }
        for point in (one, other)
    )
    return len(said & told) > _ALIKE * len(said | told)


_ALIKE = 0.8


def _is_choice(candidate: Candidate, choice: Choice) -> bool:
    if choice.call == "labelled" and candidate.items and set(candidate.items) <= set(choice.items):
        return True
    if choice.parts:
        return bool(candidate.segments) and set(candidate.segments) <= set(choice.parts)
    return bool(candidate.answer) and candidate.answer == choice.answer
