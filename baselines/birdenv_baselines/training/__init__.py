"""Train policies that decide when to ask questions, and compare them with fixed rules.

Run `python -m birdenv_baselines --help`. The policies play `birdenv/CInteractCandidates-v0` on generated
tasks: one database is held out for testing, and all others are used for training. Training needs the extra
`rl`; fixed rules need only NumPy.

* `Split` and `benchmark_folder` provide the tasks.
* `RULES`, `tuned_rule` and `Rule` are fixed policies.
* `play`, `interval` and `summary` measure a policy's return.
* `training._learners` trains PPO, MaskablePPO and DQN, and `training._trained` loads trained policies.
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
