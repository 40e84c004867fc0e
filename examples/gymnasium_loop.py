"""Play three c-Interact episodes through Gymnasium: ask about the first words, then submit a candidate."""

import gymnasium as gym

import birdenv

env = gym.make("birdenv/CInteract-v0", instances=["library_1", "library_4", "coop_6"])

for index in range(3):
    observation, info = env.reset(seed=index, options={"index": index})
    print(f"\n{info['instance_id']}: {observation['message']}")
    total, over = 0.0, False
    action = birdenv.clarify(f"What do you mean by '{' '.join(observation['message'].split()[:4])}'?")
    while not over:
        observation, reward, terminated, truncated, info = env.step(action)
        total, over = total + float(reward), terminated or truncated
        print(f"  {observation['message']}")
        action = birdenv.submit_sql(info["candidates"][0])  # candidates exist in the demo benchmark only
    print(f"  reward {total:.1f}, {[attempt['status'] for attempt in info['attempts']]}")
