"""Seating agents that are not ours: in a child process that holds public data only.

The agent's module is imported in the child only. One child serves one worker thread of the run: it receives
public tasks and the system's views, and returns moves, and at the end what the episode took; the private
halves stay in the parent. What comes back is JSON and never unpickled, so that a child cannot run code in the
parent. A child that dies or raises costs the episode it played.
"""

from __future__ import annotations

import json
import multiprocessing
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.errors import BirdenvError, InputError, describe_error
from birdenv.runs._agents import Agent, AnyPublicTask, Setting, find_agent
from birdenv.runs._usage import Usage, usage_of
from birdenv.tasks import SystemView

MAX_REPLY = 16 * 2**20
"""Bytes of one reply of a child; a longer one ends the child."""


class AgentCrashError(BirdenvError):
    """The agent raised or its process died; the message says which."""


class AgentProcess:
    """An `Agent` whose sessions run in child processes, one child a thread.

    The first child is started at once, so that an agent that cannot be made is an `InputError` before
    anything is played. This keeps private tasks out of the agent's process; it is no sandbox: the child runs
    as the same user and can open the same files.
    """

    sees_private = False

    def __init__(self, spec: str, setting: Setting) -> None:
        self._spec = spec
        self._setting = setting
        self._local = threading.local()
        self._ready: queue.SimpleQueue[_Child] = queue.SimpleQueue()
        self._ready.put(_Child(spec, setting))

    def new_session(self, task: AnyPublicTask, rng: Random, private: Any = None) -> Session:
        child: _Child | None = getattr(self._local, "child", None)
        if child is None or not child.alive:
            child = self._local.child = self._start()
        child.ask("new", task, rng)
        return _RemoteSession(child)

    def _start(self) -> _Child:
        try:
            return self._ready.get_nowait()
        except queue.Empty:
            return _Child(self._spec, self._setting)


class _RemoteSession:
    def __init__(self, child: _Child) -> None:
        self._child = child

    def move(self, view: SystemView) -> Move:
        action, data = self._child.ask("move", view)
        return Move(action, data)

    def usage(self) -> Usage | None:
        found: Usage | None = self._child.ask("usage")
        return found


class _Child:
    """One agent process. Requests are numbered; a reply out of step ends the process."""

    def __init__(self, spec: str, setting: Setting) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, child_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(child_end, spec, setting), daemon=True)
        with _no_interrupts():
            self._process.start()
        self._requests = 0
        child_end.close()
        try:
            self.ask("make")
        except AgentCrashError as error:
            self._end()
            raise InputError(f"agent {spec!r} cannot be made: {error}") from None

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def ask(self, kind: str, *values: Any) -> Any:
        """The child's answer to one request; raises `AgentCrashError`, or `InputError` of its making."""
        self._requests += 1
        try:
            self._connection.send((self._requests, kind, *values))
            reply = self._connection.recv_bytes(MAX_REPLY)
        except (EOFError, OSError):
            self._end()
            raise AgentCrashError(f"the agent's process died (exit code {self._process.exitcode})") from None
        answer = decode(reply, self._requests, kind)
        if answer is None:
            self._end()
            raise AgentCrashError("the agent's process sent something else than was asked for")
        status, value = answer
        if status == "unusable":
            self._end()
            raise InputError(value)
        if status == "error":
            raise AgentCrashError(value)
        return value

    def _end(self) -> None:
        self._process.kill()
        self._process.join(1)
        self._connection.close()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """A process started in here never sees Ctrl-C: it ends when the parent lets go of it."""
    resource_tracker.ensure_running()  # the first call would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def decode(reply: bytes, number: int, kind: str) -> tuple[str, Any] | None:
    """The child's reply to request `number`, taken apart without trusting it; None if it is no such reply."""
    try:
        match json.loads(reply):
            case [int() as n, "move", [str() as action, str() | None as data]] if kind == "move":
                return ("move", (action, data)) if n == number else None
            case [int() as n, "usage", None] if kind == "usage":
                return ("usage", None) if n == number else None
            case [int() as n, "usage", dict() as known] if kind == "usage":
                return ("usage", Usage(**known)) if n == number else None
            case [int() as n, "done", ""] if kind in ("make", "new"):
                return ("done", "") if n == number else None
            case [int() as n, "error" | "unusable" as status, str() as text]:
                return (status, text) if n == number else None
    except (ValueError, TypeError, RecursionError):
        pass
    return None


def _serve(connection: Connection, spec: str, setting: Setting) -> None:
    """The child's loop, until the parent closes the pipe. What the agent prints goes to standard error."""
    sys.stdout = sys.stderr
    sys.path.insert(0, str(Path.cwd()))
    state = _Seat(spec, setting)
    while True:
        try:
            number, kind, *values = connection.recv()
            status, value = state.answer(kind, values)
            connection.send_bytes(json.dumps([number, status, value]).encode())
        except (EOFError, BrokenPipeError):
            return


class _Seat:
    """The agent and its current session, in the child."""

    def __init__(self, spec: str, setting: Setting) -> None:
        self._spec = spec
        self._setting = setting
        self._agent: Agent | None = None
        self._session: Session | None = None

    def answer(self, kind: str, values: list[Any]) -> tuple[str, Any]:
        try:
            if self._agent is None:
                factory, argument = find_agent(self._spec)
                self._agent = factory(argument, self._setting)
            if kind == "new":
                self._session = self._agent.new_session(*values)
            elif kind == "move" and self._session is not None:
                return "move", _checked(self._session.move(values[0]))
            elif kind == "usage" and self._session is not None:
                found = usage_of(self._session)
                return "usage", None if found is None else found.to_json()
        except InputError as error:
            return "unusable", str(error)
        except Exception as error:
            return "error", describe_error(error)
        return "done", ""


def _checked(move: Move) -> list[Any]:
    """Tell the agent's author what is wrong where the agent runs."""
    if not isinstance(move, Move):
        raise TypeError(f"the agent returned {type(move).__name__}, expected a birdenv.dialogue.Move")
    if not isinstance(move.action, str) or not isinstance(move.data, str | None):
        raise TypeError("a Move needs an action's name and its text")
    return [move.action, move.data]
