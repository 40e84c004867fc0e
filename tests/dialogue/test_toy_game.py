"""A game that is nothing but its rules, through every driver that there is."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toy_game
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from toy_players import Bisection, keeper

from birdenv.dialogue import Action, Dialogue, Move, Seat, Usage, make_game, play, replay
from birdenv.dialogue.dialogue import MOST_EVENTS
from birdenv.dialogue.games import register_game
from birdenv.envs import DialogueAEC, DialogueEnv, DialogueParallel
from birdenv.run_settings import RunSettings
from birdenv.runs import RunDirectory, RunPlan, prepare, run
from birdenv.runs.summaries import compare, read_run, report

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    register_game(toy_game.GAME)
    register_game(toy_game.AT_ONCE)
    yield
    from birdenv.dialogue import games

    games._registered.pop("guess")
    games._registered.pop("guess-at-once")


class _Keeper:
    def move(self, view: Any) -> Move:
        return keeper(view)


def played(number: int = 42) -> Dialogue:
    dialogue = Dialogue(toy_game.Guess(number))
    play(dialogue, [Bisection(), _Keeper()])
    return dialogue


def test_play_and_replay_end_in_the_same_state() -> None:
    dialogue = played()
    assert dialogue.terminated and dialogue.rewards == (1.0, 1.0)
    again = replay(toy_game.Guess(42), dialogue.events)
    assert again.events == dialogue.events
    assert all(again.view(seat) == dialogue.view(seat) for seat in (0, 1))


def test_a_trace_is_seen_by_nobody() -> None:
    dialogue = played()
    assert "number" not in json.dumps([event.to_json() for event in dialogue.events])


UNKNOWN = "Not done: there is no such action. Possible actions: ask, guess."
NUMBER = "Not done: guess needs number: a whole number from 0 to 99. Possible actions: ask, guess."
WORDS = "ask needs words: text of at most 65,536 characters that is not blank."


@pytest.mark.parametrize(
    ("move", "said"),
    [
        (Move("fly"), UNKNOWN),
        (Move("typing", "words"), UNKNOWN),  # files use the name for what is no move
        (Move("eval", {"labels": {}}), UNKNOWN),
        (Move("guess", "many"), NUMBER),
        (Move("guess", float("nan")), NUMBER),
        (Move("guess", True), NUMBER),
        (Move("guess", 100), NUMBER),
        (Move("guess", 10**400), NUMBER),
        (Move("ask", "  "), WORDS),
        (Move("ask", "x" * 70_000), WORDS),
        (Move("ask", object()), WORDS),
    ],
)
def test_malformed_moves_are_recorded_and_replayed(move: Move, said: str) -> None:
    dialogue = Dialogue(toy_game.Guess(42))
    event = dialogue.apply(0, move)
    assert said in str(event.metadata)
    assert dialogue.heard(1) == () and dialogue.turn == 0
    again = replay(toy_game.Guess(42), dialogue.events)
    assert again.events == dialogue.events
    json.dumps(event.to_json(), allow_nan=False)


def test_no_action_has_a_name_that_files_use_otherwise() -> None:
    with pytest.raises(ValueError, match="'leave'"):
        Seat("walker", (Action("go"), Action("leave")))


def test_speaking_out_of_turn_is_refused_and_seen_by_its_author_only() -> None:
    dialogue = Dialogue(toy_game.Guess(42))
    event = dialogue.apply(1, Move("hint", "psst"))
    assert event.metadata == {"sender": "judge", "reply": "It is not your turn.", "refused": True}
    assert dialogue.heard(0) == () and dialogue.heard(1) == (event,)


@pytest.mark.parametrize("status", ["event limit", "time limit", "left", "silence", "infra_error"])
def test_the_house_ends_it_and_the_reason_keeps_its_name(status: str) -> None:
    dialogue = Dialogue(toy_game.Guess(42))
    dialogue.apply(0, Move("guess", 1))
    dialogue.stop(status)
    assert dialogue.truncated and not dialogue.terminated and dialogue.status == status
    again = replay(toy_game.Guess(42), dialogue.events)
    assert again.status == status and again.events == dialogue.events


def test_silence_and_endless_talk_end() -> None:
    silent = Dialogue(toy_game.Guess(42))
    play(silent, [lambda_player(lambda view: None), None])
    assert silent.status == "silence"
    talk = Dialogue(toy_game.Guess(42))
    play(talk, [lambda_player(lambda view: Move("ask", "?")), _Keeper()], most_events=50)
    assert talk.status == "event limit" and len(talk.events) == 51
    endless = Dialogue(toy_game.Guess(42))
    play(endless, [lambda_player(lambda view: Move("fly")), None])  # refused for ever
    assert endless.status == "event limit" and endless.truncated and len(endless.events) == MOST_EVENTS + 1
    assert replay(toy_game.Guess(42), endless.events).events == endless.events


class lambda_player:  # noqa: N801
    def __init__(self, function: Any) -> None:
        self.move = function


@pytest.mark.parametrize("seat", ["guesser", "keeper"])
def test_gymnasium(seat: str) -> None:
    other = {"keeper": keeper} if seat == "guesser" else {"guesser": Bisection}
    env = DialogueEnv("guess", seat, **other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env, skip_render_check=True)
    env.reset(options={"instance_id": "42"})
    done = False
    while not done:
        move = Bisection().move(env._dialogue.view(0)) if seat == "guesser" else keeper(env._dialogue.view(1))
        observation, _, terminated, truncated, info = env.step(move)
        assert env.observation_space.contains(observation)
        done = terminated or truncated
    assert info["reward"] in (0.0, 1.0)
    env.close()


@pytest.mark.parametrize("game", ["guess", "guess-at-once"])
def test_pettingzoo(game: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(DialogueAEC(game), num_cycles=50)
        seed_test(lambda: DialogueAEC(game), num_cycles=50)
        parallel_seed_test(lambda: DialogueParallel(game), num_cycles=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(DialogueParallel(game), num_cycles=50)


def parallel(game: str, number: str = "42") -> DialogueParallel:
    env = DialogueParallel(game)
    env.reset(options={"instance_id": number})
    return env


def test_seats_that_are_open_act_in_one_step() -> None:
    env = parallel("guess-at-once")
    actions = {"guesser_0": Move("guess", 1), "keeper_0": Move("hint", "higher")}
    seen, rewards, terminated, truncated, infos = env.step(actions)
    assert [event.agent for event in env._running().events] == [0, 1]
    assert seen["guesser_0"]["message"].endswith("higher")
    assert set(rewards.values()) == {0.0} and not any(terminated.values()) and not any(truncated.values())
    _, rewards, terminated, _, infos = env.step({**actions, "guesser_0": Move("guess", 42)})
    assert rewards == {"guesser_0": 1.0, "keeper_0": 1.0} and all(terminated.values()) and not env.agents
    assert len(env._running().events) == 3  # the hint came too late
    assert infos["keeper_0"]["reward"] == 1.0


def test_the_actions_of_seats_that_may_not_act_are_left_out() -> None:
    env = parallel("guess")
    env.step({"guesser_0": Move("ask", "Higher?"), "keeper_0": Move("hint", "no")})
    env.step({"guesser_0": Move("guess", 1), "keeper_0": Move("hint", "yes")})
    assert [event.data for event in env._running().events] == ["Higher?", "yes"]


def test_seats_that_all_wait_end_it() -> None:
    env = parallel("guess-at-once")
    spaces: Any = {name: env.action_space(name) for name in env.agents}
    silence = {name: space.sample() | {"kind": space["kind"].n - 1} for name, space in spaces.items()}
    env.step(silence)
    assert env.agents
    _, _, terminated, truncated, _ = env.step(silence)
    assert all(truncated.values()) and not any(terminated.values())
    assert env._running().status == "silence"


def test_an_episode_by_words_tool_calls_and_from_outside() -> None:
    with make_game("guess", keeper=None) as arena, arena.episode("42") as episode:
        asked = episode.act("ask", "Is it above 20?")
        assert asked.question == "Is it above 20?" and not asked.done
        answered = episode.answer("Yes.")
        assert answered.text == "Yes." and answered.sender == "keeper"
        broken = episode.call({"role": "assistant", "content": "I do not know."})
        assert broken.malformed and not broken.done
        call = {"id": "c1", "type": "function", "function": {"name": "guess", "arguments": '{"number": 42}'}}
        right = episode.call({"role": "assistant", "content": "So:", "tool_calls": [call]})
        assert right.done and right.reward == 1.0 and episode.reward == 1.0
        assert episode.messages[-2]["content"] == "So:" and episode.messages[-1]["tool_call_id"] == "c1"


def test_async_players_are_awaited() -> None:
    import asyncio

    class Later:
        async def move(self, view: Any) -> Move:
            await asyncio.sleep(0)
            return keeper(view)

    async def talk() -> str:
        with (
            make_game("guess", keeper=lambda argument, context: Later()) as arena,
            arena.episode("42") as episode,
        ):
            return (await episode.aact("ask", "Higher?")).text

    assert asyncio.run(talk()) == "higher"


def plan(**settings: Any) -> RunPlan:
    arena = make_game("guess")
    return RunPlan(arena, {0: "toy_players:Bisection", 1: keeper}, RunSettings(**settings))


def runs_file(folder: Path, chosen: RunPlan) -> bytes:
    directory = RunDirectory.create(folder)
    prepare(directory, chosen.config(), resume=False)
    run(chosen, directory)
    return directory.file("runs").read_bytes()


@pytest.mark.slow
def test_the_runner_with_repeats_parallel_and_resume(tmp_path: Path) -> None:
    chosen = plan(repeats=2, parallel=3)
    directory = RunDirectory.create(tmp_path / "a")
    prepare(directory, chosen.config(), resume=False)
    run(chosen, directory)
    whole = directory.file("runs").read_bytes()
    assert whole == runs_file(tmp_path / "b", plan(repeats=2))
    records = [json.loads(line) for line in whole.splitlines()]
    assert [record["reward"] for record in records] == [1.0] * 6
    lines = whole.splitlines(keepends=True)
    directory.file("runs").write_bytes(b"".join(lines[:3]) + lines[3][:20])
    prepare(directory, chosen.config(), resume=True)
    run(chosen, directory)
    assert directory.file("runs").read_bytes() == whole


def test_summary_compare_and_replay_of_records(tmp_path: Path) -> None:
    runs_file(tmp_path / "a", plan())
    runs_file(tmp_path / "b", plan(seed=1))
    found = [read_run(next((tmp_path / name).glob("run-*"))) for name in ("a", "b")]
    made = report(found[0])
    assert "Numbers found" in made.text() and "Guesses" in made.text()
    assert "Mean reward" not in made.text()
    assert list(made.to_json()["figures"]) == ["found", "guesses"]
    assert [each.measure.name for each in compare(found).differences] == ["found", "guesses"]
    record = json.loads(next((tmp_path / "a").glob("run-*/runs.jsonl")).read_text().splitlines()[0])
    from birdenv.dialogue.record import Example

    example = Example.from_json(record["example"])
    again = replay(toy_game.Guess(int(record["instance_id"])), example.events)
    assert again.rewards[0] == record["reward"] and list(again.events) == list(example.events)


def test_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from birdenv_agents.human import Terminal

    monkeypatch.setattr("sys.stdin", io.StringIO("guess x\nfly\nask Higher?\nguess 42\n"))
    dialogue = Dialogue(toy_game.Guess(42))
    play(dialogue, [Terminal(toy_game.SEATS[0]), _Keeper()])
    assert dialogue.rewards == (1.0, 1.0)
    shown = capsys.readouterr().out
    assert "[keeper] higher" in shown and "guess NUMBER" in shown


def test_usage_is_told_by_seat(tmp_path: Path) -> None:
    class Costly(Bisection):
        def usage(self) -> Usage:
            return Usage(calls=3)

    arena = make_game("guess")
    directory = RunDirectory.create(tmp_path)
    chosen = RunPlan(arena, {0: Costly, 1: keeper})
    prepare(directory, chosen.config(), resume=False)
    run(chosen, directory)
    records = directory.read("runs").values()
    assert all(record["usage"] == {"calls": 3} for record in records)
