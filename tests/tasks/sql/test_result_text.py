"""What the system reads of a result is what the database returned."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from birdenv.databases import QueryError, QueryResult
from birdenv.tasks.sql._result_text import (
    SHOWN_CHARACTERS,
    SHOWN_ROWS,
    SHOWN_TEXT,
    cell_text,
    escaped,
    result_text,
)


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


_CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.binary(max_size=3),
    st.text(max_size=4),
    st.text(alphabet=" '\"|NULone\n\\x", max_size=6),
    st.sampled_from([SHOWN_CHARACTERS - 1, SHOWN_CHARACTERS, SHOWN_CHARACTERS + 1, 5_000]).map("x".__mul__),
    st.sampled_from(["NULL", "None", "it's", "b'x'", "x ", " x", "a  b", "\x85", "é漢", "\udcff"]),
)


@given(st.integers(1, 6).flatmap(lambda width: st.lists(st.tuples(*[_CELLS] * width), max_size=12)))
@example([("x" * (SHOWN_CHARACTERS + 1),)])
@example([("x" * (SHOWN_CHARACTERS + 1), 1), (2, "y")])
@example([(None, "NULL")])
@example([("NULLNULL", 1), (None, 2)])
@example([("None", None)])
@example([("\n", "|")])
@example([("a | b",), ("c",)])
@example([(b"",)])
def test_every_cell_is_shown_by_itself(rows: list[tuple[Any, ...]]) -> None:
    """However results are put together: a line is what its cells are, one by one."""
    columns = tuple("abcdef"[: len(rows[0])]) if rows else ("a",)
    lines = result_text(QueryResult(columns, rows)).split("\n")
    assert lines[2:-1] == [" | ".join(map(cell_text, row)) for row in rows]


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


TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())),  # surrogates, too
    st.text("aZ0é漢 '\"|\\\n\t\x00\x7f\x85\xa0\u2028\u202e\ud800\udcff"),
    st.sampled_from(["", "NULL", "null", " ", "'", "|", "None", "X'00'", "inf"]),
    st.integers(SHOWN_CHARACTERS - 1, SHOWN_CHARACTERS + 1).map("x".__mul__),
)
CELLS = st.one_of(
    st.none(),
    st.integers(),
    st.floats(allow_nan=False),
    TEXTS,
    st.binary(max_size=2 * SHOWN_CHARACTERS),
)


@st.composite
def results(draw: st.DrawFn) -> QueryResult:
    width = draw(st.integers(1, 4))
    columns = draw(st.tuples(*[TEXTS] * width))
    rows = draw(st.lists(st.tuples(*[CELLS] * width), max_size=5)) * draw(st.sampled_from([1, 1, 40]))
    return QueryResult(columns, rows, truncated=draw(st.booleans()))


@given(results())
@example(QueryResult(("a" * 2_000, "b"), [("c" * 300, None)]))
@example(QueryResult(tuple("abc" * 100), [("c" * 150,) * 300] * 3))
def test_every_result_reads_as_by_the_plain_rules(result: QueryResult) -> None:
    assert result_text(result) == reference_text(result)


@pytest.mark.slow
def test_every_character_reads_as_by_the_plain_rules() -> None:
    for character in map(chr, range(sys.maxunicode + 1)):
        assert cell_text(character) == reference_cell(character)


def test_every_latin_character_in_every_place_reads_as_by_the_plain_rules() -> None:
    for character in map(chr, range(0x180)):
        for text in (f"{character}b", f"a{character}", f"a{character}b"):
            assert cell_text(text) == reference_cell(text)


def reference_text(result: QueryResult) -> str:
    """What `result_text` says of rows, without any short cut."""
    header = [reference_cell(name) for name in result.columns]
    rule = "-+-".join("-" * len(name) for name in header)
    lines = [cut(" | ".join(header), SHOWN_TEXT // 4), rule[: SHOWN_TEXT // 4]]
    length = sum(map(len, lines))
    for row in result.rows[:SHOWN_ROWS]:
        line = " | ".join(map(reference_cell, row))
        length += len(line) + 1
        if length > SHOWN_TEXT and len(lines) > 2:
            break
        lines.append(cut(line, SHOWN_TEXT) if length > SHOWN_TEXT else line)
    shown, total = len(lines) - 2, len(result.rows)
    if result.truncated:
        count = f"(first {shown} of more than {total} rows)"
    elif shown < total:
        count = f"(first {shown} of {total} rows)"
    else:
        count = f"({total} {'row' if total == 1 else 'rows'})"
    return "\n".join([*lines, count])


def reference_cell(cell: Any) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return cut(f"X'{cell[:SHOWN_CHARACTERS].hex()}'", SHOWN_CHARACTERS, 2 * len(cell) + 3)
    if not isinstance(cell, str):
        return repr(cell)
    if len(cell) > SHOWN_CHARACTERS:
        return f"{escaped(cell[:SHOWN_CHARACTERS])}… ({len(cell) - SHOWN_CHARACTERS} more characters)"
    if cell in ("", "NULL") or cell.startswith((" ", "'")) or cell.endswith(" ") or "|" in cell:
        return "'" + escaped(cell.replace("'", "''")) + "'"
    return escaped(cell)


def cut(text: str, limit: int, length: int | None = None) -> str:
    length = length or len(text)
    return text if length <= limit else f"{text[:limit]}… ({length - limit} more characters)"
