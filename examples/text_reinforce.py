"""Train a tiny language model from scratch by REINFORCE, over chat messages.

The model has a handful of words and knows nothing. A text that is not a tool call costs a turn, and wrong SQL
an attempt. From this alone, it learns the form of a tool call, and which SQL answers which request.

    python text_reinforce.py [EPISODES]
"""

import json
import re
import sys
from zlib import crc32

import gymnasium as gym
import numpy as np

from birdenv.envs.wrappers import ChatMessages, TurnCost

EPISODES = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
LONGEST, HASHED, RATE = 3, 512, 0.5

env = gym.make("birdenv/CInteract-v0", instances=["library_4", "coop_6"], questions=2)
env = TurnCost(ChatMessages(env), 0.05)
sqls = [sql for index in (0, 1) for sql in env.reset(options={"index": index})[1]["candidates"]]
OPENINGS = ['{"name": "submit_sql", "arguments": {"sql": ', '{"name": "clarify", "arguments": {"question": ']
WORDS = ["}}", *OPENINGS, json.dumps("What do you mean?"), *map(json.dumps, sqls)]
END, START = 0, len(WORDS)
rng = np.random.default_rng(0)
after = np.zeros((START + 1, len(WORDS)))  # scores of the next word, given the last word
hint = np.zeros((HASHED, len(WORDS)))  # and given the words of the prompt


def read(prompt):
    """Return the hashed words of the request and of the last message."""
    request = re.search("Request: (.*)", prompt["messages"][0]["content"])[1]
    text = f"{request} {prompt['messages'][-1]['content'][-200:]}".lower()
    return sorted({crc32(word.encode()) % HASHED for word in re.findall("[a-z]+", text)})


def write(places):
    """Draw words one by one. Return the text, and the gradient of its log-probability."""
    last, said, steps = START, [], []
    while last != END and len(said) < LONGEST:
        scores = after[last] + hint[places].sum(axis=0)
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        word = int(rng.choice(len(WORDS), p=chances))
        steps.append((last, np.eye(len(WORDS))[word] - chances))
        said.append(WORDS[word])
        last = word
    return "".join(said), steps


usual, curve = {}, []  # `usual` is the mean return from each turn on
for episode in range(EPISODES):
    prompt, _ = env.reset(seed=episode)
    turns, rewards, calls, over = [], [], 0, False
    while not over:
        places = read(prompt)
        text, steps = write(places)
        try:
            message, calls = json.loads(text), calls + 1
        except ValueError:
            message = {"role": "assistant", "content": text}
        prompt, reward, terminated, truncated, _ = env.step(message)
        over = terminated or truncated
        turns.append((places, steps))
        rewards.append(reward)
    for turn, (places, steps) in enumerate(turns):
        to_come = sum(rewards[turn:])
        better = to_come - usual.setdefault(turn, to_come)
        usual[turn] += 0.05 * better
        for last, gradient in steps:
            after[last] += RATE * better * gradient
            hint[places] += RATE * better * gradient / len(places)
    curve.append((sum(rewards), calls / len(turns)))
    if (episode + 1) % max(EPISODES // 10, 1) == 0:
        earned, formed = np.mean(curve[-max(EPISODES // 10, 1) :], axis=0)
        print(f"episode {episode + 1:>6}: return {earned:+.2f}, well-formed tool calls {formed:.0%}")
print(f"last text: {text}")
