"""What the user says of columns, groups, order, limits and conditions is what the gold SQL has.

The gold's syntax tree is read here by sqlglot alone, for every gold of the demo, of Mini-Interact where it is
at hand, and of a generated benchmark. A proposal of a column that is not there gets no yes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from birdenv_baselines.user_questions._questions import load_briefs as load_questions_briefs
from samples import EVERY_TWENTIETH
from sqlglot import exp

from birdenv.benchmarks.generator import generate
from birdenv.tasks.c_interact import load_benchmark
from birdenv.users import Brief
from birdenv.users._proposal import agreed
from birdenv.users.decoder import decode
from birdenv.users.segments import Segment, segments
from birdenv.users.sql_in_words import Names, in_words
from birdenv.users.understanding import Choice, take_apart
from birdenv.users.understanding._gold_parts import telling_parts

ROOT = Path(__file__).resolve().parents[2]
MINI = Path(os.environ.get("BIRDENV_SHARED_DATA", ROOT.parent / "shared" / "data")) / "mini_interact"


@pytest.fixture(scope="session")
def briefs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Brief]]:
    """Every task whose gold there is."""
    made = tmp_path_factory.mktemp("generated") / "out"
    generate(made, tasks=40, seed=3)
    found = load_questions_briefs(MINI if MINI.exists() else None)
    found |= {
        f"generated {task.public.instance_id}": task.private.brief for task in load_benchmark(made).tasks
    }
    return [(name, brief) for name, brief in found.items() if any(brief.gold)]


def blocks(brief: Brief) -> dict[str, exp.Select]:
    """The SELECTs of the gold by the number of their segments; those that show the same are left out."""
    shown: dict[str, list[str]] = {}
    for part in segments(brief.gold):
        if part.clause == "select":
            shown.setdefault(part.id.split(".")[0], []).append(part.sql)
    selects: dict[tuple[str, ...], list[exp.Select]] = {}
    for sql in brief.gold:
        for tree in sqlglot.parse(sql, read=brief.dialect):
            for select in tree.find_all(exp.Select) if tree is not None else ():
                items = tuple(item.sql(brief.dialect, comments=False) for item in select.expressions)
                selects.setdefault(items, []).append(select)
    found = {name: selects.get(tuple(items), []) for name, items in shown.items()}
    return {name: ones[0] for name, ones in found.items() if len(ones) == 1}


def _called(item: Any, dialect: str) -> str:
    if item.alias:
        return exp.to_identifier(item.alias).sql(dialect)
    return (item.this if isinstance(item, exp.Column) else item).sql(dialect)


def said(brief: Brief, part: Segment) -> str:
    return decode(Choice("unlabelled", part.id, (), (part,)), brief)


def told_parts(brief: Brief) -> list[Segment]:
    """The parts that a question may be about, annotated snippets replaced by their terms."""
    return [part for part, _ in telling_parts(segments(brief.gold), brief.ambiguities)]


@pytest.mark.slow
def test_the_golds_are_many(briefs: list[tuple[str, Brief]]) -> None:
    assert len(briefs) > (150 if MINI.exists() else 60)
    assert sum("generated" in name for name, _ in briefs) >= 40


@pytest.mark.parametrize("step", EVERY_TWENTIETH)
def test_what_is_said_of_clauses_is_what_the_gold_has(step: int, briefs: list[tuple[str, Brief]]) -> None:
    wrong, seen = [], 0
    for task, brief in [*briefs[::step], *briefs[-40 :: 1 + step // 4]]:
        trees = blocks(brief)
        for part in told_parts(brief):
            tree = trees.get(part.id.split(".")[0])
            if (
                tree is None
                or part not in segments(brief.gold)
                or not (part.clause == "output" or tree.args.get(part.clause))
            ):
                continue
            seen += 1
            text = said(brief, part)
            wrong += [(task, part.sql, text, words) for words in _untrue(part, tree, text, brief)]
    assert wrong == []
    assert seen > (30 if MINI.exists() else 20)


def _untrue(part: Segment, tree: exp.Select, text: str, brief: Brief) -> list[str]:
    """What the gold has and the text lacks."""
    wanted: list[str] = []
    if part.clause == "output":
        wanted = [in_words(_called(item, brief.dialect), brief).text for item in tree.expressions]
    elif part.clause == "group":
        keys = [column for key in tree.args["group"].expressions for column in key.find_all(exp.Column)]
        wanted = [in_words(column.name, brief).text for column in keys]
        wanted += ["not for the result"] * part.is_inner
    elif part.clause == "order":
        keys = [key for key in tree.args["order"].expressions if not key.find(exp.Null)]
        wanted = ["in descending order" if key.args.get("desc") else "in ascending order" for key in keys]
    elif part.clause == "limit":
        wanted = [tree.args["limit"].expression.sql()]
    elif part.clause in ("where", "having"):
        tokens = sqlglot.tokenize(part.sql, read=brief.dialect)
        strings = [token.text for token in tokens if token.token_type == sqlglot.TokenType.STRING]
        wanted = [string for string in strings if string != "now" and not string.startswith(("%", "$"))]
    return [words for words in wanted if words.removeprefix("the ") not in text]


QUESTIONS = {
    "output": ("Should the result show the {}?", "Do you want to see the {}?"),
    "group": ("Is it one row for each {}?", "Should I group it by {}?"),
    "order": ("Should it be sorted by {}?", "Do you want it ordered by the {}?"),
    "where": ("Must the {} be above 3?",),
    "having": ("Must the {} be above 3?",),
}


@pytest.mark.parametrize("step", EVERY_TWENTIETH)
def test_a_column_that_is_not_there_gets_a_no(step: int, briefs: list[tuple[str, Brief]]) -> None:
    wrong, counts = [], {"Yes": 0, "No": 0, "": 0}
    for task, brief in briefs[::step]:
        names = Names(brief.identifiers, brief.notes)
        for part in told_parts(brief):
            there = {names.words(name) for name in _names_in(part.sql)}
            for column in sorted(brief.identifiers)[len(wrong) % 5 :: 5]:
                words = names.words(column)
                for question in QUESTIONS.get(part.clause, ()):
                    asked = question.format(words)
                    verdict = agreed(take_apart(asked), Choice("unlabelled", part.id, (), (part,)), brief)
                    counts[verdict] += 1
                    if verdict == "Yes" and not _is_there(words, there):
                        wrong.append((task, part.sql, asked))
    assert wrong == []
    assert counts["No"] > (9 if MINI.exists() else 3) * counts[""]


def _names_in(sql: str) -> set[str]:
    tokens = sqlglot.tokenize(sql, read="sqlite")
    return {token.text for token in tokens if re.fullmatch(r"[A-Za-z_]\w*", token.text)}


def _is_there(words: str, there: set[str]) -> bool:
    """Whether one of the names has these words, but for the word for a key and for plurals."""
    kept = set(words.split()) - {"id", "ids", "code", "key", "ref", "no", "nr"}
    wanted = _singular(" ".join(kept))
    return any(wanted <= _singular(name) for name in there)


def _singular(words: str) -> set[str]:
    return {re.sub(r"(?:ies|y|es|e|s)$", "", word) for word in words.split()}
