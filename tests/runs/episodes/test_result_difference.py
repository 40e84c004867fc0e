"""The difference of two results: what is missing, extra and wrong."""

from __future__ import annotations

from decimal import Decimal

from birdenv.databases import QueryResult
from birdenv.runs.episodes import ResultDifference
from birdenv.runs.episodes._result_difference import DifferentRow, cell_text, result_difference


def result(*rows: tuple[object, ...], columns: str = "a b c", truncated: bool = False) -> QueryResult:
    return QueryResult(tuple(columns.split()), rows, truncated)


GOLD = result((1, "x", 2.5), (2, "y", None), (3, "z", 4))


def test_equal_rows_in_another_order_do_not_differ() -> None:
    assert result_difference(GOLD, result(*GOLD.rows[::-1])).why == ""


def test_a_row_with_one_other_cell_is_wrong_and_neither_missing_nor_extra() -> None:
    found = result_difference(GOLD, result((1, "x", 2.5), (2, "y", 7), (3, "z", 4)))
    assert (found.missing, found.extra, found.wrong) == (0, 0, 1)
    assert found.rows == (DifferentRow(("2", "y", None), ("2", "y", "7")),)


def test_rows_without_a_partner_are_missing_or_extra() -> None:
    found = result_difference(GOLD, result((1, "x", 2.5), (9, "q", 8)))
    assert (found.missing, found.extra, found.wrong) == (2, 1, 0)
    assert found.why == "2 rows missing, 1 row extra; 3 expected, 2 rows returned"


def test_a_repeated_row_is_extra() -> None:
    found = result_difference(GOLD, result(*GOLD.rows, (3, "z", 4)))
    assert (found.missing, found.extra, found.rows) == (0, 1, (DifferentRow((), ("3", "z", "4")),))


def test_of_two_columns_only_the_first_makes_a_pair() -> None:
    gold, returned = result(("Mill", 2), columns="a b"), result(("Road", 2), columns="a b")
    assert (result_difference(gold, returned).missing, result_difference(gold, returned).wrong) == (1, 0)
    assert result_difference(gold, result(("Mill", 3), columns="a b")).wrong == 1


def test_other_columns_are_not_compared() -> None:
    found = result_difference(GOLD, result((1, "x"), columns="a b"))
    assert found.why == "3 columns expected, 2 returned" and not found.rows


def test_numbers_of_other_types_and_last_digits_are_the_same() -> None:
    returned = result((1.0, "x", Decimal("2.5")), (2, "y", None), (3, "z", 4.0000000001))
    assert result_difference(GOLD, returned).wrong == 0


def test_the_public_half_holds_no_cell() -> None:
    found = result_difference(GOLD, result((1, "x", 9)))
    public = found.public()
    assert public == ResultDifference(found.why, found.missing, found.extra, found.wrong)


def test_cells_are_text_and_long_ones_are_cut() -> None:
    assert cell_text(None) is None and cell_text(b"\x00\xff") == "x'00ff'"
    assert len(cell_text("x" * 10_000) or "") == 201
