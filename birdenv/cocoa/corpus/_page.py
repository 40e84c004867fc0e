"""Write a corpus as one HTML page with group statistics and all dialogues, which readers can annotate.

The page needs no network, and shows dialogues as plain text, never as markup. The dialogues are stored in
chunks, which are parsed on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader

from birdenv.cocoa.corpus._analysis import Analysis, figure_of
from birdenv.cocoa.corpus._corpus import CorpusDialogue
from birdenv.cocoa.corpus._dialogue_measures import DIALOGUE_MEASURES, Metric, Unit
from birdenv.cocoa.corpus._seat_measures import SEAT_MEASURES
from birdenv.report.offline_page import source_digest
from birdenv.report.run_data import script_json
from birdenv.statistics import counted, rounded

CHUNK: Final = 100
"""The number of dialogues that are parsed together."""
_SHOWN: Final = ("question", "database")
"""The fields of an SQL task that the page shows."""
_FILES: Final = Path(__file__).parent / "page"


def page(analysis: Analysis) -> str:
    """Return an HTML page about a corpus. From private records, the page shows only counts."""
    dialogues = analysis.dialogues
    shown = [_shown(each) for each in dialogues]
    chunks = [script_json(shown[start : start + CHUNK]) for start in range(0, len(shown), CHUNK)]
    data = {
        "key": sha256("\n".join(each.id for each in dialogues).encode("utf-8", "replace")).hexdigest()[:16],
        "chunk": CHUNK,
        "ids": [each.id for each in dialogues],
        "moves": [len(each.moves) for each in dialogues],
        "dialogues": _figures(analysis, analysis.units, DIALOGUE_MEASURES)
        | {
            "groups": {
                kind: _coded([unit.groups.get(kind, "") for unit in analysis.units])
                for kind in dict.fromkeys(kind for unit in analysis.units for kind in unit.groups)
            }
        },
        "seats": _figures(analysis, analysis.seats, SEAT_MEASURES),
        "tables": rounded(analysis.tables),
        "ratings": analysis.ratings.to_json() if analysis.ratings is not None else None,
        "correlations": analysis.correlations,
    }
    script, style = (_FILES / "page.js").read_text("utf-8"), (_FILES / "page.css").read_text("utf-8")
    templates = Environment(loader=FileSystemLoader(_FILES), autoescape=True)
    return templates.get_template("page.html").render(
        title=counted(len(dialogues), "dialogue"),
        script=script,
        style=style,
        script_hash=source_digest(script),
        style_hash=source_digest(style),
        data=script_json(data),
        chunks=chunks,
    )


def _figures(analysis: Analysis, units: Sequence[Unit], measures: Sequence[Metric]) -> dict[str, Any]:
    """Return the measures that apply, and their statistics for all units and for each group of units.

    A statistic is a list: the number of units, the value, and the ends of its confidence interval, if any.
    """
    there = [each for each in measures if any(each.name in unit.values for unit in units)]
    kinds = {kind: list(groups.items()) for kind, groups in analysis.groups(units).items()}
    return {
        "measures": [
            {"name": each.name, "title": each.title, "group": each.group, "rate": each.is_rate}
            for each in there
        ],
        "figures": {
            kind: [[name or "none", _rows(members, there)] for name, members in groups]
            for kind, groups in {"": [("all", list(units))], **kinds}.items()
        },
    }


def _rows(units: Sequence[Unit], measures: Sequence[Metric]) -> dict[str, list[Any]]:
    found = {}
    for each in measures:
        count = sum(each.name in unit.values for unit in units)
        if count:
            figure = figure_of(units, each)
            found[each.name] = [count, rounded(figure.value), *rounded(figure.interval or ())]
    return found


def _coded(names: Sequence[str]) -> dict[str, Any]:
    """Return the distinct names, and for each dialogue the index of its name among the distinct names."""
    known = {each: number for number, each in enumerate(sorted(set(names)))}
    return {"names": list(known), "of": [known[each] for each in names]}


def _shown(dialogue: CorpusDialogue) -> dict[str, Any]:
    return {
        "seats": dialogue.seats,
        "players": dialogue.players,
        "scenario": dialogue.scenario_id,
        "about": _about(dialogue),
        "outcome": dialogue.outcome,
        "surveys": dialogue.surveys,
        "events": list(_events(dialogue)),
    }


def _about(dialogue: CorpusDialogue) -> dict[str, Any]:
    """Return the scenario of one of CoCoA's games, or the question and the database of an SQL task."""
    if dialogue.game in ("mutual-friends", "bargain", "deal-or-no-deal"):
        return {"kbs": dialogue.scenario.get("kbs")}
    return {name: dialogue.scenario[name] for name in _SHOWN if isinstance(dialogue.scenario.get(name), str)}


def _events(dialogue: CorpusDialogue) -> Iterator[list[Any]]:
    """Yield a row for each event: seat, time, action, data, reply, sender of the reply, refused.

    Empty cells at the end of a row are left out.
    """
    for event in dialogue.events:
        if event.action in ("join", "leave", "typing"):
            continue
        metadata = event.metadata or {}
        row = [
            event.agent,
            event.time,
            event.action,
            event.data,
            metadata.get("reply"),
            metadata.get("sender"),
            1 if metadata.get("refused") else 0,
        ]
        while row[-1] in (None, 0, ""):
            row.pop()
        yield row
