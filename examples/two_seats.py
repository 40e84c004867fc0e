"""Play both seats of c-Interact as PettingZoo agents. The leak guard filters the user's answers."""

import birdenv
from birdenv.envs import c_interact_v0

env = c_interact_v0.env(instances=["library_1"])
env.reset(seed=0)

system_moves = iter(
    [
        birdenv.clarify("What do you mean by 'roomy branches'?"),
        birdenv.clarify("And which SQL would you write?"),
        birdenv.submit_sql("SELECT name FROM branches WHERE seats >= 40"),
        birdenv.submit_sql("SELECT name FROM branches"),
    ]
)
user_moves = iter(["Those with 40 seats or more.", "SELECT name, index FROM branches WHERE seats >= 40"])

for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    if termination or truncation:
        env.step(None)
        continue
    if agent == "system_0":
        move = next(system_moves)
    else:
        print(f"    asked: {observation['message']}")
        move = {"kind": 0, "text": next(user_moves)}
    print(f"{agent}: {move}")
    env.step(move)
    if agent == "user_0":
        print(f"    heard: {env.observe('system_0')['message']}")
env.close()
