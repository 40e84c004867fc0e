"""Cutting scripts into statements, and one spelling for a text."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birdenv.sql import first_keyword, normalised, split_statements, tokens

TRIGGER = "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM b; END"


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        (" ;; \n ; ", []),
        ("-- nothing\n/* at all; */", []),
        ("SELECT 1", ["SELECT 1"]),
        (" SELECT 1 ;\nSELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1;;SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';'; SELECT 'it''s;'", ["SELECT ';'", "SELECT 'it''s;'"]),
        ('SELECT ";", `;`, [;]; SELECT 2', ['SELECT ";", `;`, [;]', "SELECT 2"]),
        ("SELECT 1 -- a; b\n; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 /* a; b */ + 1; SELECT 2", ["SELECT 1 /* a; b */ + 1", "SELECT 2"]),
        ("SELECT 1; -- the end", ["SELECT 1"]),
        ("/* first */ SELECT 1;", ["/* first */ SELECT 1"]),
        (f"{TRIGGER}; SELECT 1", [TRIGGER, "SELECT 1"]),
        (f"SELECT 1; {TRIGGER.replace('CREATE', 'create /* ; */ temp')};SELECT 2",
         ["SELECT 1", TRIGGER.replace("CREATE", "create /* ; */ temp"), "SELECT 2"]),
        ("CREATE TABLE trigger_log (a); SELECT 1", ["CREATE TABLE trigger_log (a)", "SELECT 1"]),
        ("BEGIN; END; SELECT 1", ["BEGIN", "END", "SELECT 1"]),
        ("SELECT 'never closed; SELECT 2", ["SELECT 'never closed; SELECT 2"]),
        ("SELECT 1; SELECT 2 /* never closed; ", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';é;' AS ü;SELECT 2", ["SELECT ';é;' AS ü", "SELECT 2"]),
    ],
)  # fmt: skip
def test_split(script: str, statements: list[str]) -> None:
    assert split_statements(script) == statements


words = st.sampled_from(
    [
        "SELECT",
        "CREATE",
        "TEMP",
        "TRIGGER",
        "EXPLAIN",
        "END",
        ";",
        ";",
        "'a;b'",
        '"c;"',
        "x",
        "-- d;\n",
        "/* e; */",
    ]
)


@given(st.lists(words, max_size=20).map(" ".join))
def test_every_piece_but_the_last_is_what_sqlite_calls_complete(script: str) -> None:
    for piece in split_statements(script)[:-1]:
        assert sqlite3.complete_statement(piece + "\n;")
        if ";" in piece.replace("'a;b'", "").replace('"c;"', "").replace("d;", "").replace("e;", ""):
            head = piece.split(";")[0]
            assert not sqlite3.complete_statement(head + ";"), "cut too late"


@given(st.text(alphabet=st.sampled_from("SELECT'\"`[]/*-;\n x1(")))
def test_splitting_loses_nothing_but_separators(script: str) -> None:
    kept = "".join("".join(split_statements(script)).split()).replace(";", "")
    assert len(kept) <= len("".join(script.split()).replace(";", ""))
    position = 0
    for piece in split_statements(script):
        position = script.index(piece, position) + len(piece)


def test_a_long_script_takes_linear_time() -> None:
    script = "INSERT INTO t VALUES (1, 'a;b');\n" * 30_000
    assert len(split_statements(script)) == 30_000
    assert len(split_statements("'" * 500_001)) == 1
    assert split_statements("/* " * 200_000) == []


@pytest.mark.parametrize(
    ("sql", "keyword"),
    [
        ("select 1", "SELECT"),
        ("-- a\n /* b */ (( With x as (select 1) select 1))", "WITH"),
        ("\ufeffVALUES (1)", "VALUES"),
        ("selectx", "SELECTX"),
        ("; PRAGMA x", "PRAGMA"),
        ("", ""),
        ("-- only this", ""),
        (" ; ( ", ""),
    ],
)
def test_first_keyword(sql: str, keyword: str) -> None:
    assert first_keyword(sql) == keyword


@given(st.lists(st.sampled_from([*" \t\n\v\r;(-/*'\"x$0é\ufeff", "select", "With", "--"])).map("".join))
def test_the_first_keyword_is_a_token(sql: str) -> None:
    words = [token.text for token in tokens(sql) if token.text not in "(;"]
    first = words[0] if words else ""
    assert first_keyword(sql) == (first.upper() if first.isascii() else first)


def test_normalised_text_has_one_spelling() -> None:
    assert normalised("CHECK (\"Price\">0 AND [b]<>'It''s')") == normalised(
        "check(\n price > 0 /* ! */ and `B` != 'It''s' )"
    )
    assert normalised('"a b"') != normalised("a b")
    assert normalised("'A'") != normalised("'a'")
