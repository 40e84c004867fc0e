"""Seating agents that are not ours: in a child process that holds public data only.

One child serves one worker thread of the run. It receives public tasks and the system's views, and returns
moves; the private halves stay in the parent. What comes back is JSON and never unpickled, so that a child
cannot run code in the parent. A child that dies or raises costs the episode it played.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
from multiprocessing.connection import Connection
from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.errors import BirdenvError, describe_error
from birdenv.runs._agents import Agent, AnyPublicTask, Setting, find_agent
from birdenv.tasks import SystemView

__all__ = ["AgentCrashError", "AgentProcess"]

MAX_REPLY = 16 * 2**20
"""Bytes of one reply of a child; a longer one ends the child."""


class AgentCrashError(BirdenvError):
    """The agent raised or its process died; the message says which."""


class AgentProcess:
    """An `Agent` whose sessions run in child processes, one child a thread."""

    sees_private = False

    def __init__(self, spec: str, setting: Setting) -> None:
        self._spec = spec
        self._setting = setting
        self._local = threading.local()

    def new_session(self, task: AnyPublicTask, rng: Random, private: Any = None) -> Session:
        child: _Child | None = getattr(self._local, "child", None)
        if child is None or not child.alive:
            child = self._local.child = _Child(self._spec, self._setting)
        child.ask(("new", task, rng))
        return _RemoteSession(child)


class _RemoteSession:
    def __init__(self, child: _Child) -> None:
        self._child = child

    def move(self, view: SystemView) -> Move:
        action, data = self._child.ask(("move", view))
        return Move(action, data)


class _Child:
    def __init__(self, spec: str, setting: Setting) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, spec, setting), daemon=True)
        self._process.start()
        theirs.close()
        self.ask(("ready",))

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def ask(self, request: tuple[Any, ...]) -> Any:
        try:
            self._connection.send(request)
            kind, value = _decoded(self._connection.recv_bytes(MAX_REPLY))
        except (EOFError, OSError):
            self._process.join(1)
            self._process.kill()
            raise AgentCrashError(f"the agent's process died (exit code {self._process.exitcode})") from None
        if kind == "error":
            raise AgentCrashError(value)
        return value


def _decoded(reply: bytes) -> tuple[str, Any]:
    """The child's reply, taken apart without trusting it."""
    try:
        match json.loads(reply):
            case ["move", [str() as action, str() | None as data]]:
                return "move", (action, data)
            case ["done" | "error" as kind, str() as text]:
                return kind, text
    except (ValueError, RecursionError):
        pass
    raise AgentCrashError("the agent's process sent something else than a move")


def _serve(connection: Connection, spec: str, setting: Setting) -> None:
    """The child's loop; ends when the parent closes the pipe."""
    agent: Agent | None = None
    session: Session | None = None
    while True:
        try:
            request = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            if agent is None:
                factory, argument = find_agent(spec)
                agent = factory(argument, setting)
            if request[0] == "new":
                session = agent.new_session(request[1], request[2])
            reply: list[Any] = ["done", ""]
            if request[0] == "move" and session is not None:
                reply = ["move", _checked(session.move(request[1]))]
        except KeyboardInterrupt:
            return
        except Exception as error:
            reply = ["error", describe_error(error)]
        connection.send_bytes(json.dumps(reply).encode())


def _checked(move: Move) -> list[Any]:
    """Tell the agent's author what is wrong where the agent runs."""
    if not isinstance(move, Move):
        raise TypeError(f"the agent returned {type(move).__name__}, expected a birdenv.dialogue.Move")
    if not isinstance(move.action, str) or not isinstance(move.data, str | None):
        raise TypeError("a Move needs an action's name and its text")
    return [move.action, move.data]
