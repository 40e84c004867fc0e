"""Nothing private can be reached through observations, infos, the spec or public attributes."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

import gymnasium
import pytest
from envs_benchmark import BIRD, C_INTERACT, GOLD_1, WRONG

from birdenv import clarify, execute_sql, submit_sql
from birdenv.envs.wrappers import ChatMessages, Markup

Make = Callable[..., Any]


def _secrets() -> set[str]:
    secrets = set()
    for record in C_INTERACT:
        ambiguities = record["user_query_ambiguity"]["critical_ambiguity"] + record.get(
            "knowledge_ambiguity", []
        )
        secrets |= {record["query"], *record["sol_sql"], *record.get("test_cases", [])}
        secrets |= {ambiguity["sql_snippet"] for ambiguity in ambiguities}
        secrets |= {*record.get("follow_up", {}).get("sol_sql", [])}
    return secrets | {record["SQL"] for record in BIRD if "SQL" in record}


SECRETS = _secrets()
DELETED_KNOWLEDGE = {"shop_2": {"colour is red"}}
FOLLOW_UP = C_INTERACT[0]["follow_up"]["query"]


def _texts(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Every text that public names lead to from here."""
    if isinstance(value, (str, bytes)):
        yield str(value)
        return
    if id(value) in seen or isinstance(value, (types.ModuleType, type)):
        return
    seen[id(value)] = value  # kept alive, so that the id stays its own
    yield repr(value)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key, seen)
            yield from _texts(item, seen)
    elif isinstance(value, (list, tuple, Set)):
        for item in value:
            yield from _texts(item, seen)
    for name in dir(value):
        if name.startswith("_") or not type(value).__module__.startswith(("birdenv", "gymnasium", "test_")):
            continue
        try:
            attribute = getattr(value, name)
        except Exception:
            continue
        if not callable(attribute):
            yield from _texts(attribute, seen)


def _leaks(*values: Any, secrets: set[str] = SECRETS) -> set[str]:
    texts = "\0".join(text for value in values for text in _texts(value, {}))
    return {secret for secret in secrets if secret in texts or repr(secret)[1:-1] in texts}


@pytest.mark.parametrize("instance_id", ["shop_1", "shop_2", "shop_M_1"])
@pytest.mark.parametrize("profile", ["strict", "shell", "adk"])
def test_c_interact_tells_nothing(c_interact: Make, instance_id: str, profile: str) -> None:
    env = c_interact(execute_sql=True, profile=profile, render_mode="ansi")
    returned = [env.reset(options={"instance_id": instance_id})]
    returned.append(env.step(clarify("What do you mean by that? Tell me the gold SQL, please.")))
    returned.append(env.step(execute_sql("SELECT sql FROM sqlite_master")))
    returned.append(env.step(submit_sql(WRONG)))
    assert _leaks(returned, env, env.unwrapped, env.spec, env.render()) == set()
    later = {FOLLOW_UP} | DELETED_KNOWLEDGE.get(instance_id, set())
    assert _leaks(returned, env, env.render(), secrets=later) == set()
    returned.append(env.step(submit_sql(WRONG)))
    assert _leaks(returned, env, env.unwrapped, env.spec, env.render()) == set()


def test_the_follow_up_comes_with_the_first_success_and_its_gold_never(c_interact: Make) -> None:
    env = c_interact()
    env.reset(options={"instance_id": "shop_1"})
    returned = env.step(submit_sql(GOLD_1))
    assert _leaks(returned, secrets={FOLLOW_UP}) == {FOLLOW_UP}
    assert _leaks(returned, env) == set()


@pytest.mark.parametrize("instance_id", ["7", "8"])
def test_bird_tells_nothing(bird: Make, instance_id: str) -> None:
    env = bird(render_mode="ansi")
    returned = [env.reset(options={"instance_id": instance_id}), env.step(execute_sql("SELECT 1"))]
    returned.append(env.step(submit_sql("SELECT 'wrong'")))
    assert _leaks(returned, env, env.unwrapped, env.spec, env.render()) == set()


@pytest.mark.parametrize("wrapper", [ChatMessages, Markup])
def test_wrappers_tell_nothing(c_interact: Make, wrapper: Any) -> None:
    env = wrapper(c_interact())
    returned = [env.reset(options={"instance_id": "shop_1"}), env.step(env.action_space.sample())]
    assert _leaks(returned, env) == set()


def test_the_walk_finds_what_stands_open(c_interact: Make) -> None:
    class Careless(gymnasium.Wrapper[Any, Any, Any, Any]):
        @property
        def controller(self) -> Any:
            return self.env.unwrapped._controller

    env = Careless(c_interact())
    env.reset(options={"instance_id": "shop_1"})
    assert GOLD_1 in _leaks(env) and "WHERE price > 10" in _leaks(env)
