"""Third-party ratings and blind comparisons, without network and under a clock of the test's own."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from web_browser import Browser, listening

from birdenv.cli import main
from birdenv.dialogue import Event
from birdenv.errors import InputError
from birdenv.studies.commands.ratings import judged_folder
from birdenv.studies.rating_round._config import RatingConfig, read_rating_config
from birdenv.studies.rating_round._export import ROW_FORMATS, csv_text, people_rows, rating_rows, write_pairs
from birdenv.studies.rating_round._pages import make_rating_app
from birdenv.studies.rating_round._raters import Ratings, items_of, side_of
from birdenv.studies.rating_round._store import RatingStore
from birdenv.studies.ratings._judgements import read_judgements, table_rows
from birdenv.studies.ratings._sources import import_judgements
from birdenv.studies.replay import ReplayedDialogue

ANSWERS = {"fluency": "5", "correctness": "4", "cooperation": "3", "humanlike": "1"}
EVENTS = (
    Event(0, 1, "message", "hello"),
    Event(1, 2, "message", "<b>good morning</b>"),
    Event(0, 3, "select", {"Name": "Ann"}, None, {"sender": "judge", "reply": "Right."}),
)


def record(number: int, system: str = "rulebased", task: str = "") -> ReplayedDialogue:
    id = f"D{number}"
    task = task or f"T{number}"
    return ReplayedDialogue(id, id, "", task, (system, "human"), "completed", (1.0,), lambda: EVENTS, None)


def compared(systems: int = 3, tasks: int = 2) -> list[ReplayedDialogue]:
    """Dialogues of each system on each task."""
    names = [f"secret-system-{each}" for each in range(systems)]
    return [
        record(task * systems + place, name, f"T{task}")
        for task in range(tasks)
        for place, name in enumerate(names)
    ]


class Round:
    """A round of ratings, and what its raters do."""

    def __init__(self, folder: Path, records: list[ReplayedDialogue], **fields: Any) -> None:
        self.now = 0.0
        self.config = RatingConfig(**fields)
        self.items = items_of(records, self.config)
        self.folder = folder
        self.store = RatingStore(folder)
        self.ratings = self.started()

    def started(self) -> Ratings:
        return Ratings(self.items, self.config, self.store, clock=lambda: self.now, rng=Random(1))

    def finish(self, rater: str, fields: dict[str, str]) -> list[str]:
        """Let a rater judge all that they are given; returns the items."""
        self.ratings.agree(rater)
        seen = []
        while item := self.ratings.next(rater):
            seen.append(item.id)
            self.ratings.judge(rater, item.id, fields)
        return seen


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "ratings"


def test_each_dialogue_has_as_many_raters_as_asked_and_nobody_has_one_twice(folder: Path) -> None:
    made = Round(folder, [record(number) for number in range(10)], seats=("agent_0", "agent_1"), raters=3)
    assert len(made.items) == 20
    given = {rater: made.finish(rater, ANSWERS) for rater in "abcde"}
    assert [len(given[rater]) for rater in "abcde"] == [20, 20, 20, 0, 0]
    assert all(len(set(items)) == len(items) for items in given.values())
    rows = rating_rows(folder, "ratings")
    assert len(rows) == 20 * 3 * 4
    units = Counter((row["dialogue"], row["seat"], row["question"]) for row in rows)
    assert set(units.values()) == {3}
    assert {row["question"]: row["value"] for row in rows} == {name: int(n) for name, n in ANSWERS.items()}
    codes = [found.code for rater in "abcde" if (found := made.store.rater(rater))]
    assert [(row["role"], row["code"]) for row in people_rows(folder)] == [("rater", code) for code in codes]
    assert len(set(codes)) == 5 and None not in codes


@pytest.mark.parametrize("seat", [0, 1])
def test_the_words_of_the_judged_seat_are_its_own(seat: int) -> None:
    lines = side_of(record(1), seat, RatingConfig()).lines
    assert {line["seat"] for line in lines if line["who"] == "you"} == {f"agent_{seat}"}


def test_ratings_spread_over_dialogues_first(folder: Path) -> None:
    made = Round(folder, [record(number) for number in range(6)], raters=2, most=2)
    seen = [item for rater in "abc" for item in made.finish(rater, ANSWERS)]
    assert len(set(seen)) == 6


def test_a_rater_goes_on_with_what_they_began_also_after_a_restart(folder: Path) -> None:
    made = Round(folder, [record(number) for number in range(5)], raters=1, hold=60)
    for rater in "ab":
        made.ratings.agree(rater)
    begun = made.ratings.next("a")
    made.ratings = made.started()
    assert made.ratings.next("a") == begun != made.ratings.next("b")
    assert begun is not None
    left = made.finish("b", ANSWERS)
    assert begun.id not in left and len(left) == 4  # it is kept for its rater
    made.now = 61
    assert made.finish("c", ANSWERS) == [begun.id]  # who did not come back


def test_what_is_missing_or_impossible_is_not_kept(folder: Path) -> None:
    made = Round(folder, [record(1)])
    made.ratings.agree("a")
    item = made.ratings.next("a")
    assert item is not None
    for wrong in ("", "6", "0", "²", "0000000059"):
        with pytest.raises(InputError):
            made.ratings.judge("a", item.id, ANSWERS | {"fluency": wrong})
    made.ratings.judge("b", item.id, ANSWERS)  # never had it
    made.ratings.judge("a", "other", ANSWERS)
    assert rating_rows(folder, "ratings") == []
    made.ratings.judge("a", item.id, ANSWERS)
    made.ratings.judge("a", item.id, ANSWERS | {"fluency": "1"})  # the first word counts
    assert {row["value"] for row in rating_rows(folder, "ratings") if row["question"] == "fluency"} == {5}


def test_comparisons_are_of_different_systems_on_one_task_in_either_order(folder: Path) -> None:
    made = Round(folder, compared(3, 4), compare="dialogues", raters=5)
    assert len(made.items) == 3 * 4
    for rater in "abcde":
        made.finish(rater, {"winner": "left", "justification": "shorter"})
    rows = rating_rows(folder, "pairs")
    assert len(rows) == 60
    assert all(row["left"] != row["right"] for row in rows)
    first = Counter(min(row["left"], row["right"]) == row["left"] for row in rows)
    assert min(first.values()) >= 15  # sides are drawn
    again = Round(folder.parent / "again", compared(3, 4), compare="dialogues", raters=5)
    for rater in "abcde":
        again.finish(rater, {"winner": "left", "justification": "shorter"})
    assert rating_rows(again.folder, "pairs") == rows


def test_a_comparison_needs_a_winner_and_a_reason(folder: Path) -> None:
    made = Round(folder, compared(2, 1), compare="answers")
    made.ratings.agree("a")
    item = made.ratings.next("a")
    assert item is not None
    for fields in ({}, {"winner": "me", "justification": "x"}, {"winner": "tie", "justification": " "}):
        with pytest.raises(InputError, match="please answer"):
            made.ratings.judge("a", item.id, fields)
    made.ratings.judge("a", item.id, {"winner": "both_bad", "justification": "neither asks"})
    [row] = rating_rows(folder, "pairs")
    assert row["winner"] == "both_bad"
    assert {row["left"], row["right"]} == {"secret-system-0", "secret-system-1"}


@pytest.mark.parametrize(
    ("records", "fields", "why"),
    [
        ([], {}, "no dialogues to rate"),
        ([record(1)], {"seats": ("system",)}, "named system"),
        ([record(1), record(2)], {"compare": "dialogues"}, "nothing to compare"),
    ],
)
def test_nothing_to_judge_is_said(records: list[ReplayedDialogue], fields: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        items_of(records, RatingConfig(**fields))


def test_questions_come_from_json_or_toml(tmp_path: Path) -> None:
    toml, other = tmp_path / "rating.toml", tmp_path / "rating.json"
    toml.write_text('raters = 5\n[[questions]]\nname = "fair"\ntext = "Was it fair?"\nscale = 7\n')
    other.write_text(json.dumps({"compare": "answers", "criterion": "Which is shorter?"}))
    assert read_rating_config(toml).questions[0].scale == 7
    assert read_rating_config(other).compare == "answers"
    for text in ("raters = 0", "raters = ", 'colour = "red"', "questions = []"):
        toml.write_text(text)
        with pytest.raises(InputError, match=r"rating\.toml"):
            read_rating_config(toml)


@pytest.mark.parametrize("compare", [None, "dialogues", "answers"])
def test_raters_come_from_consent_to_code_and_do_not_see_who_talked(folder: Path, compare: Any) -> None:
    made = Round(folder, compared(2, 2), compare=compare, seats=("agent_0",), raters=1)
    fields = {"winner": "tie", "justification": "alike"} if compare else ANSWERS
    with listening(make_rating_app(made.ratings, folder)) as port:
        rater, stranger = Browser(port, "PROLIFIC_PID=p1&SESSION_ID=s1"), Browser(port)
        assert stranger.get("/item") == 403
        assert rater.post("/consent", origin="http://evil.example") == 403
        told = [rater.page]
        rater.post("/consent")
        count = 2 if compare else 4
        for place in range(count):
            rater.get("/item")
            item = json.loads(rater.page)
            assert len(item["sides"]) == (2 if compare else 1)
            lines = [line["action"] for line in item["sides"][0]]
            assert lines == (["select"] if compare == "answers" else ["message", "message", "select"])
            told.append(rater.page)
            rater.get("/")
            told.append(rater.page)
            assert f"{place + 1} of {count}" in rater.page
            assert rater.post("/judge", {}) == 422
            assert "please answer" in rater.page
            assert rater.post("/judge", fields) == 200
        code = re.search(r'<code id="code">([^<]+)<', rater.page)
        assert code and f"cc={code[1]}" in rater.page
        assert "secret-system" not in "".join(told)
        assert Browser(port, "PROLIFIC_PID=p1").post("/consent") == 409
        again = Browser(port, "PROLIFIC_PID=p1&SESSION_ID=s1")
        again.post("/consent")
        assert code[0] in again.page
    assert len(rating_rows(folder, "pairs" if compare else "ratings")) == (2 if compare else 16)


def test_the_command_exports_ratings_and_pairs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Round(folder, [record(1)], raters=1).finish("a", ANSWERS)
    with pytest.raises(InputError, match="there are no pairs to export"):
        write_pairs(folder / "none.csv", [folder])
    Round(folder, compared(2, 1), compare="dialogues").finish("b", {"winner": "tie", "justification": "a\nb"})
    read: dict[str, list[dict[str, Any]]] = {}
    for form in ("ratings", "pairs"):
        for ending in ("jsonl", "csv"):
            file = folder / f"{form}.{ending}"
            monkeypatch.setattr(
                sys, "argv", ["birdenv", "export", str(folder), "--format", form, "-o", str(file)]
            )
            with pytest.raises(SystemExit) as end:
                main()
            assert not end.value.code
            lines = file.read_text().splitlines(keepends=True)
            read[file.name] = list(map(json.loads, lines) if ending == "jsonl" else csv.DictReader(lines))
    for form in ("ratings", "pairs"):
        as_text = [{name: str(value) for name, value in row.items()} for row in read[f"{form}.jsonl"]]
        assert read[f"{form}.csv"] == as_text and as_text
    assert {"dialogue", "rater", "question", "value"} <= set(read["ratings.jsonl"][0])
    assert {"left", "right", "winner", "rater", "justification"} <= set(read["pairs.jsonl"][0])
    collected = judged_folder(folder)
    for file in ("ratings.csv", "pairs.jsonl"):  # what comes back is known
        import_judgements(folder, read_judgements(folder / file))
    assert judged_folder(folder) == collected and collected.comparisons
    monkeypatch.setattr(sys, "argv", ["birdenv", "export", str(folder.parent), "--format", "pairs"])
    with pytest.raises(SystemExit):
        main()
    assert "contains no ratings" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_what_was_collected_is_read_without_the_packages_that_serve(folder: Path) -> None:
    Round(folder, [record(1)], raters=1).finish("a", ANSWERS)
    program = f"""
import sys
for name in ("fastapi", "itsdangerous", "starlette", "uvicorn", "websockets"):
    sys.modules[name] = None
import birdenv.studies.study, birdenv.studies.replay
from birdenv.cli import main
sys.argv = ["birdenv", "export", {str(folder)!r}, "--format", "ratings", "-o", {str(folder / "r.csv")!r}]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert len((folder / "r.csv").read_text().splitlines()) == 1 + len(ANSWERS)


def test_dialogues_without_words_are_not_rated() -> None:
    def record(name: str, *said: Any) -> ReplayedDialogue:
        events = [
            Event(0, 1.0, "select", {"name": "Ann"}),
            *(Event(1, 2.0, "message", text) for text in said),
        ]
        return ReplayedDialogue(name, name, "", "t", ("a", "b"), "", (), lambda: events, None)

    config = RatingConfig(seats=("agent_0",))
    items = items_of([record("silent"), record("blank", " "), record("spoken", "Hello")], config)
    assert [item.record.id for item in items] == ["spoken"]


def test_cells_that_a_spreadsheet_would_compute_are_quoted_and_read_back(tmp_path: Path) -> None:
    row = dict.fromkeys(ROW_FORMATS["ratings"], "x") | {"value": "=1+1", "rater": "@me"}
    text = csv_text([row | {"dialogue": -1}], "ratings")
    assert "'=1+1" in text and "'@me" in text and "'-1" not in text
    (tmp_path / "ratings.csv").write_text(text)
    [(_, read)] = table_rows(tmp_path / "ratings.csv")
    assert (read["value"], read["rater"]) == ("=1+1", "@me")
