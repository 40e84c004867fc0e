"""What people see of a database."""

from __future__ import annotations

from birdenv.dialogue.games import find_game
from birdenv.tasks.sql._words import ASKING_WORDS, counted, knowledge_panel, tables_panel

SCHEMA = """\
CREATE TABLE "rooms" (
room_id text(36) NOT NULL,
size real(5,2) NULL,
about JSON NULL,
    PRIMARY KEY (room_id)
);
First 3 rows:
room_id  size
A        1.5
...

CREATE TABLE broken (this is ( no statement);
"""
MEANINGS = {
    "hotel|rooms|Size": "In square metres.",
    "hotel|rooms|about": {"column_meaning": "Facts.", "fields_meaning": {"bed": {"count": "How many."}}},
}


def test_tables_have_types_meanings_and_first_rows() -> None:
    panel = tables_panel(SCHEMA, MEANINGS, "sqlite", "The database is SQLite.")
    rooms, broken = panel.tables
    assert (panel.title, panel.text) == ("Tables", "The database is SQLite.")
    assert [(each.name, each.type, each.meaning) for each in rooms.columns] == [
        ("room_id", "TEXT(36)", ""),
        ("size", "REAL(5, 2)", "In square metres."),
        ("about", "JSON", "Facts.\nbed.count: How many."),
    ]
    assert rooms.sample.startswith("First 3 rows:")
    assert (broken.name, broken.columns) == ("broken", ()) and broken.sample.startswith("CREATE TABLE broken")


def test_knowledge_is_a_list_of_names_and_texts() -> None:
    entry = {"id": 0, "knowledge": "Roomy", "description": "Large.", "definition": "At least 40 seats."}
    assert knowledge_panel([entry, entry | {"description": ""}]).entries == (
        ("Roomy", "Large.\nAt least 40 seats."),
        ("Roomy", "At least 40 seats."),
    )


def test_people_read_no_names_of_tools() -> None:
    said = (
        "Your SQL is correct. Follow-up request: Now by year. No further questions are possible: answer with "
    )
    assert ASKING_WORDS.reply(f"{said}submit_sql.").endswith("Now by year. You can ask no more questions.")
    for between in (" ", "\n"):
        reply = ASKING_WORDS.reply(f"It is wrong.{between}You have one more attempt: submit_sql.")
        assert reply == f"It is wrong.{between}You have one more attempt."
    budget_words = find_game("a-interact").seats[0].words
    refused = budget_words.reply(
        "execute_sql costs 1, more than you have left. Only submit_sql is possible now."
    )
    assert refused == "“Run” costs 1, more than you have left. Now you can only submit."
    assert [counted(number, "question") for number in (0, 1, 2)] == [
        "no questions",
        "1 question",
        "2 questions",
    ]
