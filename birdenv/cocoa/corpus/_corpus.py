"""Read dialogues from runs, studies and files into a common data type for statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from birdenv.cocoa.files import ExampleRecord, as_examples, game_of_knowledge, read_examples
from birdenv.cocoa.files._dialogue_files import exact
from birdenv.dialogue.games import find_game, game_names
from birdenv.dialogue.move import DECORATIVE, HOUSE, Event
from birdenv.files import is_directory
from birdenv.runs import run_folder
from birdenv.runs.export import dialogue_folder, played_game, whole_dialogues
from birdenv.runs.summaries.recorded_run import read_run

HUMAN: Final = "human"
_EPOCH: Final = 1e6
"""Smaller times are counters, not seconds since 1970."""
CALLS: Final = ("labelled", "unlabelled", "unanswerable", "unclear")
"""The kinds of questions that the log of the simulated user distinguishes."""


@dataclass(frozen=True)
class CorpusDialogue:
    """One recorded dialogue.

    Attributes:
        id: an id that is unique in the corpus.
        name: the dialogue's id in its file or study; ratings refer to the dialogue by this id.
        source: the name of the run, study or file.
        game: the name of the game; empty if it is unknown.
        scenario_id: the id of the scenario or task.
        scenario: the public description of the scenario; empty if the file has only the id.
        players: the player in each seat: `human`, or a spec such as `learned:FILE`.
        seats: the names of the seats.
        outcome: the result of the dialogue, with fields that depend on the game.
        events: the log of the dialogue, including people's judgements of messages (`eval`).
        counts: counts from a run's private record, namely the task's `ambiguities`, the ambiguities that the
            user `disclosed`, and the questions of each kind; empty if there is no such record.
        surveys: people's answers to the survey, keyed by the seat that the answers are about.
    """

    id: str
    name: str
    source: str
    game: str
    scenario_id: str
    scenario: Mapping[str, Any]
    players: tuple[str, ...]
    seats: tuple[str, ...]
    outcome: Mapping[str, Any]
    events: tuple[Event, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    surveys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def moves(self) -> tuple[Event, ...]:
        """Return the moves of all seats, excluding refused moves."""
        return tuple(each for each in self.events if _is_move(each) and not _is_refused(each))

    @cached_property
    def refused(self) -> int:
        """Return the number of refused moves."""
        return sum(_is_move(each) and _is_refused(each) for each in self.events)

    def of(self, seat: int) -> list[Event]:
        """Return the moves that a seat made, excluding refused moves."""
        return [each for each in self.moves if each.agent == seat]

    def said(self, seat: int | None = None) -> list[Event]:
        """Return the messages from one seat, or from all seats if `seat` is None. SQL is not a message."""
        return [
            each
            for each in self.moves
            if isinstance(each.data, str) and each.action not in SQL_ACTIONS and seat in (None, each.agent)
        ]

    def texts(self, seat: int | None = None) -> list[str]:
        """Return the message texts from one seat, or from all seats if `seat` is None."""
        return [str(each.data) for each in self.said(seat)]

    def count(self, *actions: str) -> int:
        """Return the number of moves whose action is one of `actions`."""
        return sum(each.action in actions for each in self.moves)

    @property
    def status(self) -> str:
        """Return the reason why the dialogue ended, or an empty string if it is unknown."""
        return str(self.outcome.get("status") or "")

    @property
    def kind(self) -> str:
        """Return the kind of player in each seat, such as `human + bot`."""
        return " + ".join(HUMAN if player == HUMAN else "bot" for player in self.players)

    @cached_property
    def has_clock(self) -> bool:
        """Return True if the times of the moves are clock times, and not just counters."""
        return bool(self.moves) and min(each.time for each in self.moves) > _EPOCH

    @cached_property
    def has_typing(self) -> bool:
        """Return True if the start and end times of typing are recorded and come from the same clock."""
        typed = [(each.start_time, each.time) for each in self.moves if each.start_time is not None]
        return self.has_clock and bool(typed) and all(0 <= end - start < 86400 for start, end in typed)


SQL_ACTIONS: Final = frozenset({"execute_sql", "submit_sql"})


def _is_move(event: Event) -> bool:
    return event.agent != HOUSE and event.action not in DECORATIVE


def _is_refused(event: Event) -> bool:
    return bool((event.metadata or {}).get("refused"))


def read_dialogues(path: Path) -> list[CorpusDialogue]:
    """Return the finished dialogues in a file, a run, or another folder with dialogues, such as a study.

    Raises:
        InputError: the file or the folder cannot be read.
    """
    if not is_directory(path):
        return file_dialogues(path)
    if dialogue_folder(path) is None:
        return run_dialogues(run_folder(path))
    return listed_dialogues(whole_dialogues(path, "cocoa"), path.name, played_game(path)[0])


def run_dialogues(folder: Path) -> list[CorpusDialogue]:
    """Return the dialogues in a run's folder. The run's private records contribute only counts.

    Raises:
        InputError: the run cannot be read.
    """
    run = read_run(folder)
    source = f"{run.path.parent.name}/{run.path.name}"
    seats = _seats(run.game)
    made = []
    for record, private in zip(run.records, run.private, strict=True):
        if "example" not in record:
            continue
        [example] = as_examples([{**record["example"], "scenario": None}], str(run.path))
        counts = _private_counts(private)
        scenario = record["example"].get("scenario") or {}
        id = f"{source}/{example.uuid}"
        made.append(_dialogue(example, scenario, id, example.uuid, source, run.game, seats, counts))
    return made


def file_dialogues(path: Path) -> list[CorpusDialogue]:
    """Return the dialogues in a file such as `transcripts.json`.

    Raises:
        InputError: the file cannot be read.
    """
    return _of_examples(read_examples(path), path.name)


def listed_dialogues(rows: Iterable[Mapping[str, Any]], source: str, game: str = "") -> list[CorpusDialogue]:
    """Validate dialogues given as JSON objects in CoCoA's form, such as a study's export, and return them.

    Args:
        rows: the JSON objects.
        source: the name of the study or file that contains the dialogues.
        game: the name of the game for all dialogues; if empty, each dialogue's game is inferred.
    """
    return _of_examples(as_examples(map(exact, rows), source), source, game)


def _of_examples(
    examples: Iterable[ExampleRecord], source: str, known_game: str = ""
) -> list[CorpusDialogue]:
    made = []
    seats: dict[str, tuple[str, ...]] = {}  # looking a game up reads files
    for example in examples:
        scenario = example.scenario.to_json() if example.scenario is not None else {}
        game = known_game or game_of(example, scenario)
        if game not in seats:
            seats[game] = _seats(game)
        id = f"{source}/{example.uuid}"
        made.append(_dialogue(example, scenario, id, example.uuid, source, game, seats[game], {}))
    return _with_own_ids(made)


def _dialogue(
    example: ExampleRecord,
    scenario: Mapping[str, Any],
    id: str,
    name: str,
    source: str,
    game: str,
    seats: Sequence[str],
    counts: Mapping[str, int],
) -> CorpusDialogue:
    most = max(len(seats), 2)
    known = [seat for seat in range(most) if str(seat) in example.agents]
    number = max([len(seats), *(seat + 1 for seat in known), *(each.agent + 1 for each in example.events)])
    number = min(number, most)
    info = example.agents_info or {}
    surveys = info.get("surveys")
    return CorpusDialogue(
        id,
        name,
        source,
        game,
        example.scenario_uuid,
        scenario,
        tuple(example.agents.get(str(seat)) or "unknown" for seat in range(number)),
        tuple(seats[seat] if seat < len(seats) else f"agent_{seat}" for seat in range(number)),
        example.outcome or {},
        tuple(each.event() for each in example.events if each.agent < number),
        counts,
        surveys if isinstance(surveys, Mapping) else {},
    )


def _with_own_ids(dialogues: Sequence[CorpusDialogue]) -> list[CorpusDialogue]:
    """Return the dialogues, with a number added to each id that a file repeats."""
    seen: Counter[str] = Counter()
    made = []
    for each in dialogues:
        seen[each.id] += 1
        again = f"#{seen[each.id]}" if seen[each.id] > 1 else ""
        made.append(replace(each, id=each.id + again, name=each.name + again))
    return made


def _seats(game: str) -> tuple[str, ...]:
    return find_game(game).seat_names if game in game_names() else ()


def _private_counts(private: Mapping[str, Any]) -> dict[str, int]:
    """Return counts from a private record. They do not reveal what the ambiguities are."""
    counts: dict[str, int] = {}
    if isinstance(private.get("ambiguities"), int):
        counts["ambiguities"] = private["ambiguities"]
    answers = [each for each in private.get("log", ()) if each.get("kind") == "answer" and "call" in each]
    if answers:
        called = Counter(str(each["call"]) for each in answers)
        counts |= {call: called[call] for call in CALLS}
        labelled = {each.get("target") for each in answers if each["call"] == "labelled"}
        counts["disclosed"] = len(labelled - {None, ""})
    return counts


def game_of(example: ExampleRecord, scenario: Mapping[str, Any]) -> str:
    """Infer a dialogue's game from its scenario and its moves; an empty string means unknown.

    A c-Interact dialogue without questions looks like a `bird` dialogue, and counts as `bird`.
    """
    if found := game_of_knowledge(scenario.get("kbs") or ()):
        return found
    actions = {each.action for each in example.events}
    if "clarify" in actions:
        return "a-interact" if actions & {"get_schema", "get_column_meaning"} else "c-interact"
    return "bird" if actions & SQL_ACTIONS else ""
