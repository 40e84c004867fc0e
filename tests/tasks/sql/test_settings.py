"""Settings that all SQL games share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import pytest

from birdenv import make_game, run_episodes
from birdenv.envs import BirdSqlEnv, CInteractEnv, DialogueEnv, c_interact_v0
from birdenv.errors import InputError, SettingError
from birdenv.studies import StudyConfig, study_arena
from birdenv.tasks import SqlSettings

IDS = ("CInteract", "AInteract", "BirdSql", "CInteractCandidates")
DOORS: dict[str, Callable[..., Any]] = {
    **{f"make {name}": partial(gymnasium.make, f"birdenv/{name}-v0") for name in IDS},
    **{f"make_vec {name}": partial(gymnasium.make_vec, f"birdenv/{name}-v0") for name in IDS},
    "CInteractEnv": CInteractEnv,
    "BirdSqlEnv": BirdSqlEnv,
    "DialogueEnv": partial(DialogueEnv, "a-interact"),
    "PettingZoo": c_interact_v0.raw_env,
    "make_game": partial(make_game, "bird"),
    "run_episodes": partial(run_episodes, "bird", "oracle"),
    "a study": lambda **given: study_arena("c-interact", StudyConfig(), given),
    "the settings": SqlSettings,
}


@pytest.mark.parametrize("door", DOORS)
def test_isolation_is_gone_whichever_door_it_comes_through(door: str) -> None:
    with pytest.raises(SettingError) as caught:
        DOORS[door](isolation="inline")
    assert str(caught.value) == "isolation= is gone: SQL always runs in worker processes, so leave it out"


def test_a_name_that_is_no_setting_is_told_before_a_wrong_value() -> None:
    with pytest.raises(InputError, match="has no setting 'nonsense'; its settings: "):
        make_game("bird", limit=0, nonsense=1)
