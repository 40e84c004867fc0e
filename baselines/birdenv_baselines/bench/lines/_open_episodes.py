"""Open environments, run a statement in all of them, and print the time, the worker processes and the memory.

This is a program, so that the measurement begins in a new process:

    python -m birdenv_baselines.bench.lines._open_episodes FOLDER SCRATCH DB_ID SQL NUMBER
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import birdenv
from birdenv.databases import SqliteSource
from birdenv_baselines.bench._processes import below, megabytes
from birdenv_baselines.bench._tasks import Environment, Task, make_environment

__all__: list[str] = []


def main(folder: Path, scratch: Path, db_id: str, sql: str, number: int) -> None:
    """Print the time to the first rows in seconds, the number of workers, and the memory in MB."""
    began = perf_counter()
    with SqliteSource(folder).open(db_id) as database:
        database.execute(sql)
    first = perf_counter() - began
    tasks = [Task(db_id, "SELECT 1", "SELECT 1")]
    before = megabytes({os.getpid()} | below(os.getpid()))
    environments = [make_environment(folder, tasks, scratch) for _ in range(number)]
    for environment in environments:
        environment.reset(seed=0)

    def run(environment: Environment) -> bool:
        observation, *_ = environment.step(birdenv.execute_sql(sql))
        return "error" in observation["message"].lower()

    with ThreadPoolExecutor(number) as pool:
        if any(pool.map(run, environments)):
            sys.exit("a statement failed")
    workers = below(os.getpid())
    after = megabytes({os.getpid()} | workers)
    for environment in environments:
        environment.close()
    print(json.dumps({"first": first, "workers": len(workers), "before": before, "after": after}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
