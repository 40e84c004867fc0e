"""Evaluate a model with Inspect, and let a model role play the user. Both are scripted, so this runs offline.

    pip install 'birdenv[inspect]'
    python inspect_eval.py

The same for real models:

    inspect eval birdenv/c_interact --model openai/MODEL --model-role user=openai/OTHER -T user=role
"""

import os

from inspect_ai import eval as inspect_eval

from birdenv.adapters.inspect import c_interact
from birdenv.testing.openai_server import demo_script, serve

MODEL = "openai-api/scripted/scripted"

with serve(demo_script()) as server:
    os.environ |= {"SCRIPTED_BASE_URL": server.url, "SCRIPTED_API_KEY": "none"}
    task = c_interact(limit=5, user="role")
    [log] = inspect_eval(task, model=MODEL, model_roles={"user": MODEL}, display="none")

for score in log.results.scores:
    print(score.name, {name: round(metric.value, 3) for name, metric in score.metrics.items()})
print("to see the dialogues: inspect view")
