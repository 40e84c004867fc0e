"""What a comparison may be told to forgive, and what it never forgives unasked."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest

from birdenv.databases import QueryResult
from birdenv.grading.compare import Normalisation, compare_multiset, normalised

DAY = date(2024, 1, 2)
MIDNIGHT = datetime(2024, 1, 2)
MORNING = datetime(2024, 1, 2, 9, 30)
SWITCHES = ("trim", "casefold", "nfc", "dates")

# gold, prediction, the switches of which any one makes them the same
CASES: dict[str, tuple[Any, Any, set[str]]] = {
    "space around": ("x ", "\n x", {"trim"}),
    "space inside": ("x  y", "x y", set()),
    "case": ("Yes", "yes", {"casefold"}),
    "case beyond ASCII": ("STRASSE", "straße", {"casefold"}),
    "composed characters": ("caf\u00e9", "cafe\u0301", {"nfc"}),
    "accents": ("café", "cafe", set()),
    "a date and its text": (DAY, "2024-01-02", {"dates"}),
    "a date and midnight": (DAY, MIDNIGHT, {"dates"}),
    "midnight as text": ("2024-01-02 00:00:00", "2024-01-02", {"dates"}),
    "a timestamp and its text": (MORNING, "2024-01-02 09:30:00", {"dates"}),
    "T between": ("2024-01-02T09:30", "2024-01-02 09:30:00.000", {"dates"}),
    "a fraction": ("2024-01-02 09:30:00.5", datetime(2024, 1, 2, 9, 30, 0, 500_000), {"dates"}),
    "another time of that day": (DAY, MORNING, set()),
    "a time zone": (
        MORNING.replace(tzinfo=timezone(timedelta(hours=2))),
        "2024-01-02 07:30:00Z",
        {"dates"},
    ),
    "offsets": ("2024-01-02T09:30+02", "2024-01-02T07:30:00+00:00", {"dates"}),
    "a zone against none": ("2024-01-02 09:30:00Z", "2024-01-02 09:30:00", set()),
    "space around a date": (" 2024-01-02", "2024-01-02", {"trim"}),
    "digits of another script": ("٢٠٢٤-٠١-٠٢", "2024-01-02", set()),
    "midnight in a time zone": ("2024-01-02 00:00:00Z", DAY, set()),
    "no date": ("2024-13-45", "2024-13-46", set()),
    "a year alone": ("2024", 2024, set()),
    "text and number": ("1.50", 1.5, set()),
    "in an array": (["A", DAY], ["a", DAY], {"casefold"}),
    "in JSON": ({"k": ["x "]}, {"k": ["x"]}, {"trim"}),
    "a key of JSON": ({"K": 1}, {"k": 1}, set()),
}


def agree(gold: Any, pred: Any, normalisation: Normalisation) -> bool:
    results = [normalised(QueryResult(("x",), [(cell,)]), normalisation) for cell in (gold, pred)]
    return compare_multiset(*results).equal


@pytest.mark.parametrize(("gold", "pred", "switches"), CASES.values(), ids=CASES.keys())
def test_each_switch(gold: Any, pred: Any, switches: set[str]) -> None:
    assert not agree(gold, pred, Normalisation())
    for switch in SWITCHES:
        assert agree(gold, pred, Normalisation(**{switch: True})) == (switch in switches), switch
    assert agree(gold, pred, Normalisation(True, True, True, True)) == bool(switches)


def test_several_at_once() -> None:
    assert agree(" Caf\u00e9", "cafe\u0301 ", Normalisation(trim=True, casefold=True, nfc=True))
    assert not agree(" Caf\u00e9", "cafe\u0301 ", Normalisation(trim=True, casefold=True))
    assert agree(" 2024-01-02", "2024-01-02 00:00 ", Normalisation(trim=True, dates=True))
    assert not agree(" 2024-01-02", "2024-01-02 00:00", Normalisation(dates=True))


def test_exact_leaves_the_result_alone() -> None:
    result = QueryResult(("x",), [("A ",)], truncated=True)
    assert normalised(result, Normalisation()) is result
    assert normalised(result, Normalisation(trim=True)).truncated
