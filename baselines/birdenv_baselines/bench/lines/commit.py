"""Compare the speed of runs and of scoring with that of a different commit, round by round.

The other commit is unpacked into a temporary folder. In every round, each side runs in a new process of the
same Python, with default settings. Only PYTHONPATH differs. Imports are not timed.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import birdenv
from birdenv_baselines.bench._measure import Bar, Figure, Line, Setting, Skip, times_as_long
from birdenv_baselines.bench._mini_dev import read_mini_dev
from birdenv_baselines.bench.lines import _commit_child

__all__ = ["lines"]

_REPEATS: Final = 10  # 380 episodes of c-Interact, 420 of BIRD
_SOME: Final = 40
_NOISE: Final = 1.03  # the precision of "no slower" with rounds of two seconds


def lines(quick: bool) -> list[Line]:
    """Return the lines about the other commit; with `quick`, each task is played only once."""
    against = "the other commit"
    bars = {"c-interact": Bar("at most", 1.1), "a-interact": Bar("at most", 1.1), "bird": None}
    runs = [Line(f"{game} run, oracle", against, partial(_run, game), bar) for game, bar in bars.items()]
    return [*runs, Line("EX of 13 systems", against, _scores, Bar("at most", _NOISE))]


def _run(game: str, setting: Setting) -> Figure:
    return _compare({"game": game, "repeats": 1 if setting.quick else _REPEATS}, setting)


def _scores(setting: Setting) -> Figure:
    mini_dev = read_mini_dev()
    answers = mini_dev.answers[:_SOME] if setting.quick else mini_dev.answers
    pairs = [[task.db_id, task.gold, task.prediction] for task in answers]
    return _compare({"folder": str(mini_dev.folder), "pairs": pairs}, setting)


def _compare(job: dict[str, Any], setting: Setting) -> Figure:
    """Return the ratio of the times. Raise `RuntimeError` if the two commits have different results."""
    here = Path(birdenv.__file__).resolve().parents[1]
    times: list[list[float]] = [[], []]
    with _unpacked(here, setting.commit) as there:
        roots = (here, there)
        for number in range(setting.rounds):
            results = [None, None]
            for side in (0, 1) if number % 2 else (1, 0):
                seconds, results[side] = _played(roots[side], job)
                times[side].append(seconds)
            if results[0] != results[1]:
                raise RuntimeError(f"{results[0]} here, {results[1]} in {setting.commit}")
    return times_as_long(*times, note=f"commit {setting.commit}; {results[0]}")


@contextmanager
def _unpacked(repository: Path, commit: str) -> Iterator[Path]:
    command = ["git", "-C", str(repository), "archive", commit]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise Skip(f"not measured: git cannot be run: {error}") from None
    if done.returncode:
        raise Skip(f"not measured: {done.stderr.decode().strip().splitlines()[-1]}")
    with tempfile.TemporaryDirectory(prefix="birdenv-commit-") as scratch:
        folder = Path(scratch).resolve()
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield folder


def _played(root: Path, job: dict[str, Any]) -> tuple[float, Any]:
    folders = [root, root / "agents", root / "baselines"]
    environment = {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(_commit_child.__file__), str(root)],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        cwd=root,
        env=os.environ | environment,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{root}: {(done.stderr.strip().splitlines() or ['died'])[-1]}")
    seconds, result = json.loads(done.stdout.splitlines()[-1])
    return seconds, result
