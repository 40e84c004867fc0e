"""The task list of an SQL game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from birdenv.databases import DatabaseSource
from birdenv.dialogue.games import TaskList
from birdenv.files import file_digest
from birdenv.grading import GRADER_VERSION
from birdenv.tasks.sql._settings import SqlSettings, SqlTask

T = TypeVar("T", bound=SqlTask)


class SqlTasks(TaskList, Generic[T]):
    """The tasks in one file, with the databases that they are played on.

    Attributes:
        tasks: the tasks to play, keyed by instance id.
        source: the source that opens the databases.
        data_file: the path of the task file.
        settings: the settings that selected the tasks.
        limits: the limits for running one statement.
        everything: all tasks in the file, including tasks that are not selected.
    """

    def __init__(
        self,
        tasks: Sequence[T],
        everything: Sequence[T],
        source: DatabaseSource,
        data_file: Path,
        settings: SqlSettings,
    ) -> None:
        super().__init__([task.public.instance_id for task in tasks])
        self.tasks = {task.public.instance_id: task for task in tasks}
        self.source = source
        self.data_file = data_file
        self.settings = settings
        self.limits = settings.limits
        self.everything = everything

    def public(self, instance_id: str) -> Any:
        return self.tasks[instance_id].public

    def private(self, instance_id: str) -> Any:
        return self.tasks[instance_id].private  # type: ignore[attr-defined]

    def all_public(self) -> Sequence[Any]:
        return [task.public for task in self.everything]

    def is_graded(self, instance_id: str) -> bool:
        return self.tasks[instance_id].has_gold

    def scenario(self, instance_id: str) -> Mapping[str, Any]:
        public = self.public(instance_id)
        return {"uuid": instance_id, "database": public.database, "question": public.question}

    def info(self, instance_id: str) -> Mapping[str, Any]:
        database = self.public(instance_id).database
        return {"instance_id": instance_id, "database": database, "dialect": self.source.dialect}

    def facts(self, instance_id: str) -> Mapping[str, Any]:
        public = self.public(instance_id)
        return {"database": public.database, "difficulty": public.difficulty}

    def fields(self, instance_id: str) -> Mapping[str, Any]:
        return {"index": self.public(instance_id).index}

    def config(self) -> dict[str, Any]:
        databases = sorted({task.public.database for task in self.tasks.values()})
        return {
            "data_file": str(self.data_file),
            **self.settings.selection(),
            "data_sha256": file_digest(self.data_file),
            "databases_sha256": {name: self.source.digest(name) for name in databases},
            **self.source.config(),
            "grader": GRADER_VERSION,
            "sql_timeout_s": self.settings.sql_timeout,
            **({"today": self.settings.today} if self.settings.today else {}),
            **({"fail_doubtful": True} if self.settings.fail_doubtful else {}),
        }

    def close(self) -> None:
        self.source.close()
