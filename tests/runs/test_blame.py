"""Whose fault a failure was: constructed episodes of every class, and runs of the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from birdenv.dialogue import Move, make_game
from birdenv.errors import InputError
from birdenv.runs import run_episodes
from birdenv.runs.blame import blame_run
from birdenv.runs.blame._classify import Exchange, classify
from birdenv.runs.blame._truth import is_true, uses
from birdenv.users import Ambiguity, Brief

SEATS = Ambiguity("roomy", "b.seats >= 40", "critical")
WEAR = Ambiguity("worn out", "c.condition = 'worn'", "knowledge")
ORDER = Ambiguity("listed", "ORDER BY b.name", "non_critical")
GOLD = "SELECT b.name FROM branches b JOIN copies c WHERE b.seats >= 40 AND c.condition = 'worn'"
BRIEF = Brief("", (SEATS, WEAR, ORDER), (GOLD,))
TOLD_SEATS = Exchange("What does roomy mean?", "At least 40 seats.", (SEATS.snippet,))
TOLD_WEAR = Exchange("What does worn out mean?", "Those that are worn.", (WEAR.snippet,))
RIGHT = "SELECT name FROM branches x JOIN copies y WHERE x.seats >= 40 AND y.condition = 'worn' LIMIT 1"


@pytest.mark.parametrize(
    ("kind", "exchanges", "sql"),
    [
        ("never asked", [], "SELECT 1"),
        ("never asked", [TOLD_SEATS], "SELECT 1"),
        ("never asked", [TOLD_SEATS._replace(words="I'd rather not.")], "SELECT 1"),
        ("misled", [TOLD_SEATS._replace(words="At least 50 seats."), TOLD_WEAR], "SELECT 1"),
        ("misled", [TOLD_SEATS._replace(words="At most 40 seats."), TOLD_WEAR], "SELECT 1"),
        ("misled", [Exchange("What does roomy mean?", "Please rephrase.", ()), TOLD_WEAR], "SELECT 1"),
        ("misled", [TOLD_SEATS._replace(stopped=True), TOLD_WEAR], "SELECT 1"),
        ("misled", [Exchange("What is roomy?", "Hm.", ())], RIGHT.replace(">= 40", "> 9")),
        ("not used", [TOLD_SEATS, TOLD_WEAR], "SELECT name FROM branches WHERE seats > 7"),
        ("wrong SQL", [TOLD_SEATS, TOLD_WEAR], RIGHT),
        ("wrong SQL", [], RIGHT),  # it guessed, and that was not the fault
    ],
)
def test_a_failure_is_put_to_its_cause(kind: str, exchanges: list[Exchange], sql: str) -> None:
    assert classify(BRIEF, exchanges, ["SELECT 0", sql], ["wrong_result"] * 2, 1).kind == kind


def test_faults_of_the_benchmark() -> None:
    assert classify(BRIEF, [], [RIGHT], ["test_error"], 1).culprit == "benchmark"
    odd = Brief("", (Ambiguity("roomy", "b.seats >= 99", "critical"),), (GOLD,))
    told = [Exchange("What is roomy?", "At least 99 seats.", ("b.seats >= 99",))]
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
    ],
)
def test_words_are_held_against_the_snippet(words: str, snippet: str, true: bool) -> None:
    assert is_true(words, snippet) is true


def test_a_snippet_is_found_in_other_clothes() -> None:
    assert uses('select "B"."SEATS" from b where SEATS>= 40', "b.seats >= 40")
    assert uses("SELECT 1.0*a/b x", "1.0 * t.a / t.b AS share")
    assert not uses("SELECT seats >= 400", "b.seats >= 40") and not uses("SELECT 'A' = a", "a = 'a'")


def test_all_failures_of_an_agent_that_never_asks_are_its_own(tmp_path: Path) -> None:
    result = run_episodes("c-interact", "never-asks", output=tmp_path)
    assert result.folder is not None
    found = blame_run(result.folder).to_json()
    solved = result.overall["figures"]["solved"]["value"] * 38
    assert found["failed"] == found["culprits"]["agent"] == 38 - round(solved) > 0
    assert found["users_share"] == 0.0 and found["classes"]["never asked"] > 0


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


def test_other_data_are_refused(tmp_path: Path) -> None:
    result = run_episodes("c-interact", "never-asks", limit=1, output=tmp_path)
    assert result.folder is not None
    (empty := tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError):
        blame_run(result.folder, data=empty)
