"""What the system reads of a result is what the database returned."""

from __future__ import annotations

import pytest

from birdenv.databases import QueryError, QueryResult
from birdenv.tasks import result_text
from birdenv.tasks._result_text import SHOWN_CHARACTERS, SHOWN_ROWS, cell_text


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, "NULL"),
        ("NULL", "'NULL'"),
        ("", "''"),
        (" x", "' x'"),
        ("it's", "it's"),
        ("'quoted'", "'''quoted'''"),
        ("a | b", "'a | b'"),
        ("two\nlines", "two\\nlines"),
        ("tab\there", "tab\\there"),
        ("back\\slash", "back\\\\slash"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("nul\x00byte", "nul\\x00byte"),
        ("bad \udcff byte", "bad \\xff byte"),
        ("\u202eleft", "\\u202eleft"),
        ("é漢", "é漢"),
        (1, "1"),
        (1.0, "1.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("inf"), "inf"),
        (b"\x00\xff", "X'00ff'"),
    ],
)
def test_cells(cell: object, shown: str) -> None:
    assert cell_text(cell) == shown


def test_a_cut_cell_is_marked() -> None:
    text = cell_text("x" * (SHOWN_CHARACTERS + 5))
    assert text == "x" * SHOWN_CHARACTERS + "… (5 more characters)"


def test_columns_order_and_duplicates() -> None:
    result = QueryResult(("b", "a", "a"), [(2, 1, 1), (2, 1, 1)])
    assert result_text(result) == "b | a | a\n--+---+--\n2 | 1 | 1\n2 | 1 | 1\n(2 rows)"


def test_no_rows_keep_their_header() -> None:
    assert result_text(QueryResult(("a", "b"), [])) == "a | b\n--+--\n(0 rows)"


def test_one_row() -> None:
    assert result_text(QueryResult(("a",), [(1,)])).endswith("(1 row)")


def test_cut_rows_are_counted() -> None:
    rows = [(i,) for i in range(SHOWN_ROWS + 7)]
    assert result_text(QueryResult(("a",), rows)).endswith(f"\n99\n(first {SHOWN_ROWS} of {len(rows)} rows)")
    more = result_text(QueryResult(("a",), rows, truncated=True))
    assert more.endswith(f"(first {SHOWN_ROWS} of more than {len(rows)} rows)")


def test_a_wide_result_is_bounded() -> None:
    text = result_text(QueryResult(tuple("c" * 2_000), [("y" * 1000,) * 2_000] * 50))
    assert len(text) < 31_000
    assert "of 50 rows)" in text


def test_errors_and_statements() -> None:
    assert result_text(QueryError("missing", "no such table: x")) == "SQL error (missing): no such table: x"
    done = result_text(QueryResult((), [], rows_affected=3))
    assert done == "Statement executed; it returns no rows. Rows affected: 3."
