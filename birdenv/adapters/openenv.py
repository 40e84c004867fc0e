"""OpenEnv: a server with an episode for each session.

    python -m birdenv.adapters.openenv c-interact limit=10 --port 8000 --record rollouts.jsonl
    openenv validate --url http://127.0.0.1:8000

OpenEnv's generic client needs nothing of birdenv. It resets with `instance_id`, and steps with a model's chat
message or its plain text:

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
    """A model's message: a chat message with tool calls, or text, which is read by the game's markup."""

    message: dict[str, Any] | str


class BirdenvObservation(Observation):
    """The words of the environment, after `reset` the instruction; and the tools that are possible now.

    A `void` episode was ended by a fault of the machine or of the user: leave it out of training.
    """

    text: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    truncated: bool = False
    void: bool = False


class BirdenvEnvironment(Environment):
    """The episodes of one session, one after the other."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, arena: Arena, record: Path | None = None, task: str | None = None) -> None:
        super().__init__()
        self._arena, self._record, self._task = arena, record, task or arena.ids[0]
        self._episode: Episode | None = None
        self._state = State()

    def reset(
        self, seed: Any = None, episode_id: Any = None, instance_id: str = "", markup: bool = False, **_: Any
    ) -> BirdenvObservation:
        """Start an episode of a task; with `markup`, the text says how to write a move without tools."""
        self.close()
        name = instance_id or self._task
        self._episode = self._arena.episode(name, seed=seed or 0)
        self._state = State(episode_id=episode_id or name, step_count=0)
        return BirdenvObservation(text=self._arena.prompt(name, markup=markup), tools=self._episode.tools)

    def step(self, action: BirdenvAction, timeout_s: float | None = None, **_: Any) -> BirdenvObservation:
        """Play a message."""
        episode, message = self._episode, action.message
        if episode is None:
            raise InputError("no episode has begun: call reset first")
        step = episode.say(message) if isinstance(message, str) else episode.call(message)
        self._state.step_count += 1
        known = {"tools": episode.tools, "truncated": step.truncated, "void": step.void}
        return BirdenvObservation(text=step.text, reward=step.reward, done=step.done, **known)

    @property
    def state(self) -> State:
        """Return the episode's id and the number of steps."""
        return self._state

    def close(self) -> None:
        """End the episode, and keep its record."""
        if self._episode is not None:
            end_episode(self._episode, self._record, "openenv")
        self._episode = None


def make_app(arena: Arena, record: Path | None = None, task: str | None = None, sessions: int = 256) -> Any:
    """Return the server's application, for `sessions` clients at once.

    Args:
        arena: the game.
        record: a file for the records of episodes; None keeps none.
        task: the task of a client that names none; without it, the first.
        sessions: clients that may be connected.
    """
    make = partial(BirdenvEnvironment, arena, record, task)
    return create_app(make, BirdenvAction, BirdenvObservation, "birdenv", max_concurrent_envs=sessions)


if __name__ == "__main__":
    given = read_command_line("birdenv.adapters.openenv", __doc__ or "", port=8000)
    uvicorn.run(make_app(given.arena, given.record, given.task), port=given.port)
