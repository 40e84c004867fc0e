"""A benchmark of one small database for the tests of the environments: non-ASCII text, both games."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

SCHEMA = """\
CREATE TABLE items (
    item_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    price REAL NOT NULL,
    colour TEXT
);"""

ITEMS = [(1, "Größe XL", 4.5, "blue"), (2, "查询 🐦", 12.0, "blue"), (3, "naïve", 30.0, "red")]

KNOWLEDGE = [
    {"id": 0, "knowledge": "Bargain", "description": "A cheap item", "definition": "price below 5"},
    {"id": 1, "knowledge": "Showy", "description": "Items that catch the eye", "definition": "colour is red"},
]

GOLD_1 = "SELECT name FROM items WHERE price > 10"
GOLD_1_FOLLOW_UP = "SELECT COUNT(*) FROM items WHERE price > 10 AND colour = 'blue'"
GOLD_2 = "SELECT price FROM items WHERE colour = 'red'"
GOLD_M_1 = "UPDATE items SET price = price * 2 WHERE colour = 'blue'"
GOLD_BIRD = "SELECT name FROM items WHERE item_id = 2"

WRONG = "SELECT colour FROM items"

_TEST_CASE = """\
def test_case(pred_sqls, sol_sqls, db_name, conn):
    rows, err, timeout = execute_queries('SELECT price FROM items ORDER BY item_id', db_name, conn)
    assert [row[0] for row in rows] == [9.0, 24.0, 30.0]
"""


def _record(instance_id: str, **fields: Any) -> dict[str, Any]:
    return {
        "instance_id": instance_id,
        "selected_database": "shop",
        "category": "Query",
        "user_query_ambiguity": {"critical_ambiguity": [], "non_critical_ambiguity": []},
        **fields,
    }


C_INTERACT = [
    _record(
        "shop_1",
        amb_user_query="Which items are dear? Größe egal 🐦",
        query="Which items cost more than ten euros?",
        sol_sql=[GOLD_1],
        user_query_ambiguity={
            "critical_ambiguity": [{"term": "dear", "sql_snippet": "WHERE price > 10", "type": "schema"}],
            "non_critical_ambiguity": [],
        },
        candidates=["SELECT i.name FROM items i WHERE i.price > 10.0", "SELECT i.name FROM items i"],
        follow_up={
            "query": "How many of these are blue?",
            "sol_sql": [GOLD_1_FOLLOW_UP],
            "category": "Query",
            "candidates": ["SELECT COUNT(i.item_id) FROM items i", "SELECT 1"],
        },
    ),
    _record(
        "shop_2",
        amb_user_query="What do the showy items cost?",
        query="What do the items in red colour cost?",
        sol_sql=[GOLD_2],
        knowledge_ambiguity=[
            {
                "term": "showy",
                "sql_snippet": "WHERE colour = 'red'",
                "deleted_knowledge": 1,
                "type": "knowledge",
            }
        ],
        candidates=["SELECT i.price FROM items i WHERE i.price > 20", WRONG],
    ),
    _record(
        "shop_M_1",
        amb_user_query="Raise the price of the sea-coloured items.",
        query="Double the price of every blue item.",
        category="Management",
        sol_sql=[GOLD_M_1],
        test_cases=[_TEST_CASE],
        user_query_ambiguity={
            "critical_ambiguity": [
                {"term": "raise", "sql_snippet": "SET price = price * 2", "type": "semantic"}
            ],
            "non_critical_ambiguity": [],
        },
    ),
]

BIRD = [
    {
        "question_id": 7,
        "db_id": "shop",
        "question": "What is item 2 called?",
        "evidence": "called refers to name",
        "SQL": GOLD_BIRD,
        "difficulty": "simple",
        "candidates": ["SELECT i.name FROM items i WHERE i.item_id IN (2)"],
    },
    {
        "question_id": 8,
        "db_id": "shop",
        "question": "How many items are there?",
        "SQL": "SELECT 2 + COUNT(1) FROM items",
    },
    {"question_id": 9, "db_id": "shop", "question": "Is it so?", "evidence": ""},
]


def build_benchmark(folder: Path) -> Path:
    """Write the database, its notes and both task files; returns the folder."""
    shop = folder / "shop"
    shop.mkdir(parents=True)
    connection = sqlite3.connect(shop / "shop.sqlite")
    connection.execute(SCHEMA)
    connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", ITEMS)
    connection.commit()
    connection.close()
    (shop / "shop_schema.txt").write_text(SCHEMA, encoding="utf-8")
    (shop / "shop_kb.jsonl").write_text(_lines(KNOWLEDGE), encoding="utf-8")
    (folder / "c_interact.jsonl").write_text(_lines(C_INTERACT), encoding="utf-8")
    (folder / "bird.json").write_text(json.dumps(BIRD), encoding="utf-8")
    return folder


def _lines(records: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
