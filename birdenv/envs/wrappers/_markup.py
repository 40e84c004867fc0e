"""An environment of an SQL game in the published prompt format of c-Interact."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from birdenv.dialogue import Move
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.envs._gymnasium import DialogueEnv
from birdenv.envs._text_space import UnicodeText
from birdenv.tasks import SENDERS, clarify, submit_sql
from birdenv.tasks.sql.markup_reading import (
    TURN,
    before_next_turn,
    extract_sql,
    fence_of,
    markup_help,
    read_output,
    read_tool,
)

_PROMPT_LENGTH = 2**22

_SPEAKERS = {"user": "User", "database": "Database", "judge": "Judge"}


class Markup(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Observation: one prompt that grows from turn to turn. Action: a model's output, read by its tags.

    `<s>…</s>` asks the user. ``<t>```sqlite … ```</t>`` submits SQL, or `postgresql` where the databases are
    PostgreSQL's. Other names of SQL are read too, and a single statement without a fence; what holds no SQL
    submits `ERROR!`, as the published scripts do. An output without tags goes to the user as it is. Where no
    question is possible the prompt ends with an opened `<t>`, and the output is searched for SQL whatever its
    tags.

    The published markup has these two tags only. Where a game has other actions, their names are tags, too:
    `<execute_sql>SELECT 1</execute_sql>`, `<get_column_meaning>table|column</get_column_meaning>`.
    """

    def __init__(self, env: gymnasium.Env[dict[str, Any], dict[str, Any]]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self.observation_space = UnicodeText(_PROMPT_LENGTH)
        self.action_space = UnicodeText(MAX_TEXT)
        self._dialect = "sqlite"
        self._prompt = ""
        self._turn = 0
        self._legal: tuple[str, ...] = ()
        inner = env.unwrapped
        assert isinstance(inner, DialogueEnv)
        self._kinds = inner.kinds
        self._has_user = len(inner._arena.game.seats) > 1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._dialect = info["dialect"]
        asking = ("clarify",) if self._has_user else ()
        names = (*asking, *self._now_legal(observation))
        help_text = markup_help(names, fence_of(self._dialect))
        self._prompt = f"{observation['instruction']}\n\n{help_text}\n\n"
        self._turn = 0
        self._open_turn(observation)
        return self._prompt, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        said, inner = self._read(action)
        observation, reward, terminated, truncated, info = self.env.step(inner)
        speaker = _SPEAKERS[SENDERS[observation["sender"]]]
        self._prompt += f"{said}\n{speaker}: {observation['message']}\n\n"
        if not (terminated or truncated):
            self._open_turn(observation)
        return self._prompt, reward, terminated, truncated, info

    def _read(self, action: Any) -> tuple[str, Any]:
        """Return what the output adds to the prompt, and the action that it is."""
        if not self.action_space.contains(action):
            return "", Move("malformed")
        call = read_tool(action, self._legal)
        if call is not None:
            return call
        if "clarify" not in self._legal:
            return before_next_turn(action).strip(), submit_sql(extract_sql(action, self._dialect))
        kind, utterance = read_output(action)
        if kind == "submission":
            return utterance, submit_sql(extract_sql(action, self._dialect))
        return utterance, clarify(utterance)

    def _open_turn(self, observation: dict[str, Any]) -> None:
        self._legal = self._now_legal(observation)
        self._turn += 1
        left = observation["turns_left"] if "clarify" in self._legal else 0
        questions = f" ({left} question{'' if left == 1 else 's'} left)" if self._has_user else ""
        self._prompt += f"{TURN}{self._turn}{questions}:\nYou: "
        if self._legal == ("submit_sql",):
            self._prompt += "<t>"

    def _now_legal(self, observation: dict[str, Any]) -> tuple[str, ...]:
        mask = observation["action_mask"]
        return tuple(kind for kind, allowed in zip(self._kinds, mask, strict=True) if allowed)
