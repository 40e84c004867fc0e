"""The c-Interact environment."""

from __future__ import annotations

from gymnasium.utils import EzPickle

from birdenv.databases import Isolation
from birdenv.envs._c_interact_episodes import c_interact_episodes, find_user
from birdenv.envs._dialogue_env import DialogueEnv
from birdenv.tasks.c_interact import UserSession

__all__ = ["CInteractEnv"]


class CInteractEnv(DialogueEnv, EzPickle):
    """An ambiguous question, clarified with a simulated user, answered in SQL; then a follow-up question.

    Observation: `instruction` (rules, question, schema, knowledge; constant in an episode), `message` (the
    last reply), `sender` (index in `birdenv.tasks.SENDERS`), `phase` (1, or 2 in the follow-up), `turns_left`
    (questions), `action_mask` (legal kinds). Action: `{"kind": 0 | 1 | 2, "text": str}`, best built with
    `birdenv.clarify`, `birdenv.execute_sql`, `birdenv.submit_sql`. The reward is what the step earned: 0.7
    for the first question, 0.5 in the debug attempt; 0.3 and 0.2 for the follow-up.

    `info` holds `instance_id`, `database`, `readings` (public candidate statements) and, at the end,
    `status`, `reward` and `attempts`.

    What this class can hide and what it cannot: nothing of the gold SQL, the clear question or the user's
    ambiguities stands in an observation, in `info`, in the `spec` or in a public attribute. They are in the
    memory of the same process, though: code that searches it will find them. Let agents that you do not trust
    run in a process of their own.

    Args:
        data_dir: the benchmark's folder; the built-in demo by default.
        data: the task file, where the folder holds several or none.
        profile: `strict`, or `shell` or `adk` for the rules of the published implementations.
        patience: questions beyond one for each annotated ambiguity.
        execute_sql: allow the system to run SQL (the published protocol does not).
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
        profile: str = "strict",
        patience: int = 3,
        execute_sql: bool = False,
        user: str = "rule",
        instances: list[str] | None = None,
        databases: list[str] | None = None,
        isolation: Isolation = "inline",
        dialect: str = "sqlite",
        dsn: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            data_dir,
            data,
            profile,
            patience,
            execute_sql,
            user,
            instances,
            databases,
            isolation,
            dialect,
            dsn,
            render_mode,
        )
        episodes = c_interact_episodes(
            data_dir=data_dir,
            data=data,
            profile=profile,
            patience=patience,
            execute_sql=execute_sql,
            instances=instances,
            databases=databases,
            isolation=isolation,
            dialect=dialect,
            dsn=dsn,
        )
        super().__init__(episodes, UserSession(find_user(user)), render_mode)
