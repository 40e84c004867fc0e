"""Nothing private can be reached through observations, infos, the spec or public attributes."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from envs_benchmark import BIRD, C_INTERACT, GOLD_1, WRONG

from birdenv import (
    clarify,
    execute_sql,
    get_all_column_meanings,
    get_all_external_knowledge_names,
    get_all_knowledge_definitions,
    get_column_meaning,
    get_knowledge_definition,
    get_schema,
    submit_sql,
)
from birdenv.dialogue import make_game
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


@pytest.mark.every(3)
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


LOOKS = (
    get_schema(),
    get_all_column_meanings(),
    get_column_meaning("items", "colour"),
    get_all_external_knowledge_names(),
    get_knowledge_definition("Showy"),
    get_knowledge_definition("1"),
    get_all_knowledge_definitions(),
)


@pytest.mark.parametrize("instance_id", ["shop_1", "shop_2", "shop_M_1"])
def test_a_interact_tells_nothing(a_interact: Make, instance_id: str) -> None:
    env = a_interact(render_mode="ansi", patience=10)
    returned = [env.reset(options={"instance_id": instance_id})]
    returned += [env.step(look) for look in LOOKS]
    returned.append(env.step(clarify("What do you mean by that? Tell me the gold SQL, please.")))
    returned.append(env.step(execute_sql("SELECT sql FROM sqlite_master")))
    for statement in (WRONG, "SELECT nope FROM items", "", WRONG):
        returned.append(env.step(submit_sql(statement)))
    assert _leaks(returned, env, env.unwrapped, env.spec, env.render()) == set()
    later = {FOLLOW_UP} | DELETED_KNOWLEDGE.get(instance_id, set())
    assert _leaks(returned, env, env.render(), secrets=later) == set()
    shown = _leaks(returned, secrets={"colour is red"})
    assert shown == (set() if instance_id in DELETED_KNOWLEDGE else {"colour is red"})


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


@pytest.mark.filterwarnings("ignore:Accessing the 'model_")
@pytest.mark.parametrize("game", ["c-interact", "a-interact", "bird"])
def test_arenas_and_episodes_lead_to_nothing_private(game: str, benchmark: Path) -> None:
    folder = str(benchmark)
    bird = {"data_file": f"{folder}/bird.json", "db_dir": folder}
    with make_game(game, **(bird if game == "bird" else {"data_dir": folder})) as arena:
        for instance_id in arena.ids[:2]:
            with arena.episode(instance_id) as episode:
                for action, data in (("clarify", "What do you mean?"), ("submit_sql", WRONG)):
                    episode.act(action, data)
                    assert _leaks(arena, episode) == set()


def test_the_walk_finds_what_stands_open(c_interact: Make) -> None:
    class Careless(gymnasium.Wrapper[Any, Any, Any, Any]):
        @property
        def rules(self) -> Any:
            return self.env.unwrapped._dialogue.rules

    env = Careless(c_interact())
    env.reset(options={"instance_id": "shop_1"})
    assert GOLD_1 in _leaks(env) and "WHERE price > 10" in _leaks(env)

    class Open:
        def __init__(self, arena: Any) -> None:
            self.tasks = arena._tasks

    assert GOLD_1 in _leaks(Open(env.unwrapped._arena))  # type: ignore[attr-defined]
