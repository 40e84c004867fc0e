"""Policies that learn when to ask, and what they are held against: `python -m birdenv_baselines --help`.

The candidate setting (`birdenv/CInteractCandidates-v0`) on generated families, each database held out in
turn. Training needs the extra `rl`; the policies without learning need NumPy only.

* `Split`, `benchmark_folder`: the tasks
* `RULES`, `tuned_rule`, `Rule`: policies without learning
* `play`, `interval`, `summary`: what a policy earns
* `training._learners`, `training._trained`: PPO, MaskablePPO and DQN, in training and trained
"""

from birdenv_baselines.training._benchmark import Split, benchmark_folder, family_of
from birdenv_baselines.training._evaluate import Played, interval, play, summary, tuned_rule
from birdenv_baselines.training._policies import RULES, Policy, Rule

__all__ = [
    "RULES",
    "Played",
    "Policy",
    "Rule",
    "Split",
    "benchmark_folder",
    "family_of",
    "interval",
    "play",
    "summary",
    "tuned_rule",
]
