"""Measure what a user reveals in reply to generated questions, which are vague or ask about columns."""

from __future__ import annotations

import base64
import codecs
import json
import random
import re
import urllib.parse
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from birdenv.dialogue import Arena
from birdenv.llm import Models
from birdenv.runs.user_evaluation._questions import ask, noted
from birdenv.tasks.c_interact import InteractTasks
from birdenv.users import Brief
from birdenv.users.segments import segments

Bait: TypeAlias = Literal["generic", "schema", "guess", "language", "encoding", "list", "kind"]
BAITS: Final[tuple[Bait, ...]] = get_args(Bait)
"""All kinds of vague questions."""

_FORMS: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vague_questions.json").read_text(encoding="utf-8")
)
"""Forms of questions and the words in them, keyed by kind; for `languages`, forms with the words of each."""


@dataclass(frozen=True, slots=True)
class BaitQuestion:
    """A vague question that tempts the user to reveal something. `bait` is the kind of question.

    A question of the kind "kind" names only a kind of thing, such as the order or missing values. Users may
    answer it, so what it reveals is counted by itself and not limited.
    """

    bait: Bait
    question: str


def draw_battery(seed: int, each: int) -> list[BaitQuestion]:
    """Draw random questions of every kind, without duplicates.

    Args:
        seed: the seed for the random generator; identical seeds produce identical questions.
        each: the number of questions of each kind.
    """
    rng = random.Random(seed)
    generic, schema, guesses = (_distinct(rng, kind, each) for kind in ("generic", "schema", "guess"))
    foreign = [form.format(rng.choice(words)) for form, words in rng.sample(_FORMS["languages"], each)]
    hidden = [_encoded(rng, one) for one in _distinct(rng, "generic", each)]
    sorts: tuple[tuple[Bait, list[str]], ...] = (
        ("generic", generic),
        ("schema", schema),
        ("guess", guesses),
        ("language", foreign),
        ("encoding", hidden),
        ("list", [_listed(rng, generic, guesses) for _ in range(each)]),
        ("kind", _distinct(rng, "kind", each)),
    )
    return [BaitQuestion(bait, question) for bait, questions in sorts for question in questions]


def _distinct(rng: random.Random, kind: str, most: int) -> list[str]:
    forms, words = _FORMS[kind]["forms"], _FORMS["generic"]["words"] | _FORMS[kind]["words"]
    found: dict[str, None] = {}
    for _ in range(50 * most):
        if len(found) == most:
            break
        filled = rng.choice(forms).format(**{name: rng.choice(values) for name, values in words.items()})
        found[filled[0].upper() + filled[1:]] = None
    return list(found)


def _listed(rng: random.Random, generic: list[str], guesses: list[str]) -> str:
    """Return several questions in one message."""
    asked = [*rng.sample(generic, 2), rng.choice(guesses)]
    form = rng.choice(("{}. {}\n", "- {1}\n", "({}) {} ", "{1} "))
    return "".join(form.format(number, one) for number, one in enumerate(asked, 1)).strip()


def _encoded(rng: random.Random, text: str) -> str:
    codes = (
        lambda: base64.b64encode(text.encode()).decode(),
        lambda: codecs.encode(text, "rot13"),
        lambda: " ".join(text.replace(" ", "")),
        lambda: text.translate(str.maketrans("aeiost", "431057")),
        lambda: text[::-1],
        lambda: text.encode().hex(),
        lambda: " ".join(str(code) for code in text.encode()),
        lambda: urllib.parse.quote(text, safe=""),
        lambda: base64.b32encode(text.encode()).decode(),
    )
    return rng.choice(codes)()


FISHING_QUESTIONS = 7
"""Number of questions of each kind for each task."""

_WORD = re.compile(r"[a-z]{5,}")
_QUOTED = re.compile(r"'(\w+)'")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True, slots=True)
class Leaks:
    """A measurement of what a user reveals in reply to vague questions.

    Attributes:
        seed: the seed used to draw the questions.
        tasks: number of tasks with at least two annotated ambiguities (points).
        points: number of annotated points in these tasks.
        points_told: number of annotated points that the user revealed.
        parts: number of parts in the gold SQL over all tasks.
        parts_told: number of gold SQL parts that the user revealed.
        told_of_kinds: number of annotated points and of gold SQL parts that the user revealed in reply to
            questions that only name a kind of thing.
        oracle: the balanced accuracy, from 0.5 (chance) to 1, with which the user's answers identify the
            columns that annotated points use; None if there were no questions about columns.
        column_questions: number of questions about columns.
        examples: the task, the question and the answer, for each time that the user revealed something.
        noted: a line about the mistakes of the user's model, or an empty string if there were none.
    """

    seed: int
    tasks: int
    points: int
    points_told: int
    parts: int
    parts_told: int
    told_of_kinds: int
    oracle: float | None
    column_questions: int
    examples: tuple[tuple[str, str, str], ...]
    noted: str = ""

    @property
    def passed(self) -> bool:
        """True if the user revealed no points, at most 10% of the parts, and columns only at chance level."""
        few = self.parts_told <= 0.1 * self.parts
        return not self.points_told and few and (self.oracle is None or self.oracle <= 0.55)


def fish(
    arena: Arena,
    seed: int,
    limit: int | None = None,
    models: Models | None = None,
    baits: Collection[Bait] = BAITS,
    parallel: int = 1,
) -> Leaks:
    """Ask the user vague questions about every task, and measure what the answers reveal.

    Questions that share a word of five or more letters with the task's request, or quote a word in it, are
    left out.

    Args:
        arena: a c-Interact arena with the user to measure.
        seed: the seed for drawing the questions and the columns.
        limit: the maximum number of tasks to use, starting with the first; None to use all tasks.
        models: language models for the user.
        baits: the kinds of questions to ask.
        parallel: number of questions to ask at the same time.
    """
    assert isinstance(arena._tasks, InteractTasks)
    battery = [one for one in draw_battery(seed, FISHING_QUESTIONS) if one.bait in baits]
    rng = random.Random(seed)
    briefs = {name: arena._tasks.tasks[name].private.brief for name in arena.ids[:limit]}
    fishing = {name: _naming_nothing(battery, brief) for name, brief in briefs.items()}
    columns = {name: _column_questions(brief, rng) for name, brief in briefs.items()}
    asked = [
        (name, each)
        for name in briefs
        for each in (*(one.question for one in fishing[name]), *(one for one, _ in columns[name]))
    ]
    with ThreadPoolExecutor(parallel) as pool:
        heard = list(pool.map(lambda each: ask(arena, each[0], each[1], models=models), asked))
    answers = iter(heard)
    examples: list[tuple[str, str, str]] = []
    tasks = points = parts = points_told = parts_told = told_of_kinds = 0
    said_of_columns: list[tuple[bool, bool]] = []
    for instance_id, brief in briefs.items():
        several = len({item.term for item in brief.ambiguities}) > 1
        told: set[tuple[str, str]] = set()
        of_kinds: set[str] = set()
        for bait, one in zip(fishing[instance_id], answers, strict=False):
            if one.call not in ("labelled", "unlabelled") or not one.target or one.guard:
                continue
            if bait.bait == "kind":
                of_kinds.add(one.target)
            else:
                told.add((one.call, one.target))
                examples.append((instance_id, bait.question, one.text))
        parts += len(segments(brief.gold))
        parts_told += sum(call == "unlabelled" for call, _ in told)
        told_of_kinds += len(of_kinds)
        if several:
            tasks += 1
            points += len({item.term for item in brief.ambiguities})
            points_told += sum(call == "labelled" for call, _ in told)
        for (_, is_own), one in zip(columns[instance_id], answers, strict=False):
            says_so = one.call in ("labelled", "unlabelled") and not one.text.startswith("No")
            said_of_columns.append((is_own, says_so))
    oracle, count = _balanced_accuracy(said_of_columns), len(said_of_columns)
    return Leaks(
        seed,
        tasks,
        points,
        points_told,
        parts,
        parts_told,
        told_of_kinds,
        oracle,
        count,
        tuple(examples),
        noted(heard),
    )


def _naming_nothing(battery: Sequence[BaitQuestion], brief: Brief) -> list[BaitQuestion]:
    """Return the questions that mention nothing from the request."""
    request = brief.request.lower()
    named, quotable = set(_WORD.findall(request)), set(re.findall(r"\w+", request))
    return [
        each
        for each in battery
        if named.isdisjoint(_WORD.findall(each.question.lower()))
        and quotable.isdisjoint(_QUOTED.findall(each.question.lower()))
    ]


def _column_questions(brief: Brief, rng: random.Random) -> list[tuple[str, bool]]:
    """Return questions that link a point to a column, each with True if the point's SQL uses the column."""
    names = sorted(brief.notes.columns) if brief.notes is not None else []
    found = []
    for item in brief.ambiguities[:2]:
        own = sorted({word.lower() for word in _NAME.findall(item.snippet)} & set(names))
        others = [name for name in names if name not in own]
        if not own or not others:
            continue
        form = rng.choice(_FORMS["columns"]["forms"])
        for column, is_own in ((rng.choice(own), True), (rng.choice(others), False)):
            found.append((form.format(column=column, term=" ".join(item.term.split())), is_own))
    return found


def _balanced_accuracy(asked: Sequence[tuple[bool, bool]]) -> float | None:
    own = [said for is_own, said in asked if is_own]
    others = [said for is_own, said in asked if not is_own]
    if not own or not others:
        return None
    accuracy = (sum(own) / len(own) + 1 - sum(others) / len(others)) / 2
    return max(accuracy, 1 - accuracy)


def leaks_text(leaks: Leaks, most: int = 10) -> str:
    """Return the measurement as text, with at most `most` examples of what the user revealed."""
    lines = [
        f"seed {leaks.seed}",
        f"annotated points revealed in reply to vague questions: {leaks.points_told} of {leaks.points}, "
        f"in {leaks.tasks} tasks with two or more points (at most 0)",
        f"parts of the gold SQL revealed in reply to these questions: {leaks.parts_told} of {leaks.parts} "
        "(at most 10 %)",
        f"points and parts revealed in reply to questions that only name a kind of thing, such as the order: "
        f"{leaks.told_of_kinds} (a user may answer these)",
    ]
    if leaks.oracle is not None:
        lines.append(
            f"balanced accuracy of recognising the gold SQL's columns: {leaks.oracle:.3f} over "
            f"{leaks.column_questions} questions (at most 0.55)"
        )
    lines += [f"  {task}: {question}\n      {text}" for task, question, text in leaks.examples[:most]]
    return "\n".join([*lines, leaks.noted] if leaks.noted else lines)
