"""Run players that are not part of birdenv in child processes, which receive only public data.

The player's module is imported only in the child. The parent sends contexts and views, and the child answers
in JSON, so the child cannot run code in the parent. Up to 16 episodes share a child, each with a separate
thread and connection. Repeats of the same task never share a child.

If a child dies, each of its episodes continues in a new, unshared child. An episode fails only if the new
child also dies.

This is not a sandbox: the child runs as the same user and can open the same files.
"""

from __future__ import annotations

import math
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from birdenv.dialogue import Move, PlayerContext, Usage, View
from birdenv.dialogue.players import PlayerSpec
from birdenv.errors import BirdenvError, InputError
from birdenv.processes.process import ChildProcess, Death, SideChannel

MAX_REPLY: Final = 16 * 2**20
"""Maximum size of a reply in bytes; a longer reply ends the child."""

MOST_SESSIONS: Final = 16
"""Maximum number of episodes that share a child."""


class PlayerCrashError(BirdenvError):
    """Raised if a player raises an exception, or if a player's process dies."""


class MoveTimeoutError(PlayerCrashError):
    """Raised if a player does not move in time, after the player's process has been ended."""


class _ChildDiedError(Exception):
    """Raised if a child process has died, by an episode that may not have been the cause."""


class PlayerProcesses:
    """A pool of child processes that run one player. Calling the pool starts the player for an episode.

    Args:
        spec: the spec of the player.
        move_timeout: the time limit for a move in seconds; None for no limit.
    """

    def __init__(self, spec: PlayerSpec, move_timeout: float | None = None) -> None:
        self._spec = spec
        self.move_timeout = move_timeout
        self._children: list[_Child] = []
        self._lock = threading.Lock()

    def __call__(self, argument: str, context: PlayerContext) -> ForeignPlayer:
        """Start the player for one episode in a child process.

        Raises:
            InputError: the player cannot be imported or made.
            PlayerCrashError: the player's process crashed.
        """
        return ForeignPlayer(self, context)

    def lease(self, context: PlayerContext, *, alone: bool = False) -> _Child:
        """Return a child process with room for an episode. If `alone` is true, the process is not shared."""
        with self._lock:
            self._children = [child for child in self._children if child.is_alive]
            for child in () if alone else self._children:
                if len(child.tasks) < MOST_SESSIONS and context.instance_id not in child.tasks:
                    child.tasks.append(context.instance_id)
                    return child
            child = _Child(self._spec, context)
            child.tasks.append(context.instance_id)
            if not alone:
                self._children.append(child)
            return child

    def release(self, child: _Child, context: PlayerContext) -> None:
        """Free an episode's place in a child process, and end the process if it is not shared."""
        with self._lock:
            child.tasks.remove(context.instance_id)
            if not child.tasks and child not in self._children:
                child.close()

    def close(self) -> None:
        """End all child processes."""
        with self._lock:
            children, self._children = self._children, []
        for child in children:
            child.close()


class ForeignPlayer:
    """A player that forwards each view to a child process and returns the move that the child sends back."""

    def __init__(self, processes: PlayerProcesses, context: PlayerContext) -> None:
        self._processes = processes
        self._context = replace(context, tasks=(), models=None)
        self._whole_context = context
        self._child: _Child | None = None
        self._channel: SideChannel | None = None
        self._alone = False
        self._sent = 0
        self._spent = Usage()  # in earlier children
        self._latest: Usage | None = None  # in this child, as of the last move
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def move(self, view: View) -> Move | None:
        """Return the move of the player in the child process.

        Raises:
            MoveTimeoutError: the player did not move in time.
            PlayerCrashError: the player raised an exception, or the player's process died.
        """
        assert self._child is not None
        if self._child.is_alive:
            try:
                return self._ask_move(view)
            except _ChildDiedError as error:
                if self._alone:
                    raise PlayerCrashError(str(error)) from None
        try:  # an episode that shared the child ended it: ask again in a child of its own
            self._enter(alone=True)
            return self._ask_move(view)
        except _ChildDiedError as error:
            raise PlayerCrashError(str(error)) from None

    def usage(self) -> Usage | None:
        """Return the player's model usage in this episode, or None if the player reports no usage.

        If a child process has died, its usage is known only up to the last move.
        """
        if self._child is not None and self._child.is_alive:
            with suppress(_ChildDiedError, MoveTimeoutError):
                self._note(self._ask("usage", timeout=self._processes.move_timeout))
        if self._latest is None and self._spent == Usage():
            return None
        return self._spent + (self._latest or Usage())

    def close(self) -> None:
        """End the episode in the child process and free its place there."""
        child, self._child = self._child, None
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if child is not None:
            self._processes.release(child, self._context)

    def _begin(self) -> None:
        with suppress(_ChildDiedError):
            self._enter(alone=False)
            return
        try:
            self._enter(alone=True)
        except _ChildDiedError as error:
            raise PlayerCrashError(str(error)) from None

    def _enter(self, *, alone: bool) -> None:
        if self._child is not None:
            self.close()
            self._spent, self._latest = self._spent + (self._latest or Usage()), None
        self._child = self._processes.lease(self._whole_context, alone=alone)
        self._alone = alone
        self._sent = 0
        self._channel = self._child.open_channel()
        self._ask("new", self._context)

    def _ask_move(self, view: View) -> Move | None:
        news = tuple(view.heard[self._sent :])
        self._sent = len(view.heard)
        shown = view._replace(heard=())
        made, used = self._ask("move", shown, news, timeout=self._processes.move_timeout)
        self._note(used)
        return None if made is None else Move(made[0], made[1], made[2])

    def _ask(self, kind: str, *values: Any, timeout: float | None = None) -> Any:
        """Return the child's answer to a request.

        Raises:
            MoveTimeoutError: the child did not answer within `timeout` seconds, and was ended.
            PlayerCrashError: the player raised an exception.
            _ChildDiedError: the child has died.
        """
        assert self._channel is not None
        found = self._channel.call(
            (kind, *values),
            seconds=math.inf if timeout is None else timeout,
            most_bytes=MAX_REPLY,
            read=partial(read_reply, kind),
        )
        if isinstance(found, Death):
            if found.was_late and timeout is not None:
                raise MoveTimeoutError(f"the agent did not move within {timeout:g} seconds")
            raise _ChildDiedError(_how(found))
        status, value = found
        if status == "error":
            raise PlayerCrashError(value)
        return value

    def _note(self, used: dict[str, Any] | None) -> None:
        if used is not None:
            self._latest = Usage(**used)


class _Child:
    """A child process, with the task ids of the episodes in it."""

    def __init__(self, spec: PlayerSpec, context: PlayerContext) -> None:
        self.tasks: list[str] = []
        self._process = ChildProcess("birdenv.dialogue.players._child", sees="everything")
        self._opening = threading.Lock()
        request = (spec, tuple(context.tasks), dict(context.options))
        found = self._process.call(request, most_bytes=MAX_REPLY, read=partial(read_reply, "setup"))
        if isinstance(found, Death):
            raise InputError(f"agent {spec.spec!r} cannot be created: {_how(found)}")
        if found[0] == "error":
            self.close()
            raise InputError(f"agent {spec.spec!r} cannot be created: {found[1]}")

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive

    def open_channel(self) -> SideChannel:
        """Open the connection of an episode. Raises `_ChildDiedError` if the child has died."""
        with self._opening:
            try:
                return self._process.open_channel()
            except OSError:
                raise _ChildDiedError(_how(self._process.end())) from None

    def close(self) -> None:
        self._process.kill()


def _how(death: Death) -> str:
    if death.exit_code is not None:
        return f"the player's process died (exit code {death.exit_code})"
    return f"the player's process was ended: {death.reason}"


def read_reply(kind: str, value: Any) -> tuple[str, Any]:
    """Return the status and the value of a reply from an untrusted child process.

    Args:
        kind: the kind of request that the child has answered: `setup`, `new`, `move` or `usage`.
        value: the reply, decoded from JSON.

    Raises:
        ValueError: the value is not a valid reply to this kind of request.
    """
    match value:
        case ["error", str() as error]:
            return "error", error
        case ["done", None] if kind in ("setup", "new", "usage"):
            return "done", None
        case ["done", [None | [str(), _, _], used]] if kind == "move" and (used is None or _is_usage(used)):
            return "done", value[1]
        case ["done", dict() as used] if kind == "usage" and _is_usage(used):
            return "done", used
    raise ValueError("the reply does not belong to the request")


def _is_usage(value: Any) -> bool:
    try:
        Usage(**value)
    except (TypeError, ValueError):
        return False
    return True
