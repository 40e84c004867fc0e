"""Read dialogue ratings and player comparisons from files."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from birdenv.errors import InputError
from birdenv.files import read_records, read_text

RATING_COLUMNS: Final = ("dialogue", "rater", "question", "value")
COMPARISON_COLUMNS: Final = ("left", "right", "winner", "rater")
FORMULA_SIGNS: Final = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of formulas. Exports put a quote before such cells, and reading removes it."""

_DELIMITERS: Final = ",;\t"


def table_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield pairs (position, row) for a file. The position is a description for error messages.

    Raises:
        InputError: the file is damaged, or is neither CSV nor JSON.
    """
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty: expected ratings with the columns {', '.join(RATING_COLUMNS)}")
    if text.lstrip()[0] not in "[{":
        yield from _table(text, path)
        return
    for number, row in enumerate(read_records(path, "ratings"), 1):
        place = f"{path}: record {number}"
        if not {"value", "winner"} & row.keys():
            raise InputError(f"{place}: a rating needs `value`, and a comparison needs `winner`")
        yield place, row


def _table(text: str, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a CSV file. The delimiter is inferred from the first line."""
    head = text.lstrip().split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    at = f"{path}: line 1"
    try:
        for cells in reader:
            at = f"{path}: line {reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = [cell.strip().lower() for cell in cells]
                _check_names(names, at)
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"{at} has {len(cells)} cells, but the first line names {len(names)} columns"
                )
            yield at, dict(zip(names, map(_unquoted, cells), strict=True))
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num} is not valid CSV: {error}") from None


def _unquoted(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_SIGNS) else cell


def _check_names(names: list[str], at: str) -> None:
    twice = {name for name in names if names.count(name) > 1 and name}
    if twice:
        raise InputError(f"{at} names the column {min(twice)!r} twice")
    known = COMPARISON_COLUMNS if "winner" in names else RATING_COLUMNS
    missing = [name for name in known if name not in names]
    if missing:
        raise InputError(
            f"{at} must name the columns {', '.join(RATING_COLUMNS)} or {', '.join(COMPARISON_COLUMNS)}; "
            f"missing: {', '.join(missing)}"
        )


_MOST: Final = 1e50
"""Sums and squares of smaller numbers are finite."""
_FURTHER: Final = ("justification", "task", "left_dialogue", "right_dialogue", "seat")
"""The optional columns of comparisons."""
WINNERS: Final = ("left", "right", "tie", "both_bad")


class Rating(NamedTuple):
    """A person's answer to one question about one dialogue.

    Attributes:
        dialogue: the id of the dialogue.
        rater: the id of the rater.
        question: the name of the question.
        value: a number, or a word on a nominal scale.
        seat: the rated seat; empty if the rating is about the whole dialogue.
        system: the player in the rated seat; empty if the file does not name the player.
        justification: the rater's reason in words.
    """

    dialogue: str
    rater: str
    question: str
    value: float | str
    seat: str = ""
    system: str = ""
    justification: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """Return the key that identifies a rating: the rated unit, the rater and the question."""
        return *self.unit, self.rater, self.question

    @property
    def unit(self) -> tuple[str, str, str]:
        """Return the rated unit: dialogue, seat, and system, because systems can share dialogue ids."""
        return self.dialogue, self.seat, self.system


class BlindChoice(NamedTuple):
    """A rater's choice between two players whose names were hidden.

    Attributes:
        left: the player on the left.
        right: the player on the right.
        winner: `left`, `right`, `tie`, or `both_bad`.
        rater: the id of the rater.
        justification: the rater's reason in words.
        task: the task of both dialogues; empty if unknown.
        left_dialogue: the id of the dialogue on the left; empty if unknown.
        right_dialogue: the id of the dialogue on the right; empty if unknown.
        seat: the seat that was compared; empty if unknown.
    """

    left: str
    right: str
    winner: str
    rater: str
    justification: str = ""
    task: str = ""
    left_dialogue: str = ""
    right_dialogue: str = ""
    seat: str = ""


class Judgements(NamedTuple):
    """Ratings, comparisons, and the number of questions that raters left unanswered."""

    ratings: tuple[Rating, ...] = ()
    comparisons: tuple[BlindChoice, ...] = ()
    unanswered: int = 0


_Row: TypeAlias = Rating | BlindChoice


def read_judgements(path: Path) -> Judgements:
    """Return the ratings or comparisons in a file. The column names determine which.

    A row without a value counts as an unanswered question. A repeated rating counts once. Unknown columns are
    ignored.

    Raises:
        InputError: the file cannot be read, or a row is invalid; the message states the row's position.
    """
    found = _judgements(table_rows(path), f"{path}: ")
    if found == Judgements():
        raise InputError(f"{path} contains no ratings")
    return found


def listed_judgements(rows: Iterable[Mapping[str, Any]], where: str) -> Judgements:
    """Validate judgements in the form of JSON objects, such as a rating round's export, and return them.

    Args:
        rows: the JSON objects.
        where: the origin of the objects, such as a file, for error messages.

    Raises:
        InputError: a row is invalid; the message names the row.
    """
    return _judgements(((f"{where}: row {number}", row) for number, row in enumerate(rows, 1)), f"{where}: ")


def _judgements(rows: Iterable[tuple[str, Mapping[str, Any]]], where: str) -> Judgements:
    ratings: dict[tuple[str, ...], tuple[str, Rating]] = {}
    comparisons: list[BlindChoice] = []
    unanswered = 0
    for place, row in rows:
        made = _made(row, place)
        if made is None:
            unanswered += 1
        elif isinstance(made, BlindChoice):
            comparisons.append(made)
        else:
            first_place, first = ratings.setdefault(made.key, (place, made))
            if made.value != first.value:
                raise InputError(
                    f"{place}: {made.rater!r} answered {made.question!r} about {made.dialogue!r} with "
                    f"{_shown(made.value)} here and with {_shown(first.value)} in "
                    f"{first_place.removeprefix(where)}"
                )
    return Judgements(tuple(each for _, each in ratings.values()), tuple(comparisons), unanswered)


def joined(several: Iterable[Judgements]) -> Judgements:
    """Combine judgements from several sources. A judgement that occurs in several sources counts once.

    If a rater compared two dialogues repeatedly, a source contains the same comparison several times. The
    number of copies in the result is then the maximum over the sources.

    Raises:
        InputError: a rater answered the same question in two different ways.
    """
    ratings: dict[tuple[str, ...], Rating] = {}
    comparisons: list[BlindChoice] = []
    known: Counter[BlindChoice] = Counter()
    unanswered = 0
    for found in several:
        for each in found.ratings:
            first = ratings.setdefault(each.key, each)
            if first.value != each.value:
                raise InputError(
                    f"two files disagree: {each.rater!r} answered {each.question!r} about {each.dialogue!r} "
                    f"with {_shown(first.value)} and with {_shown(each.value)}"
                )
        left = known.copy()
        for choice in found.comparisons:
            left[choice] -= 1
            if left[choice] < 0:
                comparisons.append(choice)
        known |= Counter(found.comparisons)
        unanswered += found.unanswered
    return Judgements(tuple(ratings.values()), tuple(comparisons), unanswered)


def _made(row: Mapping[str, Any], place: str) -> _Row | None:
    if "winner" in row:
        text = _texts(row, place, COMPARISON_COLUMNS, _FURTHER)
        if not text["winner"]:
            return None
        text["winner"] = text["winner"].lower().replace(" ", "_").replace("-", "_")
        if text["winner"] not in WINNERS:
            raise InputError(f"{place}: `winner` must be one of {', '.join(WINNERS)}, not {row['winner']!r}")
        return BlindChoice(**text)
    value = _value(row.get("value"), place)
    names = tuple(name for name in RATING_COLUMNS if name != "value")
    text = _texts(row, place, names, ("seat", "system", "justification"))
    return None if value is None else Rating(value=value, **text)


def _texts(
    row: Mapping[str, Any], place: str, needed: Iterable[str], further: Iterable[str]
) -> dict[str, str]:
    found = {}
    for name in (*needed, *further):
        value = row.get(name)
        if isinstance(value, float | dict | list | bool):
            raise InputError(f"{place}: `{name}` must be text")
        found[name] = "" if value is None else str(value).strip()
    for name in needed:
        if not found[name] and name != "winner":
            raise InputError(f"{place}: `{name}` is missing")
    return {name: value for name, value in found.items() if value or name in needed}


def _value(value: Any, place: str) -> float | str | None:
    """Return an answer as a number or a word, or None if there is no answer."""
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in ("", "null", "none", "nan", "na", "n/a"):
            return None
        try:
            value = float(text)
        except ValueError:
            return text
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        raise InputError(f"{place}: `value` is {value!r}, which is neither a number nor a word")
    if not abs(value) < _MOST:  # also for NaN
        raise InputError(f"{place}: `value` must be a finite number within the range of a scale")
    return float(value)


def _shown(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
