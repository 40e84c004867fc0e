"""The report on trainings: a table against the policies without learning, and learning curves."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from birdenv_baselines.optimum import family_optima
from birdenv_baselines.training._benchmark import Split
from birdenv_baselines.training._evaluate import Floats, Played, by_price, interval, play, tuned_rule
from birdenv_baselines.training._policies import RULES

EPISODES: Final = "episodes.csv"
TEST_ENVS: Final = 256
VALUE_RULE: Final = "value-of-information"
_COLUMNS: Final = ("task", "price", "return", "questions")


@dataclass(frozen=True, slots=True)
class Line:
    """One policy on one database.

    Attributes:
        policy: its name, with the number of seeds where there are several.
        earned: the mean return.
        low, high: its 95 % interval.
        share: of the optimum.
        questions: asked in an episode.
        by_price: the same by price.
        gain: the paired gain over the best policy without learning, with its interval; None for those.
    """

    policy: str
    earned: float
    low: float
    high: float
    share: float
    questions: float
    by_price: Mapping[float, float]
    gain: tuple[float, float, float] | None = None


def write_episodes(played: Played, path: Path) -> None:
    """Write episodes, one a line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(_COLUMNS)
        rows.writerows(zip(played.tasks, played.prices, played.returns, played.questions, strict=True))


def read_episodes(path: Path) -> Played:
    """Read what `write_episodes` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = [np.array([float(row[name]) for row in rows]) for name in _COLUMNS[1:]]
    return Played(np.array([row["task"] for row in rows], dtype=object), *numbers)


def lines(split: Split, trained: Mapping[str, Sequence[Played]]) -> list[Line]:
    """Return the table of one database that was held out, from the worst policy to the best.

    Args:
        split: its tasks.
        trained: episodes of each algorithm's seeds, as `play` gives them on `split.test_envs(TEST_ENVS)`.
    """
    envs = split.test_envs(TEST_ENVS)
    fixed = {name: play(envs, make()) for name, make in RULES.items()}
    fixed[VALUE_RULE] = play(envs, tuned_rule(split.train_envs(TEST_ENVS))[1])
    best = _best_returns(split, fixed[VALUE_RULE])
    rivals = {name: each for name, each in fixed.items() if name != "privileged"}
    rival = max(rivals.values(), key=lambda each: float(each.returns.mean()))
    made = [_line(name, [each], best, None) for name, each in fixed.items()]
    made += [_line(name, seeds, best, rival) for name, seeds in trained.items()]
    optimum = Played(rival.tasks, rival.prices, best, np.full(len(best), np.nan))
    made.append(_line("optimum", [optimum], best, None))
    return sorted(made, key=lambda line: line.earned)


def _best_returns(split: Split, played: Played) -> Floats:
    """The optimum of each episode, by the family of its task and its price."""
    prices = sorted({round(float(price), 6) for price in played.prices})
    best = {
        task: family.best
        for family in family_optima(split.folder, prices, split.refusals)
        for task in family.tasks
    }
    return np.array([best[t][round(float(p), 6)] for t, p in zip(played.tasks, played.prices, strict=True)])


def _line(name: str, seeds: Sequence[Played], best: Floats, rival: Played | None) -> Line:
    returns = np.stack([each.returns for each in seeds])
    families = seeds[0].families
    gain = None
    if rival is not None:
        ahead = returns - rival.returns
        gain = (float(ahead.mean()), *interval(ahead, families))
    prices = [by_price(each) for each in seeds]
    return Line(
        f"{name}, {len(seeds)} seeds" if len(seeds) > 1 else name,
        float(returns.mean()),
        *interval(returns, families),
        float(returns.mean() / best.mean()),
        float(np.mean([each.questions.mean() for each in seeds])),
        {price: float(np.mean([each[price] for each in prices])) for price in prices[0]},
        gain,
    )


def table(title: str, found: Sequence[Line]) -> str:
    """Return a table in Markdown."""
    prices = list(found[0].by_price)
    heads = [
        "policy",
        "return",
        "95 %",
        "of the optimum",
        "questions",
        *(f"at {p:g}" for p in prices),
        "gain",
    ]
    rows = [f"**{title}**", "", f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    for line in found:
        asked = [line.questions, *line.by_price.values()]
        gain = "" if line.gain is None else "{:+.3f} ({:+.3f} to {:+.3f})".format(*line.gain)
        cells = [
            line.policy,
            f"{line.earned:.3f}",
            f"{line.low:.3f} to {line.high:.3f}",
            f"{line.share:.0%}",
            *("" if np.isnan(number) else f"{number:.1f}" for number in asked),
            gain,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def curves(folders: Sequence[Path]) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Yield the learning curve of each training that has one: its name, and steps with returns."""
    for folder in folders:
        path = folder / "curve.csv"
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                yield folder.name, [(int(row["steps"]), float(row["return"])) for row in csv.DictReader(file)]


def write_curves(folders: Sequence[Path], output: Path) -> bool:
    """Write `curves.csv`, and `curves.png` where matplotlib is there; return whether it is."""
    found = list(curves(folders))
    with (output / "curves.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["training", "steps", "return"])
        rows.writerows((name, *point) for name, points in found for point in points)
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    colours: dict[str, Any] = {}
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    for name, points in found:
        group = name.rpartition("-seed")[0]
        colour = colours.setdefault(group, f"C{len(colours)}")
        label = None if any(line.get_label() == group for line in axes.lines) else group
        axes.plot(*zip(*points, strict=True), color=colour, alpha=0.7, label=label)
    axes.set(xlabel="steps", ylabel="mean return in training", title="Learning when to ask")
    if found:
        axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(output / "curves.png", dpi=120)
    pyplot.close(figure)
    return True
