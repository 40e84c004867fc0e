"""Find ratings in files, run and study folders, rating rounds, and surveys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from birdenv.cocoa.corpus import CorpusDialogue, Rated, number, read_dialogues
from birdenv.dialogue.arena import listed
from birdenv.errors import InputError
from birdenv.files import exists, is_directory, write_records
from birdenv.runs import run_folder
from birdenv.studies.ratings._judgements import (
    BlindChoice,
    Judgements,
    Rating,
    joined,
    listed_judgements,
    read_judgements,
)
from birdenv.studies.ratings._ratings_report import rating_report

RATINGS_FILE: Final = "ratings.jsonl"
COMPARISONS_FILE: Final = "comparisons.jsonl"


def read_folder(folder: Path) -> Judgements:
    """Return the judgements that were imported into a folder. The result may be empty."""
    files = [folder / name for name in (RATINGS_FILE, COMPARISONS_FILE)]
    return joined(read_judgements(file) for file in files if exists(file))


def import_judgements(folder: Path, added: Judgements) -> tuple[int, int]:
    """Add judgements to `ratings.jsonl` and `comparisons.jsonl` in a folder.

    Returns:
        The number of new ratings, and the number of new comparisons.

    Raises:
        InputError: the folder contains a different answer to the same question.
    """
    kept = read_folder(folder)
    both = joined([kept, added])
    new = len(both.ratings) - len(kept.ratings), len(both.comparisons) - len(kept.comparisons)
    if new[0]:
        write_records(folder / RATINGS_FILE, map(_written, both.ratings))
    if new[1]:
        write_records(folder / COMPARISONS_FILE, map(_written, both.comparisons))
    return new


def check_dialogues(folder: Path, judgements: Judgements) -> None:
    """Check that the folder of a run or study contains all rated dialogues.

    Comparisons are not checked, because their two dialogues can be in different folders. A rating round is
    not checked either, because its dialogues are elsewhere.

    Raises:
        InputError: a rated dialogue is missing; the message names the first one.
    """
    if exists(folder / _ROUND) and not exists(folder / _STUDY):
        return
    known = {dialogue.name for dialogue in read_dialogues(folder)}
    unknown = next((each.dialogue for each in judgements.ratings if each.dialogue not in known), None)
    if unknown is not None:
        raise InputError(
            f"the file rates the dialogue {unknown!r}, but {folder} contains only {listed(sorted(known))}"
        )


def _written(row: Rating | BlindChoice) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if value != ""}


_STUDY: Final = "study.sqlite"
_ROUND: Final = "ratings.sqlite"
"""The database that `birdenv web --rate` writes."""


def rated_sources(
    dialogues: Sequence[CorpusDialogue], sources: Sequence[Path], files: Sequence[Path]
) -> Rated:
    """Return dialogue ratings for `birdenv analyze`. Ratings of other dialogues are left out.

    Args:
        dialogues: the dialogues, including the answers to their surveys.
        sources: the files and folders that the dialogues come from; folders can contain ratings.
        files: additional rating files.

    Raises:
        InputError: ratings cannot be read, a rating file has no ratings of these dialogues, or a rater
            answered the same question in two different ways.
    """
    known = {dialogue.name for dialogue in dialogues}
    judgements = [Judgements(survey_ratings(dialogues))]
    judgements += [judged_folder(path) for path in sources if is_directory(path)]
    for path in files:
        found = read_source(path)
        if found.ratings and known.isdisjoint(each.dialogue for each in found.ratings):
            first = found.ratings[0].dialogue
            raise InputError(
                f"{path} rates none of these dialogues: it rates {first!r}, for example, but the sources "
                f"contain only {listed(sorted(known))}"
            )
        judgements.append(found)
    both = joined(judgements)
    return rated(both._replace(ratings=tuple(each for each in both.ratings if each.dialogue in known)))


def rated(judgements: Judgements) -> Rated:
    """Convert judgements to the form that corpus analysis uses, and compute their statistics."""
    answers: dict[str, dict[tuple[str, str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in judgements.ratings:
        if isinstance(each.value, float):
            answers[each.question][each.unit].append(each.value)
    are_there = judgements.ratings or judgements.comparisons
    return Rated(rating_report(judgements) if are_there else None, answers)


def rating_folder(path: Path) -> Path:
    """Return `path` for a study or a rating round, and the result of `run_folder(path)` for a run."""
    is_own = any(exists(path / name) for name in (_STUDY, _ROUND))
    return path if is_own else run_folder(path)


def read_source(path: Path) -> Judgements:
    """Return the ratings in a file or a folder. In a study, survey answers also count as ratings.

    Raises:
        InputError: the source cannot be read, or contains no ratings.
    """
    if not is_directory(path):
        return read_judgements(path)
    found = judged_folder(path)
    if exists(path / _STUDY):
        found = joined([Judgements(survey_ratings(read_dialogues(path))), found])
    if not found.ratings and not found.comparisons:
        raise InputError(f"{path} has no ratings yet: add some with --import FILE")
    return found


def judged_folder(path: Path) -> Judgements:
    """Return the judgements in the folder of a run, a study or a rating round. The result may be empty."""
    folder = rating_folder(path)
    found = read_folder(folder)
    if not exists(folder / _ROUND):
        return found
    from birdenv.studies.rating_round._export import rating_rows

    told = (
        listed_judgements(rating_rows(folder, form), str(folder / _ROUND)) for form in ("ratings", "pairs")
    )
    return joined([found, *told])


def survey_ratings(dialogues: Sequence[CorpusDialogue]) -> tuple[Rating, ...]:
    """Convert survey answers to ratings of the seats that the answers are about.

    Questions are named `QUESTION (survey)`, which distinguishes participants' answers from the answers of
    raters, who only read the dialogue.
    """
    made = []
    for dialogue in dialogues:
        for seat in range(len(dialogue.seats)):
            answers = dialogue.surveys.get(str(seat))
            if not isinstance(answers, Mapping):
                continue
            rater = f"{dialogue.name} {dialogue.seats[1 - seat] if len(dialogue.seats) == 2 else 'partner'}"
            for question, value in answers.items():
                if (answer := number(value)) is not None:
                    made.append(
                        Rating(
                            dialogue.name,
                            rater,
                            f"{question} (survey)",
                            answer,
                            dialogue.seats[seat],
                            dialogue.players[seat],
                        )
                    )
    return tuple(made)
