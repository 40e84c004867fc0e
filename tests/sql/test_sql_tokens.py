"""Tokens by dialect: what is a literal, where comments end, what is one operator."""

from contextlib import suppress

import pytest

from birdenv.sql import sql_tokens


def texts(sql: str, dialect: str = "postgres") -> list[str]:
    return [token.text for token in sql_tokens(sql, dialect)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'a--b', x", ["SELECT", "'a--b'", ",", "x"]),
        ("'it''s' -- c\n,1", ["'it''s'", ",", "1"]),
        (r"E'a\'--b' c", [r"E'a\'--b'", "c"]),
        (r"'a\' c", [r"'a\'", "c"]),
        ("$$a ' -- b$$ c", ["$$a ' -- b$$", "c"]),
        ("$q$ $$ $q$ c", ["$q$ $$ $q$", "c"]),
        ("a$b$c", ["a$b$c"]),
        ("/* a /* b */ c */ d", ["d"]),
        ('"a ""b"" --" c', ['"a ""b"" --"', "c"]),
        ("U&\"d!0061\" U&'x'", ['U&"d!0061"', "U&'x'"]),
        ("B'01' X'ff' n'a'", ["B'01'", "X'ff'", "n'a'"]),
        ("a::int", ["a", "::", "int"]),
        ("a->>'b'", ["a", "->>", "'b'"]),
        ("a<>b!=c<=d", ["a", "<>", "b", "!=", "c", "<=", "d"]),
        ("1--c", ["1"]),
        ("1+-2", ["1", "+", "-", "2"]),
        ("a@-1", ["a", "@-", "1"]),
        ("2*/*c*/3", ["2", "*", "3"]),
        ("1.5e-3 .5 1..2", ["1.5e-3", ".5", "1", "..", "2"]),
        ("$1 t.*", ["$1", "t", ".", "*"]),
        ("größe 名前", ["größe", "名前"]),
        ("'a\nb\u2028c\0d'", ["'a\nb\u2028c\0d'"]),
    ],
)
def test_postgres(sql: str, expected: list[str]) -> None:
    assert texts(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'a--b', x", ["SELECT", "'a--b'", ",", "x"]),
        ("/* a /* b */ c", ["c"]),
        (r"'a\' c", [r"'a\'", "c"]),
        ('[a b] `c``d` "e"', ["[a b]", "`c``d`", '"e"']),
        ("x'ff' x 'ff' x", ["x'ff'", "x", "'ff'", "x"]),
        ("x'ff'x'00'", ["x'ff'", "x'00'"]),
        ("$$a$$", ["$", "$", "a$$"]),
    ],
)
def test_sqlite(sql: str, expected: list[str]) -> None:
    assert texts(sql, "sqlite") == expected


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT 'a", "sqlite"),
        ("SELECT 'it''", "sqlite"),
        ('SELECT "a', "sqlite"),
        ("SELECT [a", "sqlite"),
        ("SELECT 'a", "postgres"),
        (r"SELECT E'a\'", "postgres"),
        ('SELECT "a', "postgres"),
        ("SELECT $$a", "postgres"),
        ("SELECT 1 /* /* */", "postgres"),
    ],
)
def test_what_never_ends(sql: str, dialect: str) -> None:
    with pytest.raises(ValueError, match="unterminated"):
        sql_tokens(sql, dialect)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_ends_are_places_in_the_text(dialect: str) -> None:
    sql = "SELECT  x'ab' , \"b c\" -- d\n FROM t /* e */ WHERE a<=.5"
    for token in sql_tokens(sql, dialect):
        assert sql[token.end - len(token.text) : token.end] == token.text


@pytest.mark.every(3)
@pytest.mark.parametrize("piece", ["'", '"', "/*", "$a$", "E'\\", "-", "x'", "[", "1.", "''"])
def test_time_grows_with_length_only(piece: str) -> None:
    for dialect in ("sqlite", "postgres"):
        with suppress(ValueError):
            sql_tokens(piece * 20_000, dialect)
