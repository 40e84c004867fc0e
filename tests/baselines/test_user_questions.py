"""The questions that the weights of the rule-based user's understanding are made from."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from birdenv_baselines.user_questions._examples import read_examples
from birdenv_baselines.user_questions._fit import fit
from birdenv_baselines.user_questions._measures import measure, measure_verdicts
from birdenv_baselines.user_questions._questions import (
    FOLDER,
    GOLDS,
    HELD_OUT,
    WITH_GOLD,
    filled_in,
    load_briefs,
    load_rows,
    read_lines,
    with_places,
)
from birdenv_baselines.user_questions.train import TARGET, written

from birdenv.dialogue import View
from birdenv.users import Brief
from birdenv.users._brief import Ambiguity
from birdenv.users._rule_player import RulePlayer

ROWS = [json.loads(line) for file in sorted(FOLDER.glob("*.jsonl")) for line in file.read_text().splitlines()]
HELD = [
    json.loads(line) for file in sorted(HELD_OUT.glob("*.jsonl")) for line in file.read_text().splitlines()
]
CLASSES = {"labelled", "unlabelled", "refuse", "ask_back", "kind"}
ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("BIRDENV_SHARED_DATA", ROOT.parent / "shared" / "data"))


def questions(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions of a row: one, or those of a message with several."""
    parts: list[dict[str, Any]] = row.get("parts", [row])
    return parts


def test_the_questions_have_the_format() -> None:
    assert len(ROWS) > 600
    for row in [*ROWS, *HELD]:
        asked = {"parts"} if "parts" in row else {"class", "expected"}
        assert set(row) - {"style", "phase"} == {"instance_id", "question", "hand"} | asked
        for one in questions(row):
            assert one["class"] in CLASSES
            assert bool(one["expected"]) == (one["class"] in ("labelled", "unlabelled", "kind")), row


def test_the_terms_of_the_demos_questions_are_annotated() -> None:
    briefs = load_briefs(None)
    for row in ROWS:
        for one in questions(row):
            if one["class"] == "labelled" and row["instance_id"] in briefs:
                terms = {item.term for item in briefs[row["instance_id"]].ambiguities}
                assert set(one["expected"]) <= terms, row


def test_held_out_questions_are_none_that_the_weights_are_made_from() -> None:
    assert len(HELD) > 60
    assert {row["question"] for row in HELD}.isdisjoint(row["question"] for row in ROWS)


def test_no_question_is_about_a_task_that_is_kept_for_measuring() -> None:
    file = SHARED / "user_questions" / "dev.jsonl"
    if not file.exists():
        pytest.skip(f"no {file}")
    kept = [json.loads(line) for line in file.read_text().splitlines()]
    asked = {row["instance_id"].removesuffix(WITH_GOLD) for row in ROWS}
    asked |= {raw["instance_id"] for raw in read_lines(GOLDS)}
    assert asked.isdisjoint(one["instance_id"] for one in kept)
    of_any_task = {row["question"].lower() for row in ROWS if row["instance_id"] == "*"}
    assert of_any_task.isdisjoint(one["question"].lower() for one in kept)


@pytest.mark.slow
def test_no_question_ends_an_episode() -> None:
    folder = SHARED / "mini_interact"
    briefs = load_briefs(folder if folder.exists() else None)
    for row in load_rows(sorted(FOLDER.glob("*.jsonl")), briefs):
        answer = RulePlayer([row.brief]).move(View(0, "", message=row.question, phase=1))
        assert answer.data, row.question


@pytest.mark.slow
def test_the_package_knows_the_questions_that_it_was_made_from() -> None:
    rows = load_rows(sorted(FOLDER.glob("*.jsonl")), load_briefs(None))
    found = Counter((row.kind, result) for row, result in measure(rows))
    for kind, least in (("labelled", 0.8), ("unlabelled", 0.7), ("refuse", 0.85), ("ask_back", 0.85)):
        asked = sum(n for (one, _), n in found.items() if one == kind)
        assert found[kind, "right"] > least * asked, (kind, found)
    examples = read_examples(rows)
    one, again = fit(examples), fit(examples)
    assert written(one) == written(again)


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param("bikeshare", id="one database"),
        pytest.param("", id="all", marks=pytest.mark.slow),
    ],
)
def test_a_yes_or_no_is_true(chosen: str) -> None:
    folder = SHARED / "mini_interact"
    briefs = load_briefs(folder if folder.exists() and not chosen else None)
    found = measure_verdicts({task: brief for task, brief in briefs.items() if chosen in task})
    assert found[True] > 0.3 * sum(found.values())
    assert found[False] <= 0.035 * found[True]


@pytest.mark.slow
def test_the_weights_are_those_that_the_documented_command_makes() -> None:
    folder = SHARED / "mini_interact"
    if not folder.exists():
        pytest.skip(f"no {folder}")
    rows = load_rows(sorted(FOLDER.glob("*.jsonl")), load_briefs(folder))
    assert written(fit(read_examples(rows))) == TARGET.read_text(encoding="utf-8")


def test_the_gold_sql_holds_none_of_the_benchmarks_snippets() -> None:
    folder = SHARED / "mini_interact"
    if not folder.exists():
        pytest.skip(f"no {folder}")
    benchmark = {
        raw["instance_id"]: [
            item["sql_snippet"]
            for points in raw["user_query_ambiguity"].values()
            for item in points
            if len(item["sql_snippet"]) > 8
        ]
        for raw in read_lines(folder / "mini_interact.jsonl")
    }
    golds = {raw["instance_id"]: " ".join(raw["sol_sql"]) for raw in read_lines(GOLDS)}
    assert len(golds) > 100
    for task, sql in golds.items():
        assert not [snippet for snippet in benchmark[task] if snippet in sql], task


def test_snippets_are_put_back_where_their_places_are() -> None:
    brief = Brief("", (Ambiguity("late", "days > 30", "critical"), Ambiguity("top", "LIMIT 5", "critical")))
    sql = "SELECT a FROM t WHERE days > 30 LIMIT 5"
    assert with_places(sql, brief) == "SELECT a FROM t WHERE {{0}} LIMIT 5"
    assert filled_in(with_places(sql, brief), brief) == sql
