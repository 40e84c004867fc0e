"""The same seed gives the same bytes in other processes, whatever their hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib, sys
import gymnasium, birdenv
from birdenv.envs import c_interact_v0
from birdenv.envs.candidates._layout import Layout
from birdenv.envs.candidates._phase import ShownPhase
from birdenv.envs.wrappers import ChatMessages, Markup

folder, digest = sys.argv[1], hashlib.sha256()

def note(value):
    digest.update(repr(value).encode("utf-8", "surrogatepass"))

settings = {
    "birdenv/CInteract-v0": {"data_dir": folder, "execute_sql": True},
    "birdenv/AInteract-v0": {"data_dir": folder},
    "birdenv/BirdSql-v0": {"data_file": folder + "/bird.json", "db_dir": folder},
}
for name, arguments in settings.items():
    for wrapper in (lambda env: env, ChatMessages, Markup):
        env = wrapper(gymnasium.make(name, **arguments))
        env.action_space.seed(1)
        note(env.reset(seed=1))
        for _ in range(int(sys.argv[2])):
            returned = env.step(env.action_space.sample())
            note(returned)
            if returned[2] or returned[3]:
                note(env.reset())
env = c_interact_v0.env(data_dir=folder)
for agent in env.possible_agents:
    env.action_space(agent).seed(2)
env.reset(seed=2)
for agent in env.agent_iter():
    last = env.last()
    note(last)
    env.step(None if last[2] or last[3] else env.action_space(agent).sample())
request = "Which rider_id, duration_min, loan_id, unit_price, pickup_slot and share_paid are meant?"
sqls = ["SELECT rider FROM t WHERE duration < 1 AND loan = price", "SELECT id, slot, paid FROM t"]
note(ShownPhase(Layout(12, 2), request, "rider duration unit pickup", sqls, "sqlite").spans.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.parametrize(
    ("seeds", "steps"),
    [(("31337",), 10), pytest.param(("0", "1", "31337"), 40, marks=pytest.mark.slow)],
)
def test_other_processes_and_hash_seeds(
    benchmark: Path,
    seeds: tuple[str, ...],
    steps: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(benchmark), str(steps)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in seeds
    ]
    monkeypatch.setattr(sys, "argv", ["", str(benchmark), str(steps)])
    exec(PROGRAM, {})
    digests = [capsys.readouterr().out, *(process.communicate()[0] for process in processes)]
    assert all(process.returncode == 0 for process in processes)
    assert len(digests[0]) == 65 and len(set(digests)) == 1
