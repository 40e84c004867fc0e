"""Agents that are not birdenv's own, as a user would write them."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.runs import Setting
from birdenv.tasks import SystemView


class First:
    """Submits the first reading; `sees_private` is asked for and must not be granted."""

    sees_private = True

    def __init__(self, argument: str, setting: Setting) -> None:
        self.setting = setting

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        assert private is None
        return FirstSession()


class FirstSession:
    def move(self, view: SystemView) -> Move:
        return Move("submit_sql", view.candidates[0])


class Snoop(First):
    """Copies the writable memory of its process to the file named by SNOOP_FILE, then plays."""

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        if task.index == 2:
            _dump_memory(Path(os.environ["SNOOP_FILE"]))
        return FirstSession()


def _dump_memory(target: Path) -> None:
    regions = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    with Path("/proc/self/mem").open("rb", buffering=0) as memory, target.open("wb") as file:
        for addresses, permissions, *_ in regions:
            if not permissions.startswith("rw"):
                continue
            start, end = (int(address, 16) for address in addresses.split("-"))
            memory.seek(start)
            with contextlib.suppress(OSError):
                file.write(memory.read(end - start))


class Crashing(First):
    """Raises in one task, kills its own process in another."""

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        if task.index == 1:
            raise RuntimeError("no idea")
        return DyingSession() if task.index == 2 else FirstSession()


class DyingSession:
    def move(self, view: SystemView) -> Move:
        os._exit(9)


class Slow(First):
    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        time.sleep(0.15)
        return FirstSession()


class Odd(First):
    """Returns things that are no moves."""

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return OddSession(
            [None, "SELECT 1", Move("submit_sql", object()), Move(1, "x"), Move("submit_sql")][task.index]
        )


class OddSession:
    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def move(self, view: SystemView) -> Any:
        return self.thing


class Chatty(First):
    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        print("thinking aloud")
        return FirstSession()
