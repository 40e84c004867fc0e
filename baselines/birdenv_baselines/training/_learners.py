"""Train PPO, MaskablePPO and DQN on the candidate setting, with checkpoints to resume from."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from rich.progress import Progress
from stable_baselines3.common.callbacks import BaseCallback

from birdenv.envs.sb3 import CandidatesVecEnv
from birdenv.errors import InputError
from birdenv.files import write_text
from birdenv_baselines.training._benchmark import Split
from birdenv_baselines.training._evaluate import play
from birdenv_baselines.training._network import (
    MaskableRelationalPolicy,
    RelationalDQNPolicy,
    RelationalPolicy,
)
from birdenv_baselines.training._trained import ALGORITHMS, Trained

ENVS: Final = 256
_CONFIG, _MODEL, _CURVE = "config.json", "model.zip", "curve.csv"
HELD_OUT_CURVE: Final = "held_out_curve.csv"
_CHECKPOINTS: Final = 10  # per training; at each, the mean return is printed, and held-out tasks are played

_ON_POLICY: Final[dict[str, Any]] = {
    "n_steps": 32,
    "batch_size": 1024,
    "n_epochs": 5,
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "ent_coef": 0.01,
    "vf_coef": 0.5,
}
_POLICIES: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "maskable-ppo": (MaskableRelationalPolicy, _ON_POLICY),
    "ppo": (RelationalPolicy, _ON_POLICY),
    "dqn": (
        RelationalDQNPolicy,
        {
            "gamma": 1.0,
            "batch_size": 512,
            "buffer_size": 100_000,
            "learning_starts": 5_000,
            "train_freq": 8,
            "gradient_steps": 16,
            "target_update_interval": 2_000,
            "exploration_fraction": 0.3,
            "exploration_final_eps": 0.02,
        },
    ),
}


@dataclass(frozen=True, slots=True)
class Training:
    """The configuration of one training, as it is saved in the training's folder.

    Attributes:
        algo: `maskable-ppo`, `ppo` or `dqn`.
        data: the folder of the benchmark.
        held_out: the database that is not used for training.
        seed: the seed of the network, the episodes and the decisions.
        steps: the total number of steps in all environments.
        refusals: the probability that the user does not know the answer to a question about an ambiguity.
        train_tasks: the maximum number of training tasks; None for all.
    """

    algo: str
    data: str
    held_out: str
    seed: int = 0
    steps: int = 400_000
    refusals: float = 0.0
    train_tasks: int | None = None

    def split(self) -> Split:
        """Return the training and test tasks."""
        return Split(Path(self.data), self.held_out, refusals=self.refusals, train_tasks=self.train_tasks)

    @property
    def special(self) -> str:
        """Return a description of the training tasks and refusals, such as `all tasks, 20% refused`."""
        tasks = "all tasks" if self.train_tasks is None else f"{self.train_tasks} tasks"
        return tasks + (f", {self.refusals:.0%} refused" if self.refusals else "")

    def folder(self, output: Path) -> Path:
        """Return the folder for this training in `output`. Its name contains the settings."""
        extra = f"-refusals{self.refusals:g}" if self.refusals else ""
        extra += f"-tasks{self.train_tasks}" if self.train_tasks else ""
        return output / f"{self.algo}-{self.held_out}{extra}-seed{self.seed}"


def read_training(folder: Path) -> Training:
    """Return the configuration of the training in a folder.

    Raises:
        InputError: the folder contains no training.
    """
    try:
        return Training(**json.loads((folder / _CONFIG).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} contains no training: {error}") from None


def trained(folder: Path) -> Trained:
    """Return the policy saved by the training in a folder."""
    return Trained(folder / _MODEL, read_training(folder).algo)


def train(training: Training, folder: Path, *, resume: bool = False, progress: bool = True) -> Path:
    """Train a policy, and write its checkpoints and learning curves to a folder.

    Args:
        training: the configuration of the training.
        folder: the folder; it must not contain a training, unless `resume` is set.
        resume: True to continue from the last checkpoint.
        progress: True to show a progress bar on a terminal, and to print the mean return at each checkpoint.

    Returns:
        The folder.

    Raises:
        InputError: the algorithm is unknown, or the folder already contains a training.
    """
    if training.algo not in _POLICIES:
        raise InputError(f"unknown algorithm {training.algo!r}; choose from {', '.join(_POLICIES)}")
    if (folder / _CONFIG).exists() and not resume:
        raise InputError(f"{folder} contains a training already: continue with --resume, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / _CONFIG, json.dumps(asdict(training), indent=2) + "\n")
    torch.set_num_threads(1)
    envs = CandidatesVecEnv(training.split().train_envs(ENVS))
    kind, (policy, settings) = ALGORITHMS[training.algo], _POLICIES[training.algo]
    logs = str(folder / "tensorboard") if _has_tensorboard() else None
    if resume and (folder / _MODEL).exists():
        model = kind.load(folder / _MODEL, env=envs, device="cpu", tensorboard_log=logs)
    else:
        rate = 1e-3 if training.algo != "dqn" else 5e-4
        model = kind(
            policy,
            envs,
            learning_rate=lambda left: rate * max(left, 0.05),
            seed=training.seed,
            device="cpu",
            tensorboard_log=logs,
            **settings,
        )
    left = training.steps - model.num_timesteps
    if left > 0:
        with Progress(disable=not progress, transient=True) as bar:
            keeper = _Keeper(folder, training, bar)
            model.learn(left, callback=keeper, reset_num_timesteps=False, tb_log_name="run")
            keeper.save()
    envs.close()
    return folder


class _Keeper(BaseCallback):
    """A callback that writes learning curves, saves checkpoints, and shows progress and mean return."""

    def __init__(self, folder: Path, training: Training, bar: Progress) -> None:
        super().__init__()
        self._folder, self._training, self._steps, self._bar = folder, training, training.steps, bar
        self._line = bar.add_task(folder.name, total=training.steps)
        self._held_out = training.split().test_envs(ENVS)
        self._earned: list[float] = []
        self._since_saved: list[float] = []
        self._saved = self._noted = 0
        self._began = time.process_time()

    def _on_training_start(self) -> None:
        self._saved = self._noted = self.num_timesteps

    def _on_step(self) -> bool:
        self._earned += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        if self.num_timesteps - self._noted >= self._steps / 50 and self._earned:
            self._note()
        if self.num_timesteps - self._saved >= self._steps / _CHECKPOINTS and self._since_saved:
            self.save()
        return True

    def _note(self) -> None:
        mean = float(np.mean(self._earned))
        seconds = time.process_time() - self._began
        self._append(_CURVE, {"return": f"{mean:.4f}", "cpu_s": f"{seconds:.1f}"})
        self._since_saved += self._earned
        self._noted, self._earned = self.num_timesteps, []
        self._bar.update(self._line, completed=self.num_timesteps, description=f"return {mean:.3f}")

    def _append(self, name: str, figures: dict[str, str]) -> None:
        path = self._folder / name
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            if is_new:
                rows.writerow(["steps", *figures])
            rows.writerow([self.num_timesteps, *figures.values()])

    def save(self) -> None:
        """Save a checkpoint, and play held-out tasks with it for the learning curve."""
        self.model.save(self._folder / _MODEL)
        played = play(self._held_out, Trained(self._folder / _MODEL, self._training.algo), rounds=4)
        self._append(HELD_OUT_CURVE, {"return": f"{played.returns.mean():.4f}"})
        if not self._bar.disable and self._since_saved:
            mean = float(np.mean(self._since_saved))
            said = f"{self.num_timesteps:,} of {self._steps:,} steps: mean return {mean:.3f}"
            self._bar.console.print(said, highlight=False)
        self._saved, self._since_saved = self.num_timesteps, []


def _has_tensorboard() -> bool:
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        return False
    return True
