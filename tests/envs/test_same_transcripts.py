"""The same random moves give the same transcript in Gymnasium, PettingZoo, a batch, a run and a replay."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import gymnasium
import pytest

from birdenv import Move, make_game, run_episodes
from birdenv.dialogue import replay
from birdenv.envs import c_interact_v0

NAME, TASKS = "birdenv/CInteract-v0", ("shop_1", "shop_2", "shop_M_1")
TEXTS = (
    "What does dear mean?",
    "What do you mean by showy?",
    "SELECT name FROM items WHERE price > 10",
    "SELECT i.price FROM items i WHERE i.price > 20",
    "UPDATE items SET price = price * 2 WHERE colour = 'blue'",
    "SELECT '查询 🐦'; DROP TABLE items",
    "",
)
ENOUGH = 40  # moves; every episode ends before


def _moves(seed: int) -> list[Move]:
    rng = random.Random(seed)
    kinds = ("clarify", "clarify", "submit_sql", "no_such_action")
    return [Move(rng.choice(kinds), rng.choice(TEXTS)) for _ in range(ENOUGH)]


def _written(dialogue: Any) -> list[Any]:
    return [(e.agent, e.action, e.data, e.metadata) for e in dialogue.events]


def _through_gymnasium(task: str, moves: Sequence[Move], settings: dict[str, str]) -> Any:
    env = gymnasium.make(NAME, **settings)
    env.reset(seed=0, options={"instance_id": task})
    for move in moves:
        if any(env.step(move)[2:4]):
            break
    return env.unwrapped._dialogue  # type: ignore[attr-defined]


def _through_a_batch(task: str, moves: Sequence[Move], settings: dict[str, str]) -> Any:
    envs = gymnasium.make_vec(NAME, num_envs=1, autoreset_mode="Disabled", **settings)
    envs.reset(seed=0, options={"instance_id": task})
    for move in moves:
        if any(envs.step([move])[2:4]):
            break
    return envs.envs[0]._dialogue  # type: ignore[attr-defined]


def _through_pettingzoo(task: str, moves: Sequence[Move], settings: dict[str, str]) -> Any:
    env = c_interact_v0.raw_env(**settings)
    env.reset(seed=0, options={"instance_id": task})
    dialogue, left = env._dialogue, iter(moves)
    _, user = env._arena.seat_players(dialogue, task, but=0)
    while dialogue.open:
        env.step(next(left) if env.agent_selection == "system_0" else user.move(dialogue.view(1)))
    return dialogue


def some_of_200(step: int) -> pytest.MarkDecorator:
    """Action sequences by seed: every `step`-th, and all of them in `make test-all`."""
    seeds = [range(0, 200, step), pytest.param(range(200), marks=pytest.mark.slow)]
    return pytest.mark.parametrize("seeds", seeds, ids=["some", "all"])


@some_of_200(40)
def test_equal_through_every_driver(seeds: range, settings: dict[str, dict[str, str]]) -> None:
    lengths = set()
    for seed in seeds:
        task, moves = TASKS[seed % len(TASKS)], _moves(seed)
        dialogue = _through_gymnasium(task, moves, settings[NAME])
        written = _written(dialogue)
        lengths.add(len(written))
        assert not dialogue.open and dialogue.rewards
        for other in (_through_a_batch, _through_pettingzoo):
            assert _written(other(task, moves, settings[NAME])) == written
        with make_game("c-interact", **settings[NAME]) as arena:
            again = replay(arena._tasks.start(task), dialogue.events)
        assert _written(again) == written and again.rewards == dialogue.rewards
    assert len(lengths) > 2


@some_of_200(80)
def test_a_run_writes_the_same(seeds: range, settings: dict[str, dict[str, str]]) -> None:
    for seed in seeds:
        task, moves = TASKS[seed % len(TASKS)], _moves(seed)
        left = iter(moves)
        result = run_episodes(
            "c-interact",
            lambda view, left=left: next(left),
            instances=(task,),
            **settings[NAME],
        )
        [record] = result.records
        dialogue = _through_gymnasium(task, moves, settings[NAME])
        events = [(e["agent"], e["action"], e["data"], e["metadata"]) for e in record["example"]["events"]]
        assert events == _written(dialogue) and record["reward"] == dialogue.rewards[0]
