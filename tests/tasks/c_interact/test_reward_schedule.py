"""What passes earn."""

import pytest

from birdenv.tasks.interact.rewards import REWARDS, batch_reward, reward

# first phase: attempt that passed or None; second likewise; what the episode earns
EPISODES = [
    (1, 1, 1.0),
    (2, 1, 0.8),
    (1, 2, 0.9),
    (2, 2, 0.7),
    (1, None, 0.7),
    (2, None, 0.5),
    (None, None, 0.0),
]


@pytest.mark.parametrize(("first", "second", "total"), EPISODES)
def test_episodes(first: int | None, second: int | None, total: float) -> None:
    earned = sum(
        reward(phase, attempt, passed)
        for phase, passing in ((1, first), (2, second))
        for attempt, passed in ((1, passing == 1), (2, passing == 2))
    )
    assert earned == pytest.approx(total)


def test_a_fail_earns_nothing() -> None:
    assert all(reward(phase, attempt, False) == 0.0 for phase, attempt in REWARDS)


@pytest.mark.parametrize(("phase", "attempt"), [(0, 1), (3, 1), (1, 0), (1, 3)])
def test_there_is_no_other_phase_or_attempt(phase: int, attempt: int) -> None:
    with pytest.raises(ValueError, match="must be 1 or 2"):
        reward(phase, attempt, True)


def test_batches() -> None:
    assert batch_reward(1, 0, 1, 0, 1) == 1.0
    assert batch_reward(1, 1, 1, 1, 10) == pytest.approx(0.17)
    assert batch_reward(0, 0, 0, 0, 5) == 0.0
    assert batch_reward(0, 0, 0, 0, 0) == 0.0
