"""`CInteractEnv` adds no rules: it plays what the rules say, and says what cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from envs_benchmark import GOLD_1, GOLD_1_FOLLOW_UP, GOLD_2, GOLD_M_1, WRONG
from gymnasium.error import InvalidAction
from gymnasium.utils.env_checker import data_equivalence

from birdenv import clarify, execute_sql, submit_sql
from birdenv.dialogue import Dialogue, Move, View, play
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.envs import CInteractEnv
from birdenv.envs._seat_spaces import SeatSpaces
from birdenv.errors import InputError
from birdenv.grading import InteractGrader
from birdenv.tasks import SENDERS
from birdenv.tasks.c_interact import GAME, CInteractRules, load_benchmark
from birdenv.tasks.interact._user_seat import briefs_of
from birdenv.tasks.sql._actions import KINDS
from birdenv.users import RulePlayer

Make = Callable[..., Any]

MALFORMED = [
    None,
    "SELECT 1",
    7,
    [],
    {},
    {"kind": 0},
    {"text": "Which?"},
    {"kind": 3, "text": "x"},
    {"kind": -1, "text": "x"},
    {"kind": "clarify", "text": "x"},
    {"kind": 0.0, "text": "x"},
    {"kind": None, "text": "x"},
    {"kind": 0, "text": None},
    {"kind": 0, "text": b"Which?"},
    {"kind": 0, "text": "x", "more": 1},
    Move(3, "x"),
    float("nan"),
]


def _start(env: Any, instance_id: str) -> dict[str, Any]:
    observation: dict[str, Any] = env.reset(options={"instance_id": instance_id})[0]
    return observation


def test_the_first_observation(c_interact: Make) -> None:
    observation, info = c_interact().reset(options={"instance_id": "shop_1"})
    assert observation["message"] == "Which items are dear? Größe egal 🐦"
    assert observation["message"] in observation["instruction"]
    assert SENDERS[observation["sender"]] == "user"
    assert (observation["phase"], observation["turns_left"]) == (1, 4)
    assert observation["action_mask"].tolist() == [1, 0, 1]
    assert info == {
        "instance_id": "shop_1",
        "database": "shop",
        "dialect": "sqlite",
        "candidates": ("SELECT i.name FROM items i WHERE i.price > 10.0", "SELECT i.name FROM items i"),
    }


def test_an_episode_to_its_end(c_interact: Make) -> None:
    env = c_interact()
    _start(env, "shop_1")
    observation, reward, terminated, truncated, info = env.step(clarify("What does dear mean?"))
    assert SENDERS[observation["sender"]] == "user" and "10" in observation["message"]
    assert (reward, terminated, truncated, observation["turns_left"]) == (0.0, False, False, 3)

    observation, reward, terminated, _, info = env.step(submit_sql(GOLD_1))
    assert (reward, terminated, observation["phase"]) == (0.7, False, 2)
    assert "How many of these are blue?" in observation["message"]
    assert info["candidates"] == ("SELECT COUNT(i.item_id) FROM items i", "SELECT 1")
    assert "status" not in info

    observation, reward, *_ = env.step(submit_sql(WRONG))
    assert (reward, observation["action_mask"].tolist()) == (0.0, [0, 0, 1])
    observation, reward, terminated, truncated, info = env.step(submit_sql(GOLD_1_FOLLOW_UP))
    assert (reward, terminated, truncated) == (0.2, True, False)
    assert observation["action_mask"].tolist() == [0, 0, 0]
    assert info["status"] == "completed" and info["reward"] == pytest.approx(0.9)
    assert [(a["phase"], a["attempt"], a["reward"]) for a in info["attempts"]] == [
        (1, "first", 0.7),
        (2, "first", 0.0),
        (2, "debug", 0.2),
    ]


@pytest.mark.parametrize(("instance_id", "gold"), [("shop_2", GOLD_2), ("shop_M_1", GOLD_M_1)])
def test_tasks_without_a_follow_up_end_with_the_first_success(
    c_interact: Make, instance_id: str, gold: str
) -> None:
    env = c_interact()
    _start(env, instance_id)
    assert env.step(submit_sql(gold))[1:3] == (0.7, True)


def test_the_same_moves_give_the_same_transcript_as_the_dialogue_alone(
    c_interact: Make, benchmark: Path
) -> None:
    moves = [Move("clarify", "Which colour?"), Move("execute_sql", "SELECT 1"), Move("submit_sql", "SELEC")]
    moves += [Move("submit_sql", GOLD_1), Move("submit_sql", GOLD_1_FOLLOW_UP)]
    env = c_interact()
    _start(env, "shop_1")
    for move in moves:
        env.step({"kind": KINDS.index(move.action), "text": move.data})

    class Scripted:
        def __init__(self) -> None:
            self.moves = iter(moves)

        def move(self, view: Any) -> Move:
            return next(self.moves)

    loaded = load_benchmark(benchmark, benchmark / "c_interact.jsonl")
    task = loaded.tasks[0]
    dialogue = Dialogue(CInteractRules(task, loaded.source, InteractGrader(loaded.source)))
    play(dialogue, [Scripted(), RulePlayer(briefs_of(task))])
    assert env.unwrapped._dialogue.events == dialogue.events
    assert env.unwrapped._dialogue.rewards == dialogue.rewards


@pytest.mark.parametrize("action", MALFORMED, ids=lambda action: repr(action)[:30])
def test_what_no_policy_could_mean_raises_and_costs_nothing(c_interact: Make, action: Any) -> None:
    env = c_interact().unwrapped
    before = _start(env, "shop_1")
    with pytest.raises(InvalidAction, match=r"kind|string|name of an action"):
        env.step(action)
    assert not env.unwrapped._dialogue.events
    observation, *_, info = env.step(clarify("What is dear?"))
    assert observation["turns_left"] == before["turns_left"] - 1 and "refused" not in info


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (clarify("x" * 100_000), "too_long"),
        (clarify(" "), "empty"),
        (Move("drop"), "unknown"),
        (Move("clarify", 3), "malformed"),
        (execute_sql("SELECT 1"), "illegal"),
    ],
)
def test_what_a_policy_may_do_costs_a_turn_and_is_named(c_interact: Make, action: Any, why: str) -> None:
    env = c_interact(execute_sql=False).unwrapped
    before = _start(env, "shop_1")
    observation, reward, terminated, truncated, info = env.step(action)
    assert info["refused"] == why and SENDERS[observation["sender"]] == "judge"
    assert observation["turns_left"] == before["turns_left"] - 1
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert "refused" not in env.step(clarify("What is dear?"))[4]


def test_a_hopeless_policy_comes_to_an_end(c_interact: Make) -> None:
    env = c_interact().unwrapped
    _start(env, "shop_1")
    steps = 1
    while not any(env.step(clarify(""))[2:4]):
        steps += 1
    assert steps == 4 + 1 + 2 + 1  # the questions, an attempt, two free moves, and the last attempt


def test_numpy_kinds_are_as_good_as_ints(c_interact: Make) -> None:
    import numpy as np

    env = c_interact()
    for kind in (np.int64(2), np.array(2)):
        _start(env, "shop_2")
        assert env.step({"kind": kind, "text": np.str_(GOLD_2)})[1] == 0.7


def test_execute_sql_is_an_option(c_interact: Make) -> None:
    env = c_interact(execute_sql=True)
    assert _start(env, "shop_1")["action_mask"].tolist() == [1, 1, 1]
    observation, *_ = env.step(execute_sql("SELECT name FROM items ORDER BY item_id LIMIT 2"))
    assert SENDERS[observation["sender"]] == "database"
    assert "Größe XL" in observation["message"] and "查询 🐦" in observation["message"]


def test_execute_sql_can_be_used_fifty_times(c_interact: Make) -> None:
    env = c_interact(execute_sql=True)
    before = _start(env, "shop_1")
    assert "You can use it\n  50 times." in before["instruction"]
    for _ in range(50):
        observation, *_ = env.step(execute_sql("SELECT 1"))
    assert observation["action_mask"].tolist() == [1, 0, 1]
    observation, *_, info = env.step(execute_sql("SELECT 1"))
    assert info["refused"] == "illegal" and observation["turns_left"] == before["turns_left"] - 1


def test_databases_of_unfinished_episodes_are_closed(c_interact: Make) -> None:
    env = c_interact(execute_sql=True)
    for leave in (lambda: _start(env, "shop_2"), env.unwrapped.close):
        _start(env, "shop_1")
        env.step(execute_sql("CREATE TABLE mine (x)"))
        rules = env.unwrapped._dialogue.rules
        assert rules._database.is_open
        leave()
        assert not rules._database.is_open


def test_a_message_longer_than_the_space_is_cut_and_says_so() -> None:
    seat = SeatSpaces(GAME.seats[0])
    seen = seat.observation(View(0, "", "x" * (MAX_TEXT + 1), "user", phase=1))
    assert seen in seat.observations
    assert seen["message"].startswith("xxx") and seen["message"].endswith("(65 more characters)")


def test_profile_and_patience(c_interact: Make) -> None:
    assert _start(c_interact(profile="shell"), "shop_1")["turns_left"] == 3
    assert _start(c_interact(patience=0), "shop_1")["turns_left"] == 1


def test_drawn_tasks_follow_the_seed_and_cover_all(c_interact: Make) -> None:
    env = c_interact()
    env.reset(seed=1)
    drawn = [env.reset()[1]["instance_id"] for _ in range(30)]
    assert set(drawn) == {"shop_1", "shop_2", "shop_M_1"}
    env.reset(seed=1)
    assert [env.reset()[1]["instance_id"] for _ in range(30)] == drawn


def test_filters(c_interact: Make) -> None:
    env = c_interact(instances=["shop_M_1", "shop_2"], databases=["shop"])
    assert env.unwrapped.instance_ids == ("shop_2", "shop_M_1")
    assert env.reset(options={"index": 1})[1]["instance_id"] == "shop_M_1"


def test_a_chosen_task_with_a_seed_leaves_the_same_stream(c_interact: Make) -> None:
    env = c_interact()
    first = env.reset(seed=9, options={"index": 0})
    assert data_equivalence(first, env.reset(seed=9, options={"index": 0}))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"instance_id": "shop_9"}, "shop_9.*shop_1, shop_2, shop_M_1"),
        ({"index": 3}, "0 to 2"),
        ({"index": -1}, "0 to 2"),
        ({"index": True}, "0 to 2"),
        ({"index": "1"}, "0 to 2"),
        ({"task": 1}, "'task'.*instance_id, database, difficulty, index"),
        ({"index": 1, "instance_id": "shop_1"}, "not both"),
    ],
)
def test_reset_options_that_cannot_be(c_interact: Make, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        c_interact().reset(options=options)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"profile": "loose"}, "'loose'.*strict, shell, adk"),
        ({"user": "nobody"}, "'nobody'.*rule"),
        ({"patience": -1}, "patience"),
        ({"instances": ["shop_9"]}, "shop_9.*shop_1"),
        ({"instances": "shop_1"}, "list of names"),
        ({"databases": ["bank"]}, "bank.*shop"),
        ({"instances": []}, "no tasks to play"),
        ({"data": "/nowhere.jsonl"}, "nowhere"),
        ({"render_mode": "rgb_array"}, "render_mode"),
    ],
)
def test_settings_that_cannot_be(benchmark: Path, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        CInteractEnv(data_dir=str(benchmark), **arguments)


def test_the_demo_is_the_default() -> None:
    env = CInteractEnv()
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space and info["instance_id"] in env.instance_ids
    env.close()
