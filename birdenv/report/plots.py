"""Plot the metrics of one or more runs as points with 95% intervals, or as curves over a setting.

Plots require the `report` extra.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from math import isfinite, nan
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.runs.summaries import Estimate, RunComparison, RunReport, run_letter

_Row = tuple[str, Estimate | None]


_LONGEST_NAME: Final = 40
_FEWEST_OF_CURVE: Final = 3
_DAY: Final = re.compile(r"run-(\d{4})(\d{2})(\d{2})-")
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Colours of the palette of Okabe and Ito, which colour-blind people can distinguish."""


def cut(name: str, most: int = _LONGEST_NAME) -> str:
    """Shorten a name to at most `most` characters by leaving out its middle.

    >>> cut("predictions:/data/of/mine/predict_dev.json", 20)
    'predictio…t_dev.json'
    """
    if len(name) <= most:
        return name
    return f"{name[: (most - 1) // 2]}…{name[len(name) - most // 2 :]}"


def forest_rows(report: RunReport) -> list[_Row]:
    """Return the rows of a run's plot from top to bottom: first all metrics, then the metrics by group.

    Each kind of group has a heading, which is a row without a value. Metrics without an upper limit are
    omitted, because the axis ends at the maximum possible value.
    """
    rows: list[_Row] = [(of.measure.title, of) for of in report.figures if isfinite(of.measure.most)]
    for title, column in report.drawn_groups(report.groups):
        rows += [(title, None), *column.items()]
    return rows


def comparison_rows(comparison: RunComparison) -> list[_Row]:
    """Return the rows of a comparison plot: a heading for each metric, followed by a row for each run."""
    rows: list[_Row] = []
    for of_measure in zip(*comparison.figures, strict=True):
        measure = of_measure[0].measure
        if isfinite(measure.most):
            rows.append((measure.title, None))
            rows += [(_name(comparison, number), of) for number, of in enumerate(of_measure)]
    return rows


def _name(comparison: RunComparison, number: int) -> str:
    return f"{run_letter(number)} {comparison.runs[number].agent}"


def plot(of: RunReport | RunComparison, form: str = "png") -> bytes:
    """Plot a run or a comparison as a PNG or SVG file, and return the bytes of the file.

    Metrics are drawn as curves if `curve_setting` finds a setting for the x-axis, and otherwise as points
    with intervals. Identical metrics produce identical bytes with the same version of matplotlib.

    Args:
        of: the report on a run, or the comparison of several runs.
        form: the file format, `png` or `svg`.

    Raises:
        InputError: matplotlib is not installed, or there is nothing to draw.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "--plot needs matplotlib: pip install 'birdenv[report]' (in a clone: -e '.[report]')"
        ) from None
    setting = None if isinstance(of, RunReport) else curve_setting(of)
    rows = forest_rows(of) if isinstance(of, RunReport) else comparison_rows(of)
    if not rows:
        raise InputError("--plot: there is no metric to draw")
    height = 4.5 if setting is not None else 1.2 + 0.28 * len(rows)
    figure = Figure(figsize=(8, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if setting is not None and isinstance(of, RunComparison):
        _draw_curves(axes, of, setting)
    else:
        _draw_forest(axes, rows)
    axes.set_title(title(of), parse_math=False, fontsize=10)
    file = BytesIO()
    metadata = {"Software": None} if form == "png" else {"Date": None, "Creator": None}
    with rc_context({"svg.hashsalt": "birdenv"}):
        figure.savefig(file, format=form, dpi=120, metadata=metadata)
    return file.getvalue()


def title(of: RunReport | RunComparison) -> str:
    """Return the title of a plot, with the game, the agent, the data and the date."""
    if isinstance(of, RunReport):
        first, who = of.run, cut(of.run.agent)
        who += "" if of.run.finished else " (unfinished)"
    else:
        first, agents = of.runs[0], {run.agent for run in of.runs}
        who = f"{cut(min(agents))}, " if len(agents) == 1 else ""
        who += f"{len(of.runs)} runs, {len(of.tasks)} tasks"
    file = Path(str(first.config.get("data_file") or ""))
    data = "demo" if file.parent.name.startswith("demo-") else cut(file.stem)
    day = _DAY.search(first.path.name)
    date = "" if day is None else f"{day[1]}-{day[2]}-{day[3]}"
    return " · ".join(filter(None, (f"{first.game}: {who}", data, date)))


def curve_setting(comparison: RunComparison) -> str | None:
    """Return the name of a setting that can be the x-axis for curves, or None if there is no such setting.

    There must be at least three runs that differ only in this setting, and its value must be a different
    number in each run.
    """
    runs = comparison.runs
    names = {name for run in runs for name in (*run.measured.settings, "agent", "user")}
    different = [name for name in names if len({str(run.config.get(name)) for run in runs}) > 1]
    if len(different) != 1 or len(runs) < _FEWEST_OF_CURVE:
        return None
    values = [run.config.get(different[0]) for run in runs]
    are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return different[0] if are_numbers and len({*values}) == len(runs) else None


def _draw_curves(axes: Any, comparison: RunComparison, setting: str) -> None:
    """Draw each metric whose measure is `drawn` as a curve with a band, labelled at its end."""
    runs = comparison.runs
    order = sorted(range(len(runs)), key=lambda number: runs[number].config[setting])
    places = [runs[number].config[setting] for number in order]
    drawn = [of for of in zip(*comparison.figures, strict=True) if of[0].measure.drawn]
    for count, of_measure in enumerate(drawn):
        estimates = [of_measure[number] for number in order]
        values = [nan if each.value is None else each.value for each in estimates]
        bands = [each.over_tasks or (value, value) for each, value in zip(estimates, values, strict=True)]
        colour = _COLOURS[count % len(_COLOURS)]
        axes.fill_between(places, *zip(*bands, strict=True), color=colour, alpha=0.2, linewidth=0)
        axes.plot(places, values, "o-", color=colour)
        name = of_measure[0].measure.title
        beside = (8, 6 - 14 * count)
        axes.annotate(name, (places[-1], values[-1]), beside, textcoords="offset points", color=colour)
    axes.set_xticks(places)
    axes.set_ylim(0, 1.05)
    axes.set_xlim(places[0], places[-1] + 0.3 * (places[-1] - places[0]))
    axes.grid(alpha=0.3)
    axes.set_xlabel(f"{setting.replace('_', ' ')}; bands are 95 % intervals over tasks")


def _draw_forest(axes: Any, rows: Sequence[_Row]) -> None:
    for height, (_, of) in enumerate(rows):
        if of is None or of.value is None:
            continue
        colour = _COLOURS[0] if of.measure.is_rate else _COLOURS[1]
        for interval, width in ((of.over_databases, 1.0), (of.over_tasks, 3.0)):
            if interval is not None:
                axes.plot(interval, (height, height), color=colour, linewidth=width, alpha=0.6)
        axes.plot(of.value, height, "o", color=colour, markersize=6)
        counts = f"{of.passed}/{of.count}" if of.measure.is_rate else f"{of.value:.3f}"
        axes.annotate(counts, (1.02, height), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [cut(name) for name, _ in rows])
    for label, (_, row) in zip(axes.get_yticklabels(), rows, strict=True):
        label.set(fontweight="bold" if row is None else "normal", parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-0.02, 0.02 + max(row.measure.most for _, row in rows if row is not None))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("95 % intervals: thick over tasks, thin over databases; mean rewards from 0 to 1")
