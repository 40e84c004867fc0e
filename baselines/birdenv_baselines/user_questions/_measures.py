"""Measure how the user answers questions: right, wrong, asked back or refused, by class, author or style."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from birdenv.users import Brief
from birdenv.users._conversation import still_holds
from birdenv.users._proposal import agreed
from birdenv.users.understanding import ANSWERED, take_apart, understand, understand_parts
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._weights import Weights
from birdenv_baselines.user_questions._examples import Examples
from birdenv_baselines.user_questions._fit import fit
from birdenv_baselines.user_questions._questions import VERDICTS, ListRow, Row, outcome, read_lines

FOLDS = 5
"""The number of groups of tasks or authors that cross-validation leaves out in turn."""


def measure(rows: Iterable[Row], weights: Weights | None = None) -> list[tuple[Row, str]]:
    """Ask the user every question, and return each question with the outcome."""
    return [
        (row, outcome(row, understand(row.brief, row.question, weights), index_of(row.brief).candidates))
        for row in rows
    ]


def measure_lists(lists: Sequence[ListRow], weights: Weights | None = None) -> str:
    """Return a table with the share of messages with several questions that the user handled correctly."""
    counts: dict[str, list[int]] = {"lists, two questions": [0, 0], "lists, more questions": [0, 0]}
    for one in lists:
        found = counts["lists, more questions" if len(one.parts) > ANSWERED else "lists, two questions"]
        found[0] += 1
        found[1] += is_answered(one, weights)
    return "\n".join(f"{name:24} {n:5} {100 * right / (n or 1):7.1f}" for name, (n, right) in counts.items())


def is_answered(message: ListRow, weights: Weights | None = None) -> bool:
    """Return True if a message's first two questions get right answers, and any others are recognised."""
    parts = understand_parts(message.parts[0].brief, message.message, weights)
    right = [
        outcome(row, part.choice, index_of(row.brief).candidates) == "right"
        for row, part in zip(message.parts[:ANSWERED], parts, strict=False)
        if part.choice is not None
    ]
    more = len(message.parts) > ANSWERED
    return right == [True] * ANSWERED and (len(parts) > ANSWERED) == more


def measure_verdicts(briefs: Mapping[str, Brief]) -> dict[bool | None, int]:
    """Count the true and false yeses and noes to questions that deserve one (`verdicts/verdicts.jsonl`).

    Questions that the user takes for another message, or does not answer, are left out.

    Args:
        briefs: what the user knows, by the id of the task.

    Returns:
        the numbers of true ones (True), of false ones (False) and of answers with neither (None).
    """
    counts: Counter[bool | None] = Counter()
    for raw in read_lines(VERDICTS):
        brief = briefs.get(raw["task"])
        for wanted in ("yes", "no") if brief else ():
            for question in raw[wanted]:
                parts = understand_parts(brief, question)
                choice = parts[0].choice
                if len(parts) == 1 and choice is not None and choice.tells:
                    asked = take_apart(question)
                    said = still_holds(asked, choice, brief) or agreed(asked, choice, brief)
                    verdict = said.lower().partition(".")[0]
                    counts[verdict == wanted if verdict in ("yes", "no") else None] += 1
    return counts


def cross_validate(examples: Examples, by: str, folds: int = FOLDS) -> list[tuple[Row, str]]:
    """Measure questions with weights fitted to other tasks or other authors.

    Args:
        examples: the questions to measure.
        by: what the groups consist of: "task" or "hand" (the questions' authors).
        folds: the number of groups to leave out in turn; the questions in the other groups are not measured.
    """
    group = grouped(examples.rows, by)
    results: list[tuple[Row, str]] = []
    for fold in range(folds):
        left = [row for row, at in zip(examples.rows, group, strict=True) if at == fold]
        results += measure(left, fit(examples.part([at != fold for at in group])))
    return results


def grouped(rows: Sequence[Row], by: str) -> list[int]:
    """Return, for each question, the number of the group to which its task or author belongs."""
    keys = [getattr(row, by) for row in rows]
    order = {key: number % FOLDS for number, key in enumerate(sorted(set(keys)))}
    return [order[key] for key in keys]


def table(results: Iterable[tuple[Row, str]], by: str = "") -> str:
    """Return a table of outcomes in percent for each class of questions.

    Args:
        results: the questions with their outcomes.
        by: the name of a field of `Row`, such as "hand" or "style", to split the classes further.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row, result in results:
        counts[f"{row.kind} {getattr(row, by)}" if by else row.kind][result] += 1
    lines = [f"{'class':24} {'n':>5} {'right':>7} {'wrong':>7} {'asked back':>11} {'refused':>8}"]
    for kind, found in sorted(counts.items()):
        n = sum(found.values())
        cells = [100 * found[name] / n for name in ("right", "wrong", "asked back", "refused")]
        lines.append(f"{kind:24} {n:5} {cells[0]:7.1f} {cells[1]:7.1f} {cells[2]:11.1f} {cells[3]:8.1f}")
    return "\n".join(lines)
