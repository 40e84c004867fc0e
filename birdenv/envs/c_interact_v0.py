"""c-Interact as a PettingZoo game of two agents: `system_0` asks and submits SQL, `user_0` answers.

The agent in the user's seat is told what the request means. It answers in text, which the leak guard checks.
Both agents earn the reward for the submitted SQL. They take turns:

    env = c_interact_v0.env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample())
"""

from __future__ import annotations

from typing import Any, ClassVar

from gymnasium.utils import EzPickle
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from birdenv.envs.pettingzoo import DialogueAEC, DialogueParallel

__all__ = ["env", "parallel_env", "raw_env"]


def env(**settings: Any) -> Any:
    """Return a `raw_env` with the same arguments, wrapped so that PettingZoo checks the order of calls."""
    return OrderEnforcingWrapper(raw_env(**settings))


class parallel_env(DialogueParallel):  # noqa: N801 (PettingZoo's name for it)
    """c-Interact in PettingZoo's parallel form. In each step, only the agent whose turn it is acts.

    The arguments are those of `raw_env`.
    """

    metadata: ClassVar[dict[str, Any]] = DialogueParallel.metadata | {"name": "c_interact_v0"}

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__("c-interact", render_mode, **settings)
        EzPickle.__init__(self, render_mode, **settings)


class raw_env(DialogueAEC):  # noqa: N801 (PettingZoo's name for it)
    """c-Interact in PettingZoo's AEC form, without PettingZoo's checks.

    The arguments are those of `CInteractEnv`, except `user`.
    """

    metadata: ClassVar[dict[str, Any]] = DialogueAEC.metadata | {"name": "c_interact_v0"}

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__("c-interact", render_mode, **settings)
        EzPickle.__init__(self, render_mode, **settings)
