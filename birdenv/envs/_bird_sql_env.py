"""The BIRD environment."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from gymnasium.utils import EzPickle

from birdenv.benchmarks import DEMO_BIRD_FILE, demo_folder
from birdenv.databases import Isolation, open_source
from birdenv.envs._dialogue_env import DialogueEnv
from birdenv.envs._episodes import Episodes, Selection
from birdenv.envs._system_seat import TURNS
from birdenv.errors import InputError
from birdenv.grading import ExGrader
from birdenv.tasks.bird import BirdController, load_tasks

__all__ = ["BirdSqlEnv"]


class BirdSqlEnv(DialogueEnv, EzPickle):
    """A question about a database, explored with `execute_sql` and answered once with `submit_sql`.

    Observations, actions and `info` are those of `CInteractEnv`; there is one phase, `turns_left` counts
    actions, and `clarify` is never legal. The reward is execution accuracy: 1 or 0, at the submission.
    The gold SQL is hidden as in `CInteractEnv`, and within the same limits.

    Args:
        data_file: the task file (mini-dev, dev or train; JSON or JSONL); the built-in demo by default.
        db_dir: the folder of `<db_id>/<db_id>.sqlite`; given together with `data_file`.
        evidence: show the hint that comes with a question.
        max_turns: actions until the episode is truncated.
        instances: only these tasks, by `question_id` (as text; `#2` is added to the second of the same id).
        databases: only tasks on these databases.
        isolation: where SQL runs: `inline`, in this process, or `process`, in workers that can be killed (see
            the README).
        dialect: `sqlite`, or `postgres`: birdenv starts a server of its own, and loads what is missing on it
            from the folder. `isolation` says nothing then.
        dsn: another PostgreSQL server, as a connection string.
        render_mode: `ansi` makes `render()` return the dialogue as text.

    Raises `InputError` for settings, files and names that cannot be used. A pickled copy is made anew from
    the same settings; the running episode does not travel with it.
    """

    def __init__(
        self,
        data_file: str | None = None,
        db_dir: str | None = None,
        evidence: bool = True,
        max_turns: int = 20,
        instances: list[str] | None = None,
        databases: list[str] | None = None,
        isolation: Isolation = "inline",
        dialect: str = "sqlite",
        dsn: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            data_file,
            db_dir,
            evidence,
            max_turns,
            instances,
            databases,
            isolation,
            dialect,
            dsn,
            render_mode,
        )
        if (data_file is None) != (db_dir is None):
            raise InputError("give data_file and db_dir together, or neither for the built-in demo")
        if not 1 <= max_turns < TURNS:
            raise InputError(f"max_turns must be from 1 to {TURNS - 1}, got {max_turns!r}")
        source = open_source(db_dir or demo_folder(), dialect, dsn=dsn, isolation=isolation)
        tasks = load_tasks(Path(data_file or demo_folder() / DEMO_BIRD_FILE), source.dialect)
        selection = Selection(instances, databases)
        tasks = [task for task in tasks if selection.takes(task.public.instance_id, task.public.db_id)]
        selection.check()
        start = partial(
            BirdController,
            source=source,
            grader=ExGrader(source, explain=False),
            evidence=evidence,
            max_turns=max_turns,
        )
        super().__init__(Episodes(tasks, start, source), None, render_mode)
