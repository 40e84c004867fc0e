"""Wrappers that change the form of observations and actions, or the rewards.

* `ChatMessages`: chat messages and tool calls, for chat models
* `Markup`: the prompt and the tags of the published c-Interact scripts
* `TurnCost`: a cost for each step
* `PotentialShaping`: potential-based reward shaping, for example with `resolved_points`
* `HiddenPrice`: candidate observations without the price of a question
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.error import InvalidAction
from gymnasium.utils import RecordConstructorArgs

from birdenv.dialogue import Move, Seat
from birdenv.dialogue.chat import as_chat_message, chat_messages, read_tool_call, tool_schemas
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.envs._gymnasium import DialogueEnv
from birdenv.envs._text_space import SpaceAsText, UnicodeText
from birdenv.envs.candidates import EpisodeColumn
from birdenv.errors import InputError
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

__all__ = ["ChatMessages", "HiddenPrice", "Markup", "PotentialShaping", "TurnCost", "resolved_points"]


Json = dict[str, Any]


class _ChatSpace(SpaceAsText[Json]):
    """A space of JSON objects of at most `max_length` characters. Only the outermost layer is checked."""

    def __init__(self, seat: Seat, max_length: int = 2**22, *, seed: int | None = None) -> None:
        super().__init__(max_length, seed=seed)
        self._seat = seat

    def encode(self, value: Json) -> str:
        return json.dumps(value)

    def decode(self, text: str) -> Json:
        decoded: Json = json.loads(text) if text else {}
        return decoded

    def _text(self) -> str:
        return UnicodeText(32, seed=int(self.np_random.integers(2**31))).sample()


class ChatPrompts(_ChatSpace):
    """The space of chat call arguments: `{"messages": [...], "tools": [...]}`."""

    def contains(self, x: Any) -> bool:
        return (
            isinstance(x, dict)
            and x.keys() == {"messages", "tools"}
            and isinstance(x["messages"], list)
            and isinstance(x["tools"], list)
        )

    def sample(self, mask: None = None, probability: None = None) -> Json:
        return {"messages": [{"role": "user", "content": self._text()}], "tools": tool_schemas(self._seat)}


class ChatReplies(_ChatSpace):
    """The space of a chat model's replies: assistant messages and bare tool calls.

    Random samples are assistant messages that call one of the seat's tools.
    """

    def contains(self, x: Any) -> bool:
        return isinstance(x, dict) and (x.get("role") == "assistant" or "name" in x or "function" in x)

    def sample(self, mask: None = None, probability: None = None) -> Json:
        action = self._seat.actions[int(self.np_random.integers(len(self._seat.actions)))]
        arguments = {field.name: self._text() for field in action.fields if field.is_text}
        call = {"name": action.name, "arguments": json.dumps(arguments)}
        tool_calls = [{"id": "call_0", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": tool_calls}


class ChatMessages(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A wrapper that converts observations to chat call arguments, and chat replies to actions.

    Observation: `{"messages": [...], "tools": [...]}`, the arguments of an OpenAI-style chat call. `messages`
    is the whole dialogue so far, as `birdenv.dialogue.chat_messages` writes it; `tools` are the schemas of
    the actions that are legal now.

    Action: an assistant message with one tool call, or a bare tool call, as a dict or as an object from the
    OpenAI or Anthropic SDK. A message that does not contain exactly one valid tool call is an illegal action.
    The message stays in `messages`, followed by a user message with the environment's answer.
    """

    def __init__(self, env: gymnasium.Env[dict[str, Any], dict[str, Any]]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        inner = env.unwrapped
        assert isinstance(inner, DialogueEnv)
        self._inner = inner
        self._seat = inner._seat
        self.observation_space = ChatPrompts(self._seat)
        self.action_space = ChatReplies(self._seat)
        self._messages: list[dict[str, Any]] = []
        self._cursor = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._messages, self._cursor = [], 0
        return self._prompt(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        try:
            message = as_chat_message(action)
        except TypeError:
            raise InvalidAction(
                f"an action must be a model's message or a tool call, got {type(action).__name__}"
            ) from None
        move = read_tool_call(message, self._seat).move
        observation, reward, terminated, truncated, info = self.env.step(move)
        return self._prompt(observation), reward, terminated, truncated, info

    def _prompt(self, observation: dict[str, Any]) -> dict[str, Any]:
        news = self._inner.heard(self._cursor)
        self._cursor += len(news)
        written = chat_messages(observation["instruction"], news, self._seat, self._inner._index)
        self._messages += written if not self._messages else written[1:]
        mask = observation["action_mask"]
        legal = [kind for kind, allowed in zip(self._seat.kinds, mask, strict=True) if allowed]
        return {"messages": deepcopy(self._messages), "tools": tool_schemas(self._seat, legal)}


_PROMPT_LENGTH = 2**22

_SPEAKERS = {"user": "User", "database": "Database", "judge": "Judge"}


class Markup(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A wrapper that collects observations in a growing prompt, and converts tags in model output to actions.

    `<s>…</s>` asks the user. ``<t>```sqlite … ```</t>`` submits SQL (`postgresql` for PostgreSQL databases).
    The backticks can be followed by other names for SQL, and can be omitted for a single statement. If a
    submission contains no SQL, `ERROR!` is submitted, as in the published scripts. Output that contains no
    tags is a question to the user. If no question is possible, the prompt ends with an opening `<t>`, and the
    whole output is searched for SQL.

    The published markup has only these two tags. For other actions, the tag is the name of the action:
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
        """Return the text that a model's output adds to the prompt, and the action in the output."""
        if not isinstance(action, str):
            raise InvalidAction(f"an action must be text, got {type(action).__name__}")
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


Potential: TypeAlias = Callable[[Any, gymnasium.Env[Any, Any]], float]
"""A function that estimates the value of a state from an observation and its environment."""

_DIGITS = 10  # rewards are rounded to this number of decimals


class TurnCost(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A wrapper that subtracts a cost from the reward of every step.

    The cost changes the optimal policy: if the cost is high, the optimal policy asks fewer questions.

    Args:
        env: any environment.
        cost: the cost per step, 0 or more.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], cost: float) -> None:
        RecordConstructorArgs.__init__(self, cost=cost)
        gymnasium.Wrapper.__init__(self, env)
        if not cost >= 0:
            raise InputError(f"cost must be at least 0, got {cost!r}")
        self._cost = cost

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, round(float(reward) - self._cost, _DIGITS), terminated, truncated, info


class PotentialShaping(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A wrapper that adds `discount * potential(after) - potential(before)` to each reward.

    The potential of a terminal state is 0, so shaping changes the returns of all policies by the same amount
    and preserves the optimal policy (Ng, Harada and Russell 1999). When an episode is truncated, the
    potential of the last state is not set to 0, because learners bootstrap from this state.

    Args:
        env: any environment.
        potential: a function of the observation and the environment, such as `resolved_points`.
        discount: the discount factor of the learning algorithm.
        scale: a factor that multiplies the potential.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], potential: Potential, discount: float = 1.0, scale: float = 1.0
    ) -> None:
        RecordConstructorArgs.__init__(self, potential=potential, discount=discount, scale=scale)
        gymnasium.Wrapper.__init__(self, env)
        self._potential = potential
        self._discount = discount
        self._scale = scale
        self._before = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = self._scale * self._potential(observation, self.env)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        after = 0.0 if terminated else self._scale * self._potential(observation, self.env)
        shaped = float(reward) + self._discount * after - self._before
        self._before = after
        return observation, round(shaped, _DIGITS), terminated, truncated, info


def resolved_points(observation: Any, env: gymnasium.Env[Any, Any]) -> float:
    """Return the fraction of a task's annotated ambiguities that the user has clarified so far.

    The annotations are private. Use this function only to shape rewards in training, never as an observation.

    Args:
        observation: not used.
        env: a c-Interact or a-Interact environment, which may be wrapped.

    Raises:
        InputError: no episode is running, or the game has no annotated ambiguities.
    """
    inner = env.unwrapped
    dialogue = inner._dialogue if isinstance(inner, DialogueEnv) else None
    points = getattr(dialogue.rules, "points", None) if dialogue is not None else None
    if points is None:
        raise InputError("resolved_points needs a running episode of c-interact or a-interact")
    settled, all_points = points()
    return settled / all_points if all_points else 1.0


class HiddenPrice(gymnasium.ObservationWrapper[dict[str, Any], Any, dict[str, Any]]):
    """A wrapper that hides the price in candidate observations, to measure the value of knowing the price."""

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of the observation in which the price is 0."""
        episode = np.array(observation["episode"])
        episode[..., EpisodeColumn.PRICE] = 0.0
        return {**observation, "episode": episode}

    def action_masks(self) -> Any:
        """Return the mask of the actions that are possible now in the wrapped environment."""
        return self.env.get_wrapper_attr("action_masks")()
