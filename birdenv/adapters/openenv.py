"""A server for OpenEnv. Each session plays its own episodes.

    python -m birdenv.adapters.openenv c-interact limit=10 --port 8000 --record rollouts.jsonl
    openenv validate --url http://127.0.0.1:8000

OpenEnv's generic client works without birdenv. Call `reset` with `instance_id`, and `step` with a model's
chat message or its plain text:

    with GenericEnvClient(base_url="http://127.0.0.1:8000").sync() as client:
        told = client.reset(instance_id="library_1", markup=True).observation["text"]
        result = client.step({"message": "<s>What do you mean by 'roomy'?</s>"})
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from birdenv.adapters import missing
from birdenv.adapters._serving import end_episode, read_command_line
from birdenv.dialogue import Arena, Episode
from birdenv.errors import InputError

try:
    import uvicorn
    from openenv.core.env_server import Action, Environment, Observation, State, create_app
except ImportError as error:
    raise missing("openenv", error) from error


class BirdenvAction(Action):
    """A client's action: a model's chat message with a tool call, or its text in the game's markup."""

    message: dict[str, Any] | str


class BirdenvObservation(Observation):
    """The environment's reply, and the tools that can be called next.

    Attributes:
        text: the reply; after `reset`, the instruction.
        tools: the schemas of the tools that can be called next.
        truncated: True if the episode was ended by a technical limit rather than by the rules of the game.
        void: True if the infrastructure or the user failed, which makes the episode useless for training.
    """

    text: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    truncated: bool = False
    void: bool = False


class BirdenvEnvironment(Environment):
    """The environment for one client session, which plays one episode at a time."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, arena: Arena, record: Path | None = None, task: str | None = None) -> None:
        super().__init__()
        self._arena, self._record, self._task = arena, record, task or arena.ids[0]
        self._episode: Episode | None = None
        self._state = State()

    def reset(
        self, seed: Any = None, episode_id: Any = None, instance_id: str = "", markup: bool = False, **_: Any
    ) -> BirdenvObservation:
        """Start an episode of a task, and return its instruction.

        Args:
            seed: the seed of the episode; by default, 0.
            episode_id: an id that the client chooses for the episode.
            instance_id: the id of the task; by default, the task that the server was started with.
            markup: True if the instruction explains how to write moves as text instead of tool calls.
        """
        self.close()
        name = instance_id or self._task
        self._episode = self._arena.episode(name, seed=seed or 0)
        self._state = State(episode_id=episode_id or name, step_count=0)
        return BirdenvObservation(text=self._arena.prompt(name, markup=markup), tools=self._episode.tools)

    def step(self, action: BirdenvAction, timeout_s: float | None = None, **_: Any) -> BirdenvObservation:
        """Play the move in a model's message, and return the environment's reply."""
        episode, message = self._episode, action.message
        if episode is None:
            raise InputError("there is no episode yet: call reset first")
        step = episode.say(message) if isinstance(message, str) else episode.call(message)
        self._state.step_count += 1
        known = {"tools": episode.tools, "truncated": step.truncated, "void": step.void}
        return BirdenvObservation(text=step.text, reward=step.reward, done=step.done, **known)

    @property
    def state(self) -> State:
        """Return the episode id and the number of steps so far."""
        return self._state

    def close(self) -> None:
        """End the episode, and write its record."""
        if self._episode is not None:
            end_episode(self._episode, self._record, "openenv")
        self._episode = None


def make_app(arena: Arena, record: Path | None = None, task: str | None = None, sessions: int = 256) -> Any:
    """Return the web application (ASGI) that serves a game.

    Args:
        arena: the arena of the game.
        record: the file to append the episode records to; None for no records.
        task: the task for clients that do not name one; by default, the first task.
        sessions: the maximum number of clients that can be connected at the same time.
    """
    make = partial(BirdenvEnvironment, arena, record, task)
    return create_app(make, BirdenvAction, BirdenvObservation, "birdenv", max_concurrent_envs=sessions)


if __name__ == "__main__":
    given = read_command_line("birdenv.adapters.openenv", __doc__ or "", port=8000)
    uvicorn.run(make_app(given.arena, given.record, given.task), port=given.port)
