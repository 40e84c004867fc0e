"""Train a user policy, a system policy, or both in c-Interact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any, Final

from birdenv.dialogue import Arena, make_game
from birdenv.dialogue.players import play
from birdenv_baselines.self_play._players import SYSTEM_FEATURES, USER_FEATURES, system_of, user_of
from birdenv_baselines.self_play._policy import Policy

SYSTEM, USER = 0, 1


@dataclass(frozen=True, slots=True)
class Prices:
    """The settings of c-Interact that determine rewards: the scheme, and the two prices.

    Attributes:
        reward_scheme: how rewards depend on the outcome, for example `cooperative`.
        question_price: what a question costs the system.
        disclosure_price: what it costs the user to disclose an annotated point.
    """

    reward_scheme: str = "cooperative"
    question_price: float = 0.05
    disclosure_price: float = 0.05


@dataclass(slots=True)
class Pair:
    """The policies of a system and of a user that play together."""

    system: Policy = field(default_factory=lambda: Policy(SYSTEM_FEATURES))
    user: Policy = field(default_factory=lambda: Policy(USER_FEATURES))


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over a pair's episodes.

    Attributes:
        system: the mean reward of the system.
        user: the mean reward of the user.
        solved: the share of episodes whose SQL earned a reward.
        questions: the mean number of questions.
    """

    system: float
    user: float
    solved: float
    questions: float


@contextmanager
def game(prices: Prices, settings: Mapping[str, Any] | None = None) -> Iterator[Arena]:
    """Open c-Interact with these prices. `settings` can contain other settings of the game."""
    paid = {
        "reward_scheme": prices.reward_scheme,
        "question_price": prices.question_price,
        "disclosure_price": prices.disclosure_price,
    }
    with make_game("c-interact", **{**paid, **(settings or {})}) as arena:
        yield arena


_EVERY: Final = 100  # episodes between two notes of the mean reward


def train(arena: Arena, pair: Pair, episodes: int, *, seed: int = 0, who: str = "both") -> list[float]:
    """Train each policy of a pair on its seat's reward, and return the mean reward of every 100 episodes.

    Args:
        arena: the game to play.
        pair: the policies; training changes their weights.
        episodes: the number of dialogues.
        seed: the seed for the task order and all decisions.
        who: the seat that learns: `system`, `user`, or `both`. Other policies are not changed. The returned
            rewards are the system's for `system`, and otherwise the user's.
    """
    learners = {"system": (SYSTEM,), "user": (USER,), "both": (SYSTEM, USER)}[who]
    policies = {SYSTEM: pair.system, USER: pair.user}
    for seat, policy in policies.items():
        policy.explores = seat in learners
    earned: list[float] = []
    for rewards, _ in islice(_episodes(arena, pair, seed), episodes):
        for seat in learners:
            policies[seat].learn(rewards[seat])
        earned.append(rewards[learners[-1]])
    return [sum(part) / len(part) for i in range(0, len(earned), _EVERY) if (part := earned[i : i + _EVERY])]


def evaluate(arena: Arena, pair: Pair, *, seed: int = 0, rounds: int = 1) -> Figures:
    """Return a pair's means over all tasks. The policies do not explore."""
    pair.system.explores = pair.user.explores = False
    count = rounds * len(arena.ids)
    played = list(islice(_episodes(arena, pair, seed, shuffled=False), count))
    return Figures(
        sum(rewards[SYSTEM] for rewards, _ in played) / count,
        sum(rewards[USER] for rewards, _ in played) / count,
        sum(rules.outcome()["reward"] > 0 for _, rules in played) / count,
        sum(rules.questions for _, rules in played) / count,
    )


def _episodes(
    arena: Arena, pair: Pair, seed: int, *, shuffled: bool = True
) -> Iterator[tuple[tuple[float, ...], Any]]:
    """Play dialogues endlessly, and yield the rewards of the seats and the rules of each dialogue."""
    rng, repeat = Random(seed), 0
    while True:
        names = list(arena.ids)
        if shuffled:
            rng.shuffle(names)
        for name in names:
            dialogue = arena.start(name)
            system = arena.context(dialogue, name, SYSTEM, seed=seed, repeat=repeat)
            user = arena.context(dialogue, name, USER, seed=seed, repeat=repeat)
            play(dialogue, [system_of(pair.system, system), user_of(pair.user, user)])
            dialogue.close()
            yield dialogue.rewards, dialogue.rules
        repeat += 1
