"""Measure the contribution of each part of the user's question understanding, with held-out authors.

    python -m birdenv_baselines.user_questions.ablation [--mini-interact FOLDER] [--folds 2] [--refit]

The authors are divided into five groups. Questions from some groups are asked, with weights fitted to the
other groups: once with everything, and once without each part. With `--refit`, the weights are fitted again
without the part, separately for each group. `docs/agents-and-users.md` shows the results.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._weights import Weights
from birdenv_baselines.user_questions._examples import Examples, read_examples
from birdenv_baselines.user_questions._fit import fit
from birdenv_baselines.user_questions._measures import FOLDS, cross_validate, grouped, measure
from birdenv_baselines.user_questions._questions import FOLDER, Row, load_briefs, load_rows


@dataclass(frozen=True)
class Part:
    """A part of the user's question understanding that can be removed.

    Attributes:
        name: the name in the table.
        features: the beginnings of the names of the features to remove.
        patches: replacements for objects in `birdenv.users.understanding`, by name.
    """

    name: str
    features: tuple[str, ...] = ()
    patches: Mapping[str, Any] = field(default_factory=dict)


_FAMILIES = ("point", "aside", "part", "open")


def _of_words(*names: str) -> tuple[str, ...]:
    return tuple(f"{family}:{name}" for family in _FAMILIES for name in names)


PARTS: Sequence[Part] = (
    Part("everything"),
    Part("runs of words", ("runs",)),
    Part("kinds asked for and settled", ("asked_and", "asked_not")),
    Part("kinds asked for in plain words", ("plain:",)),
    Part("words of the term, the SQL and the notes", _of_words("term", "sql", "notes")),
    Part("rank among the candidates", _of_words("near_best")),
    Part("names and values in the question", _of_words("named", "value")),
    Part("what holds on in a follow-up", ("kept:",)),
    Part("what speaks for refusing and asking back", ("refuse:", "ask_back:")),
    Part("synonyms", patches={"_index.SYNONYMS": {}}),
    Part("short forms", patches={"_question.written_out": lambda text: text}),
    Part("typing errors in words of the task", patches={"_choice.respelt": lambda index, asked: asked}),
    Part("meanings of columns", patches={"_candidates.meaning_stems": lambda notes, sql: set()}),
    Part("the phrases that lead to a refusal", patches={"_choice.is_out_of_scope": lambda *_, **__: False}),
    Part("everyday words that name something", patches={"_index._NAMING": frozenset()}),
    Part("what a statement changes", patches={"_candidates.changes": lambda parts, brief: ()}),
    Part("who is kept without a match", patches={"_candidates.kept": lambda parts: ((), "")}),
    Part(
        "a question of another kind", patches={"_ranking._is_of_another_kind": lambda candidate, kinds: False}
    ),
    Part("whether a restriction may be denied", patches={"_ranking._is_unrestricted": lambda *_: True}),
    Part("questions for the output", patches={"_choice.asks_for_output": lambda said: False}),
    Part("the one candidate of a kind", patches={"_choice._the_one_of_its_kind": lambda index, asked: -1}),
    Part("names for certain", patches={"_choice._named_point": lambda index, asked: None}),
)
"""The parts to remove, one at a time."""


def without(part: Part, examples: Examples, rows: Sequence[Row], folds: int) -> list[tuple[Row, str]]:
    """Fit the weights without a part, and measure the result by cross-validation over authors.

    Args:
        part: the part to remove.
        examples: the features of `rows`, computed with all parts.
        rows: the questions to measure.
        folds: the number of author groups to leave out in turn.
    """
    if not part.patches:
        return cross_validate(examples.without(part.features), "hand", folds)
    with taken_away(part):
        return cross_validate(read_examples(rows), "hand", folds)


def without_refitting(part: Part, rows: Sequence[Row], weights: Weights) -> list[tuple[Row, str]]:
    """Measure the user without a part, with weights that were fitted with all parts."""
    runs = {} if "runs" in part.features else weights.runs
    left = {name: value for name, value in weights.features.items() if not name.startswith(part.features)}
    with taken_away(part):
        return measure(rows, replace(weights, features=left, runs=runs))


@contextmanager
def taken_away(part: Part) -> Iterator[None]:
    """Remove a part's objects from `birdenv.users.understanding` for the duration of a `with` block."""
    with ExitStack() as stack:
        for name, value in part.patches.items():
            stack.enter_context(patch(f"birdenv.users.understanding.{name}", value))
        if part.patches:
            index_of.cache_clear()
            stack.callback(index_of.cache_clear)
        yield


def by_kind(rows: Iterable[Row]) -> Counter[str]:
    """Count the questions of each class, and all questions under "all"."""
    return Counter(kind for row in rows for kind in ("all", row.kind))


def line(name: str, results: Iterable[tuple[Row, str]], asked: Mapping[str, int]) -> str:
    """Return a table line with the percentages of questions that were answered correctly.

    Args:
        name: the name of the part that was removed.
        results: the questions with their outcomes.
        asked: the number of questions of each class, as returned by `by_kind`.
    """
    right = by_kind(row for row, result in results if result == "right")
    cells = (f"{100 * right[kind] / asked[kind]:.1f}" for kind in ("all", "labelled", "unlabelled", "refuse"))
    return f"| {name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mini-interact", type=Path, help="the folder of Mini-Interact")
    parser.add_argument(
        "--folds",
        type=int,
        choices=range(1, FOLDS + 1),
        help="number of the five groups to leave out; default: 5 with --refit, otherwise 2",
    )
    parser.add_argument("--refit", action="store_true", help="fit the weights again without each part")
    parser.add_argument(
        "--only", default=[""], nargs="+", help="measure only parts whose names contain one of these texts"
    )
    options = parser.parse_args(arguments)
    folds = options.folds or (FOLDS if options.refit else 2)
    if folds == FOLDS and not options.refit:
        parser.error("--folds 5 leaves no questions for the fit; give at most 4, or --refit")
    rows = load_rows(sorted(FOLDER.glob("*.jsonl")), load_briefs(options.mini_interact))
    print("| without | all | labelled | unlabelled | refusals |\n|---|---|---|---|---|")
    examples = read_examples(rows)
    group = grouped(examples.rows, "hand")
    left = [row for row, at in zip(examples.rows, group, strict=True) if at < folds]
    weights = None if options.refit else fit(examples.part([at >= folds for at in group]))
    for part in PARTS:
        if any(text in part.name for text in options.only):
            if weights is None:
                results = without(part, examples, rows, folds)
            else:
                results = without_refitting(part, left, weights)
            print(line(part.name, results, by_kind(left)), flush=True)


if __name__ == "__main__":
    main()
