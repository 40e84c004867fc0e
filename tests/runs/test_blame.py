"""Whose fault a failure was: constructed episodes of every class, and runs of the demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birdenv.dialogue import Move, make_game
from birdenv.errors import InputError
from birdenv.runs import run_episodes
from birdenv.runs.blame import blame_run
from birdenv.runs.blame._answer_truth import is_true
from birdenv.runs.blame._classify import AnsweredQuestion, classify
from birdenv.runs.blame._readings import readings_of, replaced, uses
from birdenv.users import Ambiguity, Brief

SEATS = Ambiguity("roomy", "b.seats >= 40", "critical")
WEAR = Ambiguity("worn out", "c.condition = 'worn'", "knowledge")
ORDER = Ambiguity("listed", "ORDER BY b.name", "non_critical")
GOLD = "SELECT b.name FROM branches b JOIN copies c WHERE b.seats >= 40 AND c.condition = 'worn'"
BRIEF = Brief("", (SEATS, WEAR, ORDER), (GOLD,))
TOLD_SEATS = AnsweredQuestion("What does roomy mean?", "At least 40 seats.", (SEATS.snippet,))
TOLD_WEAR = AnsweredQuestion("What does worn out mean?", "Those that are worn.", (WEAR.snippet,))
RIGHT = "SELECT name FROM branches x JOIN copies y WHERE x.seats >= 40 AND y.condition = 'worn' LIMIT 1"
TOOK_50 = RIGHT.replace(">= 40", ">= 50")
TOOK_DAMAGED = RIGHT.replace("= 'worn'", "IN ('worn', 'damaged')")


@pytest.mark.parametrize(
    ("kind", "exchanges", "sql"),
    [
        ("never asked", [], "SELECT 1"),
        ("never asked", [TOLD_SEATS], "SELECT 1"),
        ("never asked", [TOLD_SEATS._replace(words="I'd rather not.")], "SELECT 1"),
        ("misled", [TOLD_SEATS._replace(words="At least 50 seats."), TOLD_WEAR], "SELECT 1"),
        ("misled", [TOLD_SEATS._replace(words="At most 40 seats."), TOLD_WEAR], "SELECT 1"),
        (
            "misled",
            [AnsweredQuestion("What does roomy mean?", "Please rephrase.", ()), TOLD_WEAR],
            "SELECT 1",
        ),
        ("misled", [TOLD_SEATS._replace(stopped=True), TOLD_WEAR], "SELECT 1"),
        ("misled", [AnsweredQuestion("What is roomy?", "Hm.", ())], RIGHT.replace(">= 40", "> 9")),
        ("not used", [TOLD_SEATS, TOLD_WEAR], "SELECT name FROM branches WHERE seats > 7"),
        ("misled", [TOLD_SEATS._replace(words="At least 40 seats. Or 50."), TOLD_WEAR], TOOK_50),
        ("misled", [TOLD_SEATS, TOLD_WEAR._replace(words="The worn or damaged ones.")], TOOK_DAMAGED),
        ("not used", [TOLD_SEATS._replace(words="At least 40 seats. Or 50."), TOLD_WEAR], "SELECT 1"),
        ("not used", [TOLD_SEATS._replace(words="Not 50: at least 40 seats."), TOLD_WEAR], TOOK_50),
        ("wrong SQL", [TOLD_SEATS, TOLD_WEAR], RIGHT),
        ("wrong SQL", [], RIGHT),  # it guessed, and that was not the fault
    ],
)
def test_a_failure_is_put_to_its_cause(kind: str, exchanges: list[AnsweredQuestion], sql: str) -> None:
    assert classify(BRIEF, exchanges, ["SELECT 0", sql], ["wrong_result"] * 2, 1).kind == kind


def test_faults_of_the_benchmark() -> None:
    assert classify(BRIEF, [], [RIGHT], ["test_error"], 1).culprit == "benchmark"
    odd = Brief("", (Ambiguity("roomy", "b.seats >= 99", "critical"),), (GOLD,))
    told = [AnsweredQuestion("What is roomy?", "At least 99 seats.", ("b.seats >= 99",))]
    assert classify(odd, told, ["SELECT 1 WHERE seats >= 99"], ["wrong_result"], 1).kind == "benchmark"


def test_a_follow_up_leaves_nothing_open() -> None:
    assert classify(BRIEF, [], ["SELECT 1"], ["wrong_result"], 2).kind == "wrong SQL"


@pytest.mark.parametrize(
    ("words", "snippet", "true"),
    [
        ("No fewer than forty.", "seats >= 40", True),
        ("Not more than 40.", "seats >= 40", False),
        ("More than half, 50 percent.", "x > 0.5", True),
        ("Only active cards.", "card_status = 'active'", True),
        ("Only open cards.", "card_status = 'active'", False),
        ("The share of late ones.", "1.0 * late / NULLIF(all_, 0)", True),
        ("Over 1,200 a month.", "total > 1200", True),
        ("At 14 km an hour or more.", "t.km / (t.minutes / 60.0) >= 14", True),
        ("At 15 km an hour or more.", "t.km / (t.minutes / 60.0) >= 14", False),
        ("More than 30 minutes.", "minutes > 60", False),
        ("The price with a surcharge.", "price * 1.1", False),
        ("They borrowed something since June 1st, 2024.", "loaned_on >= '2024-06-01'", True),
        ("Since June 2024.", "loaned_on >= '2024-06-01'", True),
        ("Since June 2020.", "loaned_on >= '2024-06-01'", False),
        ("Since July 2024.", "loaned_on >= '2024-06-01'", False),
        ("Since 2024.", "loaned_on >= '2024-06-01'", False),
        ("From 15.6.2024 on.", "loaned_on >= '2024-06-15'", True),
        ("From June 2024 on.", "loaned_on >= '2024-06-15'", False),
        ("Before 2022.", "joined_on < '2022-01-01'", True),
        ("In 2021 or earlier.", "joined_on < '2022-01-01'", True),
        ("Before 2021.", "joined_on < '2022-01-01'", False),
        ("Up to the end of 2021.", "joined_on <= '2021-12-31'", True),
        ("In 2021.", "joined_on <= '2021-12-31'", False),
        ("Everyone except junior and student.", "tier IN ('junior', 'student')", False),
        ("Not only junior, but student too.", "tier IN ('junior', 'student')", True),
        ("Those that are damaged.", "condition <> 'damaged'", False),
        ("Those that aren't damaged.", "condition <> 'damaged'", True),
        ("Damaged ones count 3, others 0.", "CASE WHEN c = 'damaged' THEN 3 WHEN 1 THEN 0 END", True),
        ("Active cards with an address.", "a IS NOT NULL AND status = 'active'", True),
    ],
)
def test_words_are_held_against_the_snippet(words: str, snippet: str, true: bool) -> None:
    assert is_true(words, snippet) is true


def test_a_snippet_is_found_in_other_clothes() -> None:
    assert uses('select "B"."SEATS" from b where SEATS>= 40', "b.seats >= 40")
    assert uses("SELECT 1.0*a/b x", "1.0 * t.a / t.b AS share")
    assert not uses("SELECT seats >= 400", "b.seats >= 40") and not uses("SELECT 'A' = a", "a = 'a'")


@pytest.mark.parametrize("limit", [8, pytest.param(None, marks=pytest.mark.real_tasks)])
def test_all_failures_of_an_agent_that_never_asks_are_its_own(tmp_path: Path, limit: int | None) -> None:
    result = run_episodes("c-interact", "never-asks", output=tmp_path, limit=limit)
    assert result.folder is not None
    found = blame_run(result.folder).to_json()
    solved = round(result.overall["figures"]["solved"]["value"] * len(result.records))
    assert found["culprits"]["agent"] == found["failed"] == len(result.records) - solved > 0
    assert found["users_share"] == 0.0 and found["classes"]["never asked"] > 0
    assert json.loads((result.folder / "private_blame.json").read_text()) == found


def test_a_user_that_lies_and_one_that_refuses_are_found_out(tmp_path: Path) -> None:
    with make_game("c-interact") as arena:
        point = arena._tasks.private("library_1").brief.ambiguities[0]

    def agent(view: Any) -> Move:
        asking = view.turns_left > 3 and "clarify" in view.legal
        terms = ("roomy branches", "wear index")
        return (
            Move("clarify", f"What do you mean by '{terms[view.turns_left % 2]}'?")
            if asking
            else (Move("submit_sql", "SELECT 1"))
        )

    def liar(view: Any) -> Move:
        trace = {"call": "labelled", "target": point.term, "granted": [point.snippet]}
        return Move("answer", "At most 3 seats.", trace)

    for user in (liar, lambda view: Move("answer", "No.")):
        result = run_episodes("c-interact", agent, user=user, limit=1, output=tmp_path)
        assert result.folder is not None
        assert blame_run(result.folder).users_share == 1.0


def test_a_snippet_is_replaced_wherever_it_stands() -> None:
    both = "SELECT x.a > 1 FROM t x WHERE x.a>1 AND a > 10"
    assert replaced(both, "WHERE t.a > 1", "b") == "SELECT (b) FROM t x WHERE (b) AND a > 10"
    assert replaced(both, "a > 2", "b") is None and replaced(both, "", "b") is None


def test_readings_have_the_names_of_the_gold_and_those_alike_come_first() -> None:
    other = "SELECT br.name FROM branches br WHERE br.hours > 3 AND br.seats > 9"
    found = [reading.sql for reading in readings_of(other, "b.seats >= 40", GOLD, "sqlite")]
    assert found == ["b.seats > 9", "b.hours > 3"]
    assert not (readings_of("SELECT ((", "b.seats >= 40", GOLD, "sqlite"))


@pytest.mark.parametrize(
    ("other", "snippet", "reading"),
    [
        ("seats = 3 OR seats = 9", "b.seats IN (3, 9)", "seats = 3 OR seats = 9"),
        ("seats >= 3 AND name = 'x' AND seats <= 9", "b.seats BETWEEN 3 AND 9", "seats >= 3 AND seats <= 9"),
        ("seats = 3 OR name = 'x' OR seats = 9", "b.seats IN (3, 9)", None),
    ],
)
def test_joined_conditions_are_one_reading(other: str, snippet: str, reading: str | None) -> None:
    sql = f"SELECT name FROM branches WHERE {other}"
    found = {found.sql for found in readings_of(sql, snippet, GOLD, "sqlite") if found.is_alike}
    assert {"seats = 3", "seats = 9", "seats >= 3", "seats <= 9"} & found
    assert {each for each in found if " OR " in each or " AND " in each} == ({reading} if reading else set())


ACTIVE = "EXISTS (SELECT 1 FROM loans r WHERE r.member_id = p.member_id AND r.loaned_on >= '2024-01-01')"
BORROWED = (
    "SELECT p.member_id, p.name, {} FROM loans ln JOIN copies cp ON ln.copy_id = cp.copy_id "
    "JOIN members p ON p.member_id = ln.member_id WHERE {} GROUP BY p.member_id, p.name"
)
BOOKS = "COUNT(DISTINCT cp.title_id)"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("kind", "shown", "words", "sql"),
    [
        # how many books, then active members: what the user says, and what the agent makes of it
        ("misled", True, ["titles", "with an active card"], BORROWED.format(BOOKS, "card_status = 'active'")),
        ("misled", True, ["titles", ""], BORROWED.format(BOOKS, "p.tier = 'senior'")),
        ("not used", True, ["titles", "since 2024-01-01"], BORROWED.format(BOOKS, "p.tier = 'senior'")),
        ("not used", True, ["titles", "since 2024-01-01"], BORROWED.format("COUNT(*)", ACTIVE)),
        ("never asked", True, [None, "since 2024-01-01"], BORROWED.format("COUNT(*)", ACTIVE)),
        ("never asked", True, [None, "hm"], BORROWED.format("COUNT(*)", "card_status = 'active'")),
        ("wrong SQL", False, ["titles", "hm"], BORROWED.format(BOOKS, ACTIVE).replace("p.name, C", "C")),
    ],
)
def test_what_a_submission_has_right_is_found_by_running_it(
    tmp_path: Path, kind: str, shown: bool, words: list[str | None], sql: str
) -> None:
    terms = ["how many books", "active members"]
    with make_game("c-interact") as arena:
        points = {p.term: p.snippet for p in arena._tasks.private("library_2").brief.ambiguities}
    asked = [(term, said) for term, said in zip(terms, words, strict=True) if said is not None]

    def agent(view: Any) -> Move:
        count = sum(event.action == "clarify" for event in view.heard)
        if count < len(asked):
            return Move("clarify", f"What do you mean by '{asked[count][0]}'?")
        return Move("submit_sql", sql)

    def user(view: Any) -> Move:
        term, said = next(each for each in asked if f"'{each[0]}'" in view.message)
        trace = {"call": "labelled", "target": term, "granted": [points[term]] if said else []}
        return Move("answer", said or "No.", trace)

    result = run_episodes("c-interact", agent, user=user, instances=("library_2",), output=tmp_path)
    assert result.folder is not None
    [(phase, blame)] = blame_run(result.folder).failed.values()
    assert (phase, blame.kind, blame.shown) == (1, kind, shown), blame
    assert result.overall["failures"][blame.culprit] == 1
    share = "100.0" if blame.culprit == "user" else "0.0"
    assert f"the user's share is {share} % (birdenv blame)" in result.text


def test_a_list_that_is_written_as_alternatives_is_no_wrong_point(tmp_path: Path) -> None:
    with make_game("c-interact") as arena:
        [gold] = arena._tasks.private("library_6").brief.gold
    sql = gold.replace("m.tier IN ('junior', 'student')", "(m.tier = 'junior' OR m.tier = 'student')")
    wrong = sql.replace("SELECT t.title,", "SELECT")
    result = run_episodes(
        "c-interact",
        lambda view: (
            Move("submit_sql", wrong)
            if view.message.startswith("By '")
            else Move("clarify", "What do you mean by 'younger readers'?")
        ),
        instances=("library_6",),
        output=tmp_path,
    )
    assert result.folder is not None and sql != gold
    [(_, blame)] = blame_run(result.folder).failed.values()
    assert blame.kind == "wrong SQL"


def test_other_data_are_refused(tmp_path: Path) -> None:
    result = run_episodes("c-interact", "never-asks", limit=1, output=tmp_path)
    assert result.folder is not None
    (empty := tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError):
        blame_run(result.folder, data=empty)
