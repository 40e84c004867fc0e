"""c-Interact as a PettingZoo environment: `system_0` asks questions and submits SQL, and `user_0` answers.

The observations of `user_0` explain the meaning of the request. The leak guard checks the agent's answers.
Both agents receive the reward for the submitted SQL. The agents take turns:

    env = c_interact_v0.env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample())
"""

from __future__ import annotations

from birdenv.envs.pettingzoo import functions_of

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = functions_of("c-interact")
