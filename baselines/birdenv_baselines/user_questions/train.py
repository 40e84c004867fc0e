"""Fit the weights for the rule-based user's understanding, and measure them on held-out questions.

python -m birdenv_baselines.user_questions.train [--mini-interact FOLDER] [--leave-out hand] [--write]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import birdenv.users.understanding as understanding
from birdenv.users.understanding._weights import Weights, weights_in
from birdenv_baselines.user_questions._examples import read_examples
from birdenv_baselines.user_questions._fit import fit
from birdenv_baselines.user_questions._measures import (
    cross_validate,
    is_answered,
    measure,
    measure_lists,
    measure_verdicts,
    table,
)
from birdenv_baselines.user_questions._questions import FOLDER, HELD_OUT, load_briefs, load_lists, load_rows

TARGET = Path(understanding.__file__).parent / "weights.json"


def written(weights: Weights) -> str:
    """Return the weights in the format of `weights.json`.

    The weights of runs (word sequences) are grouped by facet, and given in hundredths.
    """
    runs: dict[str, dict[str, int]] = defaultdict(dict)
    for run, said in sorted(weights.runs.items()):
        for facet, weight in said.items():
            runs[facet][run] = weight
    words = sorted(weights.known.difference(*(run.split() for said in runs.values() for run in said)))
    data = {
        "words": " ".join(words),
        "features": dict(sorted(weights.features.items())),
        "runs": dict(sorted(runs.items())),
    }
    return json.dumps(data, indent=0).replace('": ', '":') + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mini-interact", type=Path, help="the folder of Mini-Interact")
    parser.add_argument(
        "--leave-out",
        choices=["task", "hand", ""],
        default="",
        help="measure on held-out tasks or authors (hand)",
    )
    parser.add_argument(
        "--without", default=[], nargs="*", help="authors whose questions to leave out of training"
    )
    parser.add_argument(
        "--failures", action="store_true", help="print the questions that were not answered correctly"
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args(arguments)
    briefs = load_briefs(options.mini_interact)
    if options.write or options.leave_out:
        rows = load_rows(sorted(FOLDER.glob("*.jsonl")), briefs)
        examples = read_examples([row for row in rows if row.hand not in options.without])
    results = cross_validate(examples, options.leave_out) if options.leave_out else []
    if results:
        print(table(results))
        print(table(results, by="hand"))
    if options.write:
        TARGET.write_text(written(fit(examples)), encoding="utf-8")
        print(f"wrote {TARGET}")
    print("\nQuestions held out, with the weights of the package:")
    weights, files = weights_in(TARGET), sorted(HELD_OUT.glob("*.jsonl"))
    held_out = measure([row for row in load_rows(files, briefs) if row.style != "list"], weights)
    lists = load_lists(files, briefs)
    print(table(held_out, by="style"))
    print(measure_lists(lists, weights))
    verdicts = measure_verdicts(briefs)
    print(
        f"yes or no: {verdicts[True]} true, {verdicts[False]} false, {verdicts[None]} questions get neither"
    )
    if options.failures:
        for row, result in [*results, *held_out]:
            if result != "right":
                print(f"{result:10} {row.kind:10} {row.task} {row.expected} {row.question}")
        for one in lists:
            if not is_answered(one, weights):
                print(f"{'list':10} {one.parts[0].task} {one.message!r}")


if __name__ == "__main__":
    main()
