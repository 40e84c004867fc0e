"""Compute corpus statistics for groups of dialogues and seats, and tables of words and acts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from birdenv.cocoa.corpus._corpus import CorpusDialogue
from birdenv.cocoa.corpus._dialogue_measures import DIALOGUE_MEASURES, MeasuredDialogue, Metric, Unit
from birdenv.cocoa.corpus._rater_answers import CorpusRatings, Rated, correlations
from birdenv.cocoa.corpus._seat_measures import SEAT_MEASURES
from birdenv.cocoa.corpus._word_act_tables import act_tables, length_table, price_table, text_tables
from birdenv.errors import InputError
from birdenv.statistics import Figure, counted, number, ratio_figure, rounded, rule, undefined

_MOST_GROUPS: Final = 40
"""Groupings with more groups are left out of tables, which would otherwise list single dialogues."""


@dataclass(frozen=True)
class Analysis:
    """The measured dialogues in a corpus, with methods that compute statistics and tables.

    Attributes:
        units: the dialogues with their measures and groups.
        seats: the seats of all dialogues with their measures and groups.
        rated: people's ratings of the dialogues; may be empty.
    """

    units: tuple[Unit, ...]
    seats: tuple[Unit, ...]
    rated: Rated

    @property
    def dialogues(self) -> list[CorpusDialogue]:
        """Return the dialogues without their measures."""
        return [each.reading.dialogue for each in self.units]

    @property
    def ratings(self) -> CorpusRatings | None:
        """Return the statistics about the ratings, or None if there are no ratings."""
        return self.rated.report

    def figures(self, units: Sequence[Unit], measures: Sequence[Metric]) -> dict[str, Figure]:
        """Return the statistics of several measures over dialogues or seats, keyed by measure name.

        Measures that do not apply to this corpus are left out.
        """
        return {each.name: figure_of(units, each) for each in measures if each.name in self._shown}

    @cached_property
    def _shown(self) -> set[str]:
        """Return the names of measures that have a value in some dialogue, or a reason why they have none."""
        found = {name for unit in (*self.units, *self.seats) for name in unit.values}
        missing = [each for each in (*DIALOGUE_MEASURES, *SEAT_MEASURES) if each.missing]
        return found | {each.name for each in missing if any(each.fits(u.reading) for u in self.units)}

    def groups(self, units: Sequence[Unit]) -> dict[str, dict[str, list[Unit]]]:
        """Group dialogues or seats by several criteria, such as `game`, `players` or `outcome`.

        The result maps each criterion to its groups, keyed by group name. Except for `seat`, criteria with a
        single group or more than 40 groups are left out.
        """
        found: dict[str, dict[str, list[Unit]]] = defaultdict(lambda: defaultdict(list))
        for unit in units:
            for kind, name in unit.groups.items():
                found[kind][name].append(unit)
        return {
            kind: dict(sorted(groups.items()))
            for kind, groups in found.items()
            if 2 <= len(groups) <= _MOST_GROUPS or kind == "seat"
        }

    @cached_property
    def tables(self) -> dict[str, Any]:
        """Return tables about the whole corpus: text, dialogue acts, lengths and prices."""
        readings = [each.reading for each in self.units]
        return {
            "text": text_tables(readings),
            "acts": act_tables(readings),
            "lengths": length_table(readings),
            "prices": price_table(readings),
        }

    def to_json(self) -> dict[str, Any]:
        """Return all statistics, tables and correlations as a JSON object."""
        return {
            "dialogues": len(self.units),
            "sources": dict(Counter(each.source for each in self.dialogues)),
            "figures": self._json(self.units, DIALOGUE_MEASURES),
            "by": self._by(self.units, DIALOGUE_MEASURES),
            "seats": self._by(self.seats, SEAT_MEASURES),
            **rounded(self.tables),
            "ratings": self.ratings.to_json() if self.ratings is not None else None,
            "correlations": self.correlations,
        }

    def _json(self, units: Sequence[Unit], measures: Sequence[Metric]) -> dict[str, Any]:
        found = self.figures(units, measures)
        titles = {each.name: each.title for each in measures}
        return {
            name: {"title": titles[name], "counted": _counted(units, name), **figure.to_json()}
            for name, figure in found.items()
        }

    def _by(self, units: Sequence[Unit], measures: Sequence[Metric]) -> dict[str, Any]:
        return {
            kind: {name: self._json(members, measures) for name, members in groups.items()}
            for kind, groups in self.groups(units).items()
        }

    def text(self) -> str:
        """Return the main statistics as plain text. The HTML page and the JSON object contain more."""
        games = ", ".join(sorted({each.game or "unknown game" for each in self.dialogues}))
        lines = [rule("="), f"{counted(len(self.units), 'dialogue')}: {games}", rule("=")]
        for source, count in Counter(each.source for each in self.dialogues).items():
            lines.append(f"{source}: {count}")
        lines += _lines("Dialogues", self.figures(self.units, DIALOGUE_MEASURES), DIALOGUE_MEASURES)
        for name, members in self.groups(self.seats).get("seat", {}).items():
            lines += _lines(name, self.figures(members, SEAT_MEASURES), SEAT_MEASURES)
        for kind, groups in self.groups(self.units).items():
            if kind in ("outcome", "status"):
                continue
            lines += ["", f"Success by {kind}"]
            measure = DIALOGUE_MEASURES[0]
            lines += [f"  {name:<40}{figure_of(members, measure).text()}" for name, members in groups.items()]
        for name, table in self.tables["text"]["by_seat"].items():
            numbers = ", ".join(
                f"{key.replace('_', ' ')} {value:g}"
                for key, value in rounded(table).items()
                if isinstance(value, int | float)
            )
            lines += ["", f"Words of {name}", f"  {numbers}"]
        if self.ratings is not None:
            lines += ["", self.ratings.text().rstrip()]
        lines += [
            "",
            "95 % intervals over scenarios: Wilson's for rates of scenarios played once, and for rates of "
            "0 and 1; otherwise bootstrap.",
            rule("="),
        ]
        return "\n".join(lines) + "\n"

    @cached_property
    def correlations(self) -> list[dict[str, Any]]:
        """Return the correlations between ratings and measures, strongest first."""
        return correlations(self.units, self.seats, self.rated.answers)


def analyse(dialogues: Sequence[CorpusDialogue], rated: Rated | None = None) -> Analysis:
    """Measure all dialogues in a corpus, and all their seats.

    Args:
        dialogues: the dialogues in the corpus.
        rated: people's ratings of the dialogues, to correlate with the measures; None if there are no
            ratings.

    Raises:
        InputError: there are no dialogues.
    """
    if not dialogues:
        raise InputError("there are no dialogues to analyse")
    readings = [MeasuredDialogue(each) for each in dialogues]
    units = tuple(_unit(reading) for reading in readings)
    seats = tuple(
        _seat_unit(unit, seat) for unit in units for seat in range(len(unit.reading.dialogue.players))
    )
    return Analysis(units, seats, rated or Rated())


def _unit(reading: MeasuredDialogue) -> Unit:
    dialogue = reading.dialogue
    values = {each.name: value for each in DIALOGUE_MEASURES if (value := each.of(reading)) is not None}
    about = {
        "game": dialogue.game or "unknown",
        "source": dialogue.source,
        "players": " + ".join(dialogue.players),
        "kind": dialogue.kind,
        "outcome": {True: "success", False: "failure", None: "unknown"}[reading.success],
        "status": dialogue.status or "unknown",
        **_scenario_groups(reading),
    }
    return Unit(reading, None, values, about)


def _seat_unit(unit: Unit, seat: int) -> Unit:
    dialogue = unit.reading.dialogue
    values = {
        each.name: value for each in SEAT_MEASURES if (value := each.of(unit.reading, seat)) is not None
    }
    name = f"{dialogue.seats[seat]}: {dialogue.players[seat]}"
    groups = {"seat": name, "player": dialogue.players[seat], **unit.groups}
    return Unit(unit.reading, seat, values, groups)


def _scenario_groups(reading: MeasuredDialogue) -> dict[str, str]:
    """Return the category, database, number of items and alphas of a dialogue's scenario, if known."""
    dialogue = reading.dialogue
    found: dict[str, str] = {}
    if reading.listing is not None and reading.listing.category:
        found["category"] = reading.listing.category
    if isinstance(dialogue.scenario.get("database"), str):
        found["database"] = dialogue.scenario["database"]
    if dialogue.game == "mutual-friends" and reading.entities.lists:
        found["items"] = f"{len(reading.entities.lists[0]):2} items"
        alphas = dialogue.scenario.get("alphas")
        if isinstance(alphas, list) and alphas:
            known = (value for each in alphas if (value := number(each)) is not None)
            found["alphas"] = ", ".join(f"{each:g}" for each in sorted(known))
    return found


def figure_of(units: Sequence[Unit], measure: Metric) -> Figure:
    """Return the mean of a measure over dialogues or seats, with a confidence interval over scenarios."""
    with_value = [(unit.values[measure.name], unit) for unit in units if measure.name in unit.values]
    if not with_value:
        return undefined(measure.why_missing([unit.reading for unit in units]))
    clusters = [unit.reading.dialogue.scenario_id or unit.reading.dialogue.id for _, unit in with_value]
    return ratio_figure([value for value, _ in with_value], clusters, is_rate=measure.is_rate)


def _counted(units: Sequence[Unit], name: str) -> int:
    return sum(name in unit.values for unit in units)


def _lines(title: str, figures: Mapping[str, Figure], measures: Sequence[Metric]) -> list[str]:
    """Return a table of statistics. Measures of a group that are missing for the same reason share a line."""
    lines = ["", title]
    shown = [each for each in measures if each.name in figures]
    missing = Counter(
        (each.group, figures[each.name].why) for each in shown if not _is_defined(each, figures)
    )
    for measure in shown:
        figure = figures[measure.name]
        count = 1 if _is_defined(measure, figures) else missing.pop((measure.group, figure.why), 0)
        if count:
            name = measure.title if count == 1 else f"{measure.group}: {count} further measures"
            lines.append(f"  {name:<46} {figure.text()}")
    return lines


def _is_defined(measure: Metric, figures: Mapping[str, Figure]) -> bool:
    return figures[measure.name].value is not None
