"""How the time of some work grows with its input, for what must be linear whoever wrote the input."""

from __future__ import annotations

import time
from collections.abc import Callable

LINEAR = 32
"""Eight times the text takes about 8 times as long if the work is linear, 64 times if it is quadratic."""


def growth(work: Callable[[str], object], text: Callable[[int], str], n: int) -> float:
    """How many times longer eight times the text takes, in processor time; the best of four each."""

    def seconds(size: int) -> float:
        made, best = text(size), float("inf")
        for _ in range(4):
            began = time.process_time()
            work(made)
            best = min(best, time.process_time() - began)
        return best

    return seconds(8 * n) / seconds(n)
