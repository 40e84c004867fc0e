"""The turns of recorded dialogues: what each seat saw when it moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from birdenv.dialogue._dialogue import Dialogue
from birdenv.dialogue._move import Move, View
from birdenv.dialogue.arena import Arena, make_game
from birdenv.dialogue.cocoa import ExampleRecord, write_scenarios
from birdenv.dialogue.games import Game
from birdenv.errors import InputError

_MOST_EVENTS: Final = 1000


class Turn(NamedTuple):
    """A move, and what its seat saw before."""

    view: View
    move: Move


class Transcripts:
    """Recorded dialogues of a game, to be gone through as their seats saw them.

    Attributes:
        arena: the game on the scenarios of the dialogues; its ids are in the order of `examples`.
    """

    def __init__(self, game: Game, examples: Sequence[ExampleRecord]) -> None:
        """Load the scenarios of the dialogues.

        Raises:
            InputError: the game has no scenarios, a dialogue has none, or it is of another game.
        """
        if "scenarios" not in game.settings.model_fields:
            raise InputError(f"{game.name} has no scenarios: players cannot be trained for it")
        scenarios = []
        for place, example in enumerate(examples):
            if example.scenario is None:
                raise InputError(
                    f"the dialogue {example.uuid!r} has no scenario, only the id {example.scenario_uuid!r}: "
                    "name the file of scenarios with --scenarios"
                )
            scenarios.append(example.scenario.model_copy(update={"uuid": f"{example.uuid} ({place})"}))
        self._examples = examples
        self._scenarios = scenarios
        with TemporaryDirectory() as folder:
            path = Path(folder) / "scenarios.json"
            write_scenarios(path, scenarios)
            limits = {"max_events": _MOST_EVENTS, "cross_talk": True}
            try:
                self.arena: Arena = make_game(game, scenarios=str(path), **limits)
            except InputError as error:
                why = str(error).removeprefix(f"{path}: ")
                raise InputError(f"these are no dialogues of {game.name}: {why}") from None

    @contextmanager
    def dialogue(self, place: int) -> Iterator[Dialogue]:
        """Start one dialogue anew, and close it at the end."""
        dialogue = self.arena.start(self.arena.ids[place])
        try:
            yield dialogue
        finally:
            dialogue.close()

    def turns(self, place: int) -> list[Turn]:
        """Return the turns of one dialogue. Moves that are not possible are left out.

        Where the game gives the seats' knowledge other places than the file (a seller who stands first), the
        seats change places, too.
        """
        found: list[Turn] = []
        seats = self.arena.game.seats
        with self.dialogue(place) as dialogue:
            first, second = self._scenarios[place].kbs
            is_turned = first != second and dialogue.rules.knowledge(0) == second
            for event in (record.event() for record in self._examples[place].events):
                seat = 1 - event.agent if is_turned else event.agent
                if seat not in dialogue.open or event.action not in seats[seat].by_name:
                    continue
                view, move = dialogue.view(seat), Move(event.action, event.data)
                fault = seats[seat].by_name[move.action].fault(move.data, view.choices)
                if move.action in view.legal and fault is None:
                    found.append(Turn(view, move))
                    dialogue.apply(seat, move)
        return found

    def __iter__(self) -> Iterator[list[Turn]]:
        return map(self.turns, range(len(self._examples)))

    def __len__(self) -> int:
        return len(self._examples)
