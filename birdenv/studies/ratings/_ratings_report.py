"""Compute statistics about ratings and comparisons, and show them as text, JSON or a plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from birdenv.errors import InputError
from birdenv.report.plots import cut
from birdenv.statistics import Figure, counted, rule
from birdenv.studies.ratings._agreement import (
    Level,
    answers,
    by_question,
    fleiss_kappa,
    krippendorff_alpha,
    mean_answer,
)
from birdenv.studies.ratings._bradley_terry import Ranking, rank_players
from birdenv.studies.ratings._judgements import Judgements, Rating


@dataclass(frozen=True, slots=True)
class QuestionReport:
    """Statistics about the answers to one question.

    Attributes:
        question: the name of the question.
        ratings: the number of answers.
        dialogues: the number of rated dialogues.
        raters: the number of raters.
        level: the level of measurement for alpha.
        answers: the number of ratings, keyed by answer.
        over_dialogues: the mean answer, with a confidence interval over dialogues.
        over_raters: the mean answer, with a confidence interval over raters.
        alpha: Krippendorff's alpha.
        kappa: Fleiss' kappa.
        systems: the mean answer for each system; empty if the ratings name no systems.
    """

    question: str
    ratings: int
    dialogues: int
    raters: int
    level: Level
    answers: Mapping[float | str, int]
    over_dialogues: Figure
    over_raters: Figure
    alpha: Figure
    kappa: Figure
    systems: Mapping[str, Figure]

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a JSON object."""
        return {
            "ratings": self.ratings,
            "dialogues": self.dialogues,
            "raters": self.raters,
            "answers": {_answer(value): count for value, count in self.answers.items()},
            "mean": {
                "value": self.over_dialogues.to_json()["value"],
                "over_dialogues": self.over_dialogues.to_json(),
                "over_raters": self.over_raters.to_json(),
            },
            "krippendorff_alpha": {"level": self.level, **self.alpha.to_json()},
            "fleiss_kappa": self.kappa.to_json(),
            "systems": {name: of.to_json() for name, of in self.systems.items()},
        }

    def lines(self) -> list[str]:
        """Return the statistics as lines of text."""
        given = ", ".join(f"{_answer(value)}: {count}" for value, count in self.answers.items())
        given = given if len(self.answers) <= _MOST_ANSWERS else f"{len(self.answers)} different ones"
        rows = {
            "mean, over dialogues": self.over_dialogues,
            "mean, over raters": self.over_raters,
            f"alpha ({self.level})": self.alpha,
            "Fleiss' kappa": self.kappa,
            **self.systems,
        }
        if self.over_dialogues.value is None:
            rows = {name: of for name, of in rows.items() if name != "mean, over raters"}
        sizes = {"rating": self.ratings, "dialogue": self.dialogues, "rater": self.raters}
        size = ", ".join(counted(number, noun) for noun, number in sizes.items())
        return [
            "",
            f"{self.question}: {size}",
            f"  {'answers':<{_NAME}}{given}",
            *(f"  {name:<{_NAME}}{of.text()}" for name, of in rows.items()),
        ]


@dataclass(frozen=True, slots=True)
class RatingReport:
    """Statistics about ratings and comparisons.

    Attributes:
        questions: the statistics for each question.
        ranking: the ranking of players; None if there are no comparisons.
        unanswered: the number of unanswered questions.
    """

    questions: tuple[QuestionReport, ...]
    ranking: Ranking | None
    unanswered: int

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a JSON object."""
        return {
            "questions": {each.question: each.to_json() for each in self.questions},
            "ranking": self.ranking.to_json() if self.ranking is not None else None,
            "unanswered": self.unanswered,
        }

    def text(self) -> str:
        """Return the statistics as tables in plain text."""
        lines = [rule("="), "Ratings, with 95 % intervals", rule("=")]
        for each in self.questions:
            lines += each.lines()
        if self.ranking is not None:
            lines += _ranking_lines(self.ranking)
        if self.unanswered:
            lines += ["", f"Note: {counted(self.unanswered, 'unanswered question')}, not counted."]
        if self.questions:
            lines += ["", "Intervals for means, alpha and kappa: bootstrap over dialogues (or raters)."]
        return "\n".join([*lines, rule("=")]) + "\n"


def rating_report(judgements: Judgements, level: Level | None = None) -> RatingReport:
    """Compute all statistics about ratings and comparisons.

    Args:
        judgements: the ratings and comparisons.
        level: the level of measurement for alpha; by default, nominal for words and ordinal for numbers.
    """
    questions = tuple(
        _question(name, ratings, level) for name, ratings in by_question(judgements.ratings).items()
    )
    ranking = rank_players(judgements.comparisons) if judgements.comparisons else None
    return RatingReport(questions, ranking, judgements.unanswered)


def _question(name: str, ratings: list[Rating], level: Level | None) -> QuestionReport:
    words = any(isinstance(each.value, str) for each in ratings)
    used: Level = "nominal" if words else level or "ordinal"
    systems = sorted({each.system for each in ratings if each.system})
    return QuestionReport(
        name,
        len(ratings),
        len({each.dialogue for each in ratings}),
        len({each.rater for each in ratings}),
        used,
        answers(ratings),
        mean_answer(ratings),
        mean_answer(ratings, "rater"),
        krippendorff_alpha(ratings, used),
        fleiss_kappa(ratings),
        {system: mean_answer([each for each in ratings if each.system == system]) for system in systems},
    )


def _answer(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _ranking_lines(ranking: Ranking) -> list[str]:
    compared = sum(each.wins + each.losses + each.ties for each in ranking.standings) // 2
    lines = [
        "",
        f"Ranking by {counted(compared, 'comparison')} (Bradley-Terry; resampled: {ranking.resampled})",
    ]
    if ranking.why:
        lines.append(f"  not defined: {ranking.why}")
    lines.append(f"  {'':<{_NAME}}{'won':>6}{'lost':>6}{'tied':>6}   rank; strength in log-odds")
    for each in ranking.standings:
        counts = f"  {each.player:<{_NAME}}{each.wins:>6}{each.losses:>6}{each.ties:>6}"
        rank = each.rank._replace(why="") if each.rank.value is not None else each.rank
        told = "" if ranking.why else f"   {rank.text(0)}; {each.strength.text(2)}"
        lines.append(counts + told)
    if not ranking.why:
        lines.append(f"  {'share of ties':<{_NAME}}{ranking.tie.text()}")
    if ranking.left_out:
        lines.append(f"  Note: {counted(ranking.left_out, 'comparison')} of a player with itself left out.")
    return lines


def rating_plot(report: RatingReport) -> bytes:
    """Plot means and strengths with confidence intervals, and return the plot as PNG data.

    Raises:
        InputError: matplotlib is not installed, or no statistic is defined.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise InputError(
            "--plot needs matplotlib: pip install 'birdenv[report]' (in a clone: -e '.[report]')"
        ) from None
    panels = _panels(report)
    if not panels:
        raise InputError("--plot: no statistic is defined, so there is nothing to plot")
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


_NAME = 24
_MOST_ANSWERS = 20
