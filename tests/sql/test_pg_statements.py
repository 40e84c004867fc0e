"""Where PostgreSQL's statements begin and end."""

from __future__ import annotations

import pytest

from birdenv.sql import first_words, may_write, split_script

ATOMIC = """CREATE OR REPLACE FUNCTION f() RETURNS int
BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END"""

RULE = "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)"
QUOTED = "SELECT ';' || $$;$$ || $a$;$a$ || E'\\';', \";\""


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("select 1", ("SELECT",)),
        (" \n(( SELECT 1", ("SELECT",)),
        ("/* a /* b */ c */ -- x\n;CREATE /* y */ temp TABLE t", ("CREATE", "TEMP")),
        ("COPY(SELECT 1) TO STDOUT", ("COPY", "SELECT")),
        ("'a' b", ()),
        ("/* never ends", ()),
        ("", ()),
    ],
)
def test_first_words(sql: str, words: tuple[str, ...]) -> None:
    assert first_words(sql) == words


@pytest.mark.parametrize(
    ("script", "pieces"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;;\n-- a\n; SELECT 2 -- b", ["SELECT 1", "SELECT 2"]),
        (QUOTED, [QUOTED]),
        ("SELECT /* ; */ 1; SELECT 2", ["SELECT /* ; */ 1", "SELECT 2"]),
        (f"{ATOMIC}; SELECT 3", [ATOMIC, "SELECT 3"]),
        ("BEGIN; SELECT 1; END; SELECT 2", ["BEGIN", "SELECT 1", "END", "SELECT 2"]),
        (f"{RULE}; SELECT 3", [RULE, "SELECT 3"]),
        ("DO $$ BEGIN PERFORM 1; END $$; SELECT 1", ["DO $$ BEGIN PERFORM 1; END $$", "SELECT 1"]),
        ("SELECT ); SELECT 2", ["SELECT )", "SELECT 2"]),
        ("SELECT 'never; ends", ["SELECT 'never; ends"]),
        (" -- only a comment; \n;", []),
    ],
)  # fmt: skip
def test_scripts(script: str, pieces: list[str]) -> None:
    assert split_script(script) == pieces


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("SELECT 1", False),
        ("VALUES (1)", False),
        ("WITH a AS (SELECT 1) SELECT 1", False),
        ("WITH a AS (DELETE FROM t RETURNING 1) SELECT 1", True),
        ("INSERT INTO t VALUES (1) RETURNING 1", True),
        ("CALL p()", True),
    ],
)
def test_may_write(sql: str, answer: bool) -> None:
    assert may_write(sql) is answer
