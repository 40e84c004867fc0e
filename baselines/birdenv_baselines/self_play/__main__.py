"""The commands that train a user and a system in self-play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv_baselines.self_play._matrix import code_gap, cross_play, write_csv
from birdenv_baselines.self_play._policy import Policy
from birdenv_baselines.self_play._train import Figures, Pair, Prices, evaluate, game, train

_ASKS_ALL = 30.0  # a weight with which the decision is always yes

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help=__doc__)

Episodes = Annotated[int, typer.Option("-n", "--episodes", min=1, help="Dialogues to learn from.")]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
Scheme = Annotated[str, typer.Option("--reward-scheme", help="Who pays: cooperative, user_cost or zero_sum.")]
Asked = Annotated[float, typer.Option("--question-price", min=0.0, help="Price of a question.")]
Told = Annotated[float, typer.Option("--disclosure-price", min=0.0, help="Price of a disclosed point.")]


@app.command()
def user(
    episodes: Episodes = 1500,
    seed: Seed = 0,
    reward_scheme: Scheme = "cooperative",
    question_price: Asked = 0.05,
    disclosure_price: Told = 0.05,
) -> None:
    """Train a user to decide what to tell a system that asks about every open phrase."""
    pair = Pair()
    pair.system.weights[:2] = _ASKS_ALL
    _learn(pair, "user", episodes, seed, Prices(reward_scheme, question_price, disclosure_price))


@app.command()
def both(
    episodes: Episodes = 3000,
    seed: Seed = 0,
    reward_scheme: Scheme = "cooperative",
    question_price: Asked = 0.05,
    disclosure_price: Told = 0.05,
) -> None:
    """Train a system and a user together."""
    _learn(Pair(), "both", episodes, seed, Prices(reward_scheme, question_price, disclosure_price))


@app.command()
def matrix(
    episodes: Episodes = 3000,
    seeds: Annotated[int, typer.Option("--seeds", min=2, help="Number of pairs.")] = 4,
    reward_scheme: Scheme = "cooperative",
    question_price: Asked = 0.05,
    disclosure_price: Told = 0.05,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("results"),
) -> None:
    """Train pairs with different seeds, swap their partners, and write population.csv."""
    with game(Prices(reward_scheme, question_price, disclosure_price)) as arena:
        pairs = []
        for seed in range(seeds):
            pair = Pair()
            train(arena, pair, episodes, seed=seed)
            pairs.append(pair)
            print(f"pair {seed}: {_shown(evaluate(arena, pair))}")
        rewards = cross_play(arena, pairs)
    write_csv(rewards, output / "population.csv")
    print(f"Partners earn {code_gap(rewards):+.3f} more than strangers.")
    print(f"Results: {output / 'population.csv'}")


def _learn(pair: Pair, who: str, episodes: int, seed: int, prices: Prices) -> None:
    with game(prices) as arena:
        print(f"before: {_shown(evaluate(arena, pair))}")
        curve = train(arena, pair, episodes, seed=seed, who=who)
        print("mean reward of each 100 episodes:", " ".join(f"{reward:.2f}" for reward in curve))
        print(f"after:  {_shown(evaluate(arena, pair))}")
    for name in ("system", "user") if who == "both" else (who,):
        policy: Policy = getattr(pair, name)
        print(f"The {name} says yes:")
        for i, feature in enumerate(policy.names):
            print(f"  {feature:<26}{policy.chance([float(i == j) for j in range(len(policy.names))]):>5.0%}")


def _shown(figures: Figures) -> str:
    return (
        f"system {figures.system:.3f}, user {figures.user:.3f}, solved {figures.solved:.0%}, "
        f"{figures.questions:.2f} questions"
    )


if __name__ == "__main__":
    app()
