"""A text environment for SkyRL. The model writes its moves with tags (see `birdenv.envs.wrappers`).

    from skyrl_gym.envs.registration import register

    register(id="birdenv", entry_point="birdenv.adapters.skyrl:BirdenvEnv")

SkyRL creates an environment for each trajectory. The `extras` in each dataset row name the game, the task and
the settings: `{"game": "c-interact", "instance_id": "library_1", "settings": {"patience": 3}}`.
`dataset_rows` returns such rows.
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
    """Return a dataset with a row for each task: `prompt`, `env_class`, and the extras for `BirdenvEnv`."""
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
    """An environment for one episode, which reads the model's moves in the game's markup.

    Args:
        env_config: not used.
        extras: `game`, `instance_id` and, optionally, `settings` and `seed`.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        chosen = dict(extras or {})
        self._arena = make_game(chosen["game"], **chosen.get("settings", {}))
        self._episode: Episode = self._arena.episode(chosen["instance_id"], seed=chosen.get("seed", 0))

    def init(self, prompt: Any) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Return a list with the first message, which contains the instruction, and an empty dict."""
        text = self._arena.prompt(self._episode.instance_id, markup=True)
        return [{"role": "user", "content": text}], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play the move in a model's text, and return the reply and the reward.

        `metadata["void"]` is True if the infrastructure or the user failed.
        """
        step = self._episode.say(action)
        return BaseTextEnvStepOutput(
            observations=[{"role": "user", "content": step.text}],
            reward=step.reward,
            done=step.done,
            metadata={"truncated": step.truncated, "void": step.void},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Return the reward earned in each phase so far."""
        return {f"phase_{phase}": reward for phase, reward in self._episode.breakdown.items()}

    def close(self) -> None:
        """Close the episode and the game."""
        self._episode.close()
        self._arena.close()
