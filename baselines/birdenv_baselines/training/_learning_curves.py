"""Write and draw learning curves: the mean return on training and held-out tasks by training step."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from birdenv_baselines.training._benchmark import HELD_OUT
from birdenv_baselines.training._compare import Compared

_FILES: Final = {"training": "curve.csv", HELD_OUT: "held_out_curve.csv"}
_COLOURS: Final = {"maskable-ppo": "#0072b2", "ppo": "#d55e00", "dqn": "#009e73"}
_Points = list[tuple[int, float]]


def read_curve(folder: Path, tasks: str) -> _Points:
    """Return the points (step, mean return) of a training's curve, or an empty list if there is no curve.

    Args:
        folder: the folder of the training.
        tasks: `training` for the training tasks, or `held out` for the tasks of the held-out database.
    """
    path = folder / _FILES[tasks]
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [(int(row["steps"]), float(row["return"])) for row in csv.DictReader(file)]


def write_curves(folders: Sequence[Path], output: Path) -> None:
    """Write the learning curves of all trainings to `curves.csv` in `output`."""
    with (output / "curves.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["training", "tasks", "steps", "return"])
        for folder in folders:
            for tasks in _FILES:
                rows.writerows((folder.name, tasks, *point) for point in read_curve(folder, tasks))


class Curves(NamedTuple):
    """The trainings with the same held-out database.

    Attributes:
        trainings: the algorithm and the folder of each training.
        compared: the comparison of their policies with fixed policies.
    """

    trainings: Sequence[tuple[str, Path]]
    compared: Compared


def draw_curves(of: Mapping[str, Curves], output: Path) -> bool:
    """Draw the learning curves on held-out tasks to `curves.png`, with a panel for each held-out database.

    A curve is the mean over seeds, and its band extends from the lowest seed to the highest.

    Args:
        of: the trainings by held-out database.
        output: the folder to write the picture to.

    Returns:
        True if a picture was drawn; False if matplotlib is not installed or there are no curves.
    """
    drawn = {database: found for database, each in of.items() if (found := _means(each.trainings))}
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return False
    if not drawn:
        return False
    figure = Figure(figsize=(3.2 + 3.8 * len(drawn), 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(drawn), sharey=True, squeeze=False)[0]
    for axes, (database, means) in zip(panels, drawn.items(), strict=True):
        _draw(axes, means, of[database].compared)
        axes.set_title(f"{database} held out", fontsize=10)
    panels[0].set_ylabel("mean return on held-out tasks")
    figure.savefig(output / "curves.png", dpi=120, metadata={"Software": None})
    return True


class _Mean(NamedTuple):
    """The curve of an algorithm: its mean over seeds, at the steps that all seeds have in common."""

    seeds: int
    steps: list[int]
    mean: npt.NDArray[np.float64]
    lowest: npt.NDArray[np.float64]
    highest: npt.NDArray[np.float64]


def _means(trainings: Sequence[tuple[str, Path]]) -> dict[str, _Mean]:
    seeds: dict[str, list[dict[int, float]]] = {}
    for algorithm, folder in trainings:
        if points := read_curve(folder, HELD_OUT):
            seeds.setdefault(algorithm, []).append(dict(points))
    found = {}
    for algorithm, curves in seeds.items():
        steps = sorted(set[int].intersection(*map(set, curves)))
        table = np.array([[curve[step] for step in steps] for curve in curves])
        found[algorithm] = _Mean(len(curves), steps, table.mean(0), table.min(0), table.max(0))
    return found


def _draw(axes: Any, means: Mapping[str, _Mean], found: Compared) -> None:
    fixed = {
        "never asks": found.fixed["never-asks"].returns.mean(),
        f"best rule ({found.rival})": found.fixed[found.rival].returns.mean(),
    }
    if found.best is not None:
        fixed["optimum"] = found.best.mean()
    for name, height in fixed.items():
        axes.axhline(height, color="#57606a", linewidth=1, linestyle="--")
        beside = (-2, 3 if name == "optimum" else -11)
        _label(axes, f"{name}, {height:.3f}", (1, height), beside, axes.get_yaxis_transform(), "#57606a")
    for place, (name, of) in enumerate(sorted(means.items(), key=lambda each: -each[1].mean[-1])):
        axes.fill_between(of.steps, of.lowest, of.highest, color=_COLOURS[name], alpha=0.25, linewidth=0)
        axes.plot(of.steps, of.mean, color=_COLOURS[name])
        words = f"{name}, {of.seeds} seed{'s' * (of.seeds > 1)}, {of.mean[-1]:.3f}"
        height, beside = (of.lowest[-1], (-2, -11)) if place else (of.highest[-1], (-2, 4))
        _label(axes, words, (of.steps[-1], height), beside, axes.transData, _COLOURS[name])
    axes.set_xlabel("steps of training; bands from the lowest seed to the highest", fontsize=9)
    axes.set_ylim(axes.get_ylim()[0] - 0.05, 1.0)  # room for the lowest label
    axes.grid(alpha=0.3)


def _label(axes: Any, words: str, at: Any, beside: Any, place: Any, colour: str) -> None:
    more = {"xycoords": place, "textcoords": "offset points", "ha": "right", "fontsize": 8}
    axes.annotate(words, at, beside, color=colour, **more)
