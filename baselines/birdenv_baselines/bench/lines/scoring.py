"""Time the EX scoring of 13 systems' predictions for BIRD mini-dev, against the official script."""

from __future__ import annotations

from typing import Final

from birdenv.databases import SqliteSource
from birdenv.grading import Pair, score_pairs
from birdenv_baselines.bench._measure import Contender, Figure, Line, Setting, in_rounds, times_as_fast
from birdenv_baselines.bench._mini_dev import official_script, read_mini_dev, two_processes

__all__ = ["lines"]

_SOME: Final = 40


def lines(quick: bool) -> list[Line]:
    """Return the line about scoring; `quick` scores only a few predictions."""
    return [Line("EX of 13 systems' answers to BIRD mini-dev", "official script, two processes", _scores)]


def _scores(setting: Setting) -> Figure:
    """Return the ratio of the times. Raise `RuntimeError` if a verdict differs from the official one."""
    mini_dev = read_mini_dev()
    tasks = mini_dev.answers[:_SOME] if setting.quick else mini_dev.answers
    pairs = [Pair(task.db_id, (task.gold,), task.prediction) for task in tasks]
    with two_processes() as pool:

        def ours() -> list[bool]:
            source = SqliteSource(mini_dev.folder)
            return [verdict.ex_bird for verdict in score_pairs(pairs, source, workers=2)]

        def theirs() -> list[bool]:
            return official_script(mini_dev.folder, tasks, pool)

        times = in_rounds([Contender(ours), Contender(theirs)], setting.rounds)
        different = sum(a != b for a, b in zip(ours(), theirs(), strict=True))
    if different:
        raise RuntimeError(f"{different} of {len(tasks)} verdicts differ from those of the official script")
    note = f"{len(tasks):,} answers on the databases superhero and financial, every verdict equal"
    return times_as_fast(*times, each=len(tasks), note=note)
