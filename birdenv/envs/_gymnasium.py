"""The Gymnasium driver: the system's seat is the environment's agent, the user is played inside `step`.

A dialogue as plain text, for `render_mode="ansi"`.

The a-Interact environment.

The BIRD environment.

The c-Interact environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from birdenv.benchmarks import DEMO_BIRD_FILE, demo_folder
from birdenv.databases import Isolation, open_source
from birdenv.dialogue import Event, Session
from birdenv.envs import _observation as system_seat
from birdenv.envs._episodes import (
    EpisodeController,
    Episodes,
    Selection,
    a_interact_episodes,
    c_interact_episodes,
    find_user,
)
from birdenv.envs._observation import TURNS
from birdenv.errors import InfrastructureError, InputError
from birdenv.grading import ExGrader
from birdenv.tasks import KINDS, SYSTEM, TOOLS, Kind, SystemView
from birdenv.tasks.bird import BirdController, load_tasks
from birdenv.tasks.c_interact import UserSession


def transcript_text(title: str, opening: str, events: Sequence[Event]) -> str:
    """The title, the user's request, then who did or said what, one entry a line or more."""
    lines = [title, f"user: {opening}"]
    for event in events:
        text = "" if event.data is None else f": {event.data}"
        lines.append(f"system, {event.action}{text}" if event.agent == SYSTEM else f"user{text}")
        if event.metadata is not None:
            lines.append(f"{event.metadata['sender']}: {event.metadata['reply']}")
    return "\n".join(lines)


class DialogueEnv(gymnasium.Env[dict[str, Any], dict[str, Any]]):
    """Drives a controller, which has the rules. `user` plays the other seat, where there is one.

    `kinds` are those of the game's actions; `budget` says whether it has one.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        episodes: Episodes,
        user: Session | None,
        render_mode: str | None,
        *,
        kinds: tuple[Kind, ...] = KINDS,
        budget: bool = False,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"unknown render_mode {render_mode!r}; known: None, 'ansi'")
        self.render_mode = render_mode
        self.observation_space: spaces.Dict = system_seat.observation_space(kinds=kinds, budget=budget)
        self.action_space: spaces.Dict = system_seat.action_space(kinds)
        self.kinds = kinds
        self._episodes = episodes
        self._user = user
        self._controller: EpisodeController | None = None
        self._title: dict[str, Any] = {}
        self._opening = ""

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """The tasks of this environment, in the order that the reset option `index` counts."""
        return self._episodes.instance_ids

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode of the task named by `options` (`instance_id` or `index`), or of a random one.

        Raises `InputError` for an option or a task that is not known.
        """
        super().reset(seed=seed)
        task = self._episodes.pick(self.np_random, options)
        self._close_episode()
        self._controller = self._episodes.start(task)
        self._title = {"instance_id": task.public.instance_id, "database": task.public.database}
        view = self._controller.view(SYSTEM)
        self._opening = view.message
        return system_seat.observation(view, kinds=self.kinds), self._info(self._controller, view)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Apply one action. What is not a member of the action space is played as an illegal action.

        Where the server under the databases is lost, the episode is truncated, with the status `infra_error`.

        Raises `gymnasium.error.ResetNeeded` where no episode is running.
        """
        controller = self._controller
        if controller is None or controller.turn is None:
            raise ResetNeeded("no episode is running: call reset() first")
        before = controller.rewards[SYSTEM]
        try:
            controller.apply(SYSTEM, system_seat.move(action, self.action_space, self.kinds))
            while self._user is not None and controller.turn not in (SYSTEM, None):
                seat = controller.turn
                controller.apply(seat, self._user.move(controller.view(seat)))
        except InfrastructureError:
            controller.abort()
        view = controller.view(SYSTEM)
        earned = controller.rewards[SYSTEM] - before
        return (
            system_seat.observation(view, kinds=self.kinds),
            round(earned, 10) if earned else 0.0,
            controller.terminated,
            controller.truncated,
            self._info(controller, view),
        )

    def render(self) -> str | None:
        """The dialogue so far (`render_mode="ansi"`)."""
        if self.render_mode is None:
            return None
        events = self._controller.events if self._controller is not None else ()
        return transcript_text(" ".join(self._title.values()), self._opening, events)

    def close(self) -> None:
        self._close_episode()
        self._episodes.close()
        super().close()

    def _info(self, controller: EpisodeController, view: SystemView) -> dict[str, Any]:
        info = {**self._title, "candidates": view.candidates}
        if controller.turn is None:
            info |= controller.outcome()
        return info

    def _close_episode(self) -> None:
        if self._controller is not None:
            self._controller.close()
            self._controller = None


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


class CInteractEnv(DialogueEnv, EzPickle):
    """An ambiguous question, clarified with a simulated user, answered in SQL; then a follow-up question.

    Observation: `instruction` (rules, question, schema, knowledge; constant in an episode), `message` (the
    last reply), `sender` (index in `birdenv.tasks.SENDERS`), `phase` (1, or 2 in the follow-up), `turns_left`
    (questions), `action_mask` (legal kinds). Action: `{"kind": 0 | 1 | 2, "text": str}`, best built with
    `birdenv.clarify`, `birdenv.execute_sql`, `birdenv.submit_sql`. The reward is what the step earned: 0.7
    for the first question, 0.5 in the debug attempt; 0.3 and 0.2 for the follow-up.

    `info` holds `instance_id`, `database`, `candidates` (public candidate statements) and, at the end,
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
