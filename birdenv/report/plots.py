"""A picture of the figures of one run or several: each rate a point, its 95 % interval a line.

Needs the extra `report`.
"""

from __future__ import annotations

from io import BytesIO
from math import isfinite

from birdenv.errors import InputError
from birdenv.runs.summaries._comparison import RunComparison, run_letter
from birdenv.runs.summaries._means_over_tasks import Estimate
from birdenv.runs.summaries._run_report import RunReport

_Row = tuple[str, Estimate | None]


_LONGEST_NAME = 40


def cut(name: str, most: int = _LONGEST_NAME) -> str:
    """A name without its middle, where it is longer than `most` characters.

    >>> cut("predictions:/data/of/mine/predict_dev.json", 20)
    'predictio…t_dev.json'
    """
    if len(name) <= most:
        return name
    return f"{name[: (most - 1) // 2]}…{name[len(name) - most // 2 :]}"


def forest_rows(report: RunReport) -> list[_Row]:
    """Lines of the plot from the top: the figures, then each group below its heading, which has no figure.

    What an episode took has no place on the axis, which goes from nothing to all.
    """
    rows: list[_Row] = [(of.measure.title, of) for of in report.figures if isfinite(of.measure.most)]
    for title, column in report.drawn_groups(report.groups):
        rows += [(title, None), *column.items()]
    return rows


def comparison_rows(comparison: RunComparison) -> list[_Row]:
    """A heading for each figure of a comparison, and below it a line for each run."""
    rows: list[_Row] = []
    for of_measure in zip(*comparison.figures, strict=True):
        measure = of_measure[0].measure
        if isfinite(measure.most):
            rows.append((measure.title, None))
            rows += [(_name(comparison, number), of) for number, of in enumerate(of_measure)]
    return rows


def _name(comparison: RunComparison, number: int) -> str:
    return f"{run_letter(number)} {comparison.runs[number].agent}"


def forest_plot(of: RunReport | RunComparison) -> bytes:
    """The plot as a PNG file; the same figures give the same bytes under one version of matplotlib.

    Names longer than 40 characters are cut. Intervals over tasks are thick lines, over databases thin ones.

    Raises:
        InputError: matplotlib is not installed, or there is nothing to draw.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "--plot needs matplotlib: pip install 'birdenv[report]' (in a clone: -e '.[report]')"
        ) from None
    if isinstance(of, RunReport):
        unfinished = "" if of.run.finished else " (unfinished)"
        rows, title = forest_rows(of), f"{of.run.game}: {of.run.agent}{unfinished}"
    else:
        rows, title = comparison_rows(of), f"{of.runs[0].game}: {len(of.runs)} runs, {len(of.tasks)} tasks"
    if not rows:
        raise InputError("--plot: there is no figure to draw")
    figure = Figure(figsize=(8, 1.2 + 0.28 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for height, (_, figure_of) in enumerate(rows):
        if figure_of is None or figure_of.value is None:
            continue
        colour = "tab:blue" if figure_of.measure.is_rate else "tab:orange"
        for interval, width in ((figure_of.over_databases, 1.0), (figure_of.over_tasks, 3.0)):
            if interval is not None:
                axes.plot(interval, (height, height), color=colour, linewidth=width, alpha=0.6)
        axes.plot(figure_of.value, height, "o", color=colour, markersize=6)
        is_rate = figure_of.measure.is_rate
        counts = f"{figure_of.passed}/{figure_of.count}" if is_rate else f"{figure_of.value:.3f}"
        axes.annotate(counts, (1.02, height), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [cut(name) for name, _ in rows])
    for label, (_, row) in zip(axes.get_yticklabels(), rows, strict=True):
        label.set(fontweight="bold" if row is None else "normal", parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(-0.02, 0.02 + max(row.measure.most for _, row in rows if row is not None))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    axes.grid(axis="x", alpha=0.3)
    axes.set_title(cut(title, 70), parse_math=False)
    axes.set_xlabel("95 % intervals: thick over tasks, thin over databases")
    file = BytesIO()
    figure.savefig(file, format="png", dpi=120, metadata={"Software": None})
    return file.getvalue()
