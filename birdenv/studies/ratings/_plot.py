"""A picture of ratings: means by question and system, and the ranking. Needs the extra `report`."""

from __future__ import annotations

from io import BytesIO

from birdenv.errors import InputError
from birdenv.report.plots import cut
from birdenv.statistics import Figure
from birdenv.studies.ratings._ratings_report import RatingReport


def rating_plot(report: RatingReport) -> bytes:
    """Draw means and strengths with their intervals, as a PNG file.

    Raises:
        InputError: matplotlib is not installed, or nothing is defined.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'birdenv[report]'") from None
    panels = _panels(report)
    if not panels:
        raise InputError("--plot: there is no figure to draw")
    sizes = [len(rows) + 2 for rows in panels.values()]
    canvas = Canvas(figsize=(8, 0.6 + 0.3 * sum(sizes)), layout="constrained")
    FigureCanvasAgg(canvas)
    grid = canvas.subplots(len(panels), squeeze=False, height_ratios=sizes)[:, 0]
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        for height, of in enumerate(rows.values()):
            if of.interval is not None:
                axes.plot(of.interval, (height, height), color="tab:blue", linewidth=3, alpha=0.6)
            axes.plot(of.value, height, "o", color="tab:blue")
        axes.set_yticks(range(len(rows)), [cut(name) for name in rows])
        for label in axes.get_yticklabels():
            label.set(parse_math=False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="x", alpha=0.3)
        axes.set_title(cut(title, 70), fontsize=10, parse_math=False)
    file = BytesIO()
    canvas.savefig(file, format="png", dpi=120, metadata={"Software": None})
    return file.getvalue()


def _panels(report: RatingReport) -> dict[str, dict[str, Figure]]:
    panels = {each.question: {"all": each.over_dialogues, **each.systems} for each in report.questions}
    if report.ranking is not None:
        strengths = {each.player: each.strength for each in report.ranking.standings}
        panels["strength (log-odds)"] = strengths
    drawn = {
        title: {name: of for name, of in rows.items() if of.value is not None}
        for title, rows in panels.items()
    }
    return {title: rows for title, rows in drawn.items() if rows}
