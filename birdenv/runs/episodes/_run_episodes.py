"""Read the episodes of a recorded run, and rerun their submissions to show the results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from birdenv.databases import QueryResult
from birdenv.dialogue import Arena, Event
from birdenv.dialogue.arena import listed
from birdenv.dialogue.games import Game, find_game, game_names
from birdenv.dialogue.measures import DIALOGUE_ONLY, JudgedSubmission, Phase
from birdenv.dialogue.move import HOUSE
from birdenv.errors import BirdenvError, InputError
from birdenv.grading import ExGrader
from birdenv.runs._run_folder import name_of
from birdenv.runs.blame import has_user_to_blame, open_terms
from birdenv.runs.episodes._result_difference import ResultDifference, result_difference
from birdenv.runs.episodes._shown_episode import OpenTerm, ResultTable, ShownEpisode, ShownEvent, result_table
from birdenv.runs.export import arena_of
from birdenv.runs.regrade._data import limits_of, place_of, source_of
from birdenv.runs.summaries import RecordedRun, read_run, usage_text

_FACTS: Final = ("database", "category", "difficulty", "questions", "max_questions", "turns")
_CALLS_NOTE: Final = "Everything that the models wrote is in the file private_calls.jsonl of the run."
_OF_RESULT: Final = {"db_id": "database", "difficulty": "difficulty"}


class RunEpisodes:
    """The episodes of a recorded run, prepared for display.

    Args:
        run: the run folder, or a run that has already been read.
        private: True to include the gold SQL, the clear request and other private parts.

    Attributes:
        run: the recorded run.
        private: True if private parts are included.
        notes: sentences that explain what cannot be shown.

    Raises:
        InputError: the folder is not a run, or no episode has finished yet.
    """

    def __init__(self, run: Path | RecordedRun, *, private: bool = False) -> None:
        self.run = read_run(run) if isinstance(run, Path) else run
        self.private = private
        self.notes: list[str] = []
        self._places = {name_of(record): place for place, record in enumerate(self.run.records)}
        self._game: Game | None = find_game(self.run.game) if self.run.game in game_names() else None
        self._display = DIALOGUE_ONLY if self._game is None else self._game.display
        self._results: dict[JudgedSubmission, tuple[ResultTable | None, str, ResultDifference | None]] = {}
        self._stack = ExitStack()
        self._grader = self._make_grader()
        self._arena = self._make_arena() if private else None

    def __enter__(self) -> RunEpisodes:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all episodes, in task order."""
        return tuple(self._places)

    def named(self, instance: str) -> list[str]:
        """Return the episodes that a name refers to: one episode, or all episodes of a task.

        Raises:
            InputError: there is no episode or task with this name.
        """
        if instance in self._places:
            return [instance]
        found = [name for name, at in self._places.items() if self.run.records[at]["instance_id"] == instance]
        if not found:
            raise InputError(f"{self.run.path} has no episode {instance!r}; it has {listed(self.names)}")
        return found

    def request(self, name: str) -> str:
        """Return the request at the start of an episode, or an empty string if the episode never began."""
        record = self.run.records[self._places[name]]
        return self._display.request(record) if "example" in record else ""

    def phases(self, name: str) -> Sequence[Phase]:
        """Return the phases of an episode, each with its verdict."""
        record = self.run.records[self._places[name]]
        return self._display.phases(record) if "example" in record else ()

    def outcome(self, name: str) -> tuple[str, float]:
        """Return the outcome of an episode as a single word, and the reward of the evaluated seat."""
        record = self.run.records[self._places[name]]
        phases = self.phases(name)
        verdict = phases[-1].verdict if phases and record["status"] == "completed" else record["status"]
        return str(verdict), float(record.get("reward") or 0)

    def shown(self, name: str) -> ShownEpisode:
        """Return the display data of an episode.

        Raises:
            InputError: the record of the episode is damaged.
        """
        place = self._places[name]
        record, private = self.run.records[place], self.run.private[place]
        try:
            return self._shown(name, record, private)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(f"{self.run.path}: the record of {name} is damaged: {error!r}") from None

    def _shown(self, name: str, record: Mapping[str, Any], private: Mapping[str, Any]) -> ShownEpisode:
        facts = {key: record[key] for key in _FACTS if record.get(key) is not None}
        result = record.get("result") or {}
        facts |= {key: result[of] for of, key in _OF_RESULT.items() if result.get(of) is not None}
        facts |= {"usage": usage_text(record["usage"])} if record.get("usage") else {}
        for seat, kinds in record.get("model_faults", {}).items():
            facts[f"faults of the {seat}'s model"] = ", ".join(f"{kind} {n}" for kind, n in kinds.items())
        if "model_faults" in record and _CALLS_NOTE not in self.notes:
            self.notes.append(_CALLS_NOTE)
        example = record.get("example")
        if example is None:  # skipped, or it could not begin
            return ShownEpisode(
                name, record["instance_id"], record["status"], *self.outcome(name),
                str(record.get("error") or ""), "", {}, facts, (), (), ()
            )  # fmt: skip
        display = self._display
        outcome, reward = self.outcome(name)
        return ShownEpisode(
            name=name,
            task=record["instance_id"],
            status=str(record["status"]),
            outcome=outcome,
            reward=reward,
            error=str(record.get("error") or ""),
            request=display.request(record),
            players={self._seat(int(seat)): str(spec) for seat, spec in example["agents"].items()},
            facts=facts,
            phases=tuple(display.phases(record)),
            turns=tuple(self._turns(record, private)),
            sections=tuple(display.sections(record)),
            culprit=str(record.get("culprit", "")),
            terms=self._terms(record, private),
            secrets=tuple(display.secrets(record, private)) if self.private else (),
        )

    def _turns(self, record: Mapping[str, Any], private: Mapping[str, Any]) -> list[ShownEvent]:
        display = self._display
        submissions = {each.place: each for each in display.submissions(record, private)}
        notes = display.notes(record, private) if self.private else {}
        turns = []
        for place, data in enumerate(record["example"]["events"]):
            event = Event.from_json(data)
            metadata = event.metadata or {}
            submission = submissions.get(place)
            table, error, difference = (None, "", None) if submission is None else self._result(submission)
            turns.append(
                ShownEvent(
                    seat="house" if event.agent == HOUSE else self._seat(event.agent),
                    action=event.action,
                    text=_text(event.data),
                    is_sql=isinstance(event.data, str) and self._is_sql(event),
                    reply=_text(metadata.get("reply")),
                    refused=bool(metadata.get("refused")),
                    subject=display.subject(event),
                    verdict="" if submission is None else submission.verdict,
                    table=table,
                    error=error,
                    difference=difference,
                    note=notes.get(place, ""),
                )
            )
        return turns

    def _seat(self, index: int) -> str:
        names = () if self._game is None else self._game.seat_names
        return names[index] if 0 <= index < len(names) else f"seat {index}"

    def _is_sql(self, event: Event) -> bool:
        if self._game is None or not 0 <= event.agent < len(self._game.seats):
            return False
        action = self._game.seats[event.agent].by_name.get(event.action)
        return action is not None and any(field.kind == "code" for field in action.fields)

    def _terms(self, record: Mapping[str, Any], private: Mapping[str, Any]) -> tuple[OpenTerm, ...]:
        if self._arena is None or record["instance_id"] not in self._arena.ids:
            return ()
        points = open_terms(self._arena, record, private)
        is_right = any(each["phase"] == 1 and each["status"] == "passed" for each in record["attempts"])
        return tuple(
            OpenTerm(point.term, point.state != "never asked", point.state == "told", point.used or is_right)
            for point in points
        )

    def _result(
        self, submission: JudgedSubmission
    ) -> tuple[ResultTable | None, str, ResultDifference | None]:
        """Return the first rows of a submission's result, its error, and its difference from the gold's."""
        submission = submission._replace(place=0)
        if submission not in self._results:
            self._results[submission] = self._executed(submission)
        return self._results[submission]

    def _executed(
        self, submission: JudgedSubmission
    ) -> tuple[ResultTable | None, str, ResultDifference | None]:
        if not submission.golds and submission.verdict != "passed":
            return None, "", ResultDifference("test cases judge this statement, so no rows are compared")
        if self._grader is None or not submission.golds:
            return None, "", None
        try:
            verdict = self._grader.grade(submission.database, submission.golds, submission.sql)
        except BirdenvError as error:
            return None, f"The statement could not be rerun: {error}", None
        table = None if verdict.pred_result is None else result_table(verdict.pred_result)
        if verdict.status == "gold_error":
            return table, "The gold SQL fails.", None
        error_text = "" if verdict.error is None else verdict.error.message
        if verdict.ex:
            return table, error_text, ResultDifference()
        if not isinstance(verdict.gold_result, QueryResult) or verdict.pred_result is None:
            return table, error_text, None
        difference = result_difference(verdict.gold_result, verdict.pred_result)
        return table, error_text, difference if self.private else difference.public()

    def _make_grader(self) -> ExGrader | None:
        config = self.run.config
        if "db_dir" not in config:
            return None
        if not any(self.run.private):
            self.notes.append("private.jsonl is missing, so results cannot be compared with gold results.")
            return None
        try:
            source = source_of(config, place_of(config, "db_dir", None, None))
        except BirdenvError:
            self.notes.append("The databases are missing, so results cannot be compared with gold results.")
            return None
        self._stack.callback(source.close)
        return ExGrader(source, limits_of(config))

    def _make_arena(self) -> Arena | None:
        """Return the game with its tasks, or None for a game without ambiguous terms."""
        if self._game is None or self._display.notes is DIALOGUE_ONLY.notes:  # the game has no user
            return None
        try:
            arena = self._stack.enter_context(arena_of(self.run.config))
        except BirdenvError:
            self.notes.append("The task file is missing, so the ambiguous terms in the requests are unknown.")
            return None
        return arena if has_user_to_blame(arena) else None


def _text(data: Any) -> str:
    if data is None:
        return ""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
