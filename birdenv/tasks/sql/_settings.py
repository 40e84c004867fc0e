"""The settings that all SQL games share, and the selection of tasks by these settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Protocol, TypeVar

from pydantic import Field, field_validator

from birdenv.databases import DatabaseSource, DatedSource, Limits
from birdenv.databases.sqlite import is_database_name
from birdenv.dialogue.arena import listed
from birdenv.dialogue.games import Option, Settings
from birdenv.errors import InputError, SettingError
from birdenv.files import exists
from birdenv.grading.sandbox import reads_clock
from birdenv.sql import ClockError, at_date
from birdenv.statistics import counted
from birdenv.tasks.sql._records import read_defects


def clock_fault(sqls: Sequence[str], tests: Sequence[str], today: str, dialect: str) -> str:
    """Return the reason why a fixed date cannot replace the clock in a task; empty if it can.

    Args:
        sqls: the SQL statements of the task.
        tests: the test cases of the task, as Python code.
        today: the fixed date, such as `2025-02-19`.
        dialect: the SQL dialect of the statements.
    """
    try:
        for sql in sqls:
            at_date(sql, today, dialect)
    except ClockError as error:
        return str(error)
    return "a test case reads the current time in Python" if any(map(reads_clock, tests)) else ""


def today_words(source: DatabaseSource) -> str:
    """Return a sentence that states the fixed date that SQL sees; empty if SQL sees the real date."""
    if not isinstance(source, DatedSource):
        return ""
    return f"\n\nToday is {source.today}. SQL that asks for the current date also gets this day."


class SqlSettings(Settings):
    """The settings that determine which tasks are played, and on which databases."""

    limit: Annotated[int | None, Option(("--limit", "-n"))] = Field(
        None, ge=1, description="Play at most this many of the playable tasks."
    )
    offset: int = Field(0, ge=0, description="Skip this many of the selected tasks first.")
    difficulty: str | None = Field(None, description="Play only tasks of this difficulty.")
    databases: Annotated[
        tuple[str, ...] | None,
        Option(("--database",), help="Play only tasks on this database; can be repeated."),
    ] = Field(None, description="Play only tasks on these databases.")
    instances: Annotated[
        tuple[str, ...] | None,
        Option(("--instance",), help="Play only the task with this id; can be repeated."),
    ] = Field(None, description="Play only the tasks with these ids.")
    leave_out: Annotated[str | None, Option(path=True)] = Field(
        None,
        description="Leave out the tasks in this list. `birdenv data verify --defects` can write it, and for "
        "BIRD `birdenv self-check --defects`.",
    )
    ungraded: Literal["skip", "include"] = Field(
        "skip",
        description="What to do with tasks without gold SQL: skip them, or include them (they are played, "
        "but count in no rate).",
    )
    strict_data: bool = Field(
        False, description="Stop with an error if a task cannot be played, instead of leaving it out."
    )
    dialect: Literal["sqlite", "postgres"] = Field(
        "sqlite",
        description="Database engine: sqlite or postgres. For postgres, birdenv starts its own server and "
        "loads missing databases from the folder's dumps or SQLite files.",
    )
    dsn: str | None = Field(
        None,
        description="Use another server: postgresql://user@host:port/database. The user must be a superuser, "
        "because only a superuser can isolate agents from each other. Put the password in PGPASSWORD or "
        "~/.pgpass. Default: BIRDENV_DSN, or birdenv's own server if that is not set.",
    )
    sql_timeout: float = Field(
        30.0, gt=0, description="Time limit for one statement in seconds, also in grading."
    )
    today: str | None = Field(
        None, description="The date that SQL sees as the current date, such as 2025-02-19."
    )
    fail_doubtful: bool = Field(
        False,
        description="Fail submissions that pass but read no table, or leave a different state from the "
        "gold's. In c-Interact and a-Interact, this requires the strict profile.",
    )

    @field_validator("databases", "instances", mode="before")
    @classmethod
    def _are_lists(cls, value: Any, info: Any) -> Any:
        if isinstance(value, str):
            raise SettingError(info.field_name, f" must be a list of names, got the string {value!r}")
        return None if value is None else tuple(value)

    @field_validator("today")
    @classmethod
    def _is_day(cls, value: str | None) -> str | None:
        try:
            return None if value is None else date.fromisoformat(value).isoformat()
        except ValueError:
            raise SettingError("today", f" must be a date such as 2025-02-19, got {value!r}") from None

    @property
    def limits(self) -> Limits:
        """Return the limits for running one statement."""
        return Limits(seconds=self.sql_timeout)

    @property
    def defects_file(self) -> Path | None:
        """Return the path of the file that lists the tasks to leave out; None if no tasks are left out."""
        return Path(self.leave_out) if self.leave_out else None

    @property
    def names_tasks(self) -> bool:
        """Return True if the settings select tasks by id or database."""
        return bool(self.instances or self.databases)

    def selection(self) -> dict[str, Any]:
        """Return the settings that select tasks, as `config.json` records them."""
        return {
            "difficulty": self.difficulty,
            "databases": list(self.databases or ()),
            "instances": list(self.instances or ()),
            "offset": self.offset,
            "limit": self.limit,
            **({"ungraded": self.ungraded} if self.ungraded != "skip" else {}),
            **({"leave_out": self.defects_file.name} if self.defects_file else {}),
        }


_SHOWN: Final = 5  # the most tasks that a note lists with reasons

REPORTED: Final = ("leave_out", "today", "fail_doubtful")
"""The fields of `config.json` that reports on the SQL games repeat if a run has them."""


class _Public(Protocol):
    @property
    def instance_id(self) -> str: ...
    @property
    def database(self) -> str: ...
    @property
    def difficulty(self) -> str: ...


class SqlTask(Protocol):
    """The interface that a task must have for `select` and `playable`."""

    @property
    def public(self) -> _Public: ...
    @property
    def has_gold(self) -> bool: ...
    @property
    def own_code(self) -> tuple[Sequence[str], Sequence[str]]: ...


T = TypeVar("T", bound=SqlTask)


PUBLISHED: Final = (
    "BIRD mini-dev is published at https://github.com/bird-bench/mini_dev, BIRD-Interact and Mini-Interact "
    "at https://github.com/bird-bench/BIRD-Interact; `birdenv data fetch` gets them"
)
"""The end of errors about missing files, which says where the benchmarks are published."""


def check_task_file(file: Path) -> None:
    """Check that a task file exists.

    Raises:
        InputError: there is no such file; the message says where benchmarks are published.
    """
    if not exists(file):
        raise InputError(f"{file}: no such file. {PUBLISHED}")


def playable(tasks: Sequence[T], settings: SqlSettings, source: DatabaseSource) -> tuple[list[T], list[str]]:
    """Return the selected tasks that can be played, and notes on the tasks that are left out.

    The filters in the settings and `leave_out` apply first. A remaining task is left out if its database is
    missing, or if `today` cannot replace the clock in its SQL or test cases. A task without gold SQL is left
    out, too, unless the setting `ungraded` includes it, the settings name it, or no task has gold SQL.
    Finally, `offset` and `limit` apply.

    Raises:
        InputError: a database cannot be used, or is missing although the settings name it; all databases are
            missing; a task that the settings name cannot be played with `today`; or a task would be left out
            although `strict_data` is set.
    """
    chosen, listed_notes = _without_defects(_filtered(tasks, settings), tasks, settings)
    there = set(source.names())
    needed = sorted({task.public.database for task in chosen})
    absent = [name for name in needed if is_database_name(name) and name not in there]
    may_lack = not settings.names_tasks and len(absent) < len(needed)
    for name in needed:
        if name in absent and may_lack:
            continue
        try:
            source.check(name)
        except InputError as error:
            raise InputError(f"{error}. {PUBLISHED}" if name in absent else str(error)) from None
    there_now = [task for task in chosen if task.public.database not in absent]
    faults = {
        task.public.instance_id: fault
        for task in there_now
        if settings.today and (fault := clock_fault(*task.own_code, settings.today, source.dialect))
    }
    left = [task for task in there_now if task.public.instance_id not in faults]
    kept = [task for task in left if task.has_gold or settings.ungraded == "include" or settings.instances]
    reasons = []
    if absent:
        count = len(chosen) - len(there_now)
        reasons.append(f"{count} because of missing databases ({', '.join(absent)})")
    if faults:
        said = "; ".join(f"{name}: {fault}" for name, fault in list(faults.items())[:_SHOWN])
        reasons.append(f"{len(faults)} because `today` cannot replace the clock ({said})")
        if not left or settings.instances:
            raise InputError(f"tasks cannot be played: {reasons[-1]}")
    if kept and len(kept) < len(left):
        how = "to play them without grading, set ungraded='include' or --ungraded include"
        reasons.append(f"{len(left) - len(kept)} because of missing gold SQL ({how})")
    notes = (
        [f"tasks are left out: {', '.join(reasons)}; {len(kept or left)} can be played"] if reasons else []
    )
    if not kept:
        notes.append(f"all {len(left)} tasks lack gold SQL, so they are played but not graded")
    if notes and settings.strict_data:
        raise InputError(f"{'; '.join(notes)}. This is an error, because strict_data is set")
    return _cut(kept or left, tasks, settings), listed_notes + notes


def _without_defects(chosen: list[T], tasks: Sequence[T], settings: SqlSettings) -> tuple[list[T], list[str]]:
    """Return the chosen tasks that the list `leave_out` does not contain, and a note on the other tasks."""
    file = settings.defects_file
    if file is None:
        return chosen, []
    defects = read_defects(file)
    if defects and defects.keys().isdisjoint(task.public.instance_id for task in tasks):
        raise InputError(
            f"{file} lists none of the tasks in this task file, so it seems to belong to other data"
        )
    for name in settings.instances or ():
        if name in defects:
            why = f" ({'; '.join(defects[name])})" if defects[name] else ""
            raise InputError(f"{name} was requested, but {file} lists it as defective{why}")
    kept = [task for task in chosen if task.public.instance_id not in defects]
    count = len(chosen) - len(kept)
    if count and not kept:
        raise InputError(f"no tasks to play: {file} lists all {count} of them as defective")
    return kept, [f"Left out: {counted(count, 'task')} listed in {file}"] if count else []


def select(tasks: Sequence[T], settings: SqlSettings) -> list[T]:
    """Return all tasks that the settings select, in file order, including tasks that cannot be played.

    The filters apply first, then `offset` and `limit`.

    Raises:
        InputError: the settings name an id, database or difficulty that no task has, or no task is selected.
    """
    return _cut(_filtered(tasks, settings), tasks, settings)


def _filtered(tasks: Sequence[T], settings: SqlSettings) -> list[T]:
    there = [task.public.difficulty for task in tasks]
    difficulty = settings.difficulty or None
    if difficulty is not None and difficulty not in there:  # upper and lower case are equal
        difficulty = next((each for each in there if each.lower() == difficulty.lower()), difficulty)
        _known("difficulty", [difficulty], there)
    _known("database", settings.databases or (), [task.public.database for task in tasks])
    _known("instance", settings.instances or (), [task.public.instance_id for task in tasks])
    return [
        task
        for task in tasks
        if difficulty in (None, task.public.difficulty)
        and (settings.databases is None or task.public.database in settings.databases)
        and (settings.instances is None or task.public.instance_id in settings.instances)
    ]


def _cut(chosen: list[T], tasks: Sequence[T], settings: SqlSettings) -> list[T]:
    end = None if settings.limit is None else settings.offset + settings.limit
    left = chosen[settings.offset : end]
    if left:
        return left
    if not tasks:
        raise InputError("no tasks to play: the task file is empty")
    if chosen:
        raise InputError(
            f"no tasks to play: {len(chosen)} of {len(tasks)} match the filters, and offset "
            f"{settings.offset} skips all of them"
        )
    raise InputError("no tasks to play: none of the requested instances is in a requested database")


def _known(field: str, wanted: Sequence[str], present: Sequence[str]) -> None:
    names = list(dict.fromkeys(present))
    for name in wanted:
        if name not in names:
            raise InputError(f"the task file has no {field} {name!r}; it has {listed(names)}")
