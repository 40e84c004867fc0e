"""Make the weights of the rule-based user's understanding, and measure them on questions left out.

    python -m birdenv_baselines.user_questions.train [--mini-interact FOLDER] [--leave-out hand] [--write]

A conditional logit: of all that a question may be about, the right ones together get the probability. The
weights are written rounded, so that every machine makes the same file from the same questions.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import birdenv.users.understanding as understanding
from birdenv.users.understanding import ANSWERED, understand, understand_parts
from birdenv.users.understanding._candidates import FACETS
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import Question, take_apart
from birdenv.users.understanding._ranking import evidence, vectors
from birdenv.users.understanding._weights import (
    ASK_BACK,
    FEATURES,
    REFUSE,
    Weights,
    scale,
    weights_in,
    word_runs,
)
from birdenv_baselines.user_questions._questions import (
    FOLDER,
    HELD_OUT,
    ListRow,
    Row,
    is_right,
    load_briefs,
    load_lists,
    load_rows,
    outcome,
)

_RIDGE, _RIDGE_OF_RUNS, _RIDGE_OF_REFUSALS = 0.6, 0.3, 0.15
"""Of features, of what runs of words say for a reading, and of what they say for a refusal.

A refusal is known by many words that each occur once or twice.
"""
_STEPS = ((60, 4), (25, 2), (35, 1))
"""Gradient steps, each time with so many times as many weights of runs as are kept: the largest ones."""

KEPT = 9_000
"""The weights of runs of words that are kept: ten times as many hardly do better."""

_FOLDS = 5
_RARE_WORD, _RARE_RUN = 2, 3
"""In questions about how many databases a word, or a run of words, must be to be learnt."""
TARGET = Path(understanding.__file__).parent / "weights.json"


@dataclass(frozen=True)
class Examples:
    """All questions as matrices.

    Attributes:
        known: the words that are learnt.
        vocabulary: the runs of words that are learnt, with their columns of `runs`.
        rows: the questions.
        runs: for each question the numbers of its runs of words, one or more.
        share: for each question what each of its runs counts.
        starts: where the candidates of each question start.
        dense, facets, right: a row for each candidate: its features, what it is, whether it is right.
    """

    known: frozenset[str]
    vocabulary: dict[str, int]
    rows: list[Row]
    runs: list[np.ndarray]
    share: np.ndarray
    starts: np.ndarray
    dense: np.ndarray
    facets: np.ndarray
    right: np.ndarray

    def part(self, keep: Sequence[bool]) -> Examples:
        """Return the questions that are kept."""
        kept = np.array(keep)
        sizes = np.diff([*self.starts, len(self.right)])
        of = np.repeat(kept, sizes)
        starts = np.concatenate([[0], np.cumsum(sizes[kept])[:-1]])
        return replace(
            self,
            rows=[row for row, is_kept in zip(self.rows, keep, strict=True) if is_kept],
            runs=[runs for runs, is_kept in zip(self.runs, keep, strict=True) if is_kept],
            share=self.share[kept],
            starts=starts,
            dense=self.dense[of],
            facets=self.facets[of],
            right=self.right[of],
        )


def read_examples(rows: Sequence[Row]) -> Examples:
    """Work out the features of all questions that have a right answer among their candidates."""
    asked = {row.question: take_apart(row.question) for row in rows}
    known, vocabulary = _vocabulary(rows, asked)
    pairs = [(row, found) for row in rows if (found := _candidates(row, asked[row.question])) is not None]
    said = [word_runs(index_of(row.brief), asked[row.question], known) for row, _ in pairs]
    candidates = [one for _, found in pairs for one in found]
    facets = np.zeros((len(candidates), len(FACETS)), dtype=np.float32)
    for number, (_, places, _) in enumerate(candidates):
        facets[number, list(places)] = 1.0
    return Examples(
        known=known,
        vocabulary=vocabulary,
        rows=[row for row, _ in pairs],
        runs=[np.array([vocabulary[run] for run in runs if run in vocabulary]) for runs in said],
        share=np.array([scale(len(runs)) for runs in said], dtype=np.float32),
        starts=np.cumsum([0, *(len(found) for _, found in pairs[:-1])]),
        dense=np.array([vector for vector, _, _ in candidates]),
        facets=facets,
        right=np.array([is_one for _, _, is_one in candidates]),
    )


def dropped(examples: Examples, names: Sequence[str]) -> Examples:
    """Return the questions without some features, to see what they earn."""
    kept = np.array([not any(feature.startswith(name) for name in names) for feature in FEATURES])
    share = examples.share * (0 if "runs" in names else 1)
    return replace(examples, dense=examples.dense * kept, share=share)


def _vocabulary(rows: Sequence[Row], asked: Mapping[str, Question]) -> tuple[frozenset[str], dict[str, int]]:
    """Return the words and the runs of words that are not rare, the runs numbered from 1."""
    seen_words: dict[str, set[str]] = defaultdict(set)
    seen_runs: dict[str, set[str]] = defaultdict(set)
    one_each = {row.question: row for row in rows}
    for question, row in one_each.items():
        for word in asked[question].stems:
            seen_words[word].add(question if row.any_task else row.database)
    known = frozenset(word for word, places in seen_words.items() if len(places) >= _RARE_WORD)
    for question, row in one_each.items():
        for run in word_runs(index_of(row.brief), asked[question], known):
            seen_runs[run].add(question if row.any_task else row.database)
    runs = {run: len(places) for run, places in seen_runs.items()}
    kept = sorted(run for run, count in runs.items() if count >= _RARE_RUN)
    return known, {run: number for number, run in enumerate(kept)}


def _candidates(row: Row, asked: Question) -> list[tuple[np.ndarray, tuple[int, ...], bool]] | None:
    index = index_of(row.brief)
    found = evidence(index, asked)
    speaking = vectors(index, asked, found)
    triples = [
        (_dense(vector), facets, is_right(row, candidate))
        for candidate, vector, facets, allowed in zip(
            index.candidates, speaking, index.facets, found.allowed, strict=False
        )
        if allowed
    ]
    reachable = any(is_one for _, _, is_one in triples)
    lost = row.kind in ("labelled", "unlabelled", "kind") and not reachable
    if lost and row.kind != "labelled":
        return None
    triples.append((_dense(speaking[-2]), (REFUSE,), row.kind == "refuse"))
    triples.append((_dense(speaking[-1]), (ASK_BACK,), row.kind == "ask_back" or lost))
    return triples


def _dense(vector: Iterable[tuple[int, float]]) -> np.ndarray:
    dense = np.zeros(len(FEATURES), dtype=np.float32)
    for place, value in vector:
        dense[place] += value
    return dense


class Sums:
    """Sums over which question has which runs of words: a matrix of ones that would be nearly empty.

    Args:
        runs: for each question the numbers of its runs, one or more.
        size: how many runs there are.
    """

    def __init__(self, runs: Sequence[np.ndarray], size: int) -> None:
        self._runs = np.concatenate(runs)
        self._questions = np.cumsum([0, *map(len, runs[:-1])])
        order = np.argsort(self._runs, kind="stable")
        self._has = np.repeat(np.arange(len(runs)), list(map(len, runs)))[order]
        self._found, self._places = np.unique(self._runs[order], return_index=True)
        self._size = size

    def of_questions(self, values: np.ndarray) -> np.ndarray:
        """Add up, for each question, the values of its runs."""
        return np.add.reduceat(values[self._runs], self._questions)

    def of_runs(self, values: np.ndarray) -> np.ndarray:
        """Add up, for each run, the values of the questions that have it."""
        sums = np.zeros((self._size, values.shape[1]), dtype=values.dtype)
        sums[self._found] = np.add.reduceat(values[self._has], self._places)
        return sums


def fit(examples: Examples) -> Weights:
    """Fit the weights by gradient steps (Adam) on the ridge-penalised likelihood; few runs keep a weight."""
    features, shape = len(FEATURES), (len(examples.vocabulary) + 1, len(FACETS))
    share = np.array([row.weight for row in examples.rows], dtype=np.float32)
    of = np.repeat(np.arange(len(share)), np.diff([*examples.starts, len(examples.right)]))
    values = np.zeros(features + shape[0] * shape[1], dtype=np.float32)
    ridge = np.full(values.size, _RIDGE_OF_RUNS, dtype=np.float32)
    ridge[:features] = _RIDGE
    ridge[features:].reshape(shape)[:, REFUSE] = _RIDGE_OF_REFUSALS
    mean, square = np.zeros_like(values), np.zeros_like(values)
    kept = np.ones_like(values)
    kept[features : features + shape[1]] = 0  # the run 0 is none
    spoken = Sums(examples.runs, shape[0])
    step = 0
    for steps, times in _STEPS:
        if step:
            kept[features:] = _largest(values[features:], times * KEPT)
            values *= kept
        for _ in range(steps):
            step += 1
            said = spoken.of_questions(values[features:].reshape(shape)) * examples.share[:, None]
            scores = examples.dense @ values[:features] + np.einsum("ij,ij->i", said[of], examples.facets)
            top = np.maximum.reduceat(scores, examples.starts)[of]
            odds = np.exp(scores - top)
            chance = odds / np.add.reduceat(odds, examples.starts)[of]
            good = np.where(examples.right, odds, np.float32(0.0))
            wanted = good / np.add.reduceat(good, examples.starts)[of]
            missed = (chance - wanted) * share[of]
            of_facets = np.add.reduceat(missed[:, None] * examples.facets, examples.starts)
            of_runs = spoken.of_runs(of_facets * examples.share[:, None])
            gradient = np.concatenate([examples.dense.T @ missed, of_runs.ravel()]) + ridge * values
            gradient *= kept
            mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
            change = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
            values -= 0.1 * kept * change
    runs = values[features:].reshape(shape)
    learnt = {
        run: tuple(
            (place, round(float(value), 2)) for place, value in enumerate(runs[number]) if abs(value) >= 0.005
        )
        for run, number in examples.vocabulary.items()
    }
    learnt = {run: said for run, said in learnt.items() if said}
    return Weights(tuple(round(float(value), 3) for value in values[:features]), learnt, examples.known)


def _largest(values: np.ndarray, most: int) -> np.ndarray:
    """Return ones where the largest values are, and zeros elsewhere; of equal ones the first."""
    kept = np.zeros_like(values)
    kept[np.argsort(-np.abs(values), kind="stable")[:most]] = 1
    return kept


def measure(rows: Sequence[Row], weights: Weights | None = None) -> list[tuple[Row, str]]:
    """Put every question to the user and say what came of it."""
    return [
        (row, outcome(row, understand(row.brief, row.question, weights), index_of(row.brief).candidates))
        for row in rows
    ]


def measure_lists(lists: Sequence[ListRow], weights: Weights | None = None) -> str:
    """Say how many messages with several questions had the first two answered right, and the rest named."""
    counts: dict[str, list[int]] = {"lists, two questions": [0, 0], "lists, more questions": [0, 0]}
    for one in lists:
        parts = understand_parts(one.parts[0].brief, one.message, weights)
        right = [
            outcome(row, part.choice, index_of(row.brief).candidates) == "right"
            for row, part in zip(one.parts[:ANSWERED], parts, strict=False)
            if part.choice is not None
        ]
        more = len(one.parts) > ANSWERED
        found = counts["lists, more questions" if more else "lists, two questions"]
        found[0] += 1
        found[1] += right == [True] * ANSWERED and (len(parts) > ANSWERED) == more
    return "\n".join(f"{name:24} {n:5} {100 * right / (n or 1):7.1f}" for name, (n, right) in counts.items())


def cross_validate(examples: Examples, by: str) -> list[tuple[Row, str]]:
    """Measure every question with weights that its task (or the hand that wrote it) had no part in."""
    keys = [getattr(row, by) for row in examples.rows]
    order = {key: number % _FOLDS for number, key in enumerate(sorted(set(keys)))}
    results: list[tuple[Row, str]] = []
    for fold in sorted(set(order.values())):
        left = [row for row, key in zip(examples.rows, keys, strict=True) if order[key] == fold]
        results += measure(left, fit(examples.part([order[key] != fold for key in keys])))
    return results


def table(results: Iterable[tuple[Row, str]], by: str = "") -> str:
    """Say how each class of questions, or each hand's or style's share of it, was answered, in percent."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row, result in results:
        counts[f"{row.kind} {getattr(row, by)}" if by else row.kind][result] += 1
    lines = [f"{'class':24} {'n':>5} {'right':>7} {'wrong':>7} {'asked back':>11} {'refused':>8}"]
    for kind, found in sorted(counts.items()):
        n = sum(found.values())
        cells = [100 * found[name] / n for name in ("right", "wrong", "asked back", "refused")]
        lines.append(f"{kind:24} {n:5} {cells[0]:7.1f} {cells[1]:7.1f} {cells[2]:11.1f} {cells[3]:8.1f}")
    return "\n".join(lines)


def write(weights: Weights) -> None:
    """Write the weights into the package: of features, and, in hundredths, of runs of words by facet."""
    features = {name: value for name, value in zip(FEATURES, weights.values, strict=True) if value}
    runs: dict[str, dict[str, int]] = {}
    for run, said in sorted(weights.runs.items()):
        for place, value in said:
            runs.setdefault(FACETS[place], {})[run] = round(100 * value)
    words = sorted(weights.known.difference(*(run.split() for run in weights.runs)))
    data = {
        "words": " ".join(words),
        "features": dict(sorted(features.items())),
        "runs": dict(sorted(runs.items())),
    }
    text = json.dumps(data, indent=0)
    TARGET.write_text(text.replace('": ', '":') + "\n", encoding="utf-8")
    print(f"wrote {TARGET}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mini-interact", type=Path, help="the folder of Mini-Interact")
    parser.add_argument("--leave-out", choices=["task", "hand", ""], default="task")
    parser.add_argument("--drop", default=[], nargs="*", help="features, by how their names begin, or `runs`")
    parser.add_argument("--without", default=[], nargs="*", help="hands that are not trained on")
    parser.add_argument(
        "--failures", action="store_true", help="print the questions that were not answered right"
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args(arguments)
    briefs = load_briefs(options.mini_interact)
    rows = load_rows(sorted(FOLDER.glob("*.jsonl")), briefs)
    examples = read_examples([row for row in rows if row.hand not in options.without])
    if options.drop:
        examples = dropped(examples, options.drop)
    results = cross_validate(examples, options.leave_out) if options.leave_out else []
    if results:
        print(table(results))
        print(table(results, by="hand"))
    if options.failures:
        for row, result in results:
            if result != "right":
                print(f"{result:10} {row.kind:10} {row.task} {row.expected} {row.question}")
    if options.write:
        write(fit(examples))
    print("\nQuestions held out, with the weights of the package:" if not options.write else "\nHeld out:")
    weights = weights_in(TARGET)
    held_out = sorted(HELD_OUT.glob("*.jsonl"))
    print(
        table(
            measure([row for row in load_rows(held_out, briefs) if row.style != "list"], weights), by="style"
        )
    )
    print(measure_lists(load_lists(held_out, briefs), weights))


if __name__ == "__main__":
    main()
