"""Store trajectories of a text environment as a Minari dataset, and load them again.

Minari supports only Gymnasium's `Text`, and no values whose shape changes between steps. This needs
`pip install 'birdenv[minari]'`.
"""

import sys
import tempfile
from collections import OrderedDict
from os import environ

import gymnasium as gym
from gymnasium import spaces

import birdenv

environ["MINARI_DATASETS_PATH"] = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()

import minari


class AnyText(spaces.Text):
    """Gymnasium's `Text` without a check of every character."""

    def contains(self, x):
        return isinstance(x, str) and len(x) <= self.max_length


def as_text(space):
    """Return the space with `Text` in place of birdenv's own text spaces."""
    fields = {
        name: AnyText(field.max_length, min_length=0) if hasattr(field, "max_length") else field
        for name, field in space.spaces.items()
    }
    return spaces.Dict(fields)


class PlainSteps(minari.StepDataCallback):
    """Leaves out infos, whose shapes change, and converts actions to Minari's format."""

    def __call__(self, env, **step):
        found = super().__call__(env, **step)
        action = found["action"]
        return {**found, "info": {}, "action": action if action is None else OrderedDict(action)}


env = gym.make("birdenv/CInteract-v0", instances=["library_1", "coop_6"])
collector = minari.DataCollector(
    env,
    observation_space=as_text(env.observation_space),
    action_space=as_text(env.action_space),
    step_data_callback=PlainSteps,
    record_infos=False,
)
played = []
for index in (0, 1):
    observation, info = collector.reset(seed=index, options={"index": index})
    over, total = False, 0.0
    action = birdenv.clarify("What do you mean by 'roomy branches'?")
    while not over:
        observation, reward, terminated, truncated, info = collector.step(action)
        total, over = total + float(reward), terminated or truncated
        action = birdenv.submit_sql(info["candidates"][3])
    played.append(total)
collector.create_dataset(
    dataset_id="birdenv/c-interact-v0", algorithm_name="last candidate", description="two episodes"
)
stored = minari.load_dataset("birdenv/c-interact-v0")
for episode, total in zip(stored, played, strict=True):
    texts = episode.actions["text"]
    print(
        f"{len(texts)} actions, return {episode.rewards.sum():.1f} as played: {total:.1f}; first: {texts[0]}"
    )
