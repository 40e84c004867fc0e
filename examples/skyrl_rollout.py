"""Play the demo through SkyRL's environment. The model is scripted, so this runs offline.

    pip install 'birdenv[skyrl]'
    python skyrl_rollout.py

For training, use the result of `dataset_rows` as the data. SkyRL's generator then makes the environments.
"""

import skyrl_gym
from skyrl_gym.envs.registration import register

from birdenv.adapters.skyrl import dataset_rows
from birdenv.testing.openai_server import demo_script

register(id="birdenv", entry_point="birdenv.adapters.skyrl:BirdenvEnv")
script = demo_script()

for row in dataset_rows("c-interact", limit=5):
    env = skyrl_gym.make(row["env_class"], env_config={}, extras=row)
    messages, _ = env.init(row["prompt"])
    done = False
    while not done:
        text = script.turn({"model": "scripted-markup", "messages": messages}).text()
        output = env.step(text)
        messages += [{"role": "assistant", "content": text}, *output["observations"]]
        done = output["done"]
    print(row["instance_id"], env.get_metrics())
    env.close()
