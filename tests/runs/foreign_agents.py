"""Agents that are not birdenv's own, as a user would write them: factories of players."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from birdenv.dialogue import Move, PlayerContext, Usage, View


class First:
    """Submits the first reading; `sees_private` is asked for and must not be granted."""

    sees_private = True

    def __init__(self, argument: str, context: PlayerContext) -> None:
        assert context.brief is None
        self.context = context

    def move(self, view: View) -> Move:
        return Move("submit_sql", view.candidates[0])


class Player:
    """Made without arguments; fails when it is made."""

    def __init__(self) -> None:
        raise RuntimeError("no model")


class Snoop(First):
    """Copies the writable memory of its process to the file named by SNOOP_FILE, then plays."""

    def __init__(self, argument: str, context: PlayerContext) -> None:
        super().__init__(argument, context)
        if context.scenario.index == 2:
            _dump_memory(Path(os.environ["SNOOP_FILE"]))


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

    def __init__(self, argument: str, context: PlayerContext) -> None:
        super().__init__(argument, context)
        if context.scenario.index == 1:
            raise RuntimeError("no idea")

    def move(self, view: View) -> Move:
        if self.context.scenario.index == 2:
            os._exit(9)
        return super().move(view)


class Slow(First):
    def __init__(self, argument: str, context: PlayerContext) -> None:
        super().__init__(argument, context)
        time.sleep(0.15)


class Odd(First):
    """Returns things that are no moves, or none that this game knows."""

    def move(self, view: View) -> Any:
        things = ["SELECT 1", Move("submit_sql", object()), Move(1, "x"), None, Move("submit_sql")]
        return things[self.context.scenario.index]


class Chatty(First):
    def __init__(self, argument: str, context: PlayerContext) -> None:
        super().__init__(argument, context)
        if not sys.stdout.closed:  # by itself, in an earlier episode of this process
            print("thinking aloud")
        os.write(1, b"and past sys.stdout")
        subprocess.run(["echo", "and from a child"], check=True)
        sys.stdout.close()


class Noting(First):
    """Appends process and task to the file named by NOTES, and is slow."""

    def __init__(self, argument: str, context: PlayerContext) -> None:
        super().__init__(argument, context)
        with Path(os.environ["NOTES"]).open("a") as notes:
            notes.write(f"{os.getpid()} {context.instance_id}\n")

    def move(self, view: View) -> Move:
        time.sleep(0.3)
        return super().move(view)


class Refusing(Noting):
    """Can be made for the first task only."""

    def __init__(self, argument: str, context: PlayerContext) -> None:
        super().__init__(argument, context)
        if context.scenario.index != 0:
            raise RuntimeError("not this one")

    def move(self, view: View) -> Move:
        return First.move(self, view)


class Neighbour(First):
    """Looks first, one question at a time with a pause; the player of task 2 ends the process meanwhile.

    How it ends is the argument: `exit`, `raise`, `hang`, or a reply that nobody asked for; or not, `quiet`.
    Each move is a call of a model.
    """

    calls = 0

    def usage(self) -> Usage:
        return Usage(calls=self.calls)

    def __init__(self, argument: str, context: PlayerContext) -> None:
        super().__init__(argument, context)
        self.argument = argument

    def move(self, view: View) -> Move:
        self.calls += 1
        looks = sum(event.agent == view.seat for event in view.heard)
        if looks < 3:
            time.sleep(0.05)
            return Move("clarify", f"What do you mean, {looks}?")
        if self.context.scenario.index == 2:
            time.sleep(0.02)
            end_of(self.argument)
        return super().move(view)


def end_of(how: str) -> None:
    """End this process, or answer in a way that ends it."""
    if how == "quiet":
        return
    if how == "exit":
        os._exit(9)
    if how == "hang":
        time.sleep(60)
    if how == "raise":
        sys.exit("I have had enough")
    from birdenv.processes.messages import send

    replies = {
        "nonsense": b"\x80\x04N.",
        "unasked": b'\x00["done", {"dict": [["calls", 1]]}]',
        "wrong kind": b'\x00["done", null]',
        "long": b'\x00["done", ["submit_sql", "' + b"x" * (17 * 2**20) + b'", null]]',
    }
    with contextlib.suppress(OSError):
        send(_connection(), replies[how])
    time.sleep(30)  # for its owner to end it


def _connection() -> Any:
    """The socket of this episode to the owner, as hostile code would find it."""
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "_connection"):
        assert frame.f_back is not None
        frame = frame.f_back
    return frame.f_locals["self"]._connection


class Background(First):
    """Ends the process from a thread, when the episode of one task is over."""

    def close(self) -> None:
        if self.context.scenario.index == 1:
            os._exit(9)
