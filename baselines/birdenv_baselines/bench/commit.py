"""Whole episodes against those of an earlier commit, played in turn by two processes.

    python -m birdenv_baselines.bench.commit [COMMIT]

The commit is checked out as a git worktree in a temporary folder. Both processes run one script under this
interpreter; only PYTHONPATH differs. Times are CPU seconds of the process. The figure is the median of the
ratios of two rounds that were played one after the other: what else the machine does then slows both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

import birdenv
from birdenv.dialogue import make_game
from birdenv_baselines.bench import _episodes_probe
from birdenv_baselines.bench._databases import SIZES, build, cache_folder
from birdenv_baselines.bench._episode_tasks import quick_tasks, statements, write_tasks
from birdenv_baselines.bench._measure import Bar, Effort, Figure, Line, Skip, measured, middle_half
from birdenv_baselines.bench._setting import Setting
from birdenv_baselines.bench._table import machine, print_table

__all__ = ["lines"]

COMMIT: Final = "4bd8155"
"""The last one before games became rules under one dialogue."""

_ROUNDS: Final = 31
_TIMES: Final = 3  # all episodes in one round
_CLARIFY, _EXECUTE, _SUBMIT = range(3)
_WHOLE: Final = ("explore", "submit")
_PARTS: Final = {
    "what containment costs: steps that read": ("explore",),
    "what containment costs: episodes that write": ("explore", "write", "submit"),
    "what containment costs: scoring": ("submit",),
}
"""Of episodes, for what the ways out that were closed since that commit cost, and everything else besides."""


def lines(setting: Setting, commit: str = COMMIT) -> list[Line]:
    against, bar = f"commit {commit}, CPU", Bar("at least", 0.97)
    return [
        Line(
            "whole episodes (bird), no SQL twice",
            against,
            partial(_bird, setting, commit),
            bar,
            (setting.sizes[0].db_id,),
        ),
        Line("whole episodes (c-interact), no SQL twice", against, partial(_c_interact, commit), bar),
        *(
            Line(name, against, partial(_bird, setting, commit, parts), None, (setting.sizes[0].db_id,))
            for name, parts in _PARTS.items()
        ),
    ]


def _bird(setting: Setting, commit: str, parts: Sequence[str] = _WHOLE) -> Figure:
    """Each round has tasks of its own, so that no gold query comes twice."""
    tasks = quick_tasks(setting.sizes[0]) * _TIMES
    numbers = range((_ROUNDS + 1) * len(tasks))
    numbered = [
        replace(tasks[n % len(tasks)], gold=f"{tasks[n % len(tasks)].gold} /* gold {n} */") for n in numbers
    ]
    settings = {"data_file": str(write_tasks(numbered, setting.scratch)), "db_dir": str(setting.folder)}
    episodes = []
    for place, task in enumerate(tasks):
        *explored, submitted = (f"{sql} /* # */" for sql in statements(task))
        actions = {
            "explore": [[_EXECUTE, sql] for sql in explored],
            "write": [
                [_EXECUTE, "CREATE TABLE found (id)"],
                [_EXECUTE, "SELECT count(*) FROM found /* # */"],
            ],
            "submit": [[_SUBMIT, submitted]],
        }
        episodes.append([place, [action for part in parts for action in actions[part]]])
    job = {
        "id": "birdenv/BirdSql-v0",
        "settings": settings,
        "episodes": episodes,
        "tasks_a_round": len(tasks),
    }
    return _compare(commit, job)


def _c_interact(commit: str) -> Figure:
    """The demo's tasks that only read: a question, and two submissions of which none is right."""
    with make_game("c-interact") as arena:
        names = [name for name in arena.ids if "_M_" not in name]
    actions = [[_CLARIFY, "What do you mean by that?"], [_SUBMIT, "SELECT # + 1"], [_SUBMIT, "SELECT # + 2"]]
    episodes = [[place, actions] for place in range(len(names))]
    settings = {"instances": names}
    job = {
        "id": "birdenv/CInteract-v0",
        "settings": settings,
        "episodes": episodes * _TIMES,
        "tasks_a_round": 0,
    }
    return _compare(commit, job)


def _compare(commit: str, job: dict[str, Any]) -> Figure:
    here = Path(birdenv.__file__).resolve().parents[1]
    times: list[list[float]] = [[], []]
    with ExitStack() as stack:
        there = stack.enter_context(checked_out(here, commit))
        children = [stack.enter_context(_child(root, job)) for root in (here, there)]
        for number in range(_ROUNDS + 1):
            found = [None, None]
            for which in (0, 1) if number % 2 else (1, 0):
                found[which] = _round(children[which])
            (mine, earned), (theirs, earned_there) = found
            if earned != earned_there:
                raise RuntimeError(f"the episodes earned {earned} here and {earned_there} in {commit}")
            if number:  # the first one was cold
                times[0].append(mine)
                times[1].append(theirs)
    ours, old = (median(each) / len(job["episodes"]) for each in times)
    ratios = [old / new for new, old in zip(*times, strict=True)]
    low, high = middle_half(ratios)
    return Figure(
        median(ratios),
        "x",
        ours,
        old,
        note=f"of {_ROUNDS} rounds the middle one, the middle half: {low:.2f} to {high:.2f} x",
    )


@contextmanager
def checked_out(repository: Path, commit: str) -> Iterator[Path]:
    """Check a commit out beside the repository, for as long as it is needed.

    Raises:
        Skip: there is no such repository or commit here.
    """
    with tempfile.TemporaryDirectory(prefix="birdenv-commit-") as scratch:
        folder = Path(scratch).resolve() / "tree"
        _git(repository, "worktree", "add", "--detach", str(folder), commit)
        try:
            yield folder
        finally:
            with suppress(Skip):
                _git(repository, "worktree", "remove", "--force", str(folder))


def _git(repository: Path, *arguments: str) -> None:
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise Skip(f"git cannot be run: {error}") from None
    if done.returncode:
        raise Skip(f"git {' '.join(arguments[:2])}: {done.stderr.strip().splitlines()[-1]}")


@contextmanager
def _child(root: Path, job: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    script = Path(_episodes_probe.__file__)
    command = [sys.executable, "-W", "ignore", str(script), json.dumps(job | {"root": str(root)})]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "PYTHONSAFEPATH": "1"},
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def _round(child: subprocess.Popen[str]) -> Sequence[float]:
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    line = child.stdout.readline()
    if not line:
        raise RuntimeError("a process that played episodes ended")
    seconds: Sequence[float] = json.loads(line)
    return seconds


def main(commit: str = COMMIT) -> None:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    build(folder, SIZES[0])
    with tempfile.TemporaryDirectory(prefix="birdenv-bench-") as scratch:
        setting = Setting(folder, SIZES[:1], Path(scratch), Effort())
        outcomes = [measured("commit", line) for line in lines(setting, commit)]
    print_table(outcomes, machine())


if __name__ == "__main__":
    main(*sys.argv[1:2])
