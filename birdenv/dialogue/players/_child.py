"""The child process of players that are not ours: a thread for each episode, one move at a time."""

from __future__ import annotations

import json
import os
import pickle
import socket
import sys
import threading
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from birdenv.dialogue import PlayerContext, View
from birdenv.dialogue.players import PlayerSpec
from birdenv.dialogue.usage import usage_of
from birdenv.errors import InputError, describe_error
from birdenv.processes._messages import receive, send


def main(connection: socket.socket) -> None:
    """Serve until the parent closes the socket. What players print goes to standard error."""
    sys.stdout = sys.stderr
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    _Server(connection).run()


class _Server:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._sessions: dict[int, SimpleQueue[Any]] = {}
        self._made: tuple[Any, str] | None = None
        self._tasks: tuple[Any, ...] = ()
        self._options: dict[str, str] = {}

    def run(self) -> None:
        while True:
            try:
                number, kind, session, *values = pickle.loads(receive(self._connection))
            except (EOFError, OSError):
                return
            if kind == "setup":
                self._answer(number, kind, lambda values=values: self._set_up(*values))
                continue
            requests = self._sessions.get(session)
            if requests is None:
                requests = self._sessions[session] = SimpleQueue()
                threading.Thread(target=self._play, args=(requests,), daemon=True).start()
            requests.put((number, kind, values))
            if kind == "close":
                del self._sessions[session]

    def _set_up(self, spec: PlayerSpec, tasks: tuple[Any, ...], options: dict[str, str]) -> None:
        self._tasks, self._options = tasks, options
        self._made = spec.load()

    def _play(self, requests: SimpleQueue[Any]) -> None:
        """One episode."""
        player: Any = None
        heard: list[Any] = []
        while True:
            number, kind, values = requests.get()
            if kind == "close":
                close = getattr(player, "close", None)
                if callable(close):
                    close()
                return
            if kind == "new":

                def make(context: PlayerContext = values[0]) -> None:
                    nonlocal player
                    assert self._made is not None
                    factory, argument = self._made
                    whole = replace(context, tasks=self._tasks, options=self._options)
                    player = factory(argument, whole)

                self._answer(number, kind, make)
            elif kind == "move":
                view, news = values
                heard.extend(news)
                whole_view = view._replace(heard=tuple(heard))
                self._answer(number, kind, lambda view=whole_view: [_move(player, view), _spent(player)])
            else:
                self._answer(number, kind, lambda: _usage(player))

    def _answer(self, number: int, kind: str, work: Any) -> None:
        try:
            status, value = kind, work()
            reply = json.dumps([number, status, value])
        except InputError as error:
            reply = json.dumps([number, "unusable", str(error)])
        except BaseException as error:  # sys.exit() too: it would end this thread, and nobody would answer
            reply = json.dumps([number, "error", describe_error(error)])
        with self._sending:
            send(self._connection, reply.encode())


def _move(player: Any, view: View) -> list[Any] | None:
    from birdenv.dialogue._move import as_move

    move = as_move(player.move(view))
    return None if move is None else [move.action, move.data, move.trace]


def _spent(player: Any) -> Any:
    """The usage so far, beside a move; what is wrong with it is told when the episode is over."""
    try:
        return _usage(player)
    except Exception:
        return None


def _usage(player: Any) -> Any:
    found = usage_of(player)
    return None if found is None else found.to_json()
