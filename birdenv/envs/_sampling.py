"""Draw the task for an episode at random, with equal or different probabilities."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import isfinite
from typing import Any, Final

import numpy as np

from birdenv.dialogue import Arena
from birdenv.dialogue.arena import listed
from birdenv.errors import InputError

_WEIGHED: Final = ("instance_id", "database", "difficulty")

RESET_OPTIONS: Final = (*_WEIGHED, "index")
"""The reset options that select the task of an episode."""


class Sampler:
    """Draws random tasks from an arena.

    Args:
        arena: the arena with the tasks.
        sampling: the tasks that may be drawn, and their weights (see `DialogueEnv.sample_tasks`).

    Raises:
        InputError: a name or a weight cannot be used, or no task is left to draw.
    """

    def __init__(self, arena: Arena, sampling: Mapping[str, Any] | None = None) -> None:
        self._arena = arena
        self._known: dict[str, Sequence[Any]] = {"instance_id": arena.ids}
        self._usual = _given(sampling)
        if "index" in self._usual:
            raise InputError(
                "sampling accepts instance_id, database and difficulty; index is only a reset option"
            )
        self._ids, self._sums = self._choice(self._usual)

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any] | None = None) -> str:
        """Return the id of a random task. Without `options`, the class argument `sampling` applies.

        Args:
            rng: the random generator.
            options: the reset options that select tasks: the keys of `sampling`, or `index`.

        Raises:
            InputError: an option or a task is unknown, or `index` is out of range.
        """
        ids, sums = self._ids, self._sums
        if given := _given(options):
            ids, sums = self._choice(given)
        if len(ids) == 1 and given:
            return ids[0]
        if not sums:
            return ids[int(rng.integers(len(ids)))]
        return ids[bisect_right(sums, rng.random() * sums[-1], hi=len(ids) - 1)]

    def _choice(self, given: Mapping[str, Any]) -> tuple[Sequence[str], Sequence[float]]:
        """Return the tasks that may be drawn and, if their weights differ, the cumulative weights."""
        ids = self._arena.ids
        if "index" in given:
            return (self._at(given),), ()
        if isinstance(name := given.get("instance_id"), str) and len(given) == 1:
            self._check("instance_id", [name])
            return (name,), ()
        weights = [1.0] * len(ids)
        for field, wanted in given.items():
            by_name = self._weights(field, wanted)
            weights = [w * by_name.get(n, 0.0) for w, n in zip(weights, self._names(field), strict=True)]
        left = [(name, weight) for name, weight in zip(ids, weights, strict=True) if weight]
        if not left:
            raise InputError(f"no task can be drawn with {', '.join(f'{k}={v!r}' for k, v in given.items())}")
        even = len({weight for _, weight in left}) == 1
        return [name for name, _ in left], [] if even else list(accumulate(weight for _, weight in left))

    def _weights(self, field: str, wanted: Any) -> dict[str, float]:
        if not isinstance(wanted, list | tuple | set | frozenset | Mapping):
            wanted = [wanted]
        self._check(field, wanted)
        by_name = dict(wanted) if isinstance(wanted, Mapping) else dict.fromkeys(wanted, 1.0)
        for name, weight in by_name.items():
            number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
            if not number or not isfinite(weight) or weight < 0:
                raise InputError(
                    f"the weight of {field} {name!r} must be a number, 0 or more, got {weight!r}"
                )
        return {name: float(weight) for name, weight in by_name.items()}

    def _check(self, field: str, names: Any) -> None:
        known = set(self._names(field))
        for name in names:
            if not isinstance(name, str) or name not in known:
                what = "task" if field == "instance_id" else field
                have = listed(list(dict.fromkeys(self._names(field))))
                raise InputError(f"there is no {what} {name!r}; this environment has {have}")

    def _names(self, field: str) -> Sequence[Any]:
        """Return the value of a field for each task, in the order of the tasks."""
        if field not in self._known:
            public = [self._arena._tasks.public(name) for name in self._arena.ids]
            if not all(hasattr(task, field) for task in public):
                raise InputError(
                    f"the tasks of {self._arena.game.name} have no {field}: leave this option out"
                )
            self._known[field] = [getattr(task, field) for task in public]
        return self._known[field]

    def _at(self, given: Mapping[str, Any]) -> str:
        index, ids = given["index"], self._arena.ids
        if len(given) > 1:
            other = next(name for name in given if name != "index")
            raise InputError(f"specify either {other} or index as a reset option, not both")
        return ids[checked_index(index, len(ids))]


def checked_index(index: Any, count: int) -> int:
    """Return `index` as an int if it is an index into a sequence of `count` tasks.

    Raises:
        InputError: the index is not a whole number, or is out of range.
    """
    is_whole = isinstance(index, int | np.integer) and not isinstance(index, bool)
    if not is_whole or not 0 <= index < count:
        raise InputError(f"there is no task with the index {index!r}: use 0 to {count - 1}")
    return int(index)


def _given(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options that are not None."""
    unknown = [name for name in options or {} if name not in RESET_OPTIONS]
    if unknown:
        raise InputError(f"unknown reset option {unknown[0]!r}; known options: {', '.join(RESET_OPTIONS)}")
    return {name: value for name, value in (options or {}).items() if value is not None}
