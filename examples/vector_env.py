"""Play four BIRD episodes in parallel, as the loop of a trainer would do."""

import gymnasium as gym
import numpy as np

import birdenv  # noqa: F401  (registers the environments)

envs = gym.make_vec("birdenv/BirdSql-v0", num_envs=4)
observations, infos = envs.reset(seed=7)
print("questions:", [text.split("Question: ")[1].split("\n")[0] for text in observations["instruction"]])

explore = {"kind": np.full(4, 1), "text": ("SELECT name FROM sqlite_master WHERE type = 'table'",) * 4}
observations, rewards, *_ = envs.step(explore)
print(observations["message"][0])

answer = {"kind": np.full(4, 2), "text": tuple(candidates[0] for candidates in infos["candidates"])}
observations, rewards, terminations, truncations, infos = envs.step(answer)
print("EX:", rewards.tolist(), "over:", terminations.tolist())
envs.close()
