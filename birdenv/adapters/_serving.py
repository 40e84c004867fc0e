"""Command-line parsing and bookkeeping of open episodes for adapters that run as servers."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from birdenv.dialogue import Arena, Episode, make_game
from birdenv.errors import InputError


def read_command_line(module: str, about: str, port: int | None = None) -> argparse.Namespace:
    """Parse a server's command line, and return a namespace with `arena`, `task`, `port` and `record`.

    If the game, a setting or the task does not exist, the program ends with an error message.

    Args:
        module: the name of the adapter's module, for the help text.
        about: a description of the module, for the help text.
        port: the default port; None if the server does not use a port by default.
    """
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m {module}", description=about, formatter_class=form)
    parser.add_argument("game", help="c-interact, a-interact, bird or another game with one evaluated seat")
    settings = "a setting for the game; the value is JSON or text"
    parser.add_argument("settings", nargs="*", type=_setting, metavar="NAME=VALUE", help=settings)
    parser.add_argument("--task", help="the task for clients that do not name one (default: the first)")
    parser.add_argument(
        "--port",
        type=int,
        default=port,
        help=f"serve over HTTP on this port (default: {port or 'use stdio'})",
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="append the record of each episode to this file"
    )
    given = parser.parse_args()
    try:
        given.arena = make_game(given.game, **dict(given.settings))
        if given.task is not None:
            given.arena.prompt(given.task)
    except InputError as error:
        parser.error(str(error))
    return given


def _setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def end_episode(episode: Episode, record: Path | None, agent: str) -> None:
    """End an episode, and append its record to a file as a JSON line for `birdenv.runs.write_run`.

    No record is written if a move is still in progress.

    Args:
        episode: the episode.
        record: the path of the file; None to write no record.
        agent: the name of the client's policy in the record.
    """
    with suppress(InputError):
        episode.stop("left")
        if record is not None:
            line = json.dumps(episode.record(agent), ensure_ascii=False)
            with record.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
    episode.close()


class Episodes:
    """A server's open episodes. Each client chooses a name for its episode.

    Args:
        arena: the arena of the game.
        task: the task for clients that do not name one; by default, the first task.
        record: the file to append the episode records to; None for no records.
        most: the maximum number of episodes that can be open at the same time.
        idle: the number of seconds that an episode can be idle before it may be closed.
    """

    def __init__(
        self,
        arena: Arena,
        task: str | None = None,
        record: Path | None = None,
        most: int = 256,
        idle: float = 3600.0,
    ) -> None:
        self.arena = arena
        self._task, self._record, self._most, self._idle = task or arena.ids[0], record, most, idle
        self._open: dict[str, tuple[Episode, float]] = {}

    def find(self, headers: Mapping[str, str]) -> Episode:
        """Return the episode named in the headers of a request, starting it if it is not open.

        Raises:
            InputError: there is no such task, or too many episodes are open.
        """
        handle, now = headers.get("birdenv-episode", ""), time.monotonic()
        for idle in [other for other, (_, used) in self._open.items() if now - used > self._idle]:
            self._end(idle)
        if handle not in self._open and len(self._open) >= self._most:
            raise InputError(f"{self._most} episodes are already open: end one of them, or wait")
        found = self._open.get(handle)
        episode = found[0] if found else self.arena.episode(headers.get("birdenv-task", self._task))
        self._open[handle] = (episode, now)
        return episode

    def close(self) -> None:
        """End all episodes, and write their records."""
        for handle in list(self._open):
            self._end(handle)

    def _end(self, handle: str) -> None:
        end_episode(self._open.pop(handle)[0], self._record, "mcp")
