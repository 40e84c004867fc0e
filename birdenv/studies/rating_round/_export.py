"""Export ratings, comparisons, people and dialogues from a study or a rating round as rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import exists, write_records, write_text
from birdenv.statistics import counted
from birdenv.studies.rating_round._store import RATINGS, RatingStore
from birdenv.studies.ratings._judgements import FORMULA_SIGNS
from birdenv.studies.study._store import FILE, Store

ROW_FORMATS: Final = {
    "ratings": ("dialogue", "rater", "question", "value", "seat", "system", "task"),
    "pairs": (
        *("left", "right", "winner", "rater", "justification"),
        *("left_dialogue", "right_dialogue", "seat", "task"),
    ),
    "dialogues": (
        *("dialogue", "task", "partner", "players", "started", "minutes", "moves"),
        *("status", "rewards"),
    ),
    "answers": ("dialogue", "task", "seat", "person", "question", "value"),
    "people": ("person", "platform_id", "role", "status", "ending", "code", "since", "dialogues"),
}
"""The columns of each format."""


def rating_rows(folder: Path, form: str) -> list[dict[str, Any]]:
    """Return raters' judgements in chronological order. The round may still be running.

    Args:
        folder: the folder of the rating round.
        form: `ratings` returns a row for each answered question about a dialogue, in which `value` is a point
            on the scale or free text. `pairs` returns a row for each comparison, in which `left` and `right`
            are the systems on the two sides of the page, and `winner` is `left`, `right`, `tie` or
            `both_bad`.

    Raises:
        InputError: there are no ratings in the folder.
    """
    if not exists(folder / RATINGS):
        raise InputError(f"{folder} contains no ratings: collect some with birdenv web --rate")
    with closing(RatingStore(folder, for_reading=True)) as store:
        said = store.said()
    if form == "pairs":
        return [_ordered(form, {"rater": rater, **each}) for rater, each in said if "winner" in each]
    return [
        _ordered(form, {"rater": rater, "question": name, "value": value, **each})
        for rater, each in said
        for name, value in each.get("answers", {}).items()
        if value is not None
    ]


def dialogue_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Yield a row for each finished dialogue in a study, with times in UTC.

    Players and rewards are listed in the order of the seats.
    """
    moves = store.move_counts()
    for each in store.finished():
        row = each._asdict() | {"dialogue": each.id, "players": " ".join(each.seats)}
        row |= {"started": _utc(each.started), "moves": moves.get(each.id, 0)}
        row["minutes"] = round(((each.ended or each.started) - each.started) / 60, 2)
        row["rewards"] = " ".join(f"{reward:g}" for reward in each.rewards or ())
        yield _ordered("dialogues", row)


def survey_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Yield a row for each answer to a study's survey; `seat` is the seat of the person who answered."""
    for each in store.finished():
        people = store.seated(each.id)
        for seat, answers in store.surveys(each.id).items():
            of = {"dialogue": each.id, "task": each.task, "seat": seat, "person": people.get(seat, "")}
            for name, value in answers.items():
                if value is not None:
                    yield _ordered("answers", of | {"question": name, "value": value})


def people_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each participant of a study, or for each rater in a rating round.

    `platform_id` looks like `prolific:ID`. `since` is the time in UTC when a participant's current status
    began, or when a rater joined. `dialogues` lists a participant's dialogues as `ID/SEAT`, separated by
    spaces.

    Raises:
        InputError: the folder belongs to neither a study nor a rating round.
    """
    if not any(exists(folder / name) for name in (FILE, RATINGS)):
        raise InputError(f"{folder} contains neither a study nor a rating round")
    if exists(folder / FILE):
        with closing(Store(folder / FILE, for_reading=True)) as store:
            for person, dialogues in store.everybody():
                row = person._asdict() | {"person": person.id, "platform_id": person.external}
                row |= {"role": "participant", "since": _utc(person.since), "dialogues": " ".join(dialogues)}
                yield _ordered("people", row)
    if exists(folder / RATINGS):
        with closing(RatingStore(folder, for_reading=True)) as ratings:
            for id, external, joined, code in ratings.everybody():
                row = {"person": id, "platform_id": external, "role": "rater", "since": _utc(joined)}
                row |= {"status": "finished" if code else "rating", "ending": None, "code": code}
                yield _ordered("people", row | {"dialogues": ""})


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _write_rows(form: str, output: Path, folders: Iterable[Path], min_reward: float | None = None) -> str:
    """Write the ratings, pairs or people of folders to a file, and return a message for the user.

    The file is CSV if its name ends in `.csv`, and otherwise JSON Lines. `min_reward` is ignored; it exists
    because all export functions have the same parameters.
    """
    read = people_rows if form == "people" else partial(rating_rows, form=form)
    rows = [row for folder in folders for row in read(folder)]
    if not rows:
        raise InputError(f"there are no {form} to export")
    if output.suffix.lower() == ".csv":
        write_text(output, csv_text(rows, form))
    else:
        write_records(output, rows)
    return f"{counted(len(rows), 'row')}: {output}"


write_ratings = partial(_write_rows, "ratings")
write_pairs = partial(_write_rows, "pairs")
write_people = partial(_write_rows, "people")


def csv_text(rows: Iterable[Mapping[str, Any]], form: str) -> str:
    """Return rows as CSV text, with the columns that `ROW_FORMATS` defines for the format `form`."""
    text = io.StringIO()
    table = csv.DictWriter(text, ROW_FORMATS[form], lineterminator="\n")
    table.writeheader()
    table.writerows({name: _plain(cell) for name, cell in row.items()} for row in rows)
    return text.getvalue()


def _plain(cell: Any) -> Any:
    """Return a cell so that a spreadsheet shows it as text and does not evaluate it as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_SIGNS) else cell


def _ordered(form: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ROW_FORMATS[form]}
