"""Shaping by a potential leaves the best policy as it is; a cost of turns may not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest

import birdenv
from birdenv.envs.wrappers import PotentialShaping, TurnCost, resolved_points
from birdenv.errors import InputError

POINTS = 2
VALUES = (0.3, 0.6, 0.95)
"""Of a submission after so many answers."""


class Clarification(gymnasium.Env[int, int]):
    """A small exact MDP: the state is how many points are settled; 0 asks about the next one, 1 submits."""

    observation_space = gymnasium.spaces.Discrete(POINTS + 2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.settled, self.steps = 0, 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if action == 1:
            return POINTS + 1, VALUES[self.settled], True, False, {}
        self.settled = min(self.settled + 1, POINTS)
        return self.settled, 0.0, self.steps > 2 * POINTS, False, {}


POLICIES = list(product((0, 1), repeat=POINTS + 1))


def _returns(wrap: Callable[[Any], Any], discount: float = 1.0) -> dict[tuple[int, ...], float]:
    """The exact return of every deterministic policy."""
    found = {}
    for policy in POLICIES:
        env = wrap(Clarification())
        state, _ = env.reset()
        total, factor, over = 0.0, 1.0, False
        while not over:
            state, reward, over, _, _ = env.step(policy[state])
            total, factor = total + factor * reward, factor * discount
        found[policy] = total
    return found


def _best(returns: dict[tuple[int, ...], float]) -> set[tuple[int, ...]]:
    most = max(returns.values())
    return {policy for policy, value in returns.items() if value > most - 1e-9}


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_any_potential_moves_all_returns_by_one_constant(discount: float, seed: int) -> None:
    potentials = np.random.default_rng(seed).normal(0.0, 5.0, POINTS + 2)
    plain = _returns(lambda env: env, discount)
    shaped = _returns(
        lambda env: PotentialShaping(env, lambda state, _: potentials[state], discount, scale=2.0), discount
    )
    assert _best(shaped) == _best(plain)
    assert [shaped[policy] - plain[policy] for policy in POLICIES] == pytest.approx(
        [-2.0 * potentials[0]] * len(POLICIES)
    )


def test_a_bonus_that_is_no_potential_is_not_safe() -> None:
    """The check above can fail: what is paid for questions, and never taken back, changes what is best."""

    class Bonus(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            state, reward, *rest = self.env.step(action)
            return state, float(reward) + (0.5 if action == 0 else 0.0), *rest

    assert _best(_returns(Bonus)) != _best(_returns(lambda env: env))


def test_a_cost_of_turns_changes_what_is_best_when_it_is_high() -> None:
    plain = _best(_returns(lambda env: env))
    assert plain == _best(_returns(lambda env: TurnCost(env, 0.1))) == {(0, 0, 1)}
    assert {policy[0] for policy in _best(_returns(lambda env: TurnCost(env, 0.4)))} == {1}
    with pytest.raises(InputError, match="at least 0"):
        TurnCost(Clarification(), -1.0)


def test_resolved_points_pay_for_answers_and_take_it_back(c_interact: Any) -> None:
    env = PotentialShaping(c_interact(), resolved_points, scale=0.5)
    env.reset(options={"instance_id": "shop_1"})
    rewards = [
        env.step(action)[1]
        for action in (
            birdenv.clarify("What does dear mean?"),
            birdenv.clarify("What does dear mean?"),
            birdenv.submit_sql("SELECT name FROM items WHERE price > 10"),
            birdenv.submit_sql("SELECT COUNT(*) FROM items WHERE price > 10 AND colour = 'blue'"),
        )
    ]
    assert rewards == [0.5, 0.0, 0.7, -0.2]


def test_a_game_without_points_is_refused(bird: Any) -> None:
    env = PotentialShaping(bird(), resolved_points)
    with pytest.raises(InputError, match="c-interact or a-interact"):
        env.reset(seed=0)
