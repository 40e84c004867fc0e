"""`QueryResult.types`: one word per column."""

from __future__ import annotations

from birdenv.databases import QueryResult


def test_types_name_the_storage_class_seen_in_each_column() -> None:
    rows = [(1, 1.5, "a", b"x", None, 1), (None, 2.5, "b", b"", None, "one")]
    assert QueryResult(("a", "b", "c", "d", "e", "f"), rows).types == (
        "integer", "real", "text", "blob", "null", "mixed",
    )  # fmt: skip


def test_columns_without_rows_are_null() -> None:
    assert QueryResult(("a", "b"), ()).types == ("null", "null")
    assert QueryResult((), ()).types == ()
