"""The settings and the task list of BIRD, and its registration as a game."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from birdenv.databases import open_source
from birdenv.demo import DEMO_BIRD_FILE, demo_folder
from birdenv.dialogue import Game, Rules
from birdenv.dialogue.games import Option
from birdenv.errors import InputError
from birdenv.files import file_identity
from birdenv.grading import ExGrader, Metric
from birdenv.tasks.bird._rules import SEATS, BirdRules, task_fields
from birdenv.tasks.bird._task import BirdRecord, BirdTask, load_tasks
from birdenv.tasks.bird.measures import BIRD, DISPLAY
from birdenv.tasks.sql._actions import TURNS
from birdenv.tasks.sql._settings import SqlSettings, check_task_file, playable
from birdenv.tasks.sql._sql_task_list import SqlTasks
from birdenv.tasks.sql.markup_reading import markup_help, read_markup

_logger = logging.getLogger("birdenv")


class BirdSettings(SqlSettings):
    """The settings of a BIRD run or environment."""

    data_file: Annotated[str | None, Option(argument=True, path=True)] = Field(
        None, description="Task file (JSON or JSONL). Default: the demo."
    )
    db_dir: Annotated[str | None, Option(argument=True, path=True)] = Field(
        None, description="Folder with the databases, as <db_id>/<db_id>.sqlite."
    )
    evidence: Annotated[bool, Option(("--no-evidence",), help="Hide the hints that come with questions.")] = (
        Field(True, description="Show the hint that comes with a question.")
    )
    show_schema: Annotated[
        bool,
        Option(
            ("--no-schema",),
            help="Show only question and hint. The agent has to explore the schema by SQL, as in the "
            "reference harness.",
        ),
    ] = Field(True, description="Show the schema. Without it, agents have to explore the schema by SQL.")
    max_turns: int = Field(20, ge=1, lt=TURNS, strict=True, description="Actions per episode.")
    clean: bool = Field(False, description="Remove code fences and similar decoration before EX is computed.")
    metrics: tuple[Metric, ...] = Field((), description="Metrics to compute in addition to EX.")

    @model_validator(mode="after")
    def _has_both(self) -> BirdSettings:
        if (self.data_file is None) != (self.db_dir is None):
            raise InputError(
                "specify data_file (DATA_FILE) and db_dir (DB_DIR) together, or neither to use the demo "
                "benchmark"
            )
        return self

    def place(self) -> tuple[Path, Path]:
        """Return the paths of the task file and of the database folder."""
        if self.data_file is None or self.db_dir is None:
            return demo_folder() / DEMO_BIRD_FILE, demo_folder()
        return Path(self.data_file), Path(self.db_dir)

    def identity(self) -> Hashable:
        return file_identity(*self.place(), self.defects_file)


class BirdTasks(SqlTasks[BirdTask]):
    """The tasks to play from a BIRD file.

    Attributes:
        settings: the settings used to load the tasks.
        grader: the grader for EX and the optional metrics.
        data_folder: the folder that contains the databases.
    """

    settings: BirdSettings
    grader: ExGrader
    data_folder: Path

    def start(self, instance_id: str) -> Rules:
        settings = self.settings
        return BirdRules(
            self.tasks[instance_id],
            self.source,
            self.grader,
            evidence=settings.evidence,
            show_schema=settings.show_schema,
            max_turns=settings.max_turns,
            limits=self.limits,
        )

    def fields(self, instance_id: str) -> Mapping[str, Any]:
        public = self.public(instance_id)
        return {"index": public.index, "question_id": public.question_id}

    def skipped(self, instance_id: str) -> Mapping[str, Any]:
        result = {"ex": 0, "ex_bird": 0, **task_fields(self.tasks[instance_id])}
        return {"turns": 0, "history": [], "result": result}

    def config(self) -> dict[str, Any]:
        settings = self.settings
        metrics = {"metrics": list(settings.metrics)} if settings.metrics else {}
        return super().config() | {
            "max_turns": settings.max_turns,
            "no_evidence": not settings.evidence,
            **({} if settings.show_schema else {"no_schema": True}),
            "clean": settings.clean,
            **metrics,
        }


def load(settings: BirdSettings) -> BirdTasks:
    """Load the tasks that the settings select, and open their database source.

    Raises:
        InputError: a file, a name or a database cannot be used.
    """
    file, folder = settings.place()
    check_task_file(file)
    source = open_source(folder, settings.dialect, dsn=settings.dsn, tell=_logger.info, today=settings.today)
    try:
        everything = load_tasks(file, source.dialect)
        chosen, notes = playable(everything, settings, source)
        tasks = BirdTasks(chosen, everything, source, file, settings)
        tasks.notes += notes
        tasks.data_folder = folder
        tasks.grader = ExGrader(
            source,
            settings.limits,
            clean=settings.clean,
            metrics=settings.metrics,
            fail_doubtful=settings.fail_doubtful,
        )
        return tasks
    except BaseException:
        source.close()
        raise


GAME = Game(
    "bird",
    SEATS,
    BirdSettings,
    load,
    title="Question -> SQL, scored by execution accuracy (BIRD)",
    study_title="Answer a question with SQL",
    read_text=read_markup,
    markup_help=markup_help(("submit_sql", "execute_sql")),
    record_model=BirdRecord,
    measures=BIRD,
    display=DISPLAY,
)
