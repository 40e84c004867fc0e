"""Seating agents that are not ours: in a child process that holds public data only.

One child serves one worker thread of the run. It receives public tasks and the system's views, and returns
moves; the private halves stay in the parent. A child that dies or raises costs the episode it played.
"""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing.connection import Connection
from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.runs._agents import Agent, AnyPublicTask, Setting, find_agent
from birdenv.tasks import SystemView

__all__ = ["AgentCrashError", "AgentProcess"]


class AgentCrashError(Exception):
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
        answer = self._child.ask(("move", view))
        if not isinstance(answer, Move):
            raise AgentCrashError(
                f"the agent returned {type(answer).__name__}, expected a birdenv.dialogue.Move"
            )
        return answer


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
            kind, value = self._connection.recv()
        except (EOFError, OSError):
            self._process.join(1)
            self._process.kill()
            raise AgentCrashError(f"the agent's process died (exit code {self._process.exitcode})") from None
        if kind == "error":
            raise AgentCrashError(value)
        return value


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
            result = session.move(request[1]) if request[0] == "move" and session is not None else None
            connection.send(("value", result))
        except KeyboardInterrupt:
            return
        except Exception as error:
            connection.send(("error", f"{type(error).__name__}: {error}"))
