"""Dumps cut as psql cuts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from birdenv.databases.postgres.loading._dump_file import DumpPiece, pieces, read_dump
from birdenv.errors import InputError

HERE = Path("some.sql")
ATOMIC = "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END"


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        ("  -- nothing\n;;\n/* at all */", []),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \"a;b\", E'\\';', 'it''s;';x", ["SELECT ';', \"a;b\", E'\\';', 'it''s;'", "x"]),
        ("SELECT 'back\\'; SELECT 2", ["SELECT 'back\\'", "SELECT 2"]),
        ("a /* ; /* ; */ ; */ b; c -- ; d\n", ["a /* ; /* ; */ ; */ b", "c -- ; d"]),
        ("DO $$ BEGIN; END $$; b", ["DO $$ BEGIN; END $$", "b"]),
        ("DO $x$ ; $$ ; $x$; b", ["DO $x$ ; $$ ; $x$", "b"]),
        ("SELECT a$b$c; d", ["SELECT a$b$c", "d"]),
        ("CREATE RULE r AS DO (SELECT 1; SELECT 2); b", ["CREATE RULE r AS DO (SELECT 1; SELECT 2)", "b"]),
        (f"a; /* x */ {ATOMIC}; b", ["a", f"/* x */ {ATOMIC}", "b"]),
        ("SELECT 'atomic'; b", ["SELECT 'atomic'", "b"]),
        ("\\restrict abc\nSELECT 1;\n\\unrestrict abc", ["\\restrict abc", "SELECT 1", "\\unrestrict abc"]),
    ],
)
def test_statements(text: str, statements: list[str]) -> None:
    assert [piece.text for piece in pieces(text, HERE)] == statements


def test_rows_of_a_copy_are_no_sql() -> None:
    text = "-- rows\nCOPY t (a, b) FROM stdin;\n1\tit's; \"\n2\t\\N\n\\.\n\nSELECT 1;\n"
    assert list(pieces(text, HERE)) == [
        DumpPiece("COPY t (a, b) FROM stdin", 2, "1\tit's; \"\n2\t\\N\n"),
        DumpPiece("SELECT 1", 7),
    ]


@pytest.mark.parametrize(
    "statement", ["COPY t FROM stdin", "copy t from stdin (DELIMITER ';')", "COPY t FROM stdin -- ; all\n"]
)
def test_a_copy_without_rows(statement: str) -> None:
    assert list(pieces(f"{statement};\n\\.\n", HERE)) == [DumpPiece(statement.rstrip(), 1, "")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1;\nSELECT 'x;\n", "line 2: a quote is not terminated"),
        ('SELECT "x;\n', "line 1: a quote is not terminated"),
        ("\n\nSELECT $f$ x $g$;", r"line 3: \$f\$ is not terminated"),
        ("SELECT /* x;", "line 1: a comment is not terminated"),
        ("COPY t FROM stdin;\n1\n2\n", "line 1: the rows of this COPY do not end"),
        ("COPY t FROM stdin;", "line 1: the rows of this COPY do not end"),
    ],
)
def test_a_dump_that_is_cut_off_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(pieces(text, HERE))


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("SELECT 'é'".encode(), "SELECT 'é'"),
        ("\ufeffSELECT 1".encode(), "SELECT 1"),
        ("SET client_encoding = 'LATIN1';\nSELECT 'é'".encode("latin-1"), "SELECT 'é'"),
        ("SET client_encoding TO 'WIN1251';\nSELECT 'ж'".encode("cp1251"), "SELECT 'ж'"),
        ("SET client_encoding = 'SQL_ASCII';\nSELECT 'é'".encode(), "SELECT 'é'"),
    ],
)
def test_the_encoding_is_the_one_that_the_dump_says(tmp_path: Path, raw: bytes, text: str) -> None:
    path = tmp_path / "a.sql"
    path.write_bytes(raw)
    assert read_dump(path).endswith(text)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("SELECT 1;\nSELECT 'é'".encode("latin-1"), r"line 2 is not valid UTF8 \(byte 18\).*iconv"),
        (b"SET client_encoding = 'KLINGON';", "declares the unknown encoding KLINGON"),
        (b"PGDMP\x01\x0e", "a pg_dump archive, not plain SQL.*pg_restore"),
        (b"\x1f\x8b\x08", "is compressed"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    ],
)
def test_what_is_no_plain_dump_says_what_to_do(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "a.sql"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read_dump(path)
