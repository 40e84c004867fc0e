"""Create a run's players. Players that do not ship with birdenv run in child processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from birdenv.dialogue import Arena, Dialogue, Player
from birdenv.dialogue.arena import player_factory
from birdenv.dialogue.players import AGENTS, USERS, PlayerSpec, SeatError, close_players, refuse_async
from birdenv.errors import InfrastructureError, InputError
from birdenv.llm import Models
from birdenv.runs._player_process import PlayerCrashError, PlayerProcesses


class Seating:
    """A factory that creates the players for each episode of a run.

    A player specified as a string runs in this process, which holds private tasks, only if the player ships
    with birdenv. The private half of a task is passed only to a player in the evaluated seat that sets
    `sees_private`.
    """

    def __init__(
        self,
        arena: Arena,
        players: Mapping[int, Any],
        options: Mapping[str, str] | None = None,
        models: Models | None = None,
        move_timeout: float | None = None,
    ) -> None:
        refuse_async(players.values())
        self._arena = arena
        self._move_timeout = move_timeout
        self._options = dict(options or {})
        self._models = models
        self._factories: dict[int, tuple[Any, str]] = {}
        self._processes: list[PlayerProcesses] = []
        for seat, player in players.items():
            self._factories[seat] = self._factory(seat, player)
        self._try()

    @property
    def sees_private(self) -> bool:
        """True if the player in the evaluated seat receives the private half of each task."""
        found = self._factories.get(self._arena.game.evaluated)
        return found is not None and bool(getattr(found[0], "sees_private", False))

    def players(
        self, dialogue: Dialogue, instance_id: str, *, seed: int, repeat: int = 0
    ) -> Sequence[Player | None]:
        """Create the players for an episode: a player for each seat, or None for an empty seat.

        Raises:
            SeatError: a player cannot be created.
            InfrastructureError: a server that a player needs was lost.
        """
        arena = self._arena
        made: list[Player | None] = []
        try:
            for seat in range(len(arena.game.seats)):
                found = self._factories.get(seat)
                if found is None:
                    made.append(None)
                    continue
                factory, argument = found
                context = arena.context(
                    dialogue,
                    instance_id,
                    seat,
                    seed=seed,
                    repeat=repeat,
                    options=self._options,
                    models=self._models,
                )
                if seat == arena.game.evaluated and self.sees_private:
                    context = replace(context, brief=arena._tasks.private(instance_id))
                try:
                    made.append(factory(argument, context))
                except InfrastructureError:
                    raise
                except Exception as error:
                    raise SeatError(seat, error) from error
        except BaseException:
            close_players(made)
            raise
        return made

    def close(self) -> None:
        """End the child processes that players run in."""
        for processes in self._processes:
            processes.close()

    def _factory(self, seat: int, player: Any) -> tuple[Any, str]:
        group = AGENTS if seat == self._arena.game.evaluated else USERS
        if not isinstance(player, str):
            return player_factory(player, group)
        spec = PlayerSpec(player, group, self._arena.game.name)
        spec.check()
        if spec.is_ours:
            return spec.load()
        processes = PlayerProcesses(spec, self._move_timeout)
        self._processes.append(processes)
        return processes, ""

    def _try(self) -> None:
        """Make the players once, so that an error in making them is raised before anything is played."""
        arena = self._arena
        names = [name for name in arena.ids if not self.sees_private or arena._tasks.is_graded(name)]
        if not names:
            return
        try:
            dialogue = arena.start(names[0])
        except Exception:
            return  # a broken task costs only its own episode
        try:
            close_players(self.players(dialogue, names[0], seed=0))
        except SeatError as error:
            self.close()
            if isinstance(error.cause, PlayerCrashError):
                raise InputError(f"the player cannot be created: {error}") from None
            raise error.cause from None
        except BaseException:
            self.close()
            raise
        finally:
            dialogue.close()
