"""The Gymnasium environment for one seat in a game. Players in the other seats move during `step`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from birdenv.dialogue import Arena, Dialogue, Event, Game, Player, View, make_game
from birdenv.dialogue import Move as _Move
from birdenv.dialogue.players import SeatError, Watched, advance, close_players, refuse_async
from birdenv.dialogue.record import Failure, end_by_fault, fault_words, left_alone
from birdenv.envs._sampling import Sampler
from birdenv.envs._seat_spaces import SeatSpaces
from birdenv.errors import InfrastructureError, InputError


class RenderModeError(InputError, TypeError):
    """Raised for an unknown render mode.

    It is a `TypeError`, so that Stable-Baselines3 retries without a render mode."""


def checked_render_mode(render_mode: str | None, known: Sequence[str]) -> str | None:
    """Return `render_mode` if it is None or one of `known`.

    Raises:
        RenderModeError: the render mode is unknown.
    """
    if render_mode is not None and render_mode not in known:
        raise RenderModeError(
            f"unknown render_mode {render_mode!r}; choose from None, {', '.join(map(repr, known))}"
        )
    return render_mode


class DialogueEnv(gymnasium.Env[dict[str, Any], Any], EzPickle):
    """An environment for one seat in any registered game.

    Observation: `instruction` (constant in an episode), `message` (all text since the last action), `sender`
    (the index of the last sender in the seat's `voices`), `phase`, `action_mask` (the legal kinds of action),
    and the remaining amount of each limited resource, such as `turns_left`. Action: a dict
    `{"kind": ..., "text": ...}`, or a `birdenv.Move`. The reward of a step is what the seat earned in the
    step.

    `info` contains `instance_id` and the game's public fields. After a refused action, `info` also contains
    `refused` (`illegal`, `too_long`, `empty`, `malformed`, `unknown`, or `rules` if the game's rules refused
    the action). At the end of an episode, it also contains the public outcome.

    Observations, `info`, `spec` and public attributes never contain the private part of a task, such as its
    gold SQL. However, the private part is in the memory of the same process, where malicious code can
    find it. Run untrusted agents in a separate process.

    Pickling preserves the settings but not the running episode.

    Args:
        game: the name of the game.
        seat: the name of the agent's seat; by default, the evaluated seat.
        render_mode: `ansi` makes `render()` return the dialogue as text; `human` prints the new part after
            every reset and step.
        sampling: the tasks that resets without options draw, and their weights; see `sample_tasks`.
        **settings: the game's settings, and the players in the other seats as arguments named after the
            seats.

    Attributes:
        kinds: the names of the seat's actions. The index of a name is the `kind` of an action.

    Raises:
        InputError: settings, files or names cannot be used.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        seat: str | None = None,
        render_mode: str | None = None,
        sampling: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        EzPickle.__init__(self, game, seat, render_mode, sampling, **settings)
        self.render_mode = checked_render_mode(render_mode, self.metadata["render_modes"])
        self._arena: Arena = make_game(game, **settings)
        refuse_async(self._arena.players.values())
        self._sampler = Sampler(self._arena, sampling)
        played: Game = self._arena.game
        self._index = played.evaluated if seat is None else played.seat_index(seat)
        self._seat = played.seats[self._index]
        self.kinds = self._seat.kinds
        self._has_choices = self._seat.items > 0
        self._has_others = len(played.seats) > 1
        self._spaces = SeatSpaces(self._seat)
        self.observation_space: spaces.Dict = self._spaces.observations
        self.action_space: spaces.Dict = self._spaces.actions
        self._dialogue: Dialogue | None = None
        self._players: list[Player | None] = []
        self._title: dict[str, Any] = {}
        self._seed, self._episodes = 0, 0
        self._printed = 0

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """Return the task ids. The reset option `index` is an index into this tuple."""
        return self._arena.ids

    def sample_tasks(self, sampling: Mapping[str, Any] | None) -> None:
        """Set the tasks that later resets draw and their weights, for example for a curriculum.

        Args:
            sampling: a mapping with some of the keys `instance_id`, `database` and `difficulty`, each with a
                name, a list of names, or a mapping from names to weights. A task is drawn only if every key
                selects it, and its weights from all keys are multiplied. None makes all tasks equally likely.

        Raises:
            InputError: a name or a weight cannot be used, or no task is left to draw.
        """
        self._sampler = Sampler(self._arena, sampling)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode with a random task, or with the task that `options` selects.

        If another seat moves first and ends the dialogue before the agent can act, the dialogue is restarted,
        and the agent moves first.

        Args:
            seed: the seed for the choice of tasks and for the players in the other seats.
            options: the keys of `sample_tasks`, for this reset only, or `index`, the index of a task in
                `instance_ids`.

        Raises:
            InputError: an option or a task is not known.
        """
        view, info = self._begin(seed, options)
        return self._spaces.observation(view), info

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play the agent's action.

        An action is refused if it is not legal now, or if its text is too long or empty. The protocol decides
        what a refused action costs, and `info["refused"]` gives the reason. An infrastructure failure
        (`infra_error`) or a failure of another seat's player (`partner error`), such as a user who leaves,
        truncates the episode and sets `info["void"]`; exclude these episodes from training.

        Raises:
            InvalidAction: the action is not in the action space: a wrong type, a missing key, or a kind out
                of range.
            ResetNeeded: no episode is running.
        """
        view, reward, terminated, truncated, info = self._play(action)
        return self._spaces.observation(view), reward, terminated, truncated, info

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> tuple[View, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._episodes = seed, 0
        name = self._sampler.draw(self.np_random, options)
        self._title = dict(self._arena._tasks.info(name))
        dialogue = self._start(name)
        may_begin = self._index in dialogue.open
        advance(dialogue, self._watched, self._index)
        if may_begin and not dialogue.open:
            dialogue = self._start(name)
        self._episodes += 1
        view = dialogue.view(self._index)
        self._printed = 0
        if self.render_mode == "human":
            self.render()
        return view, self._info(dialogue, view)

    def _start(self, name: str) -> Dialogue:
        """Start a dialogue about a task, with its players."""
        self._close_episode()
        dialogue = self._dialogue = self._arena.start(name)
        players = self._arena.seat_players(
            dialogue, name, seed=self._seed, repeat=self._episodes, but=self._index
        )
        self._players = players
        self._watched = [
            None if player is None else Watched(player, seat) for seat, player in enumerate(players)
        ]
        return dialogue

    def _play(self, action: Any) -> tuple[View, float, bool, bool, dict[str, Any]]:
        dialogue = self._dialogue
        if dialogue is None or not dialogue.open:
            raise ResetNeeded("no episode is running: call reset() first")
        index, rules = self._index, dialogue.rules
        before = rules.rewards[index]
        made: _Move | None
        if self._spaces.has_text_only:
            made = self._spaces.move(action)
        else:
            choices = dialogue.view(index).choices if self._has_choices else ()
            made = self._spaces.move(action, choices, rules.scale(index))
        refused: str | None = None
        fault: Failure | None = None
        try:
            if made is not None:
                dialogue.apply(index, made)
                refused = dialogue.refused
            if self._has_others:
                advance(dialogue, self._watched, index)
                fault = left_alone(dialogue, self._watched, index)
        except (InfrastructureError, SeatError) as error:
            fault = end_by_fault(dialogue, error)
        view = dialogue.view(index)
        earned = rules.rewards[index] - before
        truncated = rules.truncated
        if fault is not None:
            view = view._replace(message=fault_words(fault))
        if self.render_mode == "human":
            self.render()
        return (
            view,
            round(earned, 10) if earned else 0.0,
            not (dialogue.open or truncated),
            truncated,
            self._info(dialogue, view, refused, fault),
        )

    def heard(self, after: int = 0) -> tuple[Event, ...]:
        """Return the events that the agent's seat has seen, skipping the first `after` events."""
        return self._dialogue.heard(self._index, after) if self._dialogue is not None else ()

    def render(self) -> str | None:
        """Return the dialogue so far (`ansi`), or print the text added since the last call (`human`)."""
        if self.render_mode is None:
            return None
        text = transcript_text(self._title, self._dialogue, self._index)
        if self.render_mode == "ansi":
            return text
        if len(text) > self._printed:
            print(text[self._printed :].lstrip("\n"))
            self._printed = len(text)
        return None

    def close(self) -> None:
        """End the episode and release the game's databases."""
        self._close_episode()
        self._arena.close()

    def _info(
        self, dialogue: Dialogue, view: View, refused: str | None = None, fault: Failure | None = None
    ) -> dict[str, Any]:
        info = {**self._title, **view.extras}
        if not dialogue.open:
            info |= dialogue.outcome()
        if refused is not None:
            info["refused"] = refused
        if fault is not None:
            info |= {"status": fault.status, "void": True}
        return info

    def _close_episode(self) -> None:
        close_players(self._players)
        self._players = []
        if self._dialogue is not None:
            self._dialogue.close()


class _OfOneGame(DialogueEnv):
    _game: ClassVar[str]

    def __init__(self, render_mode: str | None = None, seat: str | None = None, **settings: Any) -> None:
        super().__init__(self._game, seat, render_mode, **settings)
        EzPickle.__init__(self, render_mode, seat, **settings)


class CInteractEnv(_OfOneGame):
    """c-Interact: clarify an ambiguous request with a user, answer it in SQL, then answer a follow-up.

    Actions: `birdenv.clarify`, `birdenv.submit_sql` and, with `execute_sql=True`, `birdenv.execute_sql`.
    Rewards: 0.7 for the request and 0.3 for the follow-up, or 0.5 and 0.2 in the debug attempt.
    `info["candidates"]` contains public candidate statements, if the benchmark has any.

    Settings: `data_dir`, `data`, `profile` (`strict`, `shell`, `adk`), `patience`, `execute_sql`, `user`,
    `user_sees`, `instances`, `databases`, `leave_out`, `ungraded`, `strict_data`, `today`,
    `fail_doubtful`, `dialect`, `dsn`; see `docs/agents-and-users.md`.
    """

    _game = "c-interact"


class AInteractEnv(_OfOneGame):
    """a-Interact: the tasks of c-Interact, with nine tools whose costs are deducted from a budget.

    Actions: the actions of `CInteractEnv`, and `birdenv.get_schema`, `get_all_column_meanings`,
    `get_column_meaning`, `get_all_external_knowledge_names`, `get_knowledge_definition` and
    `get_all_knowledge_definitions`. Rewards: 0.7 for the request and 0.3 for the follow-up, regardless of the
    number of attempts.

    Settings: the settings of `CInteractEnv`, except `execute_sql`.
    """

    _game = "a-interact"


class BirdSqlEnv(_OfOneGame):
    """BIRD: answer a question about a database with `submit_sql`, after exploring it with `execute_sql`.

    An episode has one phase. `turns_left` is the number of actions left, and `clarify` is never legal. The
    reward is 1 if the submission is correct by execution accuracy, and 0 otherwise.

    Settings: `data_file`, `db_dir`, `evidence`, `show_schema`, `max_turns`, `instances`, `databases`,
    `leave_out`, `ungraded`, `strict_data`, `today`, `fail_doubtful`, `dialect`, `dsn`.
    """

    _game = "bird"


def transcript_text(title: Mapping[str, Any], dialogue: Dialogue | None, index: int) -> str:
    """Return a dialogue as text: a title, the opening, and every action and message with its speaker.

    Args:
        title: a mapping whose values form the first line, such as the task id.
        dialogue: the dialogue; None before the first episode.
        index: the index of the seat from whose point of view the dialogue is written.
    """
    lines = [" ".join(str(value) for value in title.values())]
    if dialogue is None:
        return lines[0]
    seats = dialogue.rules.seats
    opening, voice = dialogue.rules.opening(index)
    if opening:
        lines.append(f"{voice}: {opening}")
    for event in dialogue.events:
        text = "" if event.data is None else f": {event.data}"
        if event.agent < 0:
            lines.append(f"{event.action}{text}")
            continue
        seat = seats[event.agent]
        lines.append(f"{seat.name}{text}" if len(seat.actions) == 1 else f"{seat.name}, {event.action}{text}")
        if event.metadata is not None:
            lines.append(f"{event.metadata['sender']}: {event.metadata['reply']}")
    return "\n".join(lines)
