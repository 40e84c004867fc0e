"""A child process that plays scripted episodes with the birdenv of its PYTHONPATH, a round a line of input.

It uses what every version has: Gymnasium ids, and actions as dictionaries. Argument: a JSON object with
`root`, `id`, `settings` and `episodes`: the place of a task and its actions, `[kind, text]`. A `#` in a text
is another number each time. The next round begins `tasks_a_round` places further.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium

import birdenv


def main() -> None:
    job: dict[str, Any] = json.loads(sys.argv[1])
    if Path(birdenv.__file__).parents[1] != Path(job["root"]):
        sys.exit(f"birdenv comes from {birdenv.__file__}, not from {job['root']}")
    environment = gymnasium.make(job["id"], **job["settings"])
    numbers = itertools.count()
    for number, _ in enumerate(sys.stdin):
        first = number * job["tasks_a_round"]
        rounds = [
            (
                first + place,
                [{"kind": kind, "text": text.replace("#", str(next(numbers)))} for kind, text in actions],
            )
            for place, actions in job["episodes"]
        ]
        earned, began = 0.0, time.process_time()
        for place, actions in rounds:
            environment.reset(options={"index": place})
            for action in actions:
                earned += float(environment.step(action)[1])
        print(json.dumps([time.process_time() - began, round(earned, 6)]), flush=True)
    environment.close()


if __name__ == "__main__":
    main()
