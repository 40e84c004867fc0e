"""Compile the tasks of a candidate setting into arrays, by playing all possible actions.

A *stage* is a phase of a task after a given submission. Each task has one stage for the request, and one
stage for the follow-up after each candidate that passes. Tables are saved on disk, and are valid only for the
same benchmark, settings and version of birdenv.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from birdenv.dialogue import Dialogue, Move, Player
from birdenv.envs.candidates._layout import MAX_POINTS
from birdenv.envs.candidates._observation import Indices
from birdenv.envs.candidates._phase import USELESS, Flags, Floats, ShownPhase, question_about, rows_shown
from birdenv.envs.candidates._setting import CANNOT_TELL, CandidateSetting, points_of, targets_of
from birdenv.errors import BenchmarkError, InfrastructureError
from birdenv.files import cache_folder, code_digest
from birdenv.tasks import SYSTEM, USER

END: Final = -1
"""The value of `Tables.following` if the episode is over."""

_BROKEN: Final = ("infra_error", "test_error", "ungraded")

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Tables:
    """Arrays that describe all stages. The first axis of each array is the stage.

    The stages of all requests come first, in the order of the tasks.

    Attributes:
        spans: the array `ShownPhase.spans` of each stage.
        candidates: the array `ShownPhase.candidates` of each stage.
        readable: the array `ShownPhase.readable` of each stage.
        counts: the number of candidates in each stage.
        fits: how well the answer to each question fits each candidate (see `ShownPhase.fit`). The useless
            question is last.
        refused: how well the reply of a user who cannot explain fits each candidate.
        points: the annotated ambiguities that the answer to each question explains, as a bit mask.
        rows: the value of `rows_shown` for each candidate's result.
        results: a number that identifies each candidate's result. Equal results have equal numbers.
        passes: True for candidates that pass.
        statuses: the verdict on each candidate, such as `wrong_result`.
        following: for each candidate, the index of the next stage if the candidate passes, or `END` if the
            episode then ends.
        phases: 1 for the stage of a request, 2 for the stage of a follow-up.
    """

    spans: Floats
    candidates: Floats
    readable: Flags
    counts: Indices
    fits: Floats
    refused: Floats
    points: npt.NDArray[np.int64]
    rows: Floats
    results: npt.NDArray[np.int64]
    passes: Flags
    statuses: npt.NDArray[np.str_]
    following: Indices
    phases: npt.NDArray[np.int64]


def compile_tables(setting: CandidateSetting, progress: Progress | None = None) -> Tables:
    """Play all possible actions in all tasks of a setting, and return tables of the results.

    Raises:
        BenchmarkError: a task cannot be graded.
    """
    parts = []
    for name in setting.ids:
        parts.append(compile_task(setting, name))
        if progress is not None:
            progress(len(parts), len(setting.ids))
    return joined(parts)


def compile_task(setting: CandidateSetting, name: str) -> Tables:
    """Play all possible actions in a task, and return its tables. The request is stage 0.

    Raises:
        BenchmarkError: the task cannot be graded, or a candidate cannot be submitted.
    """
    compiler = _Compiler(setting, name)
    compiler.explore(())
    return _columns(lambda field: np.stack([stage[field] for stage in compiler.stages]))


def joined(parts: Sequence[Tables]) -> Tables:
    """Join the tables of several tasks, with all requests before all follow-ups."""
    moved = []
    behind = len(parts)
    for place, part in enumerate(parts):
        later = len(part.phases) - 1
        places = np.array([place, *range(behind, behind + later)])
        behind += later
        moved.append(replace(part, following=np.where(part.following == END, END, places[part.following])))

    def column(field: str) -> npt.NDArray[Any]:
        arrays = [getattr(part, field) for part in moved]
        return np.concatenate([*(array[:1] for array in arrays), *(array[1:] for array in arrays)])

    return _columns(column)


def _columns(column: Callable[[str], npt.NDArray[Any]]) -> Tables:
    return Tables(**{field.name: column(field.name) for field in fields(Tables)})


class _Compiler:
    """The compiler of one task, which plays the stages of the task one after the other."""

    def __init__(self, setting: CandidateSetting, name: str) -> None:
        self._setting, self._layout, self._name = setting, setting.layout, name
        self.stages: list[dict[str, Any]] = []

    def explore(self, path: Sequence[str]) -> int:
        """Add the stage that follows the submissions in `path`, and return the index of the stage."""
        dialogue, _ = self._start(path)
        view = dialogue.view(SYSTEM)
        setting, layout = self._setting, self._layout
        sqls = setting.shown(self._name, view.extras, view.phase)
        stage = ShownPhase(layout, view.message, view.instruction, sqls, setting.dialect)
        size = layout.candidates
        noted: dict[str, Any] = {
            "spans": stage.spans,
            "candidates": stage.candidates,
            "readable": stage.readable,
            "counts": np.intp(len(sqls)),
            "fits": np.zeros((layout.spans + 1, size), np.float32),
            "refused": stage.fit(CANNOT_TELL),
            "points": np.zeros(layout.spans + 1, np.int64),
            "rows": np.zeros(size, np.float32),
            "results": np.full(size, END, np.int64),
            "passes": np.zeros(size, np.bool_),
            "statuses": np.full(size, "", "<U24"),
            "following": np.full(size, END, np.intp),
            "phases": np.int64(view.phase),
        }
        index = len(self.stages)
        self.stages.append(noted)
        self._execute(dialogue, stage, noted)
        dialogue.close()
        if not path:
            self._ask(stage, noted)
        self._submit(path, stage, noted)
        return index

    def _start(self, path: Sequence[str]) -> tuple[Dialogue, list[Player | None]]:
        arena = self._setting.arena
        dialogue = arena.start(self._name)
        for sql in path:
            dialogue.apply(SYSTEM, Move("submit_sql", sql))
        return dialogue, arena.seat_players(dialogue, self._name, but=SYSTEM)

    def _execute(self, dialogue: Dialogue, stage: ShownPhase, noted: dict[str, Any]) -> None:
        texts: list[str] = []
        for place in np.flatnonzero(stage.readable):
            if "execute_sql" not in dialogue.view(SYSTEM).legal:
                break
            dialogue.apply(SYSTEM, Move("execute_sql", stage.sqls[place]))
            view = dialogue.view(SYSTEM)
            if view.message not in texts:
                texts.append(view.message)
            noted["rows"][place] = rows_shown(view.message, view.sender)
            noted["results"][place] = texts.index(view.message)

    def _ask(self, stage: ShownPhase, noted: dict[str, Any]) -> None:
        """Ask each question, in several dialogues if the budget of one does not suffice."""
        questions = {self._layout.useless: USELESS}
        questions |= {i: question_about(phrase.text) for i, phrase in enumerate(stage.phrases)}
        dialogue: Dialogue | None = None
        for place, question in questions.items():
            if dialogue is None or "clarify" not in dialogue.view(SYSTEM).legal:
                dialogue, players = self._start(())
                if "clarify" not in dialogue.view(SYSTEM).legal:
                    return
                terms = points_of(dialogue.rules.private_brief(USER))[:MAX_POINTS]
            dialogue.apply(SYSTEM, Move("clarify", question))
            user = players[USER]
            assert user is not None
            move = user.move(dialogue.view(USER))
            assert move is not None
            about = targets_of(move.trace)
            noted["points"][place] = sum(1 << bit for bit, term in enumerate(terms) if term in about)
            dialogue.apply(USER, move)
            noted["fits"][place] = stage.fit(dialogue.view(SYSTEM).message)

    def _submit(self, path: Sequence[str], stage: ShownPhase, noted: dict[str, Any]) -> None:
        """Submit each candidate, in several dialogues, because each allows only two attempts."""
        dialogue: Dialogue | None = None
        for place, sql in enumerate(stage.sqls):
            if dialogue is None or not dialogue.open:
                dialogue, _ = self._start(path)
            before = dialogue.rewards[SYSTEM]
            dialogue.apply(SYSTEM, Move("submit_sql", sql))
            if dialogue.refused or dialogue.status in _BROKEN:
                why = dialogue.status or f"candidate {place + 1} is too long"
                raise BenchmarkError(
                    f"{self._name} cannot be graded ({why}): exclude this task with the setting `leave_out`"
                )
            noted["statuses"][place] = dialogue.outcome()["attempts"][-1]["status"]
            noted["passes"][place] = dialogue.rewards[SYSTEM] > before
            if noted["passes"][place]:
                if dialogue.open:
                    noted["following"][place] = self.explore((*path, sql))
                dialogue.close()
                dialogue = None
        if dialogue is not None:
            dialogue.close()


def tables_of(setting: CandidateSetting) -> Tables:
    """Load the tables for a setting from the user's cache, or compile and save them."""
    stored = _stored(setting)
    if stored is not None:
        return stored
    made = compile_tables(setting, _tell if sys.stderr.isatty() else None)
    _keep(setting, made)
    return made


class TaskTables:
    """The tables for a single environment.

    Saved tables are loaded. Otherwise, the tables for a task are compiled when the task is first played, and
    all tables are saved when they are complete.
    """

    def __init__(self, setting: CandidateSetting) -> None:
        self._setting = setting
        self._all = _stored(setting)
        self._of_task: dict[int, Tables | None] = {}

    def stage_of(self, task: int) -> tuple[Tables, int] | None:
        """Return the pair (tables, index of a task's first stage), or None if the compilation failed."""
        if self._all is not None:
            return self._all, task
        if task not in self._of_task:
            try:
                self._of_task[task] = compile_task(self._setting, self._setting.ids[task])
            except BenchmarkError:
                self._of_task[task] = None
            except InfrastructureError:
                return None  # the next episode may succeed
            self._keep_if_whole()
        tables = self._of_task[task]
        return None if tables is None else (tables, 0)

    def _keep_if_whole(self) -> None:
        made = [
            tables for _, tables in sorted(self._of_task.items(), key=itemgetter(0)) if tables is not None
        ]
        if len(made) == len(self._setting.ids):
            _keep(self._setting, joined(made))


def _tell(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rcompiling candidates: {done} of {total} tasks", end=end, file=sys.stderr, flush=True)


def _stored(setting: CandidateSetting) -> Tables | None:
    with suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(_file(setting)) as stored:
        return Tables(**{field.name: stored[field.name] for field in fields(Tables)})
    return None


def _keep(setting: CandidateSetting, tables: Tables) -> None:
    path = _file(setting)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as file:
            np.savez_compressed(file, **{field.name: getattr(tables, field.name) for field in fields(Tables)})
        Path(file.name).replace(path)  # other processes never read an incomplete file


def _file(setting: CandidateSetting) -> Path:
    return cache_folder() / "candidates" / f"{_digest(setting)}.npz"


def _digest(setting: CandidateSetting) -> str:
    """Return a digest of everything on which the tables depend: tasks, databases, settings and code."""
    tasks = setting.arena._tasks
    asked = {"ids": setting.ids, "recorded": setting.recorded}
    settings = {"layout": repr(setting.layout), "questions": setting.questions}
    known = json.dumps([tasks.config(), asked, settings, code_digest()], sort_keys=True, default=str)
    return hashlib.sha256(known.encode()).hexdigest()[:32]
