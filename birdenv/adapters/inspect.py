"""Inspect: every game of birdenv as a task, with the reward of each phase as a score.

    inspect eval birdenv/c_interact --model openai/my-model -T limit=10
    inspect eval birdenv/c_interact --model ... --model-role user=openai/other -T user=role

`-T` takes the game's settings. The user is `rule` unless `-T user=...` names another; `role` lets Inspect's model
role `user` play the user that `birdenv` calls `llm`. A fault of the machine or of the user is an error of the
sample, which Inspect leaves out of the scores and `inspect eval-retry` plays again.
"""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

from birdenv.adapters import missing
from birdenv.dialogue import Arena, Episode, make_game
from birdenv.errors import InfrastructureError
from birdenv.llm import Chat, Models, completion_of

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import (
        ChatMessageTool,
        ChatMessageUser,
        GenerateConfig,
        Model,
        get_model,
        messages_from_openai,
        messages_to_openai,
    )
    from inspect_ai.scorer import Score, mean, scorer, stderr
    from inspect_ai.solver import solver
    from inspect_ai.tool import ToolInfo
    from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesView, ViewerConfig
except ImportError as error:
    raise missing("inspect", error) from error

__all__ = ["a_interact", "bird", "c_interact", "dialogue", "play", "reward"]


class _RoleModels(Models):
    """Lets a model of Inspect's play the user: a thread of the episode waits for the event loop."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model, self._loop = model, asyncio.get_running_loop()
        self._context = contextvars.copy_context()

    def chat(self, role: Any, model: str, scope: str, seed: int | None = None) -> Chat:
        return Chat(self, role, model or "role", scope, seed)

    def answer(self, role: Any, key: str, body: dict[str, Any], *recorded: Any) -> Any:
        config = GenerateConfig(temperature=body.get("temperature"), max_tokens=body.get("max_tokens"))

        async def generate() -> Any:
            messages = await messages_from_openai(body["messages"])
            return await self._model.generate(messages, config=config)

        task = self._context.run(asyncio.run_coroutine_threadsafe, generate(), self._loop)
        output = task.result()
        usage = output.usage
        tokens = (
            {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens} if usage else {}
        )
        return completion_of({"role": "assistant", "content": output.completion}, output.stop_reason, tokens)


@solver
def play(arena: Arena, game: str, **settings: Any) -> Any:
    """Play the sample's task to its end; the model's messages go to birdenv as they are."""

    def start(state: Any) -> Episode:
        if settings.get("user") != "role":
            return arena.episode(state.sample_id, seed=state.epoch)
        models = _RoleModels(get_model(role="user"))
        with make_game(game, models=models, **settings | {"user": "llm"}) as own:
            return own.episode(state.sample_id, seed=state.epoch)

    async def solve(state: Any, generate: Any) -> Any:
        with start(state) as episode:
            while not episode.done:
                tools = [ToolInfo.model_validate(tool["function"]) for tool in episode.tools]
                state.output = await get_model().generate(state.messages, tools=tools)
                message = state.output.message
                state.messages.append(message)
                step = await episode.acall((await messages_to_openai([message]))[0])
                state.messages += [
                    ChatMessageTool(content=step.text, tool_call_id=call.id, function=call.function)
                    for call in message.tool_calls or ()
                ] or [ChatMessageUser(content=step.text)]
            if step.void:
                raise InfrastructureError(f"{episode.status}: {episode.error}")
            rewards = {f"phase_{phase}": earned for phase, earned in episode.breakdown.items()}
            state.store.set("reward", {"reward": episode.reward} | rewards)
            state.store.set("status", episode.status)
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def reward(phases: int = 2) -> Any:
    """Score the reward, in all and of each phase."""

    async def score(state: Any, target: Any) -> Score:
        earned = state.store.get("reward", {})
        names = ["reward", *(f"phase_{phase}" for phase in range(1, phases + 1))]
        return Score(
            value={name: earned.get(name, 0.0) for name in names}, explanation=state.store.get("status")
        )

    return score


def dialogue(game: str, **settings: Any) -> Task:
    """Return the task of any game with one evaluated seat."""
    named = {name: value for name, value in settings.items() if (name, value) != ("user", "role")}
    arena = make_game(game, **named)
    facts = [
        (row, {name: row[name] for name in row.keys() - {"id", "prompt", "tools"}}) for row in arena.rows()
    ]
    samples = [Sample(id=row["id"], input=row["prompt"], metadata=about) for row, about in facts]
    phases = 1 if game == "bird" else 2
    shown = [TaskSamplesColumn(id="sampleId"), TaskSamplesColumn.score("reward", "reward")]
    view = TaskSamplesView(name="birdenv", columns=[*shown, TaskSamplesColumn(id="tokens")])
    return Task(
        dataset=samples,
        solver=play(arena, game, **settings),
        scorer=reward(phases),
        viewer=ViewerConfig(task_samples_view=view),
    )


@task
def c_interact(**settings: Any) -> Task:
    """Return c-Interact: an ambiguous request, clarified with a user."""
    return dialogue("c-interact", **settings)


@task
def a_interact(**settings: Any) -> Task:
    """Return a-Interact: the same with tools on a budget."""
    return dialogue("a-interact", **settings)


@task
def bird(**settings: Any) -> Task:
    """Return BIRD: one question, scored by execution accuracy."""
    return dialogue("bird", **settings)
