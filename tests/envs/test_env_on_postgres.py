"""The environments with `dialect="postgres"`: the same tasks, played on a server."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import pytest

import birdenv  # noqa: F401 (registers the environments)
from birdenv import execute_sql, submit_sql
from birdenv.errors import InputError

GAMES = ["birdenv/CInteract-v0", "birdenv/AInteract-v0", "birdenv/BirdSql-v0"]


@pytest.mark.every(3)
@pytest.mark.parametrize("name", GAMES)
def test_an_episode(postgres_dsn: str, name: str) -> None:
    own: dict[str, Any] = {"execute_sql": True} if "CInteract" in name else {}
    env = gymnasium.make(name, dialect="postgres", databases=["library"], **own)
    observation, _ = env.reset(seed=1, options={"index": 0})
    assert observation in env.observation_space
    observation, *_ = env.step(execute_sql("SELECT count(*) AS n FROM members WHERE ctid IS NOT NULL"))
    assert "36" in observation["message"], "only PostgreSQL has a ctid"
    assert env.step(submit_sql("SELECT 1"))[1] == 0.0
    copy = pickle.loads(pickle.dumps(env.unwrapped))
    copy.reset(seed=1, options={"index": 0})
    assert copy.instance_ids == env.unwrapped.instance_ids  # type: ignore[attr-defined]
    copy.close()
    env.close()


def test_a_gold_earns_its_reward(postgres_dsn: str) -> None:
    env = gymnasium.make("birdenv/BirdSql-v0", dialect="postgres", dsn=postgres_dsn, instances=["1"])
    env.reset()
    _, reward, terminated, _, info = env.step(
        submit_sql("SELECT count(*) FILTER (WHERE card_status = 'active') FROM members")
    )
    assert (reward, terminated, info["status"]) == (1.0, True, "completed")
    env.close()


DEEP = "SELECT (repeat('[', 900) || repeat(']', 900))::jsonb AS deep"


@pytest.mark.every(3)
@pytest.mark.parametrize("name", GAMES)
def test_deeply_nested_values_are_an_answer(postgres_dsn: str, name: str) -> None:
    own: dict[str, Any] = {"execute_sql": True} if "CInteract" in name else {}
    env = gymnasium.make(name, dialect="postgres", databases=["library"], dsn=postgres_dsn, **own)
    env.reset(options={"index": 0})
    observation, *_ = env.step(execute_sql(DEEP))
    assert "JSON nested more than 100 levels deep" in observation["message"]
    _, reward, _, truncated, info = env.step(submit_sql(DEEP))
    assert (reward, truncated, info.get("status") == "infra_error") == (0.0, False, False)
    env.close()


@pytest.mark.parametrize("name", GAMES)
def test_what_does_not_fit_together(name: str) -> None:
    for settings in ({"dialect": "mysql"}, {"dsn": "postgresql:///x"}):
        with pytest.raises(InputError, match=r"dialect"):
            gymnasium.make(name, **settings)
