"""The public episode, on which adapters stand: tools, rows, messages, faults, records, async moves."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import gymnasium
import pytest

import birdenv
from birdenv import InfrastructureError, InputError, Move, View, make_game
from birdenv.dialogue import Episode, tools_as
from birdenv.envs import DialogueEnv
from birdenv.runs import write_run
from birdenv.runs.summaries import compare, read_run
from birdenv.testing import tool_call

ASK = tool_call("clarify", question="What do you mean by 'roomy branches'?")
ANSWER = "By 'roomy branches' I mean at least 40 seats."


class TestTools:
    def test_hold_what_may_become_legal_under_the_settings(self) -> None:
        def names(**settings: Any) -> list[str]:
            return [tool["function"]["name"] for tool in make_game("c-interact", **settings).tools]

        assert names() == ["clarify", "submit_sql"]
        assert names(execute_sql=True) == ["clarify", "execute_sql", "submit_sql"]

    @pytest.mark.parametrize("game", ["c-interact", "a-interact", "bird", "bargain", "deal-or-no-deal"])
    def test_describe_every_parameter(self, game: str) -> None:
        for tool in make_game(game).tools:
            for parameter in tool["function"]["parameters"]["properties"].values():
                assert parameter["description"].endswith(".")

    def test_have_the_forms_of_other_interfaces(self) -> None:
        tools = make_game("bird").tools
        chat, flat = tools_as(tools, "chat")[0], tools_as(tools, "responses")[0]
        assert chat == tools[0]
        assert flat["type"] == "function" and flat["name"] == "execute_sql" and not flat["strict"]
        assert tools_as(tools, "mcp")[0]["inputSchema"] == chat["function"]["parameters"]
        assert tools_as(tools, "anthropic")[0]["input_schema"] == chat["function"]["parameters"]
        with pytest.raises(ValueError, match="the forms are chat, responses"):
            tools_as(tools, "soap")  # type: ignore[arg-type]


class TestRows:
    def test_have_public_facts_only(self) -> None:
        arena = make_game("c-interact")
        rows = arena.rows()
        assert [row["id"] for row in rows] == list(arena.ids)
        assert {"id", "prompt", "tools", "database", "difficulty"} == set(rows[0])
        text = json.dumps(rows)
        for name in arena.ids:
            private = arena._tasks.private(name)
            assert not any(sql in text for sql in private.gold)

    def test_may_be_for_plain_text(self) -> None:
        arena = make_game("c-interact", limit=1)
        assert arena.rows(markup=True)[0]["tools"] == []
        prompt = arena.prompt(arena.ids[0], markup=True)
        assert prompt.startswith(arena.instruction(arena.ids[0])) and "<s>" in prompt
        with pytest.raises(InputError, match="no markup"):
            make_game("bargain", limit=1).rows(markup=True)


class _Object:
    """An object of an SDK: attributes, and `model_dump`."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self._values


_ARGUMENTS = {"question": "What do you mean by 'roomy branches'?"}
_RESPONSE = [
    {"type": "reasoning", "summary": []},
    {"type": "message", "content": [{"type": "output_text", "text": "Let me ask."}]},
    {"type": "function_call", "call_id": "c1", "name": "clarify", "arguments": json.dumps(_ARGUMENTS)},
]
_BLOCKS = [
    {"type": "text", "text": "Let me ask."},
    {"type": "tool_use", "id": "c1", "name": "clarify", "input": _ARGUMENTS},
]


class TestMessagesOfSdks:
    @pytest.mark.parametrize(
        "message",
        [
            ASK,
            {"choices": [{"message": ASK}]},
            _Object(**ASK),
            _Object(choices=[{"message": ASK}]),
            _Object(output=_RESPONSE),
            _RESPONSE,
            [_Object(**item) for item in _RESPONSE],
            _Object(type="message", role="assistant", content=_BLOCKS),
            _BLOCKS,
        ],
    )
    def test_are_moves(self, message: Any) -> None:
        with make_game("c-interact").episode("library_1") as episode:
            step = episode.call(message)
            assert (step.text, step.malformed) == (ANSWER, False)
            assert [each["role"] for each in episode.messages] == ["user", "assistant", "tool"]
            json.dumps(episode.messages)

    @pytest.mark.parametrize("message", [None, 5, "clarify", [], ["clarify"], SimpleNamespace(a=1), {"x"}])
    def test_or_a_type_error_that_costs_nothing(self, message: Any) -> None:
        with make_game("c-interact").episode("library_1") as episode:
            before = episode.view.turns_left
            with pytest.raises(TypeError, match=r"pass plain text to say\(\)"):
                episode.call(message)
            assert episode.view.turns_left == before and len(episode.messages) == 1

    @pytest.mark.parametrize(
        "message",
        [
            {"output": [{"type": "message", "content": "hello"}]},
            {"output": ["x"]},
            {"type": "message", "content": ["x", {"type": "text", "text": 5}]},
        ],
    )
    def test_or_a_malformed_move(self, message: Any) -> None:
        with make_game("c-interact").episode("library_1") as episode:
            assert episode.call(message).malformed

    @pytest.mark.parametrize("action", [None, 5])
    def test_an_action_without_a_name_is_a_type_error_that_costs_nothing(self, action: Any) -> None:
        with make_game("c-interact").episode("library_1") as episode:
            with pytest.raises(TypeError, match="needs the name of an action"):
                episode.act(action)
            assert len(episode.messages) == 1

    def test_two_calls_of_another_sdk_are_malformed_as_everywhere(self) -> None:
        with make_game("c-interact").episode("library_1") as episode:
            assert episode.call([*_BLOCKS, _BLOCKS[-1]]).malformed


class TestFaults:
    def test_a_failing_user_makes_the_step_void(self) -> None:
        with make_game("c-interact", user="birdenv.testing:failing_user").episode("library_1") as episode:
            step = episode.call(ASK)
            assert step.void and step.done and step.reward == 0.0
            assert episode.status == "partner error" and "always fails" in (episode.error or "")
            assert "always fails" not in json.dumps(episode.messages)

    @pytest.mark.parametrize("said", [Move("quit", "a secret"), None])
    @pytest.mark.parametrize("is_async", [False, True])
    def test_one_that_leaves_or_says_nothing_too(
        self, said: Move | None, is_async: bool, tmp_path: Path
    ) -> None:
        async def later(view: View) -> Move | None:
            return said

        arena = make_game("c-interact", user=later if is_async else lambda view: said)
        with arena.episode("library_1") as episode:
            step = asyncio.run(episode.acall(ASK)) if is_async else episode.call(ASK)
            assert step.void and step.done and step.question is None
            assert [each["role"] for each in episode.messages] == ["user", "assistant", "tool"]
            records = episode.record()
            assert "secret" not in str((step, episode.events, records))
        folder = write_run(arena, [records], tmp_path, agent="mine")
        [record] = map(json.loads, (folder / "runs.jsonl").read_text().splitlines())
        assert (record["status"], record["failed_seat"]) == ("partner error", "user")

    def test_a_lost_machine_too(self) -> None:
        def user(view: View) -> Move:
            raise InfrastructureError("the server of the gold SELECT 1 is gone")

        with make_game("c-interact", user=user).episode("library_1") as episode:
            step = episode.call(ASK)
            assert step.void and step.truncated and "roomy" not in step.text and "SELECT" not in step.text
            assert episode.status == "infra_error"

    def test_nothing_else_is_void(self) -> None:
        with make_game("bird", max_turns=1).episode("1") as episode:
            step = episode.act("execute_sql", "SELECT 1")
            assert step.truncated and not step.void and episode.truncated and episode.error is None


class TestRecords:
    def _play(self, episode: Episode) -> None:
        oracle = make_game("c-interact")._tasks.private(episode.instance_id)
        episode.act("submit_sql", "SELECT 1")
        episode.act("submit_sql", ";\n".join(oracle.gold))
        if not episode.done:
            episode.act("submit_sql", ";\n".join(oracle.follow_up.gold))

    def test_become_a_run_folder_that_other_commands_read(
        self, birdenv: Callable[..., Any], tmp_path: Path
    ) -> None:
        arena = make_game("c-interact", limit=3)
        folders = []
        for name in ("one", "two"):
            played = []
            for instance_id in (*arena.ids, *arena.ids):
                with arena.episode(instance_id) as episode:
                    self._play(episode)
                    assert episode.breakdown == {1: 0.5, 2: 0.3}
                    played.append(episode.record(name))
            folders.append(write_run(arena, played, tmp_path / name, agent=name))
        for command, *words in (["summary"], ["blame"], ["export", "-f", "rl", "-o", tmp_path / "exported"]):
            ran = birdenv(command, folders[0], *words)
            assert ran.code == 0, ran.err
        assert (tmp_path / "exported").stat().st_size > 1_000
        assert compare([read_run(folder) for folder in folders])

    def test_are_those_of_a_run(self, tmp_path: Path) -> None:
        def agent(view: View) -> Move:
            return birdenv.submit_sql("SELECT 1")  # type: ignore[return-value]

        run = birdenv.run_episodes("c-interact", agent, limit=1)
        with make_game("c-interact").episode(run.records[0]["instance_id"]) as episode:
            while not episode.done:
                episode.act("submit_sql", "SELECT 1")
            assert episode.record("agent")["runs"] | {"example": 0} == dict(run.records[0]) | {"example": 0}

    def test_of_an_unfinished_episode_there_are_none(self) -> None:
        with make_game("c-interact").episode("library_1") as episode:
            with pytest.raises(InputError, match="not over"):
                episode.record()
            episode.stop("cut by the trainer")
            record = episode.record()["runs"]
            assert record["status"] == "cut by the trainer" and episode.truncated

    def test_of_no_episodes_or_strangers_nothing_is_written(self, tmp_path: Path) -> None:
        arena = make_game("c-interact", limit=1)
        with pytest.raises(InputError, match="no episodes"):
            write_run(arena, [], tmp_path, agent="x")
        with pytest.raises(InputError, match=r"the result of Episode.record\(\)"):
            write_run(arena, [{}], tmp_path, agent="x")
        assert not list(tmp_path.iterdir())


class TestAsync:
    def test_a_coroutine_function_is_a_user(self) -> None:
        async def user(view: View) -> Move:
            await asyncio.sleep(0)
            return Move("answer", f"about {view.heard[-1].data}")

        async def play() -> list[str]:
            with make_game("c-interact", user=user).episode("library_1") as episode:
                texts = [(await episode.aact("clarify", word)).text for word in ("this?", "that?")]
                with pytest.raises(InputError, match="asynchronous"):
                    episode.act("clarify", "and now?")
                return texts

        assert asyncio.run(play()) == ["about this?", "about that?"]

    def test_only_an_episode_awaits_it(self) -> None:
        async def later(view: View) -> Move:
            return Move("answer", "yes")

        for make in (
            lambda: DialogueEnv("c-interact", user=later),
            lambda: gymnasium.make("birdenv/CInteractCandidates-v0", user=later),
            lambda: birdenv.run_episodes("c-interact", "oracle", user=later, limit=1),
            lambda: birdenv.run_episodes("c-interact", later, limit=1),
        ):
            with pytest.raises(InputError, match="later is asynchronous"):
                make()

    def test_one_that_fails_makes_the_step_void(self) -> None:
        async def user(view: View) -> Move:
            raise RuntimeError("no")

        async def play() -> None:
            with make_game("c-interact", user=user).episode("library_1") as episode:
                step = await episode.acall(ASK)
                assert step.void and episode.status == "partner error"

        asyncio.run(play())

    def test_many_users_that_wait_wait_at_the_same_time(self) -> None:
        at_once, most = 0, 0

        def user(view: View) -> Move:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            time.sleep(0.3)
            at_once -= 1
            return Move("answer", "yes")

        async def play() -> None:
            arena = make_game("c-interact", user=user)
            episodes = [arena.episode("library_1") for _ in range(60)]
            await asyncio.gather(*(episode.aact("clarify", "this?") for episode in episodes))
            for episode in episodes:
                episode.close()

        asyncio.run(play())
        assert most > 32  # the event loop's own threads would be 6 on two cores

    def test_a_move_meanwhile_is_refused_and_a_cancelled_one_is_played_to_its_end(self) -> None:
        begun, may_go_on = Event(), Event()

        def user(view: View) -> Move:
            begun.set()
            may_go_on.wait(10)
            return Move("answer", "yes")

        async def play() -> None:
            with make_game("c-interact", user=user).episode("library_1") as episode:
                move = asyncio.create_task(episode.aact("clarify", "this?"))
                await asyncio.to_thread(begun.wait, 10)
                with pytest.raises(InputError, match="under way"):
                    await episode.aact("clarify", "that?")
                move.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await move
                with pytest.raises(InputError, match="under way"):
                    episode.act("clarify", "that?")
                may_go_on.set()
                while episode._moving._taken.locked():
                    await asyncio.sleep(0.01)
                assert [event.action for event in episode.events] == ["clarify", "answer"]
                assert [each["role"] for each in episode.messages] == ["user", "assistant", "tool"]
                assert (await episode.aact("clarify", "that?")).text == "yes"

        asyncio.run(play())


@pytest.mark.slow
def test_models_of_users_are_settings_of_the_arena() -> None:
    from birdenv.llm import ModelSettings
    from birdenv.testing import openai_server
    from birdenv.testing.openai_server import demo_script

    with openai_server.serve(demo_script()) as server:
        models = ModelSettings(user_model="scripted", base_url=server.url)
        with make_game("c-interact", user="llm", models=models).episode("library_1") as episode:
            assert episode.call(ASK).text == ANSWER
            assert episode.usage["user"].calls == 2
