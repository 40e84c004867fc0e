"""The child process that runs other packages' players, with a thread and a connection for each episode."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from birdenv.dialogue import PlayerContext, View
from birdenv.dialogue.players import PlayerSpec, close_players
from birdenv.dialogue.usage import usage_of
from birdenv.errors import InputError, describe_error
from birdenv.processes.child import Owner


def main(owner: Owner) -> None:
    """Serve the parent process until it closes the connection. Players' output goes to standard error."""
    sys.stdout = sys.stderr
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    players = _Players()
    owner.serve_once(players.set_up)
    while (episode := owner.accept()) is not None:
        threading.Thread(target=_play, args=(episode, players), daemon=True).start()


def _play(owner: Owner, players: _Players) -> None:
    seat = _Seat(players)
    owner.serve(seat.answer)
    seat.close()


class _Players:
    """The player factory, and the context that all players in this process share."""

    def set_up(self, spec: PlayerSpec, tasks: tuple[Any, ...], options: dict[str, str]) -> list[Any]:
        self._tasks, self._options = tasks, options

        def load() -> None:
            self._factory, self._argument = cast("tuple[Any, str]", spec.load())

        return _outcome(load)

    def make(self, context: PlayerContext) -> Any:
        return self._factory(self._argument, replace(context, tasks=self._tasks, options=self._options))


class _Seat:
    """The player of one episode."""

    def __init__(self, players: _Players) -> None:
        self._players = players
        self._player: Any = None
        self._heard: list[Any] = []

    def answer(self, kind: str, *values: Any) -> list[Any]:
        return _outcome(lambda: getattr(self, f"_{kind}")(*values))

    def close(self) -> None:
        close_players([self._player])

    def _new(self, context: PlayerContext) -> None:
        self._player = self._players.make(context)

    def _move(self, view: View, news: tuple[Any, ...]) -> list[Any]:
        from birdenv.dialogue.move import as_move

        self._heard.extend(news)
        move = as_move(self._player.move(view._replace(heard=tuple(self._heard))))
        return [None if move is None else [move.action, move.data, move.trace], self._spent()]

    def _usage(self) -> Any:
        found = usage_of(self._player)
        return None if found is None else found.to_json()

    def _spent(self) -> Any:
        """Return the player's usage so far, or None if the player fails to report it."""
        try:
            return self._usage()
        except Exception:
            return None


def _outcome(work: Callable[[], Any]) -> list[Any]:
    """Call a function, and return its result as JSON, or the error that it raised."""
    try:
        return ["done", json.loads(json.dumps(work()))]
    except InputError:
        raise
    except BaseException as error:  # even SystemExit, after which this thread could not answer
        return ["error", describe_error(error)]
