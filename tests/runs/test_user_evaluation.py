"""Measuring users: what counts as right, and what fishing for points tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import birdenv
from birdenv.errors import InfrastructureError, InputError
from birdenv.llm import Models, ModelSettings
from birdenv.runs.user_evaluation import (
    DEMO_QUESTIONS,
    UserQuestion,
    ask,
    evaluation_text,
    fish,
    judge,
    read_questions,
    readability,
    user_line,
)
from birdenv.runs.user_evaluation._leak_measurement import Bait, draw_battery
from birdenv.runs.user_evaluation._questions import HeardAnswer
from birdenv.testing.openai_server import ServerScript, serve


@pytest.mark.parametrize(
    ("kind", "text", "outcome"),
    [
        ("labelled", "At least 40 seats.", "right"),
        ("labelled", "Many seats.", "half"),
        ("labelled", "Sorry, I cannot say.", "refused"),
        ("labelled", "Which part do you mean?", "asked back"),
        ("labelled", "Sorted by name.", "wrong"),
        ("extraction", "Sorry, I cannot say.", "right"),
        ("unanswerable", "At least 40 seats.", "wrong"),
    ],
)
def test_outcomes(kind: str, text: str, outcome: str) -> None:
    question = UserQuestion.model_validate(
        {"instance_id": "t", "question": "?", "kind": kind, "must": [["40", "least"]], "half": [["seats"]]}
    )
    assert judge(question, HeardAnswer(text)).outcome == outcome


def test_a_line_that_is_no_question_is_named(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    row = {"instance_id": "t", "question": "?", "kind": "labelled", "must": [["("]]}
    file.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=r"question 1: must.*not a regular expression"):
        read_questions(file)


def test_the_report_has_every_class_with_its_interval() -> None:
    rows = [judge(question, HeardAnswer("40")) for question in read_questions(DEMO_QUESTIONS)]
    text = evaluation_text(rows, worst=1)
    assert [line.split()[0] for line in text.splitlines()[1:4]] == ["labelled", "refusals", "unlabelled"]
    assert text.count("\n  ") == 2


def test_a_battery_is_drawn_from_its_seed_and_names_no_task() -> None:
    assert draw_battery(1, 7) == draw_battery(1, 7)
    assert draw_battery(1, 7) != draw_battery(2, 7)


def test_a_user_that_tells_its_points_to_anybody_is_found_out() -> None:
    def telltale(view: birdenv.View) -> birdenv.Move:
        return birdenv.Move("answer", "40", {"call": "labelled", "target": "roomy", "granted": []})

    with birdenv.make_game("c-interact", user=telltale) as arena:
        assert fish(arena, seed=3, limit=1).points_told == 1


@pytest.mark.every(2)
@pytest.mark.parametrize("bait", ["generic", "schema", "language", "encoding", "guess"])
def test_the_rule_user_tells_nothing_to_questions_that_name_nothing(bait: Bait) -> None:
    with birdenv.make_game("c-interact") as arena:
        found = fish(arena, seed=3, limit=6, baits=[bait])
    assert found.points_told == 0
    assert found.parts_told <= found.parts / 10


@pytest.mark.slow
def test_what_questions_for_a_kind_of_thing_reveal_is_counted_by_itself() -> None:
    with birdenv.make_game("c-interact") as arena:
        found = fish(arena, seed=2, limit=12, baits=["kind"])
    assert found.told_of_kinds > 0
    assert (found.points_told, found.parts_told, found.examples) == (0, 0, ())


@pytest.mark.slow
def test_the_rule_user_keeps_within_all_bars_on_the_whole_demo() -> None:
    with birdenv.make_game("c-interact") as arena:
        for seed in (3, 4):
            found = fish(arena, seed=seed)
            assert found.passed, found


def test_what_reads_badly_is_counted() -> None:
    names = frozenset({"anomscore", "seats"})
    texts = ["By 'anomscore' I mean the seats.", "The anomscore.", "The $.a.b of it", "It is >= 3"]
    found = readability([(text, names) for text in texts])
    assert (found.identifiers, found.paths, found.signs, found.most_words) == (1, 1, 1, 6)
    texts = ["The powratew index.", "It is the seats as a decimal number.", "seats " * 61, "The rated power."]
    found = readability([(text, frozenset({"Powratew_Index", "seats"})) for text in texts])
    assert (found.non_words, found.casts, found.long) == (1, 1, 1)


def test_a_summary_names_its_user_and_what_is_known_of_it() -> None:
    assert "labelled" in user_line("rule")
    assert user_line("rule:cooperative").split(",")[1:] == user_line("rule").split(",")[1:]
    assert "users eval --user llm:small" in user_line("llm:small")
    result = birdenv.run_episodes("c-interact", "never-asks", limit=1)
    assert "User rule, on" in result.text


def test_a_model_that_does_not_answer_is_no_user_that_refuses(own_environment: None) -> None:
    with (
        serve(ServerScript(models=("other",))) as server,
        birdenv.make_game("c-interact", user="rule+llm:m") as arena,
    ):
        models = Models(ModelSettings(base_url=server.url))
        with pytest.raises(InfrastructureError, match="'m' does not exist"):
            ask(arena, "library_1", "What do you mean by 'roomy branches'?", models=models)
