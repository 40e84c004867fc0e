"""Tests of the adapters in which the test itself sends a model's messages, one after the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, ClassVar, TypeAlias

import pytest
from dialogues import ASK, WRONG, assert_nothing_private, demo_messages, golden, wrong_messages

from birdenv.errors import InputError
from birdenv.testing import AgentScript, play_script_async

Message: TypeAlias = Mapping[str, Any]
Step: TypeAlias = Callable[[Message], Awaitable[tuple[str, float, bool]]]


class SessionTests:
    """A subclass says how its framework opens an episode; `seen` collects all that it hands over."""

    framework: ClassVar[str]
    tags: ClassVar[bool] = False
    seen: ClassVar[list[str]] = []

    def session(self, game: str, task: str, settings: Mapping[str, Any]) -> AbstractAsyncContextManager[Step]:
        raise NotImplementedError

    async def _play(self, game: str, task: str, messages: Any, settings: Mapping[str, Any]) -> Any:
        script = AgentScript("", game, task, tuple(messages), settings)
        async with self.session(game, task, settings) as step:

            async def make_step(script: AgentScript) -> Step:
                return step

            return await play_script_async(script, make_step)

    def test_a_golden_dialogue_is_the_same(self, script: AgentScript) -> None:
        played = asyncio.run(self._play(script.game, script.instance_id, script.messages, script.settings))
        assert played == golden(script, tags=self.tags)

    @pytest.mark.slow
    def test_all_demo_tasks_are_played_to_the_end(self) -> None:
        async def play() -> None:
            for task, messages in demo_messages().items():
                lines = await self._play("c-interact", task, messages, {})
                assert lines[-1].done and [line.reward for line in lines if line.reward] == [0.7, 0.3]

        asyncio.run(play())

    def test_fifty_episodes_at_once_are_the_same(self) -> None:
        script = AgentScript("", "c-interact", "library_1", (ASK, WRONG, WRONG))

        async def play() -> list[Any]:
            return await asyncio.gather(
                *(self._play("c-interact", "library_1", script.messages, {}) for _ in range(50))
            )

        assert set(asyncio.run(play())) == {golden(script, tags=self.tags)}

    def test_a_dead_endpoint_of_the_user_ends_an_episode_that_does_not_count(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        [line] = asyncio.run(self._play("c-interact", "library_1", [ASK], {"user": "llm:nobody"}))
        assert line.done and line.reward == 0 and "The dialogue was ended: infra_error." in line.text

    def test_a_cancelled_step_is_played_to_its_end(self) -> None:
        settings = {"user": "dialogues:slow_user"}

        async def play() -> str:
            async with self.session("c-interact", "library_1", settings) as step:
                cancelled = asyncio.ensure_future(step(ASK))
                await asyncio.sleep(0.2)
                cancelled.cancel()
                with suppress(asyncio.CancelledError):
                    await cancelled
                while "under way" in (text := await said(step)):
                    await asyncio.sleep(0.1)
                return text

        async def said(step: Step) -> str:
            try:
                return (await step(WRONG))[0]
            except InputError as error:  # where a framework hands it to nobody
                return str(error)

        script = AgentScript("", "c-interact", "library_1", (ASK, WRONG), settings)
        assert asyncio.run(play()) == golden(script, tags=self.tags)[1].text

    @pytest.mark.slow
    def test_nothing_private_is_handed_over(self) -> None:
        async def play() -> None:
            for task, messages in wrong_messages().items():
                await self._play("c-interact", task, messages, {})

        self.seen.clear()
        asyncio.run(play())
        assert_nothing_private("\n".join(self.seen))


def note(seen: list[str], value: Any) -> None:
    """Keep a value whole."""
    dump = getattr(value, "model_dump_json", None)
    seen.append(dump() if callable(dump) else json.dumps(value, default=repr, ensure_ascii=False))
