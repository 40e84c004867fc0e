"""How the time of some work grows with its input, for what must be linear whoever wrote the input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

LINEAR = 2.5**3
"""Twice the text may take 2.5 times as long, so eight times the text 15.6 times; quadratic work takes 64."""

HOSTILE = [
    *"' \" ` [ ] ( ) ; $ + - @ < \\ \n x 1".split(" "),
    *"'' \"\" -- /* */ /**/ /*/ $$ $a$ $a e' E'\\ x' U&' *+ +- =+ <> 1. 1_ .. ::".split(),
    *"age( age(( age(x, now strftime( strftime(' date( round( ROUND(a, </s> <s> ``` ORDER_BY".split(),
    "/* age ",
    "-- age\n",
    "\n \n",
    "distinct ",
    "SELECT ",
    "CASE BEGIN ",
    "CREATE TRIGGER ",
]
"""Pieces of SQL that repeated, alone or with space between, take a careless pass over the text long."""


FEW, MANY = 200, 2_000
"""Repetitions: for a quick look, and in a test that is marked slow."""


def slow_pieces(work: Callable[[str], object], n: int, pieces: Sequence[str] = HOSTILE) -> list[str]:
    """The hostile texts of `n` to `8 * n` pieces for which some work grows faster than the text."""
    shapes: list[Callable[[int], str]] = []
    for piece in pieces:
        shapes += [
            lambda size, piece=piece: "SELECT 1 " + piece * size,  # type: ignore[misc]
            lambda size, piece=piece: f"SELECT 1 /* age {piece} " + f"{piece} " * size,  # type: ignore[misc]
        ]
    return [shape(1) for shape in shapes if _is_slow(work, shape, n)]


def _is_slow(work: Callable[[str], object], shape: Callable[[int], str], n: int) -> bool:
    """One quick look first: most are so quick that nothing about them could be quadratic."""
    made = shape(8 * n)
    began = time.process_time()
    work(made)
    if time.process_time() - began < _QUICK_SECONDS * len(made):
        return False
    return growth(work, shape, n) > LINEAR


_QUICK_SECONDS = 1.5e-6  # a character; reading three thousand characters thirty thousand times takes more


def growth(work: Callable[[str], object], text: Callable[[int], str], n: int) -> float:
    """How many times longer eight times the text takes, in processor time; the best of twelve pairs.

    Short and long are measured in turn, so that a slow stretch of the machine slows both. Only what seems
    to take too long is worked through again. Python's garbage collector rests meanwhile: when it runs
    depends on all that came before.
    """

    def seconds(made: str) -> float:
        began = time.process_time()
        work(made)
        return time.process_time() - began

    was_on = gc.isenabled()
    gc.disable()
    try:
        short, long = text(n), text(8 * n)
        shortest, ratio = float("inf"), float("inf")
        for _ in range(12):
            shortest = min(shortest, seconds(short))
            ratio = min(ratio, seconds(long) / shortest)
            if ratio <= LINEAR:
                break
        return ratio
    finally:
        if was_on:
            gc.enable()
