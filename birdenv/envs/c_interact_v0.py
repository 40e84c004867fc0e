"""c-Interact as a PettingZoo game of two agents: `system_0` asks and submits SQL, `user_0` answers.

The observations of the agent in the user's seat explain what the request means. It answers in text, which the
leak guard checks. Both agents earn the reward for the submitted SQL. They take turns:

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
