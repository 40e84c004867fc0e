"""Fixtures of tests that talk to a scripted server: short pauses, and an environment of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from birdenv.llm import Models, ModelSettings
from birdenv.testing.openai_server import (
    ScriptedDialogue,
    ScriptedTurn,
    Server,
    ServerScript,
    demo_script,
    serve,
)

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the machine, an own key, and a working directory without `.env`."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "BIRDENV_USER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server(own_environment: None) -> Iterator[Callable[..., Server]]:
    """Start a server for turns, all of one dialogue, or for a script."""
    with ExitStack() as running:

        def start(*turns: ScriptedTurn, **script: Any) -> Server:
            dialogues = (ScriptedDialogue(turns=turns),) if turns else ()
            return running.enter_context(serve(ServerScript(**{"dialogues": dialogues, **script})))

        yield start


@pytest.fixture
def models(own_environment: None) -> Iterator[Callable[..., Models]]:
    """Make models of a server."""
    made: list[Models] = []

    def make(url: str, **settings: Any) -> Models:
        made.append(Models(ModelSettings(base_url=url, **{"pause_seconds": 0.001, **settings})))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(scope="session")
def demo_answers() -> ServerScript:
    """The script that solves the demo."""
    return demo_script()


@pytest.fixture
def demo_server(own_environment: None, demo_answers: ServerScript) -> Iterator[Server]:
    """A server whose model `scripted` solves the demo."""
    with serve(demo_answers) as running:
        yield running
