"""Replay recorded dialogues, and return each move with the view that the seat had before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from birdenv.cocoa.files import ExampleRecord, Scenario, write_scenarios
from birdenv.dialogue.arena import Arena, make_game
from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.games import Game
from birdenv.dialogue.move import Move, View
from birdenv.errors import InputError

_LIMITS: Final[Mapping[str, Any]] = {"max_events": 1000, "cross_talk": True}
"""Settings under which recorded moves are legal at any point of a dialogue."""


class SeenMove(NamedTuple):
    """A move, and the view that the moving seat had before it."""

    view: View
    move: Move


class Transcripts:
    """Recorded dialogues from one game. Iterating over them yields the list of turns in each dialogue.

    In CoCoA's games, each recorded dialogue contains its scenario. In other games, the task is looked up by
    id, and the recorded SQL is re-run.

    Attributes:
        game: the game.
        examples: the recorded dialogues.
        arena: the arena in which the dialogues are replayed.
        ids: the task id in `arena` for each dialogue.
    """

    def __init__(
        self, game: Game, examples: Sequence[ExampleRecord], settings: Mapping[str, Any] | None = None
    ) -> None:
        """Load the tasks of the dialogues.

        Args:
            game: the game.
            examples: the dialogues.
            settings: the settings of the game, if the dialogues do not contain their tasks.

        Raises:
            InputError: a dialogue has no scenario, belongs to a different game, or has a task that is not in
                the game.
        """
        self.game = game
        self.examples = examples
        self._scenarios: Sequence[Scenario] = ()
        if "scenarios" in game.settings.model_fields:
            self._scenarios = [_own_scenario(place, example) for place, example in enumerate(examples)]
            self.arena = _with_scenarios(game, self._scenarios)
            self.ids = self.arena.ids
            return
        self.arena = make_game(game, **(settings or {}))
        self.ids = tuple(example.scenario_uuid for example in examples)
        for example in examples:
            if example.scenario_uuid not in self.arena.ids:
                self.arena.close()
                raise InputError(
                    f"the dialogue {example.uuid!r} is about the task {example.scenario_uuid!r}, but "
                    f"{game.name} has no such task: pass the settings of the dialogue's run or study"
                )

    def __enter__(self) -> Transcripts:
        return self

    def __exit__(self, *exc: object) -> None:
        self.arena.close()

    @contextmanager
    def dialogue(self, place: int) -> Iterator[Dialogue]:
        """Start a new dialogue on the same task as the recorded dialogue at index `place`.

        This is a context manager that closes the new dialogue on exit.
        """
        with closing(self.arena.start(self.ids[place])) as dialogue:
            dialogue.rules.replaying = True
            yield dialogue

    def turns(self, place: int) -> list[SeenMove]:
        """Replay the recorded dialogue at index `place`, and return its legal moves with their views.

        If the file orders the seats differently from the game, for example with the seller first, the seats
        of the moves are swapped.
        """
        found: list[SeenMove] = []
        seats = self.arena.game.seats
        with self.dialogue(place) as dialogue:
            is_turned = self.is_turned(place, dialogue)
            for event in (record.event() for record in self.examples[place].events):
                seat = 1 - event.agent if is_turned else event.agent
                if seat not in dialogue.open or event.action not in seats[seat].by_name:
                    continue
                view, move = dialogue.view(seat), Move(event.action, event.data)
                fault = seats[seat].by_name[move.action].fault(move.data, view.choices)
                if move.action in view.legal and fault is None:
                    found.append(SeenMove(view, move))
                    dialogue.apply(seat, move)
        return found

    def __iter__(self) -> Iterator[list[SeenMove]]:
        return map(self.turns, range(len(self.examples)))

    def __len__(self) -> int:
        return len(self.examples)

    def is_turned(self, place: int, dialogue: Dialogue) -> bool:
        """Return True if the file and the game order the two seats differently.

        Args:
            place: the index of the recorded dialogue.
            dialogue: a replay of the recorded dialogue.
        """
        if not self._scenarios:
            return False
        first, second = self._scenarios[place].kbs
        return bool(first != second and dialogue.rules.knowledge(0) == second)


def _own_scenario(place: int, example: ExampleRecord) -> Scenario:
    """Return the scenario of a dialogue, with an id that no other dialogue has."""
    if example.scenario is None:
        raise InputError(
            f"the dialogue {example.uuid!r} has no scenario, only the id {example.scenario_uuid!r}: "
            "specify the scenario file with --scenarios"
        )
    return example.scenario.model_copy(update={"uuid": f"{example.uuid} ({place})"})


def _with_scenarios(game: Game, scenarios: Sequence[Scenario]) -> Arena:
    known = game.settings.model_fields
    limits = {name: value for name, value in _LIMITS.items() if name in known}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scenarios.json"
        write_scenarios(path, scenarios)
        try:
            return make_game(game, scenarios=str(path), **limits)
        except InputError as error:
            why = str(error).removeprefix(f"{path}: ")
            raise InputError(f"the dialogues do not belong to {game.name}: {why}") from None
