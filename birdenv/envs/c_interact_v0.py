"""c-Interact as a PettingZoo game of two learners: `system_0` asks and answers in SQL, `user_0` explains.

The user's seat is told what it means in words, and answers in text. Whatever it says passes the leak guard.
Both seats earn the same: what the SQL earned. The seats take turns:

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
    """Return the game with PettingZoo's checks of the order of calls; it takes what `raw_env` takes."""
    return OrderEnforcingWrapper(raw_env(**settings))


class parallel_env(DialogueParallel):  # noqa: N801 (PettingZoo's name for it)
    """The game in PettingZoo's parallel form: of both actions, that of the seat to move counts.

    It takes what `raw_env` takes.
    """

    metadata: ClassVar[dict[str, Any]] = DialogueParallel.metadata | {"name": "c_interact_v0"}

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__("c-interact", render_mode, **settings)
        EzPickle.__init__(self, render_mode, **settings)


class raw_env(DialogueAEC):  # noqa: N801 (PettingZoo's name for it)
    """Return the game itself. The arguments are those of `CInteractEnv` without `user`."""

    metadata: ClassVar[dict[str, Any]] = DialogueAEC.metadata | {"name": "c_interact_v0"}

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__("c-interact", render_mode, **settings)
        EzPickle.__init__(self, render_mode, **settings)
