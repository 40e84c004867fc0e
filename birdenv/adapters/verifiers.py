"""A taskset for verifiers v1 with the tasks of a game, and an environment in which models write tags.

    vf-eval birdenv-verifiers --env.taskset.settings '{"limit": 10}' -m my-model --no-push \
      --env.agent.runtime.type subprocess --client.base-url URL --client.api-key-var KEY

`--env.taskset.game` selects a different game. If the infrastructure or the user fails, the episode has an
error, and verifiers neither scores it nor trains on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from birdenv.adapters import missing
from birdenv.dialogue import make_game
from birdenv.errors import InfrastructureError

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise missing("verifiers", error) from error

__all__ = ["BirdenvEnv", "BirdenvTaskset"]


class BirdenvConfig(vf.TasksetConfig):
    """The configuration of the taskset: the name of the game, and its settings for `make_game`."""

    game: str = "c-interact"
    settings: dict[str, Any] = Field(default_factory=dict)


class BirdenvTask(vf.Task[vf.TaskData]):
    """A task in a game. Its score is the episode's reward; the rewards for the phases are metrics."""

    @property
    def key(self) -> str:
        """Return the task id, which still identifies the task if its prompt changes."""
        return str(self.data.id)

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        """Return the reward for the episode in a trace."""
        return float(trace.info.get("reward", 0.0))

    @vf.metric
    async def phases(self, trace: vf.Trace) -> Mapping[str, float]:
        """Return the reward for each phase of the episode in a trace."""
        return {f"phase_{phase}": earned for phase, earned in trace.info.get("breakdown", {}).items()}


class BirdenvTaskset(vf.Taskset[BirdenvTask, BirdenvConfig]):
    """The tasks of a game, as a verifiers taskset.

    Attributes:
        arena: the arena of the game.
    """

    def __init__(self, config: BirdenvConfig) -> None:
        super().__init__(config)
        self.arena = make_game(config.game, **config.settings)

    def load(self) -> list[BirdenvTask]:
        """Return all tasks in the game."""
        rows = self.arena.rows(markup=True)
        data = [vf.TaskData(id=row["id"], name=row["id"], prompt=row["prompt"]) for row in rows]
        return [BirdenvTask(each, self.config.task) for each in data]


class BirdenvEnvConfig(vf.EnvConfig):
    """The configuration of `BirdenvEnv`: one agent, with a harness that uses no tools."""

    agent: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})


class BirdenvEnv(vf.Env[BirdenvEnvConfig]):
    """An environment that plays a task, and sends the game's replies to the model as user messages."""

    async def run(self, task: BirdenvTask, agents: vf.Agents) -> None:
        """Play an episode of a task until it ends or the model's harness stops."""
        with self.taskset.arena.episode(task.data.id) as episode:
            async with agents.agent.interaction(task) as interaction:
                segment = await interaction.turn()
                while not segment.terminated:
                    step = await episode.asay(segment.last_reply)
                    if step.void:
                        raise InfrastructureError(f"{episode.status}: {episode.error}")
                    if step.done:
                        break
                    segment = await interaction.turn(step.text)
                interaction.trace.info |= {"reward": episode.reward, "breakdown": episode.breakdown}
