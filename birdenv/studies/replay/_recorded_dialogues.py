"""Read recorded dialogues, and reconstruct what each seat saw without rerunning SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from birdenv.cocoa.acts import Transcripts
from birdenv.cocoa.corpus import game_of
from birdenv.cocoa.files import ExampleRecord, as_examples, read_examples
from birdenv.dialogue import Arena, Event, make_game, seen_by
from birdenv.dialogue.games import find_game, game_names
from birdenv.errors import BirdenvError, InputError
from birdenv.runs.export import arena_of
from birdenv.runs.summaries import read_run
from birdenv.studies.study._export import is_study
from birdenv.studies.study._shown import line, told
from birdenv.studies.study._store import FILE, Store

EVERYTHING: Final = "everything"
"""The name of the view that contains the whole record."""


class SeatView(NamedTuple):
    """A dialogue as a seat saw it.

    Attributes:
        name: the name of the seat, or `everything` for the whole record.
        told: the information that the seat received before the first move.
        lines: the events that the seat saw; `at` is the position of an event in the log, from 1.
        is_private: True if `told` is private, such as the clear request of a simulated user.
    """

    name: str
    told: dict[str, Any]
    lines: list[dict[str, Any]]
    is_private: bool = False


class ReplayedDialogue(NamedTuple):
    """A finished dialogue from a run, a study or a file.

    Attributes:
        id: an id that is unique among the shown dialogues.
        dialogue: the id of the dialogue in its run, study or file.
        game: the name of the game; empty if it is unknown.
        task: the id of the task.
        players: who sat in each seat: `human`, or a player such as `learned:FILE`.
        status: why the dialogue ended; empty if unknown.
        rewards: the rewards of all seats, or only the evaluated seat's reward; empty if unknown.
        load: a function that returns the events of the dialogue.
        arena: an arena of the game; None if the game can no longer be loaded.
        private: the private record, which contains gold SQL; None if it is missing or was not requested.
        arena_task: the id of the task in the arena, if it differs from `task`.
        began: when the dialogue began, in seconds since 1970; None if unknown.
        ended: when the dialogue ended, in seconds since 1970; None if unknown.
    """

    id: str
    dialogue: str
    game: str
    task: str
    players: tuple[str, ...]
    status: str
    rewards: tuple[float, ...]
    load: Callable[[], Sequence[Event]]
    arena: Arena | None
    private: Mapping[str, Any] | None = None
    arena_task: str = ""
    began: float | None = None
    ended: float | None = None

    @property
    def seats(self) -> tuple[str, ...]:
        """Return the names of the seats."""
        if self.arena is not None:
            return self.arena.game.seat_names
        return tuple(f"agent_{seat}" for seat in range(len(self.players)))

    def view(self, seat: int) -> SeatView:
        """Return the dialogue as a seat saw it: the initial information, and the visible events.

        Raises:
            BirdenvError: the game or the task can no longer be loaded.
        """
        if self.arena is None:
            raise InputError(f"{self.id}: the game cannot be loaded")
        with closing(self.arena.start(self.arena_task or self.task).rules) as rules:
            seen = seen_by(rules, seat, self.load())
            is_private = rules.private_brief(seat) is not None
            knew = told(self.arena.game, rules, seat)
            return SeatView(self.seats[seat], knew, self._lines(seen, seat), is_private)

    def everything(self, seat: int = 0) -> SeatView:
        """Return all events, including those that `seat` did not see. Moves of `seat` are marked as `you`."""
        return SeatView(EVERYTHING, {}, self._lines(enumerate(self.load()), seat))

    def _lines(self, seen: Iterable[tuple[int, Event]], seat: int) -> list[dict[str, Any]]:
        names = dict(enumerate(self.seats))  # the environment and unknown seats have no name
        seats = () if self.arena is None else self.arena.game.seats
        return [
            {"at": place + 1, "seat": names.get(event.agent, ""), **line(event, seat, seats)}
            for place, event in seen
        ]


class Records:
    """The finished dialogues from studies, runs and files, including new dialogues from running studies.

    Args:
        paths: study folders, run folders, or dialogue files such as `transcripts.json`.
        private: True to show private data: the private records of runs, which contain gold SQL, and the
            private knowledge of seats.

    Attributes:
        private: True if private data is shown.
        notes: messages for the user about dialogues that cannot be shown as each seat saw them.

    Raises:
        InputError: a path is not a study folder, a run folder or a dialogue file.
    """

    def __init__(self, paths: Sequence[Path], *, private: bool = False) -> None:
        self.private = private
        self.notes: list[str] = []
        self._stack = ExitStack()
        try:
            self._sources = [self._source(path) for path in paths]
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def all(self) -> list[ReplayedDialogue]:
        """Return the dialogues from all sources, in order. Repeated ids get a suffix such as `#2`."""
        seen: Counter[str] = Counter()
        made = []
        for record in (record for source in self._sources for record in source()):
            seen[record.id] += 1
            again = f"#{seen[record.id]}" if seen[record.id] > 1 else ""
            made.append(record._replace(id=record.id + again, dialogue=record.dialogue + again))
        return made

    def _source(self, path: Path) -> Callable[[], list[ReplayedDialogue]]:
        if is_study(path):
            return self._study(path)
        found = self._run(path) if path.is_dir() else self._file(path)
        return lambda: found

    def _study(self, folder: Path) -> Callable[[], list[ReplayedDialogue]]:
        store = Store(folder / FILE, for_reading=True)
        self._stack.callback(store.close)
        game = store.game()
        arena = self._arena(folder, lambda: make_game(game["game"], **game["settings"]))
        return lambda: study_records(store, str(game["game"]), arena)

    def _run(self, folder: Path) -> list[ReplayedDialogue]:
        run = read_run(folder)
        played = [pair for pair in zip(run.records, run.private, strict=True) if "example" in pair[0]]
        has_scenarios = _has_scenarios(run.game)
        arena = None if has_scenarios else self._arena(folder, lambda: arena_of(run.config))
        made = []
        for record, secret in played:
            example = record["example"]
            hidden = {name: value for name, value in secret.items() if name != "instance_id"}
            made.append(
                ReplayedDialogue(
                    f"{run.path.parent.name}/{run.path.name}/{example['uuid']}",
                    example["uuid"],
                    run.game,
                    str(record["instance_id"]),
                    tuple(example["agents"].values()),
                    str(record["status"]),
                    (float(record["reward"]),) if isinstance(record.get("reward"), int | float) else (),
                    _loader(example["events"]),
                    arena,
                    hidden if self.private else None,
                )
            )
        if not has_scenarios:
            return made
        return self._with_scenarios(
            folder,
            run.game,
            made,
            lambda: as_examples([record["example"] for record, _ in played], str(folder)),
        )

    def _file(self, path: Path) -> list[ReplayedDialogue]:
        examples = read_examples(path)
        games = [_game_of(each) for each in examples]
        made = {place: _of_file(path, each) for place, each in enumerate(examples)}
        for game in sorted({*games} - {""}):
            places = [place for place, of in enumerate(games) if of == game]
            bare, told = [made[place] for place in places], [examples[place] for place in places]
            made.update(zip(places, self._with_scenarios(path, game, bare, partial(list, told)), strict=True))
        return [made[place] for place in range(len(examples))]

    def _with_scenarios(
        self,
        path: Path,
        game: str,
        records: list[ReplayedDialogue],
        examples: Callable[[], Sequence[ExampleRecord]],
    ) -> list[ReplayedDialogue]:
        """Return the records, completed with what the scenarios in the dialogues told the seats."""
        try:
            told = Transcripts(find_game(game), examples())
        except BirdenvError as error:
            self._note(path, error)
            return records
        self._stack.callback(told.arena.close)
        return [_with_scenario(record, told, place) for place, record in enumerate(records)]

    def _arena(self, place: Path, load: Callable[[], Arena]) -> Arena | None:
        try:
            return self._stack.enter_context(load())
        except BirdenvError as error:
            self._note(place, error)
            return None

    def _note(self, place: Path, error: BirdenvError) -> None:
        self.notes.append(f"{place}: only the whole record can be shown, not what each seat saw: {error}")


def study_records(store: Store, game: str, arena: Arena | None) -> list[ReplayedDialogue]:
    """Return the finished dialogues in a study's database.

    Args:
        store: the database.
        game: the name of the game.
        arena: an arena of the game; None if the game can no longer be loaded.
    """

    def loader(id: str) -> Callable[[], Sequence[Event]]:
        return lambda: [move.event for move in store.moves(id)]

    return [
        ReplayedDialogue(
            each.id,
            each.id,
            game,
            each.task,
            tuple(each.seats),
            each.status or "",
            tuple(each.rewards or ()),
            loader(each.id),
            arena,
            began=each.started,
            ended=each.ended,
        )
        for each in store.finished()
    ]


def _loader(events: Sequence[Mapping[str, Any]]) -> Callable[[], Sequence[Event]]:
    return lambda: [Event.from_json(each) for each in events]


def _has_scenarios(game: str) -> bool:
    return game in game_names() and "scenarios" in find_game(game).settings.model_fields


def _game_of(example: ExampleRecord) -> str:
    """Return the game of a dialogue's scenario, or an empty string if there is no scenario."""
    game = "" if example.scenario is None else game_of(example, example.scenario.to_json())
    return game if _has_scenarios(game) else ""


def _of_file(path: Path, example: ExampleRecord) -> ReplayedDialogue:
    made = example.example()
    players = tuple(made.agents.get(str(seat), "") for seat in (0, 1))
    reward = (made.outcome or {}).get("reward")
    rewards = (float(reward),) if isinstance(reward, int | float) else ()
    id = f"{path.stem}/{made.uuid}"
    return ReplayedDialogue(
        id, made.uuid, "", made.scenario_uuid, players, "", rewards, lambda: made.events, None
    )


def _with_scenario(record: ReplayedDialogue, told: Transcripts, place: int) -> ReplayedDialogue:
    """Return a dialogue from a file, completed with its scenario, and with the seats in the game's order."""
    made = record._replace(game=told.game.name, arena=told.arena, arena_task=told.ids[place])
    with told.dialogue(place) as dialogue:
        if not told.is_turned(place, dialogue):
            return made
    return made._replace(
        players=record.players[::-1],
        load=lambda: [
            event._replace(agent=1 - event.agent) if event.agent in (0, 1) else event
            for event in record.load()
        ],
    )
