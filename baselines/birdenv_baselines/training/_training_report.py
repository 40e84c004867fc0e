"""The tables in the report on trained policies, and files with the episodes that the tables summarise."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from birdenv_baselines.training._benchmark import HELD_OUT
from birdenv_baselines.training._compare import Compared, Line, joined, lines, trained_lines
from birdenv_baselines.training._evaluate import Played
from birdenv_baselines.training._probe import Found

_COLUMNS: Final = ("task", "price", "return", "questions")
_Key = tuple[str, str, str]


def episodes_file(folder: Path, test: str) -> Path:
    """Return the path of the file that contains the episodes of a trained policy in a test.

    Args:
        folder: the folder of the training.
        test: the name of the test, from `Split.tests`.
    """
    return folder / ("episodes.csv" if test == HELD_OUT else f"episodes-{test.replace(' ', '-')}.csv")


def write_episodes(played: Played, path: Path) -> None:
    """Write episodes to a CSV file with a line for each episode."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(_COLUMNS)
        rows.writerows(zip(played.tasks, played.prices, played.returns, played.questions, strict=True))


def read_episodes(path: Path) -> Played:
    """Read the episodes from a file written by `write_episodes`."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = [np.array([float(row[name]) for row in rows]) for name in _COLUMNS[1:]]
    return Played(np.array([row["task"] for row in rows], dtype=object), *numbers)


def table(title: str, found: Compared) -> str:
    """Return a Markdown table with the results of all policies in one comparison."""
    made = lines(found)
    prices = [f"at {price:g}" for price in made[0].by_price]
    heads = ["policy", "return", "95 %", "of the optimum", "questions", *prices, "gain"]
    rows = []
    for line in made:
        name = line.policy + (f", {_seeds(line.seeds)}" if line.seeds else "")
        asked = [line.questions, *line.by_price.values()]
        numbers = ["" if np.isnan(number) else f"{number:.1f}" for number in asked]
        rows.append([name, *_earned(line), *numbers, _gain(line)])
    return _markdown(title, heads, rows)


def overview(found: Mapping[_Key, Compared]) -> str:
    """Return a Markdown table with the results of all trained policies in all comparisons.

    Args:
        found: the comparisons, keyed by `Training.special`, the name of the test, and the held-out database.
    """
    heads = [
        "trained with",
        "tested on",
        "held out",
        "policy",
        "return",
        "95 %",
        "of the optimum",
        "never asks",
        "asks everything",
        "best rule",
        "gain over it",
    ]
    rows = []
    for setting, test in dict.fromkeys(key[:2] for key in found):
        parts = {name: each for (*key, name), each in found.items() if key == [setting, test]}
        together = joined(list(parts.values()))
        for name, part in [*parts.items(), *([] if together is None else [("all", together)])]:
            rules = {line.policy: _worth(line) for line in lines(part)}
            fixed = [rules["never-asks"], rules["asks-everything"], f"{part.rival} {rules[part.rival]}"]
            for line in trained_lines(part):
                policy = f"{line.policy}, {_seeds(line.seeds)}"
                rows.append([setting, test, name, policy, *_earned(line), *fixed, _gain(line)])
    return _markdown("What was learned", heads, rows)


def leaks(found: Mapping[str, Sequence[Found]]) -> str:
    """Return a Markdown table with the results of leak probes.

    Args:
        found: the results, keyed by held-out database. For each database, there are three results: with true
            labels, with shuffled labels, and with true labels after all answers.
    """
    heads = ["held out", "blind guess", "true labels", "shuffled labels", "true labels, after all answers"]
    rows = []
    for name, each in found.items():
        numbers = [f"{one.right:.3f} ({one.low:.3f} to {one.high:.3f})" for one in each]
        rows.append([name, f"{each[0].chance:.3f}", *numbers])
    return _markdown("How often a linear probe names the candidate that is meant", heads, rows)


def _seeds(count: int) -> str:
    return f"{count} seed" + ("s" if count > 1 else "")


def _share(line: Line) -> str:
    return "" if line.share is None else f"{line.share:.0%}"


def _worth(line: Line) -> str:
    return f"{line.earned:.3f}" + (f", {_share(line)}" if line.share is not None else "")


def _earned(line: Line) -> list[str]:
    return [f"{line.earned:.3f}", f"{line.low:.3f} to {line.high:.3f}", _share(line)]


def _gain(line: Line) -> str:
    return "" if line.gain is None else "{:+.3f} ({:+.3f} to {:+.3f})".format(*line.gain)


def _markdown(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    made = [f"**{title}**", "", f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    return "\n".join([*made, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"
