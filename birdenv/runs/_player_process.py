"""Players that are not ours, in child processes that hold public data only.

The player's module is imported in the child only. A child is shared by up to 16 episodes, each with a thread
in it. It gets contexts and views; its answers are JSON and never unpickled, so that a child cannot run code
in the parent. If a child dies, its episodes go on in children of their own, from what they have heard: the
one that ends that one, too, fails alone. Repeats of one task never share a child. This is no sandbox: the
child runs as the same user and can open the same files.

A move may take `move_timeout` seconds; the number of the commands, 3600, is that of `--move-timeout`
(`cli/options/_option_groups.py`).
"""

from __future__ import annotations

import json
import pickle
import threading
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Final

from birdenv.dialogue import Move, PlayerContext, Usage, View
from birdenv.dialogue.players import PlayerSpec
from birdenv.errors import BirdenvError, InputError
from birdenv.processes._messages import MessageError, receive
from birdenv.processes._process import Process, WorkerCrashError

MAX_REPLY: Final = 16 * 2**20
"""Bytes of one reply of a child; a longer one ends the child."""

MOST_SESSIONS: Final = 16
"""Episodes that share a child."""


class PlayerCrashError(BirdenvError):
    """The player raised or its process died; the message says which."""


class MoveTimeoutError(PlayerCrashError):
    """The player did not move in time; its process was ended."""


class _ChildDiedError(Exception):
    """The child is gone; which of its episodes ended it is not known."""


class PlayerProcesses:
    """Makes players of one spec, seated in child processes.

    Args:
        spec: the players' spec.
        move_timeout: seconds that one move may take; None for any time.
    """

    def __init__(self, spec: PlayerSpec, move_timeout: float | None = None) -> None:
        self._spec = spec
        self.move_timeout = move_timeout
        self._children: list[_Child] = []
        self._lock = threading.Lock()

    def __call__(self, argument: str, context: PlayerContext) -> ForeignPlayer:
        """Make the player of an episode.

        Raises:
            InputError: the player cannot be imported or made.
            PlayerCrashError: its process died.
        """
        return ForeignPlayer(self, context)

    def lease(self, context: PlayerContext, *, alone: bool = False) -> _Child:
        """Return a child with room for an episode; one of its own if it is to be `alone`."""
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
        """Give an episode's room back."""
        with self._lock:
            child.tasks.remove(context.instance_id)
            if not child.tasks and child not in self._children:
                child.close()

    def close(self) -> None:
        """End all children."""
        with self._lock:
            children, self._children = self._children, []
        for child in children:
            child.close()


class ForeignPlayer:
    """A player in a child process; `move` is answered there."""

    def __init__(self, processes: PlayerProcesses, context: PlayerContext) -> None:
        self._processes = processes
        self._context = replace(context, tasks=(), models=None)
        self._whole_context = context
        self._child: _Child | None = None
        self._alone = False
        self._session = 0
        self._sent = 0
        self._spent = Usage()  # in children that are gone
        self._latest: Usage | None = None  # in the child, as of the last move
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def move(self, view: View) -> Move | None:
        """Ask the child for a move.

        Raises:
            MoveTimeoutError: it took longer than a move may take.
            PlayerCrashError: the player raised, or ended its process.
        """
        assert self._child is not None
        if self._child.is_alive:
            try:
                return self._ask_move(view)
            except _ChildDiedError as error:
                if self._alone:
                    raise PlayerCrashError(str(error)) from None
        try:  # one of those who shared the child ended it: each is asked again in a child of its own
            self._enter(alone=True)
            return self._ask_move(view)
        except _ChildDiedError as error:
            raise PlayerCrashError(str(error)) from None

    def usage(self) -> Usage | None:
        """Return what the episode took, also in children that are gone: as of the last move there."""
        if self._child is not None and self._child.is_alive:
            with suppress(_ChildDiedError, MoveTimeoutError):
                self._note(self._child.ask("usage", self._session, timeout=self._processes.move_timeout))
        if self._latest is None and self._spent == Usage():
            return None
        return self._spent + (self._latest or Usage())

    def close(self) -> None:
        """Leave the child."""
        child, self._child = self._child, None
        if child is not None:
            if child.is_alive:
                child.tell("close", self._session)
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
            self._processes.release(self._child, self._context)
            self._child = None
            self._spent, self._latest = self._spent + (self._latest or Usage()), None
        self._child = self._processes.lease(self._whole_context, alone=alone)
        self._alone = alone
        self._session = self._child.new_session()
        self._sent = 0
        self._child.ask("new", self._session, self._context)

    def _ask_move(self, view: View) -> Move | None:
        assert self._child is not None
        news = tuple(view.heard[self._sent :])
        self._sent = len(view.heard)
        limit, shown = self._processes.move_timeout, view._replace(heard=())
        made, used = self._child.ask("move", self._session, shown, news, timeout=limit)
        self._note(used)
        return None if made is None else Move(made[0], made[1], made[2])

    def _note(self, used: dict[str, Any] | None) -> None:
        if used is not None:
            self._latest = Usage(**used)


class _Child:
    """One process. Requests are numbered; a reply that nobody waits for ends the process."""

    def __init__(self, spec: PlayerSpec, context: PlayerContext) -> None:
        self.tasks: list[str] = []
        self._process = Process("birdenv.dialogue.players._child", sees="everything")
        self._lock = threading.Lock()
        self._ending = threading.Lock()
        self._numbers = 0
        self._sessions = 0
        self._waiting: dict[int, tuple[str, SimpleQueue[Any]]] = {}
        self._dead: str | None = None
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self.ask("setup", 0, spec, tuple(context.tasks), dict(context.options))
        except _ChildDiedError as error:
            raise InputError(f"agent {spec.spec!r} cannot be made: {error}") from None
        except PlayerCrashError as error:
            self.close()
            raise InputError(f"agent {spec.spec!r} cannot be made: {error}") from None

    @property
    def is_alive(self) -> bool:
        return self._dead is None

    def new_session(self) -> int:
        with self._lock:
            self._sessions += 1
            return self._sessions

    def tell(self, kind: str, session: int) -> None:
        """Send a request without waiting for its answer."""
        with self._lock:
            if self._dead is None:
                self._send(0, kind, session)

    def ask(self, kind: str, session: int, *values: Any, timeout: float | None = None) -> Any:
        """Return the child's answer to one request.

        Raises:
            MoveTimeoutError: it did not answer within `timeout` seconds; the child was ended.
            PlayerCrashError: the player raised.
            InputError: the player says that something it was given cannot be used.
        """
        answer: SimpleQueue[Any] = SimpleQueue()
        with self._lock:
            if self._dead is not None:
                raise _ChildDiedError(self._dead)
            self._numbers += 1
            self._waiting[self._numbers] = kind, answer
            self._send(self._numbers, kind, session, *values)
        try:
            status, value = answer.get(timeout=timeout)
        except Empty:
            self.close()
            raise MoveTimeoutError(f"the agent did not move within {timeout:g} seconds") from None
        if status == "died":
            raise _ChildDiedError(value)
        if status == "unusable":
            raise InputError(value)
        if status == "error":
            raise PlayerCrashError(value)
        return value

    def close(self) -> None:
        self._dead = self._dead or "the agent's process was ended"
        with self._ending:
            self._process.kill()

    def _send(self, *request: Any) -> None:
        with suppress(WorkerCrashError):  # the reader finds it dead, and tells everybody
            self._process.send(pickle.dumps(request))

    def _read(self) -> None:
        """Pass answers on until the process is gone."""
        fault = ""
        while not fault:
            try:
                data = receive(self._process.connection, MAX_REPLY)
            except MessageError:
                fault = "the agent's process sent a reply that is too long"
                break
            except (EOFError, OSError):
                with self._ending:
                    code = self._process.crash().exit_code
                fault = f"the agent's process died (exit code {code})"
                break
            found = read_reply(data)
            waiting = self._waiting.pop(found[0], None) if found is not None else None
            if found is None or waiting is None or not fits(waiting[0], found[1], found[2]):
                fault = "the agent's process sent something else than was asked for"
                if waiting is not None:
                    waiting[1].put(("died", fault))
            else:
                waiting[1].put(found[1:])
        with self._ending:
            self._process.kill()
        with self._lock:
            self._dead = self._dead or fault
            left, self._waiting = self._waiting, {}
        for _, answer in left.values():
            answer.put(("died", fault))


def read_reply(data: bytes) -> tuple[int, str, Any] | None:
    """Return number, status and value of a reply, taken apart without trusting it; None if it is none."""
    try:
        match json.loads(data):
            case [int() as number, str() as status, value]:
                return number, status, value
    except (ValueError, RecursionError):
        pass
    return None


def fits(kind: str, status: str, value: Any) -> bool:
    """Return whether a reply is one to a request of this kind."""
    if status in ("error", "unusable"):
        return isinstance(value, str)
    if status != kind:
        return False
    match value:
        case None:
            return kind in ("setup", "new", "usage")
        case [None | [str(), _, _], used]:
            return kind == "move" and (used is None or _is_usage(used))
        case dict():
            return kind == "usage" and _is_usage(value)
    return False


def _is_usage(value: Any) -> bool:
    try:
        Usage(**value)
    except (TypeError, ValueError):
        return False
    return True
