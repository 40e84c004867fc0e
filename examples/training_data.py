"""Make data for supervised fine-tuning: play each task several times, and keep the best dialogues.

The agent needs no model. With `llm:MODEL`, the dialogues contain the model's own words and calls.
"""

import json
import tempfile
from pathlib import Path

import birdenv
from birdenv.runs.export import export_rows, exported_episodes

with tempfile.TemporaryDirectory() as folder:
    result = birdenv.run_episodes("c-interact", "random", limit=5, repeats=3, output=folder)
    rows = list(export_rows(exported_episodes(result.folder), "sft", min_reward=0.7))

Path("sft.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
print(f"{len(rows)} of {len(result.records)} dialogues are in sft.jsonl")
if rows:
    for message, is_trained in zip(rows[0]["messages"][-3:], rows[0]["train"][-3:], strict=True):
        print(
            "train" if is_trained else "     ",
            message["role"],
            message["content"][:60] or message["tool_calls"],
        )
