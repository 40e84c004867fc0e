"""Fixtures: the small benchmark, and functions that make its environments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from envs_benchmark import build_benchmark

import birdenv  # noqa: F401 (registers the ids)

Make = Callable[..., Any]


@pytest.fixture(scope="session")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_benchmark(tmp_path_factory.mktemp("benchmark"))


@pytest.fixture(scope="session")
def settings(benchmark: Path) -> dict[str, dict[str, str]]:
    """The arguments that lead each id to the small benchmark."""
    return {
        "birdenv/CInteract-v0": {"data_dir": str(benchmark)},
        "birdenv/AInteract-v0": {"data_dir": str(benchmark)},
        "birdenv/BirdSql-v0": {
            "data_file": str(benchmark / "bird.json"),
            "db_dir": str(benchmark),
            "ungraded": "include",
        },
    }


@pytest.fixture
def c_interact(settings: dict[str, dict[str, str]]) -> Iterator[Make]:
    yield from _maker("birdenv/CInteract-v0", settings)


@pytest.fixture
def a_interact(settings: dict[str, dict[str, str]]) -> Iterator[Make]:
    yield from _maker("birdenv/AInteract-v0", settings)


@pytest.fixture
def bird(settings: dict[str, dict[str, str]]) -> Iterator[Make]:
    yield from _maker("birdenv/BirdSql-v0", settings)


def _maker(name: str, settings: dict[str, dict[str, str]]) -> Iterator[Make]:
    made = []

    def make(**arguments: Any) -> Any:
        made.append(gymnasium.make(name, **(settings[name] | arguments)))
        return made[-1]

    yield make
    for env in made:
        env.close()
