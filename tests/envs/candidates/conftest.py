"""Fixtures: candidate environments over the demo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import pytest

import birdenv  # noqa: F401 (registers the ids)

Make = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep compiled tables in a folder of these tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "birdenv.envs.candidates._tables.cache_folder", lambda: tmp_path_factory.getbasetemp()
        )
        yield


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Any] = []

    def maker(**settings: Any) -> Any:
        made.append(gymnasium.make("birdenv/CInteractCandidates-v0", **settings))
        return made[-1]

    yield maker
    for env in made:
        env.close()
