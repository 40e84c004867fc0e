"""A picture of a run's figures: each rate a point, its 95 % interval a line. Needs the extra `report`."""

from __future__ import annotations

from io import BytesIO
from math import isfinite

from birdenv.errors import InputError
from birdenv.runs.analysis._estimates import Estimate
from birdenv.runs.analysis._report import RunReport

_Row = tuple[str, Estimate | None]


def forest_rows(report: RunReport) -> list[_Row]:
    """Lines of the plot from the top: the figures, then each group below its heading, which has no figure.

    What an episode took has no place on the axis, which goes from nothing to all.
    """
    rows: list[_Row] = [(of.measure.title, of) for of in report.figures if isfinite(of.measure.most)]
    for title, column in report.drawn_groups():
        rows += [(title, None), *column.items()]
    return rows


def forest_plot(report: RunReport) -> bytes:
    """The plot as a PNG file; the same report gives the same bytes under one version of matplotlib.

    Intervals over tasks as thick lines, over databases as thin ones. Raises `InputError` without matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "--plot needs matplotlib: pip install 'birdenv[report]' (in a clone: '.[report]')"
        ) from None
    rows = forest_rows(report)
    figure = Figure(figsize=(8, 1.2 + 0.28 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for height, (_, of) in enumerate(rows):
        if of is None or of.value is None:
            continue
        colour = "tab:blue" if of.measure.is_rate else "tab:orange"
        for interval, width in ((of.over_databases, 1.0), (of.over_tasks, 3.0)):
            if interval is not None:
                axes.plot(interval, (height, height), color=colour, linewidth=width, alpha=0.6)
        axes.plot(of.value, height, "o", color=colour, markersize=6)
        counts = f"{of.passed}/{of.count}" if of.measure.is_rate else f"{of.value:.3f}"
        axes.annotate(counts, (1.02, height), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    for label, (_, of) in zip(axes.get_yticklabels(), rows, strict=True):
        label.set(fontweight="bold" if of is None else "normal", parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(-0.02, 0.02 + max(of.measure.most for _, of in rows if of is not None))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    axes.grid(axis="x", alpha=0.3)
    unfinished = "" if report.run.finished else " (unfinished)"
    axes.set_title(f"{report.run.game}: {report.run.agent}{unfinished}", parse_math=False)
    axes.set_xlabel("95 % intervals: thick over tasks, thin over databases")
    file = BytesIO()
    figure.savefig(file, format="png", dpi=120, metadata={"Software": None})
    return file.getvalue()
