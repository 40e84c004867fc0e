"""The a-Interact environment."""

from __future__ import annotations

from gymnasium.utils import EzPickle

from birdenv.databases import Isolation
from birdenv.envs._c_interact_episodes import a_interact_episodes, find_user
from birdenv.envs._dialogue_env import DialogueEnv
from birdenv.tasks import TOOLS
from birdenv.tasks.c_interact import UserSession

__all__ = ["AInteractEnv"]


class AInteractEnv(DialogueEnv, EzPickle):
    """An ambiguous question, answered in SQL with nine tools that cost budget; then a follow-up question.

    Observations are those of `CInteractEnv`, with `budget` (shape (1,), what is left to spend) and an
    `action_mask` over nine kinds; `instruction` holds neither schema nor knowledge, which are read with
    tools, and `turns_left` says how many questions the budget would pay for. Action: `{"kind": 0 .. 8,
    "text": str}`, where `kind` is the index in `birdenv.tasks.TOOLS`, best built with `birdenv.clarify`,
    `execute_sql`, `submit_sql`, `get_schema`, `get_all_column_meanings`, `get_column_meaning`,
    `get_all_external_knowledge_names`, `get_knowledge_definition`, `get_all_knowledge_definitions`. The
    reward is what the step earned: 0.7 for the first question, 0.3 for the follow-up, at any attempt.
    Prices and the rules at the end of the budget stand at `birdenv.tasks.a_interact.AInteractController`.

    `info` is that of `CInteractEnv`, with `budget` (the whole of it) and `budget_used` at the end. The gold
    SQL is hidden as there, and within the same limits.

    Args:
        data_dir: the benchmark's folder; the built-in demo by default.
        data: the task file, where the folder holds several or none.
        patience: each unit adds 2 to the budget of 6 and 2 for each annotated ambiguity.
        user: name of the simulated user: `rule`.
        instances: only these tasks.
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
        data_dir: str | None = None,
        data: str | None = None,
        patience: int = 3,
        user: str = "rule",
        instances: list[str] | None = None,
        databases: list[str] | None = None,
        isolation: Isolation = "inline",
        dialect: str = "sqlite",
        dsn: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self, data_dir, data, patience, user, instances, databases, isolation, dialect, dsn, render_mode
        )
        episodes = a_interact_episodes(
            data_dir=data_dir,
            data=data,
            patience=patience,
            instances=instances,
            databases=databases,
            isolation=isolation,
            dialect=dialect,
            dsn=dsn,
        )
        super().__init__(episodes, UserSession(find_user(user)), render_mode, kinds=TOOLS, budget=True)
