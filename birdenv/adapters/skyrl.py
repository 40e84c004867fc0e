"""SkyRL: a text environment, in which a model writes moves as the published tags.

    from skyrl_gym.envs.registration import register

    register(id="birdenv", entry_point="birdenv.adapters.skyrl:BirdenvEnv")

Each trajectory has an environment of its own. The row's `extras` name the game, the task and settings:
`{"game": "c-interact", "instance_id": "library_1", "settings": {"patience": 3}}`. `dataset_rows` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birdenv.adapters import missing
from birdenv.dialogue import Episode, make_game

try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ImportError as error:
    raise missing("skyrl", error) from error

__all__ = ["BirdenvEnv", "dataset_rows"]


def dataset_rows(game: str, **settings: Any) -> list[dict[str, Any]]:
    """Return SkyRL's rows of all tasks of a game: `prompt`, `env_class`, and what `BirdenvEnv` needs."""
    with make_game(game, **settings) as arena:
        return [
            {
                "prompt": [{"role": "user", "content": row["prompt"]}],
                "env_class": "birdenv",
                "game": game,
                "instance_id": row["id"],
                "settings": settings,
            }
            for row in arena.rows(markup=True)
        ]


class BirdenvEnv(BaseTextEnv):  # type: ignore[misc]
    """One episode, in which the model's text is read by the game's markup.

    Args:
        env_config: not used.
        extras: `game`, `instance_id` and, if any, `settings` and `seed`.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        chosen = dict(extras or {})
        self._arena = make_game(chosen["game"], **chosen.get("settings", {}))
        self._episode: Episode = self._arena.episode(chosen["instance_id"], seed=chosen.get("seed", 0))

    def init(self, prompt: Any) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Return the first message, whatever the row's prompt was."""
        text = self._arena.prompt(self._episode.instance_id, markup=True)
        return [{"role": "user", "content": text}], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play the model's text. `metadata["void"]` marks an episode that says nothing about the policy."""
        step = self._episode.say(action)
        return BaseTextEnvStepOutput(
            observations=[{"role": "user", "content": step.text}],
            reward=step.reward,
            done=step.done,
            metadata={"truncated": step.truncated, "void": step.void},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Return the reward of each phase."""
        return {f"phase_{phase}": reward for phase, reward in self._episode.breakdown.items()}

    def close(self) -> None:
        """Let go of the episode's database and of the tasks."""
        self._episode.close()
        self._arena.close()
