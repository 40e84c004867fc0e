"""Evaluate a language model behind an OpenAI-compatible endpoint.

    python evaluate_endpoint.py MODEL BASE_URL

Without arguments, a scripted model plays.
"""

import sys
from contextlib import nullcontext

import birdenv
from birdenv.llm import ModelSettings
from birdenv.testing.openai_server import demo_script, serve

scripted = len(sys.argv) < 3
with serve(demo_script()) if scripted else nullcontext() as server:
    model, url = ("scripted", server.url) if scripted else sys.argv[1:3]
    result = birdenv.run_episodes(
        "c-interact",
        f"llm:{model}",
        limit=6,
        parallel=6,
        models=ModelSettings(base_url=url),
        output=f"results/{model}-c-interact",
    )
print(result.text)
print(f"mean reward {result.mean_reward:.3f}; dialogues and calls are in {result.folder}")
