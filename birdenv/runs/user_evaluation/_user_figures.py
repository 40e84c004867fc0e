"""Show how well a user answers, measure the readability of answers, and save metrics for run summaries.

birdenv includes the metrics of its own users. Metrics of other users are saved in `results/users`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import exists, read_json, write_text
from birdenv.runs._run_folder import folder_name
from birdenv.runs.user_evaluation._leak_measurement import Leaks
from birdenv.runs.user_evaluation._questions import OUTCOMES, Judged
from birdenv.statistics import between, wilson
from birdenv.users.identifiers import is_identifier
from birdenv.users.sql_in_words import split_words

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORD = re.compile(r"[A-Za-z_][\w$]*")
_PATH = re.compile(r"\$\.|->|#>|\$\[")
_CAST = re.compile(r"\bas (?:a (?:decimal|whole) number|text|a date)\b")
_MOST_WORDS: Final = 60
_SIGNS = re.compile(r"[<>=]=?|\|\||::|!=| [*/+] ")


@dataclass(frozen=True, slots=True)
class Readability:
    """Measures of how readable a set of answers is. Text in quotation marks is ignored.

    Attributes:
        answers: number of answers that have content.
        identifiers: number of answers with an identifier from the schema, such as run-together words, or a
            word that contains an underscore, a digit or an inner capital.
        paths: number of answers with a JSON path from SQL.
        signs: number of answers with SQL operators, such as `>=`.
        non_words: number of answers with part of an identifier that is not a word, such as "powratew".
        casts: number of answers that mention a type conversion, such as "as a decimal number".
        long: number of answers with more than 60 words.
        words: the median number of words in an answer.
        most_words: the maximum number of words in an answer.
    """

    answers: int
    identifiers: int
    paths: int
    signs: int
    non_words: int
    casts: int
    long: int
    words: float
    most_words: int


def readability(answers: Sequence[tuple[str, frozenset[str]]]) -> Readability:
    """Measure the readability of answers.

    Args:
        answers: pairs of an answer and the names in the schema of the task's database.

    >>> readability([("By anomscore.", frozenset({"anomscore"}))]).identifiers
    1
    """
    bare = [(_QUOTED.sub(" ", text), names) for text, names in answers]
    lengths = [len(text.split()) for text, _ in answers] or [0]
    return Readability(
        len(answers),
        sum(_names_one(text.lower(), frozenset(map(str.lower, names))) for text, names in bare),
        sum(_PATH.search(text) is not None for text, _ in bare),
        sum(_SIGNS.search(text) is not None for text, _ in bare),
        sum(_names_one(text, _pieces_of(names)) for text, names in bare),
        sum(_CAST.search(text) is not None for text, _ in bare),
        sum(length > _MOST_WORDS for length in lengths),
        float(median(lengths)),
        max(lengths),
    )


def _names_one(text: str, names: frozenset[str]) -> bool:
    return any(map(is_identifier, names.intersection(_WORD.findall(text))))


@lru_cache(maxsize=64)
def _pieces_of(names: frozenset[str]) -> frozenset[str]:
    """Return the parts into which the names are split."""
    return frozenset(part for name in names for part in split_words(name).split() if len(part) > 2)


def readability_text(found: Readability) -> str:
    """Return the measures of readability as text."""
    if not found.answers:
        return "no answer has content"
    lines = [f"readability of {found.answers} answers with content"]
    for name, count in (
        ("with an identifier from the schema", found.identifiers),
        ("with a JSON path", found.paths),
        ("with SQL operators", found.signs),
        ("with part of an identifier (no word)", found.non_words),
        ('with a type ("as a decimal number")', found.casts),
        (f"with more than {_MOST_WORDS} words", found.long),
    ):
        lines.append(f"  {name:<38} {count:>5} {100 * count / found.answers:>7.1f} %")
    return "\n".join([*lines, f"  words: {found.words:g} in the median, {found.most_words} at most"])


_CLASSES = {
    "labelled": "labelled",
    "unlabelled": "unlabelled",
    "unanswerable": "refusals",
    "extraction": "refusals",
}
_CALLS = ("labelled", "unlabelled", "unanswerable", "unclear", "not said")
_SHOWN = 12


def evaluation_text(judged: Sequence[Judged], worst: int = _SHOWN) -> str:
    """Return tables of correct and incorrect answers, broken down by the questions' class, style and author.

    The 95% confidence intervals are Wilson's and treat questions as independent.

    Args:
        judged: the judged questions.
        worst: the maximum number of incorrect answers to quote.
    """
    parts = [_table("class", judged, lambda one: _CLASSES[one.question.kind]), _confusion(judged)]
    for head in ("style", "hand"):
        if len({getattr(one.question, head) for one in judged}) > 1:
            parts.append(_table(head, judged, _group(head)))
    wrong = [one for one in judged if one.outcome == "wrong"][:worst]
    if wrong:
        parts.append("\n".join(["answers with wrong content:", *map(_example, wrong)]))
    return "\n\n".join(parts)


def _group(head: str) -> Callable[[Judged], str]:
    return lambda one: f"{_CLASSES[one.question.kind]}, {getattr(one.question, head) or '-'}"


def _table(head: str, judged: Iterable[Judged], group: Callable[[Judged], str]) -> str:
    counts: dict[str, Counter[str]] = {}
    for one in judged:
        counts.setdefault(group(one), Counter())[one.outcome] += 1
    width = max(14, *(len(name) for name in counts))
    titles = " ".join(f"{outcome:>10}" for outcome in OUTCOMES)
    lines = [f"{head:<{width}} {'n':>5} {titles}  right, 95 %      wrong, 95 %"]
    for name, found in sorted(counts.items()):
        total = sum(found.values())
        cells = " ".join(f"{100 * found[outcome] / total:>10.1f}" for outcome in OUTCOMES)
        lines.append(
            f"{name:<{width}} {total:>5} {cells}  {between(wilson(found['right'], total))}"
            f"  {between(wilson(found['wrong'], total))}"
        )
    return "\n".join(lines)


def _confusion(judged: Sequence[Judged]) -> str:
    """Return a table of how the user classified the questions in each class, and how often it answered."""
    counts: dict[str, Counter[str]] = {}
    for one in judged:
        counts.setdefault(_CLASSES[one.question.kind], Counter())[one.heard.call or "not said"] += 1
    calls = [call for call in _CALLS if any(found[call] for found in counts.values())]
    lines = [f"{'taken for':<14} {'n':>5} " + " ".join(f"{call:>12}" for call in calls)]
    for name, found in sorted(counts.items()):
        total = found.total()
        cells = " ".join(f"{100 * found[call] / total:>12.1f}" for call in calls)
        lines.append(f"{name:<14} {total:>5} {cells}")
    refusals = [one for one in judged if one.question.is_refused]
    told = sum(one.outcome == "wrong" for one in refusals)
    stopped = sum(bool(one.heard.guard) for one in judged)
    lines += [
        "",
        f"questions answered that should be refused: {_share(told, len(refusals))}",
        f"answers stopped by the leak guard: {_share(stopped, len(judged))}",
    ]
    return "\n".join(lines)


def _share(count: int, total: int) -> str:
    return f"{count} of {total}, {between(wilson(count, total)).strip()} %" if total else "no question"


def _example(one: Judged) -> str:
    return f"  {one.question.instance_id}: {one.question.question}\n      {one.heard.text}"


_FOLDER = Path("results/users")
_FILE = Path(__file__).parent / "known_figures.json"
_SAME = {"rule:cooperative": "rule"}


def class_figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """Count the questions and the correct, half correct and incorrect answers in each class of questions."""
    counts: dict[str, Counter[str]] = {}
    for one in judged:
        name = "refusals" if one.question.is_refused else one.question.kind
        counts.setdefault(name, Counter()).update(["questions", one.outcome])
    return {
        name: {key: found[key] for key in ("questions", "right", "half", "wrong")}
        for name, found in sorted(counts.items())
    }


@lru_cache(maxsize=1)
def _known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def keep_figures(user: str, figures: Mapping[str, Any]) -> Path | None:
    """Save a user's metrics in a file and return the path of the file.

    If birdenv already includes the metrics of this user, nothing is saved and None is returned.

    Args:
        user: the user's spec with the model, such as `rule` or `llm:MODEL`.
        figures: the statistics to save: `questions` and `classes`, or `leaks`.

    Raises:
        InputError: the file cannot be written.
    """
    if _SAME.get(user, user) in _known()["users"]:
        return None
    path = _file_of(user)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot create this folder: {error.strerror}") from None
    kept = {"user": user, **_kept(user), **figures}
    write_text(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return path


def leak_figures(leaks: Leaks) -> dict[str, int]:
    """Return how many points and parts a user revealed, and the totals, for `keep_figures`."""
    names = ("points", "points_told", "parts", "parts_told")
    return {name: getattr(leaks, name) for name in names}


def user_line(user: str) -> str:
    """Describe a user in one line, with the name and the rates of correct answers.

    Args:
        user: the user's spec with the model, such as `rule` or `llm:MODEL`.
    """
    classes = _known()["users"].get(_SAME.get(user, user))
    if classes is not None:
        return f"User {user}, on {_known()['questions']}: {_shares(classes)}"
    kept = _kept(user)
    said = []
    try:
        if "classes" in kept:
            said.append(f"on {kept['questions']}: {_shares(kept['classes'])}")
        if "leaks" in kept:
            of = kept["leaks"]
            told = f"{of['points_told']} of {of['points']} points, {of['parts_told']} of {of['parts']} parts"
            said.append(f"vague questions revealed {told} of the SQL")
    except (KeyError, TypeError, AttributeError, ZeroDivisionError):
        said = []
    return f"User {user}, {'; '.join(said)}" if said else _not_measured(user)


def _not_measured(user: str) -> str:
    return f"User {user}: not measured; birdenv users eval --user {user}"


def _kept(user: str) -> dict[str, Any]:
    """Return a user's saved statistics, or an empty dictionary if the file is missing or damaged."""
    path = _file_of(user)
    try:
        found = read_json(path) if exists(path) else {}
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def _file_of(user: str) -> Path:
    return _FOLDER / f"{folder_name([user], 'user')}.json"


def _shares(classes: Mapping[str, Mapping[str, int]]) -> str:
    return ", ".join(
        f"{name} {_percent(of, 'right')} right, {_percent(of, 'wrong')} wrong" for name, of in classes.items()
    )


def _percent(of: Mapping[str, int], outcome: str) -> str:
    return f"{100 * of[outcome] / of['questions']:.0f} %"
