"""Plan a run with its game, players and settings, and record the plan in `config.json`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Final

from birdenv.dialogue import Arena
from birdenv.dialogue.players import AGENTS, USERS, PlayerSpec
from birdenv.errors import InputError
from birdenv.files import code_digest
from birdenv.llm import Models
from birdenv.plugins import load_plugin, plugins
from birdenv.run_settings import MAY_DIFFER, RunSettings
from birdenv.runs._run_folder import RunDirectory
from birdenv.runs.jobs import Engine, Work, contents_of, digest_of_player
from birdenv.runs.seating import Seating
from birdenv.users.identity import user_facts
from birdenv.version import __version__

ENGINES: Final = "birdenv.engines"
"""The group of entry points that names engines."""

FREE: Final = MAY_DIFFER | {"code_sha256", "command", "data_file", "db_dir", "server"}
"""Settings that may differ when a run is resumed. Digests tell whether moved files are still the same."""


def find_engine(name: str) -> EntryPoint:
    """Return the entry point of an engine.

    Raises:
        InputError: there is no engine with this name; the message lists the engines.
    """
    engines = plugins(ENGINES)
    if name not in engines:
        known = ", ".join(sorted(engines)) or "none; is birdenv installed with pip?"
        raise InputError(f"unknown engine {name!r}; known engines: {known}")
    return engines[name]


class OpenRun:
    """The engine and the players of a run. They are opened before anything is written, to fail early.

    Attributes:
        engine: the engine that plays the episodes.
        seating: the object that makes the players; None if the engine plays in other processes.
    """

    def __init__(self, engine: Engine, seating: Seating | None) -> None:
        self.engine = engine
        self.seating = seating

    def close(self) -> None:
        """Close the players and the engine."""
        if self.seating is not None:
            self.seating.close()
        close = getattr(self.engine, "close", None)
        if callable(close):
            close()


@dataclass(frozen=True)
class RunPlan:
    """A run to play: the game, the players and the settings.

    Attributes:
        arena: the game with its settings and tasks.
        players: the player for each seat, keyed by seat index: a spec, a player, or a function that takes a
            view and returns a move.
        settings: the settings of the run.
        extra: additional fields for `config.json`.
        engine: the engine; None to use the engine named in the settings.
    """

    arena: Arena
    players: Mapping[int, Any]
    settings: RunSettings = field(default_factory=RunSettings)
    extra: Mapping[str, Any] = field(default_factory=dict)
    engine: Engine | None = None

    @cached_property
    def models(self) -> Models:
        """Return the language models of the run.

        Raises:
            InputError: a file that the settings name cannot be read.
        """
        return Models(self.settings.models)

    def names(self) -> tuple[str, ...]:
        """Return the name of each seat's player: its spec, or the class name of a player object."""
        found = (self.players.get(seat, "") for seat in range(len(self.arena.game.seats)))
        return tuple(each if isinstance(each, str) else type(each).__name__ for each in found)

    def open(self) -> OpenRun:
        """Open the engine and check that it can use every player.

        Raises:
            InputError: the engine or a player cannot be used.
        """
        engine = self.engine or self._found_engine()
        if getattr(engine, "shares_process", False):
            settings = self.settings
            seating = Seating(self.arena, self.players, settings.options, self.models, settings.move_timeout)
            return OpenRun(engine, seating)
        opened = OpenRun(engine, None)
        try:
            self._check_players_travel()
        except BaseException:
            opened.close()
            raise
        return opened

    def work(self, *, travels: bool) -> Work:
        """Return the part of the plan that the engine passes on to its workers.

        Args:
            travels: True if other processes will play the episodes. The result then contains digests that
                these processes use to check that they have the same data and code.
        """
        settings = self.settings.to_travel() if travels else self.settings
        return Work(
            secrets.token_hex(8),
            self.arena.game.name,
            self.arena.settings.model_dump_json(),
            self.names(),
            settings,
            str(Path.cwd()),
            contents_of(self.arena, self.names(), settings.models) if travels else {},
        )

    def config(self) -> dict[str, Any]:
        """Return the content of `config.json`, which includes all settings that affect the run's records."""
        game, names = self.arena.game, self.names()
        agent = names[game.evaluated]
        others = {seat.name: name for seat, name in zip(game.seats, names, strict=True)}
        others.pop(game.seats[game.evaluated].name)
        return {
            "birdenv": __version__,
            "code_sha256": code_digest(),
            "agent": agent,
            "agent_file_sha256": digest_of_player(agent),
            **self.settings.config(),
            "game": game.name,
            "tasks": list(self.arena.ids),
            **(self.arena._tasks.config() or self.arena.settings.model_dump(mode="json")),
            **others,
            **({"user_facts": self._user_facts(others["user"])} if "user" in others else {}),
            **self.extra,
        }

    def _user_facts(self, user: str) -> dict[str, str]:
        settings = self.arena.settings.model_dump(mode="json")
        return user_facts(user, settings, self.settings.models.config())

    def _found_engine(self) -> Engine:
        settings = self.settings
        entry = find_engine(settings.engine)
        parallel, most = settings.parallel, settings.models.max_concurrency
        if settings.engine != "threads" and most is not None:  # an episode makes one request at a time
            parallel = min(parallel, most)
        engine: Engine = load_plugin(entry)(parallel, settings.address)
        return engine

    def _check_players_travel(self) -> None:
        for seat, player in self.players.items():
            if player is None:
                continue
            if not isinstance(player, str):
                raise InputError(
                    "a player that is an object or a function can play only with the 'threads' engine: pass "
                    "a spec, such as module:factory, to use another engine"
                )
            if player == "human":
                raise InputError("a person can play only with the 'threads' engine: leave out --engine")
            group = AGENTS if seat == self.arena.game.evaluated else USERS
            PlayerSpec(player, group, self.arena.game.name).check()


def prepare(directory: RunDirectory, config: dict[str, Any], *, resume: bool) -> list[str]:
    """Write the `config.json` of a new run, or check that a resumed run still has the same settings.

    Args:
        directory: the run folder.
        config: the result of `RunPlan.config`.
        resume: True if the run is resumed.

    Returns:
        Warnings to show to the user, for example that birdenv's code has changed.

    Raises:
        InputError: a setting that must stay the same has changed; the message names it.
    """
    if not resume:
        directory.write_json("config.json", config)
        return []
    before = directory.read_config()
    if before.get("repeats", 1) != config.get("repeats", 1):
        before, config = ({"repeats": 1} | settings for settings in (before, config))
    if "user_facts" not in before:  # a run of an older version
        config = {key: value for key, value in config.items() if key != "user_facts"}
    changed = [key for key in sorted({*before, *config}) if before.get(key) != config.get(key)]
    fatal = [key for key in changed if key not in FREE]
    if fatal:
        differences = ", ".join(difference(key, before.get(key), config.get(key)) for key in fatal)
        raise InputError(
            f"{directory.path} was run with different settings ({differences}); "
            "resume with the same settings, or start a new run without --resume"
        )
    if before.get("command") != (command := config.get("command")) and command is not None:
        directory.write_json("config.json", before | {"command": command})  # for the next time
    return ["birdenv's code has changed since the run was started"] if "code_sha256" in changed else []


def difference(key: str, before: Any, now: Any) -> str:
    """Describe how the value of a setting has changed between two runs."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        inner = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        return f"{key}: {', '.join(inner)}"
    simple = all(isinstance(value, str | int | float | None) for value in (before, now))
    return f"{key}: {before} then, {now} now" if simple and "sha256" not in key else key
