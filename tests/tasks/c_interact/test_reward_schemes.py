"""Who pays for questions and for what the user tells."""

from __future__ import annotations

from typing import Any

import pytest

from birdenv import Move, make_game
from birdenv.dialogue import replay
from birdenv.errors import InputError

TASK = "library_1"
TELLS = "By 'roomy branches' I mean that the seats are at least 40."


def _played(scheme: str, answer: str = TELLS, **prices: Any) -> tuple[float, float]:
    """The seats' rewards after one question, its answer and the oracle's SQL; a replay earns the same."""
    arena = make_game("c-interact", reward_scheme=scheme, **prices)
    dialogue = arena.start(TASK)
    dialogue.apply(0, Move("clarify", "What do you mean by 'roomy branches'?"))
    dialogue.apply(1, Move("answer", answer))
    dialogue.apply(0, Move("submit_sql", arena._tasks.private(TASK).gold[0]))
    again = replay(arena._tasks.start(TASK), dialogue.events)
    assert again.rewards == dialogue.rewards
    return dialogue.rewards  # type: ignore[return-value]


PRICES = {"question_price": 0.05, "disclosure_price": 0.1}


@pytest.mark.parametrize(
    ("scheme", "system", "user"),
    [("cooperative", 0.55, 0.55), ("user_cost", 0.65, 0.6), ("zero_sum", 0.65, -0.65)],
)
def test_the_seats_are_paid_by_the_scheme(scheme: str, system: float, user: float) -> None:
    assert _played(scheme, **PRICES) == (system, user)


def test_without_prices_both_earn_what_the_sql_earned() -> None:
    assert _played("cooperative") == (0.7, 0.7)


def test_only_what_is_told_is_paid_and_only_once() -> None:
    assert _played("user_cost", "I would rather not say.", **PRICES) == (0.65, 0.7)
    assert _played("user_cost", f"{TELLS} {TELLS}", **PRICES) == (0.65, 0.6)
    assert _played("user_cost", "Those with 40 seats or more, at least 40 seats.", **PRICES) == (0.65, 0.6)


def test_the_seats_are_told_the_prices() -> None:
    arena = make_game("c-interact", reward_scheme="user_cost", **PRICES)
    assert "Each question reduces your reward by 0.05." in arena.instruction(TASK)
    assert "reduces your reward by 0.1" in arena.instruction(TASK, "user")
    plain = make_game("c-interact")
    assert "reward" not in plain.instruction(TASK, "user")


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(InputError, match="reward_scheme"):
        make_game("c-interact", reward_scheme="greedy")
