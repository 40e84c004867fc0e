"""Which tasks an environment plays, and starting an episode of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from birdenv.databases import DatabaseSource
from birdenv.dialogue import Controller
from birdenv.errors import InputError

__all__ = ["EpisodeController", "Episodes", "Selection"]

_NAMES_SHOWN = 8
_OPTIONS = ("instance_id", "index")


class EpisodeController(Controller, Protocol):
    """A controller of one of our games."""

    def outcome(self) -> dict[str, Any]:
        """The public result."""

    def break_off(self) -> None:
        """End the episode, truncated as `infra_error`."""

    def close(self) -> None:
        """Let go of the episode's database."""


class PublicTask(Protocol):
    @property
    def instance_id(self) -> str: ...

    @property
    def database(self) -> str: ...


class Task(Protocol):
    @property
    def public(self) -> PublicTask: ...


class Episodes:
    """The tasks that an environment draws from, and `start`, which makes the controller of one of them.

    They are played on `source`, which `close` closes.
    """

    def __init__(
        self, tasks: Sequence[Task], start: Callable[[Any], EpisodeController], source: DatabaseSource
    ) -> None:
        self.tasks = tuple(tasks)
        self.start = start
        self.close = source.close
        self.instance_ids = tuple(task.public.instance_id for task in self.tasks)

    def pick(self, rng: np.random.Generator, options: Mapping[str, Any] | None) -> Any:
        """The task that `options` name by `instance_id` or `index`, or one drawn with `rng`.

        Raises `InputError` for another option, both at once, an unknown id, an index out of range.
        """
        chosen = {name: value for name, value in (options or {}).items() if value is not None}
        unknown = [name for name in chosen if name not in _OPTIONS]
        if unknown:
            raise InputError(f"unknown reset option {unknown[0]!r}; known options: {', '.join(_OPTIONS)}")
        if len(chosen) > 1:
            raise InputError("give the reset option instance_id or index, not both")
        if "instance_id" in chosen:
            return self.tasks[self._position(chosen["instance_id"])]
        if "index" in chosen:
            return self.tasks[self._checked_index(chosen["index"])]
        return self.tasks[int(rng.integers(len(self.tasks)))]

    def _position(self, instance_id: Any) -> int:
        try:
            return self.instance_ids.index(instance_id)
        except ValueError:
            known = _listed(self.instance_ids)
            raise InputError(f"no task {instance_id!r}; this environment has {known}") from None

    def _checked_index(self, index: Any) -> int:
        whole = isinstance(index, (int, np.integer)) and not isinstance(index, bool)
        if not whole or not 0 <= index < len(self.tasks):
            raise InputError(f"no task at index {index!r}; this environment has 0 to {len(self.tasks) - 1}")
        return int(index)


class Selection:
    """The filters `instances` and `databases`; None lets everything through."""

    def __init__(self, instances: Iterable[str] | None, databases: Iterable[str] | None) -> None:
        self._wanted = {
            "instance": _names("instances", instances),
            "database": _names("databases", databases),
        }
        self._seen: dict[str, dict[str, None]] = {"instance": {}, "database": {}}
        self._taken = 0

    def takes(self, instance_id: str, database: str) -> bool:
        """Whether this task is wanted; remembers what was there, for `check`."""
        names = {"instance": instance_id, "database": database}
        takes = True
        for field, name in names.items():
            self._seen[field][name] = None
            wanted = self._wanted[field]
            takes = takes and (wanted is None or name in wanted)
        self._taken += takes
        return takes

    def check(self) -> None:
        """Raise `InputError` if a wanted name never came, or if nothing was taken."""
        for field, wanted in self._wanted.items():
            missing = [name for name in wanted or () if name not in self._seen[field]]
            if missing:
                raise InputError(
                    f"no {field} {missing[0]!r} in the task file; it has {_listed(self._seen[field])}"
                )
        if not self._taken:
            raise InputError(
                "no task is left: the instances asked for do not belong to the databases asked for"
            )


def _names(field: str, names: Iterable[str] | None) -> tuple[str, ...] | None:
    if isinstance(names, str):
        raise InputError(f"{field} must be a list of names, got the text {names!r}")
    return None if names is None else tuple(names)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
