"""Make the weights of the rule-based user's understanding, and measure them on questions left out.

    python -m birdenv_baselines.user_questions.train [--mini-interact FOLDER] [--leave-out hand] [--write]

A conditional logit: of all that a question may be about, the right ones together get the probability. The
weights are written rounded, so that every machine makes the same file from the same questions.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import birdenv.users.understanding as understanding
from birdenv.users.understanding import understand
from birdenv.users.understanding._candidates import index_of
from birdenv.users.understanding._choose import Weights
from birdenv.users.understanding._features import FEATURES, evidence
from birdenv.users.understanding._question import take_apart
from birdenv_baselines.user_questions._questions import FOLDER, Row, is_right, load_briefs, load_rows, outcome

SURE = 0.43
_RIDGE = 0.3
_STEPS = 400
_FOLDS = 10
TARGET = Path(understanding.__file__).parent / "weights.json"


class Examples:
    """All questions as one matrix, a row for each thing that a question may be about."""

    def __init__(self, rows: Sequence[Row]) -> None:
        vectors: list[np.ndarray] = []
        right: list[bool] = []
        starts: list[int] = []
        self.weights: list[float] = []
        for row in rows:
            found = _candidates(row)
            if found is None:
                continue
            starts.append(len(vectors))
            self.weights.append(row.weight)
            for vector, is_one in found:
                vectors.append(vector)
                right.append(is_one)
        self.matrix, self.right = np.array(vectors), np.array(right)
        self.starts, self.share = np.array(starts), np.array(self.weights)
        self.of = np.repeat(np.arange(len(starts)), np.diff([*starts, len(vectors)]))


def _candidates(row: Row) -> list[tuple[np.ndarray, bool]] | None:
    index, asked = index_of(row.brief), take_apart(row.question)
    found = evidence(index, asked)
    pairs = [
        (_dense(vector), is_right(row, candidate))
        for candidate, vector, allowed in zip(index.candidates, found.vectors, found.allowed, strict=False)
        if allowed
    ]
    reachable = any(is_one for _, is_one in pairs)
    lost = row.kind in ("labelled", "unlabelled", "kind") and not reachable
    if lost and row.kind != "labelled":
        return None
    pairs.append((_dense(found.vectors[-2]), row.kind == "refuse"))
    pairs.append((_dense(found.vectors[-1]), row.kind == "ask_back" or lost))
    return pairs


def _dense(vector: Iterable[tuple[int, float]]) -> np.ndarray:
    dense = np.zeros(len(FEATURES))
    for place, value in vector:
        dense[place] += value
    return dense


def fit(rows: Sequence[Row]) -> Weights:
    """Fit the weights by gradient steps (Adam) on the ridge-penalised likelihood."""
    examples = Examples(rows)
    values, mean, square = (np.zeros(len(FEATURES)) for _ in range(3))
    for step in range(1, _STEPS + 1):
        scores = examples.matrix @ values
        top = np.maximum.reduceat(scores, examples.starts)[examples.of]
        odds = np.exp(scores - top)
        chance = odds / np.add.reduceat(odds, examples.starts)[examples.of]
        good = np.where(examples.right, odds, 0.0)
        wanted = good / np.add.reduceat(good, examples.starts)[examples.of]
        gradient = examples.matrix.T @ ((chance - wanted) * examples.share[examples.of]) + _RIDGE * values
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        values -= 0.1 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return Weights(tuple(round(float(value), 3) for value in values), SURE)


def measure(rows: Sequence[Row], weights: Weights | None = None) -> list[tuple[Row, str]]:
    """Put every question to the user and say what came of it."""
    return [
        (row, outcome(row, understand(row.brief, row.question, weights), index_of(row.brief).candidates))
        for row in rows
    ]


def cross_validate(rows: Sequence[Row], by: str) -> list[tuple[Row, str]]:
    """Measure every question with weights that its task (or the hand that wrote it) had no part in."""
    keys = [getattr(row, by) for row in rows]
    order = {key: number % _FOLDS for number, key in enumerate(sorted(set(keys)))}
    results: list[tuple[Row, str]] = []
    for fold in sorted(set(order.values())):
        kept = [row for row, key in zip(rows, keys, strict=True) if order[key] != fold]
        left = [row for row, key in zip(rows, keys, strict=True) if order[key] == fold]
        results += measure(left, fit(kept))
    return results


def table(results: Iterable[tuple[Row, str]], by_hand: bool = False) -> str:
    """Say how each class of questions, or each hand's share of it, was answered, in percent."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row, result in results:
        counts[f"{row.kind} {row.hand}" if by_hand else row.kind][result] += 1
    lines = [f"{'class':24} {'n':>5} {'right':>7} {'wrong':>7} {'asked back':>11} {'refused':>8}"]
    for kind, found in sorted(counts.items()):
        n = sum(found.values())
        cells = [100 * found[name] / n for name in ("right", "wrong", "asked back", "refused")]
        lines.append(f"{kind:24} {n:5} {cells[0]:7.1f} {cells[1]:7.1f} {cells[2]:11.1f} {cells[3]:8.1f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mini-interact", type=Path, help="the folder of Mini-Interact")
    parser.add_argument("--leave-out", choices=["task", "hand"], default="task")
    parser.add_argument(
        "--failures", action="store_true", help="print the questions that were not answered right"
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args(arguments)
    rows = load_rows(sorted(FOLDER.glob("*.jsonl")), load_briefs(options.mini_interact))
    results = cross_validate(rows, options.leave_out)
    print(table(results))
    print(table(results, by_hand=True))
    if options.failures:
        for row, result in results:
            if result != "right":
                print(f"{result:10} {row.kind:10} {row.task} {row.expected} {row.question}")
    if options.write:
        weights = fit(rows)
        named = {name: value for name, value in zip(FEATURES, weights.values, strict=True) if value}
        TARGET.write_text(
            json.dumps({"sure": weights.sure, "weights": named}, indent=1) + "\n", encoding="utf-8"
        )
        print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
