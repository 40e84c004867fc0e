"""Games as Inspect tasks. The scores are the rewards earned in the phases.

    inspect eval birdenv/c_interact --model openai/my-model -T limit=10
    inspect eval birdenv/c_interact --model ... --model-role user=openai/other -T user=role

`-T` sets a setting of the game. The user is `rule` unless `-T user=...` names a different player. With `-T
user=role`, birdenv's user `llm` is played by the model with the model role `user` in Inspect. If the
infrastructure or the user fails, the sample has an error: Inspect excludes it from the scores, and `inspect
eval-retry` retries it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from birdenv.adapters import missing
from birdenv.dialogue import Arena, make_game
from birdenv.errors import InfrastructureError
from birdenv.llm import FunctionModels

try:
    from inspect_ai import Task, dataset, model, scorer, solver, task, tool, viewer
except ImportError as error:
    raise missing("inspect", error) from error


def _role_models() -> FunctionModels:
    """Return models for the user's seat that Inspect calls while the episode's thread waits."""
    user, loop = model.get_model(role="user"), asyncio.get_running_loop()

    async def generate(body: Any) -> dict[str, Any]:
        output = await user.generate(await model.messages_from_openai(body["messages"]))
        return {"role": "assistant", "content": output.completion}

    return FunctionModels(lambda body: asyncio.run_coroutine_threadsafe(generate(body), loop).result())


@solver.solver
def play(arena: Arena, **settings: Any) -> Any:
    """Return a solver that plays a sample's task to the end.

    The model's messages are passed to birdenv unchanged.
    """

    async def solve(state: Any, generate: Any) -> Any:
        role = {"user": "llm", "models": _role_models()} if settings.get("user") == "role" else {}
        with make_game(arena.game, **settings | role).episode(state.sample_id, seed=state.epoch) as episode:
            while not episode.done:
                tools = [tool.ToolInfo.model_validate(each["function"]) for each in episode.tools]
                state.output = await model.get_model().generate(state.messages, tools=tools)
                message = state.output.message
                step = await episode.acall((await model.messages_to_openai([message]))[0])
                calls = message.tool_calls or ()
                replies = [model.ChatMessageTool(content=step.text, tool_call_id=call.id) for call in calls]
                state.messages += [message, *(replies or [model.ChatMessageUser(content=step.text)])]
            if step.void:
                raise InfrastructureError(f"{episode.status}: {episode.error}")
            phases = {f"phase_{phase}": earned for phase, earned in episode.breakdown.items()}
            state.store.set("birdenv", {"status": episode.status, "reward": episode.reward, **phases})
        return state

    return solve


@scorer.scorer(metrics={"*": [scorer.mean(), scorer.stderr()]})
def reward(*names: str) -> Any:
    """Return a scorer for the given reward names: `reward` (the total), `phase_1` and `phase_2`."""

    async def score(state: Any, target: Any) -> Any:
        return scorer.Score(value={name: state.store.get("birdenv", {}).get(name, 0.0) for name in names})

    return score


def _task(game: str, names: tuple[str, ...], settings: dict[str, Any]) -> Any:
    arena = make_game(game, **{k: v for k, v in settings.items() if (k, v) != ("user", "role")})
    columns = [viewer.TaskSamplesColumn.score(name, name) for name in names]
    view = viewer.TaskSamplesView(name="rewards", columns=[viewer.TaskSamplesColumn(id="sampleId"), *columns])
    return Task(
        [dataset.Sample(id=row["id"], input=row["prompt"], metadata=row) for row in arena.rows()],
        solver=play(arena, **settings),
        scorer=reward(*names),
        viewer=viewer.ViewerConfig(task_samples_view=view),
    )


@task
def c_interact(**settings: Any) -> Any:
    """Return the Inspect task for c-Interact: ambiguous requests that a simulated user clarifies."""
    return _task("c-interact", ("reward", "phase_1", "phase_2"), settings)


@task
def a_interact(**settings: Any) -> Any:
    """Return the Inspect task for a-Interact: ambiguous requests, with tools on a budget."""
    return _task("a-interact", ("reward", "phase_1", "phase_2"), settings)


@task
def bird(**settings: Any) -> Any:
    """Return the Inspect task for BIRD: single questions, scored by execution accuracy."""
    return _task("bird", ("reward", "phase_1"), settings)
