"""A two-table database and c-Interact records on it, small enough to check by eye."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prepared_databases import copy_database

from birdenv.databases import DatabaseSource
from birdenv.dialogue import Dialogue, View
from birdenv.grading import InteractGrader
from birdenv.tasks import SYSTEM, USER
from birdenv.tasks.c_interact import PROFILES, CInteractRules, load_benchmark
from birdenv.users import RulePlayer

DATABASE = """
CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INTEGER);
INSERT INTO member VALUES (1, 'Ann', 'Oslo', 31), (2, 'Bo', 'Oslo', 17), (3, 'Cy', 'Rome', 44);
CREATE TABLE loan (member_id INTEGER REFERENCES member (id), book TEXT, days INTEGER);
INSERT INTO loan VALUES (1, 'A', 10), (1, 'B', 40), (3, 'C', 50);
"""

SCHEMA = """
CREATE TABLE "member" (
id INTEGER NULL,
name TEXT NULL,
city TEXT NULL,
age INTEGER NULL,
);
CREATE TABLE "loan" (
member_id INTEGER NULL,
book TEXT NULL,
days INTEGER NULL,
    FOREIGN KEY (member_id) REFERENCES member(id)
);
"""

KNOWLEDGE = [
    {"id": 0, "knowledge": "Adult", "description": "d0", "definition": "age >= 18", "children_knowledge": -1},
    {
        "id": 1,
        "knowledge": "Late Loan",
        "description": "d1",
        "definition": "days > 30",
        "children_knowledge": [0],
    },
    {
        "id": 2,
        "knowledge": "Risk",
        "description": "d2",
        "definition": "uses Late Loan",
        "children_knowledge": [1],
    },
]

QUERY: dict[str, Any] = {
    "instance_id": "club_1",
    "selected_database": "club",
    "query": "How many members are at least 18 years old?",
    "amb_user_query": "How many grown members are there?",
    "preprocess_sql": [],
    "clean_up_sqls": [],
    "sol_sql": ["SELECT count(*) FROM member WHERE age >= 18"],
    "external_knowledge": [0],
    "test_cases": [],
    "category": "Query",
    "conditions": {"decimal": -1, "distinct": False, "order": False},
    "user_query_ambiguity": {
        "critical_ambiguity": [
            {"term": "grown", "sql_snippet": "age >= 18", "is_mask": True, "type": "semantic_ambiguity"}
        ],
        "non_critical_ambiguity": [],
    },
    "knowledge_ambiguity": [
        {
            "term": "Late Loan",
            "sql_snippet": "days > 30",
            "type": "knowledge_ambiguity",
            "deleted_knowledge": 1,
        }
    ],
    "follow_up": {
        "query": "And how many of them live in Oslo?",
        "sol_sql": ["SELECT count(*) FROM member WHERE age >= 18 AND city = 'Oslo'"],
        "test_cases": [],
        "type": "constraint_change",
        "category": "Query",
        "conditions": {"decimal": -1, "distinct": False, "order": False},
        "candidates": ["SELECT 1"],
    },
    "candidates": ["SELECT count(id) FROM member WHERE NOT age < 18", "SELECT count(*) FROM member"],
}

MANAGEMENT: dict[str, Any] = QUERY | {
    "instance_id": "club_M_1",
    "query": "Delete the loans of more than 30 days.",
    "amb_user_query": "Delete the late loans.",
    "sol_sql": ["DELETE FROM loan WHERE days > 30"],
    "test_cases": ["def test_case(pred_sqls, sol_sqls, db_name, conn):\n    assert True"],
    "category": "Management",
    "follow_up": QUERY["follow_up"]
    | {
        "query": "How many loans are left?",
        "sol_sql": ["SELECT count(*) FROM loan"],
        "type": "state_dependent",
    },
}

RIGHT = "SELECT count(id) FROM member WHERE NOT age < 18"
WRONG = "SELECT count(*) FROM member"
FOLLOW_UP_RIGHT = "SELECT count(id) FROM member WHERE city = 'Oslo' AND age > 17"


def write_benchmark(folder: Path, *records: dict[str, Any]) -> Path:
    """A benchmark folder in the public layout with these records as its task file."""
    notes = folder / "club"
    notes.mkdir(parents=True)
    (notes / "club_schema.txt").write_text(SCHEMA)
    (notes / "club_kb.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in KNOWLEDGE))
    (notes / "club_column_meaning_base.json").write_text(json.dumps({"club|loan|days": "length of the loan"}))
    copy_database(notes / "club.sqlite", DATABASE)
    (folder / "c_interact.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


class Played(Dialogue):
    """A dialogue from which the state of its rules can be read, too: `attempts`, `private_log`, `budget`."""

    def __getattr__(self, name: str) -> Any:
        if name == "rules":
            raise AttributeError(name)
        return getattr(self.rules, name)

    @property
    def phase(self) -> int:
        return self.rules.phase()

    def system_view(self) -> View:
        return self.view(SYSTEM)

    def answer(self) -> None:
        """Let the user answer by rules, if it is asked."""
        if self.turn == USER:
            self.apply(USER, RulePlayer(self.rules.private_brief(USER)).move(self.view(USER)))


def start(folder: Path, record: dict[str, Any], profile: str = "strict", **options: Any) -> Played:
    """An episode on this record."""
    benchmark = load_benchmark(write_benchmark(folder, record))
    source: DatabaseSource = benchmark.source
    grader = InteractGrader(source)
    return Played(CInteractRules(benchmark.tasks[0], source, grader, profile=PROFILES[profile], **options))
