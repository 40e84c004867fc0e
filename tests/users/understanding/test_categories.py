"""Questions about the categories of a column that the gold SQL does not use."""

from __future__ import annotations

import pytest

from birdenv.users import Ambiguity, Brief, BriefNotes
from birdenv.users.understanding import take_apart, understand
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._left_open import NO_RESTRICTION
from birdenv.users.understanding._question import unused_categories

COLUMNS = {
    "status": "collected, pending, cancelled or refunded.",
    "tier": "An enum (Tier_enum) with the tier of the household (Gold, Silver, Bronze).",
    "region": "Text. Possible values: Coast, Hills, Town.",
    "urgency": "low, medium or high.",
}


def _of_orders(gold: str, *points: Ambiguity) -> Brief:
    notes = BriefNotes(COLUMNS, {})
    names = frozenset(["orders", "id", "amount", *COLUMNS])
    request = "Show the high orders."
    return Brief(request, points, (gold,), names, notes=notes, request=request)


@pytest.mark.parametrize(
    ("gold", "question", "words"),
    [
        ("SELECT id FROM orders", "Cancelled and pending orders too, or collected ones only?", 3),
        ("SELECT id FROM orders", "Should gold and bronze households be left out?", 2),
        ("SELECT id FROM orders", "Do I restrict it to the coast and the hills?", 2),
        ("UPDATE orders SET status = 'refunded' WHERE id > 9", "Only cancelled and pending ones?", 2),
        # the gold SQL uses the column, or the words may mean something else
        ("SELECT id FROM orders WHERE status <> 'refunded'", "Cancelled and pending orders too?", 0),
        ("SELECT status, COUNT(*) FROM orders GROUP BY status", "Cancelled and pending orders too?", 0),
        ("SELECT id FROM orders WHERE amount > 9", "Do high and medium orders both count?", 0),
        ("SELECT id FROM orders", "Are pending orders left out?", 0),
        ("SELECT id FROM orders", "Do you mean cancelled or refunded ones?", 0),
        ("SELECT id FROM orders", "Which come first, cancelled or pending orders?", 0),
    ],
)
def test_a_question_about_categories_that_nothing_distinguishes_is_recognised(
    gold: str, question: str, words: int
) -> None:
    brief = _of_orders(gold)
    assert len(unused_categories(index_of(brief), take_apart(question))) == words


def test_no_restriction_is_the_answer_about_categories_that_nothing_distinguishes() -> None:
    question = "Should I include cancelled and pending orders as well, or restrict it to collected ones?"
    large = Ambiguity("high", "amount > 9", "critical")
    free = _of_orders("SELECT id FROM orders WHERE amount > 9", large)
    assert understand(free, question).answer == NO_RESTRICTION
    bound = _of_orders("SELECT id FROM orders WHERE amount > 9 AND status = 'collected'", large)
    assert understand(bound, question).answer != NO_RESTRICTION
    assert "status" in " ".join(understand(bound, question).granted())
