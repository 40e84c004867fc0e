"""The settings of c-Interact and a-Interact, and the functions that load their tasks from a benchmark folder.

The folder has the layout of BIRD-Interact's lite, full or mini edition, or of birdenv's demo.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationInfo, field_validator

from birdenv.databases import DatabaseSource, SqliteSource, open_source
from birdenv.demo import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.dialogue import Rules
from birdenv.dialogue.games import Option
from birdenv.errors import InputError, SettingError
from birdenv.files import exists, file_identity, is_directory, read_records
from birdenv.grading import InteractGrader
from birdenv.grading.interact import STRICT_RULES
from birdenv.tasks.interact._knowledge import read_notes
from birdenv.tasks.interact._record import TaskRecord, parse_record
from birdenv.tasks.interact._task import CInteractTask, private_task_fields, split_record, task_fields
from birdenv.tasks.interact._user_seat import LeakGuard, UserSees
from birdenv.tasks.interact.profile import MAX_PATIENCE, PATIENCE, PROFILES, Profile
from birdenv.tasks.interact.rewards import RewardScheme, Scheme
from birdenv.tasks.sql._records import in_dialect
from birdenv.tasks.sql._settings import SqlSettings, check_task_file, playable
from birdenv.tasks.sql._sql_task_list import SqlTasks
from birdenv.users import UserStyle

TASK_FILES = (
    "bird_interact_data.jsonl",
    "mini_interact.jsonl",
    "mini_interact_test.jsonl",
    "c_interact.jsonl",
)
"""The possible names of the task file in a benchmark folder."""

_TO_PLAY: Final = "to play it, with --data FILE"  # `birdenv data` takes the file in place of the folder


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The tasks in one file, with the databases that they are played on.

    Attributes:
        tasks: the tasks, in file order.
        source: the source that opens the databases.
        task_file: the path of the file.
    """

    tasks: tuple[CInteractTask, ...]
    source: DatabaseSource
    task_file: Path


def find_task_file(folder: Path) -> Path:
    """Return the path of the task file in a benchmark folder.

    Raises:
        InputError: the folder contains no task file, or more than one.
    """
    if not is_directory(folder):
        raise InputError(f"{folder}: no such directory; specify the benchmark's database folder")
    found = [folder / name for name in TASK_FILES if exists(folder / name)]
    if not found:
        names = ", ".join(TASK_FILES)
        raise InputError(f"{folder} has no task file ({names}); specify the file itself ({_TO_PLAY})")
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise InputError(f"{folder} has several task files ({names}); specify one of them ({_TO_PLAY})")
    return found[0]


def read_task_records(path: Path, dialect: str = "sqlite") -> list[TaskRecord]:
    """Return all records in a task file, with the values for one SQL dialect in place of the general values.

    Raises:
        InputError: a record is not valid, or two records have the same instance id.
    """
    records: dict[str, TaskRecord] = {}
    for number, raw in enumerate(read_records(path), 1):
        name = raw.get("instance_id")
        shown = name if isinstance(name, str) and name else "no instance_id"
        where = f"{path}: record {number} ({shown})"
        record = parse_record(in_dialect(raw, dialect, where), where)
        if record.instance_id in records:
            raise InputError(f"{where}: this instance_id occurs twice")
        records[record.instance_id] = record
    return list(records.values())


def load_benchmark(
    folder: Path,
    task_file: Path | None = None,
    *,
    source: DatabaseSource | None = None,
    select: Callable[[TaskRecord], bool] | None = None,
) -> Benchmark:
    """Load tasks and the notes on their databases, without opening the databases.

    Args:
        folder: the benchmark folder.
        task_file: the task file; by default, the task file in the folder.
        source: the source that opens the databases; by default, the files `<db>/<db>.sqlite` in the folder.
        select: a function that returns True for each record to load; by default, all records are loaded.
    """
    path = task_file or find_task_file(folder)
    source = source or SqliteSource(folder)
    notes = cache(partial(read_notes, folder))
    tasks: Sequence[CInteractTask] = [
        split_record(record, index, notes(record.selected_database), source.dialect)
        for index, record in enumerate(read_task_records(path, source.dialect))
        if select is None or select(record)
    ]
    return Benchmark(tuple(tasks), source, path)


_logger = logging.getLogger("birdenv")


class InteractSettings(SqlSettings):
    """The settings that c-Interact and a-Interact share."""

    data_dir: Annotated[str | None, Option(argument=True, path=True)] = Field(
        None,
        description="Folder with the task file and <db>/ folders. Default: the folder of --data, or the demo "
        "benchmark.",
    )
    data: Annotated[str | None, Option(path=True)] = Field(
        None, description="Task file. Default: the task file in the folder."
    )
    profile: Literal["strict", "shell", "adk"] = Field(
        "strict",
        description="Protocol rules: strict (birdenv's), shell or adk (as in the two reference "
        "implementations).",
    )
    patience: int = Field(
        PATIENCE,
        ge=0,
        le=MAX_PATIENCE,
        strict=True,
        description="Number of questions allowed beyond one for each ambiguity.",
    )
    user_sees: UserSees = Field(
        "words",
        description="Which of the agent's moves the user sees: words, results (also SQL with its "
        "results), or all.",
    )
    leak_guard: LeakGuard = Field(
        "filter", description="What to do with answers that leak: filter (replace them) or log them."
    )
    reward_scheme: Scheme = Field(
        "cooperative", description="How the seats share rewards and prices (docs/self-play.md)."
    )
    question_price: float = Field(0.0, ge=0, description="Price of a question, taken from the reward.")
    disclosure_price: float = Field(
        0.0, ge=0, description="Price of each annotated point that the user discloses, taken from the reward."
    )
    user_style: UserStyle = Field(
        "plain",
        description="Style of the rule-based user's answers: plain, terse or chatty (profile strict only).",
    )

    @field_validator("user_style")
    @classmethod
    def _can_have_style(cls, value: UserStyle, info: ValidationInfo) -> UserStyle:
        profile = PROFILES.get(info.data.get("profile", ""))
        if value != "plain" and profile is not None and not profile.conversation:
            raise SettingError(
                "user_style",
                f" {value!r} requires the 'strict' profile, because other profiles follow published rules",
            )
        return value

    @field_validator("profile")
    @classmethod
    def _may_fail_doubtful(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("fail_doubtful") and PROFILES[value].grading != STRICT_RULES:
            raise SettingError(
                "fail_doubtful",
                " requires the 'strict' profile, because other profiles grade by published rules",
            )
        return value

    def place(self) -> tuple[Path, Path]:
        """Return the paths of the benchmark folder and of the task file."""
        if self.data:
            return Path(self.data_dir) if self.data_dir else Path(self.data).parent, Path(self.data)
        if self.data_dir:
            return Path(self.data_dir), find_task_file(Path(self.data_dir))
        return demo_folder(), demo_folder() / DEMO_C_INTERACT_FILE

    def identity(self) -> Hashable:
        folder, file = self.place()
        return file_identity(folder, file, self.defects_file)

    @property
    def scheme(self) -> RewardScheme:
        """Return the reward scheme with the prices from these settings."""
        return RewardScheme(self.reward_scheme, self.question_price, self.disclosure_price)

    @property
    def chosen_profile(self) -> Profile:
        """Return the protocol profile, as modified by the other settings."""
        profile = PROFILES[self.profile]
        grading = replace(profile.grading, fail_doubtful=self.fail_doubtful)
        return replace(profile, grading=grading)

    def rules(self) -> dict[str, Any]:
        """Return the settings that change the rules, as recorded in `config.json` and `overall.json`."""
        return {"profile": self.profile, "patience": self.patience}


class InteractTasks(SqlTasks[CInteractTask]):
    """The c-Interact or a-Interact tasks to play.

    Attributes:
        settings: the settings used to load the tasks.
        make_rules: a function that returns the rules for a new episode of a task.
    """

    settings: InteractSettings
    make_rules: Callable[..., Rules]
    _idle: Mapping[str, Any]

    def start(self, instance_id: str) -> Rules:
        return self.make_rules(self.tasks[instance_id])

    def skipped(self, instance_id: str) -> Mapping[str, Any]:
        return {"attempts": [], **self._idle, **task_fields(self.tasks[instance_id])}

    def skipped_private(self, instance_id: str) -> Mapping[str, Any]:
        return private_task_fields(self.tasks[instance_id], played=False) | {"log": []}

    def config(self) -> dict[str, Any]:
        notes = {task.public.database: task.private.notes for task in self.tasks.values()}
        digests = {
            name: hashlib.sha256(
                json.dumps(
                    [notes[name].schema, [e.raw for e in notes[name].knowledge], notes[name].column_meanings],
                    sort_keys=True,
                ).encode()
            ).hexdigest()
            for name in sorted(notes)
        }
        sees = {} if self.settings.user_sees == "words" else {"user_sees": self.settings.user_sees}
        style = {} if self.settings.user_style == "plain" else {"user_style": self.settings.user_style}
        guard = {} if self.settings.leak_guard == "filter" else {"leak_guard": self.settings.leak_guard}
        scheme = self.settings.scheme
        paid = {} if scheme == RewardScheme() else {"reward_scheme": asdict(scheme)}
        return (
            super().config() | self.settings.rules() | sees | style | guard | paid | {"notes_sha256": digests}
        )


def load_interact(
    settings: InteractSettings, rules: Callable[..., Rules], idle: Mapping[str, Any], **more: Any
) -> InteractTasks:
    """Load the c-Interact or a-Interact tasks, and add a note on each task that cannot be played.

    Args:
        settings: the settings of the game.
        rules: the class of the game's rules.
        idle: the fields that the game adds to the record if an episode never began.
        **more: additional keyword arguments for `rules`.

    Raises:
        InputError: a file, a name or a database cannot be used.
    """
    folder, file = settings.place()
    check_task_file(file)
    source = open_source(folder, settings.dialect, dsn=settings.dsn, tell=_logger.info, today=settings.today)
    try:
        benchmark = load_benchmark(folder, file, source=source)
        chosen, notes = playable(benchmark.tasks, settings, source)
        tasks = InteractTasks(chosen, benchmark.tasks, source, benchmark.task_file, settings)
        tasks.notes += notes
        grader = InteractGrader(source, settings.limits)
        tasks.make_rules = partial(
            rules,
            source=source,
            grader=grader,
            profile=settings.chosen_profile,
            patience=settings.patience,
            limits=settings.limits,
            user_sees=settings.user_sees,
            leak_guard=settings.leak_guard,
            user_style=settings.user_style,
            scheme=settings.scheme,
            **more,
        )
        tasks._idle = idle
        return tasks
    except BaseException:
        source.close()
        raise
