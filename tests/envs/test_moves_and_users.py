"""`step` takes every form of an action; the user is a name, a spec, an object or a function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from envs_benchmark import GOLD_1, GOLD_2

import birdenv
from birdenv import Move
from birdenv.dialogue import PlayerContext
from birdenv.envs import DialogueEnv
from birdenv.errors import InputError
from birdenv.tasks import SENDERS
from birdenv.users import RulePlayer

Make = Callable[..., Any]

BRIEFED = """\
from birdenv import Move

class Briefed:
    def __init__(self, argument, context):
        self.argument, self.context = argument, context

    def move(self, view):
        [point] = self.context.brief[0].ambiguities
        said = f"{self.argument}: {point.term}, {self.context.seat_name}, {view.message}"
        return Move("answer", said)
"""


class Echo:
    """A user that says how often it was asked, and keeps its views."""

    def __init__(self) -> None:
        self.views: list[Any] = []

    def move(self, view: Any) -> Move:
        self.views.append(view)
        return Move("answer", f"Asked {len(self.views)} times.")


def _answer(env: Any, instance_id: str = "shop_1") -> str:
    env.reset(seed=1, options={"instance_id": instance_id})
    observation, *_ = env.step(birdenv.clarify("What does dear mean?"))
    assert SENDERS[observation["sender"]] == "user"
    return str(observation["message"])


@pytest.mark.parametrize(
    "action",
    [
        birdenv.submit_sql(GOLD_2),
        Move("submit_sql", GOLD_2),
        {"kind": 2, "text": GOLD_2},
    ],
    ids=["builder", "move", "dictionary"],
)
def test_a_step_takes_every_form_of_an_action(c_interact: Make, action: Any) -> None:
    env = c_interact()
    env.reset(options={"instance_id": "shop_2"})
    _, reward, terminated, *_ = env.step(action)
    assert (reward, terminated) == (0.7, True)
    assert env.unwrapped._dialogue.events[0].data == GOLD_2


def test_moves_with_several_arguments(a_interact: Make) -> None:
    said = []
    for action in (
        birdenv.get_column_meaning("items", "colour"),
        Move("get_column_meaning", {"table": "items", "column": "colour"}),
        {"kind": 5, "text": "items|colour"},
    ):
        env = a_interact()
        env.reset(options={"instance_id": "shop_1"})
        said.append(env.step(action)[0]["message"])
        assert env.unwrapped._dialogue.events[0].data == {"table": "items", "column": "colour"}
    assert len(set(said)) == 1


@pytest.mark.parametrize("action", [Move("drop_table", "x"), Move("clarify", 3), Move("answer", "Yes.")])
def test_moves_that_are_none_cost_a_turn(c_interact: Make, action: Move) -> None:
    env = c_interact()
    before, _ = env.reset(options={"instance_id": "shop_1"})
    observation, reward, terminated, truncated, _ = env.step(action)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert observation["turns_left"] == before["turns_left"] - 1


def test_a_move_that_quits_ends_the_episode(c_interact: Make) -> None:
    env = c_interact()
    env.reset(options={"instance_id": "shop_1"})
    _, _, terminated, truncated, info = env.step(Move("quit"))
    assert (terminated, truncated, info["status"]) == (True, False, "no_submission")


@pytest.mark.parametrize("game", ["birdenv/CInteract-v0", "birdenv/AInteract-v0"])
def test_the_user_by_name_is_the_default(settings: dict[str, dict[str, str]], game: str) -> None:
    named, default = (gymnasium.make(game, **settings[game], **user) for user in ({"user": "rule"}, {}))
    assert _answer(named) == _answer(default)
    assert "10" in _answer(named)
    for env in (named, default):
        env.close()


def test_the_user_by_spec(c_interact: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "briefed_user.py").write_text(BRIEFED)
    monkeypatch.syspath_prepend(tmp_path)
    env = c_interact(user="briefed_user:Briefed:loud")
    assert _answer(env) == "loud: dear, user, What does dear mean?"


@pytest.mark.parametrize(
    ("user", "says"),
    [
        ("no_such_module:User", "unknown user 'no_such_module:User'; known users of c-interact: .*rule"),
        ("birdenv.users:nobody", "cannot be imported"),
        (7, "is not callable"),
    ],
)
def test_users_that_cannot_be(c_interact: Make, user: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        c_interact(user=user)


def test_the_user_as_an_object_plays_all_episodes_and_hears_words_only(c_interact: Make) -> None:
    user = Echo()
    env = c_interact(user=user, execute_sql=True)
    assert _answer(env) == "Asked 1 times."
    env.step(birdenv.execute_sql("SELECT name FROM items"))
    env.step(birdenv.clarify("And what else?"))
    assert _answer(env) == "Asked 3 times."
    first, second, third = user.views
    assert (first.message, first.legal, first.seat) == ("What does dear mean?", ("answer",), 1)
    assert "Which items cost more than ten euros?" in first.instruction
    assert (second.message, second.sender) == ("And what else?", "system")
    assert [event.action for event in second.heard] == ["clarify", "answer", "clarify"]
    assert len(third.heard) == 1


def test_the_user_sees_results_where_it_is_asked_for(c_interact: Make) -> None:
    user = Echo()
    env = c_interact(user=user, execute_sql=True, user_sees="results")
    env.reset(options={"instance_id": "shop_1"})
    env.step(birdenv.execute_sql("SELECT name FROM items"))
    env.step(birdenv.clarify("Is that it?"))
    assert [event.action for event in user.views[0].heard] == ["execute_sql", "clarify"]
    assert "Größe XL" in user.views[0].message


def test_the_user_as_a_function_of_the_view(c_interact: Make) -> None:
    env = c_interact(user=lambda view: Move("answer", f"You said: {view.message}"))
    assert _answer(env) == "You said: What does dear mean?"


def test_the_user_as_a_factory(c_interact: Make) -> None:
    made: list[PlayerContext] = []

    def factory(argument: str, context: PlayerContext) -> RulePlayer:
        made.append(context)
        return RulePlayer(context.brief)

    env = c_interact(user=factory)
    assert _answer(env) == _answer(c_interact())
    assert [(context.game, context.instance_id, context.seat) for context in made] == [
        ("c-interact", "shop_1", 1)
    ]


def test_the_leak_guard_hears_every_user(c_interact: Make) -> None:
    env = c_interact(user=lambda view: Move("answer", f"Just write {GOLD_1}"))
    assert GOLD_1 not in _answer(env)


@pytest.mark.parametrize("said", [None, Move("quit", GOLD_1)])
def test_a_user_that_says_nothing_or_leaves_makes_the_episode_void(
    c_interact: Make, said: Move | None
) -> None:
    env = c_interact(user=lambda view: said)
    env.reset(options={"instance_id": "shop_1"})
    observation, _, terminated, truncated, info = env.step(birdenv.clarify("What does dear mean?"))
    assert (terminated, truncated, info["status"], info["void"]) == (False, True, "partner error", True)
    heard = str([event.to_json() for event in env.unwrapped.heard()])
    assert GOLD_1 not in observation["message"] + heard and "You left" not in heard


def test_the_users_seat_as_the_agent(benchmark: Path) -> None:
    env = DialogueEnv(
        "c-interact",
        "user",
        data_dir=str(benchmark),
        system=lambda view: birdenv.submit_sql(GOLD_1) if view.heard else birdenv.clarify("What is dear?"),
    )
    observation, _ = env.reset(options={"instance_id": "shop_1"})
    assert observation in env.observation_space and observation["message"] == "What is dear?"
    assert "Which items cost more than ten euros?" in observation["instruction"]
    _, reward, terminated, *_ = env.step({"kind": 0, "text": "More than ten euros."})
    assert reward == 0.7 and terminated
    env.close()
