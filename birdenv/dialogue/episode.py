"""An episode in which the caller plays one seat, move by move."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from birdenv.dialogue._one_move import OneMove
from birdenv.dialogue.chat import MALFORMED, MessageLog, as_chat_message, read_tool_call, tool_schemas
from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.move import Move, Step, View, as_move
from birdenv.dialogue.players import SILENT_ROUNDS, Player, SeatError, Watched, advance, close_players
from birdenv.dialogue.record import Failure, Records, end_by_fault, fault_words, left_alone, record_episode
from birdenv.dialogue.usage import Usage, usage_of
from birdenv.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    from birdenv.dialogue.games import Game, TaskList

_DIGITS: Final = 10  # sums of rewards are rounded to this number of decimals


class Episode:
    """An episode in which the caller plays one seat. Output from a model never raises an error.

    If the infrastructure or the player of another seat fails, the episode ends: the step is `void`, and
    `error` describes the failure. A move raises `InputError` while another move in the same episode is under
    way. If a call to `aact`, `acall` or `asay` is cancelled, its move is still played to the end.

    Attributes:
        instance_id: the id of the task.
        instruction: the instruction for the caller's seat.
        messages: the dialogue as chat messages. Messages that a model wrote are kept unchanged.
        breakdown: the reward that the caller's seat earned in each phase, keyed by phase number (from 1).
    """

    def __init__(
        self,
        game: Game,
        tasks: TaskList,
        instance_id: str,
        dialogue: Dialogue,
        players: list[Player | None],
        names: Sequence[str],
        seat: int,
    ) -> None:
        self.instance_id = instance_id
        self.breakdown: dict[int, float] = {}
        self._game = game
        self._tasks = tasks
        self._dialogue = dialogue
        self._players = players
        self._names = names
        self._seat = seat
        self._asked: int | None = None
        self._before = dialogue.rewards[seat]
        self._turns = 0
        self._broken: Failure | None = None
        self._started = time.perf_counter()
        self._moving = OneMove()
        self._phase = 1
        self._async = [
            each
            for each, player in enumerate(players)
            if player is not None and inspect.iscoroutinefunction(player.move)
        ]
        self._watched = [
            None if player is None else Watched(player, each) for each, player in enumerate(players)
        ]
        self._inside = [  # `_awaited` asks the asynchronous players
            None if each in self._async else player for each, player in enumerate(self._watched)
        ]
        view = dialogue.view(seat)
        self.instruction = view.instruction
        self._log = MessageLog(view.instruction, game.seats[seat])
        self.messages = self._log.messages
        self._asked = advance(dialogue, self._inside, seat)

    def __enter__(self) -> Episode:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def view(self) -> View:
        """Return everything that the caller's seat may see now."""
        return self._dialogue.view(self._seat)

    @property
    def legal(self) -> tuple[str, ...]:
        """Return the names of the actions that are possible now for the caller's seat."""
        return self.view.legal

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Return the actions that are possible now as tool schemas, in chat completions format."""
        return tool_schemas(self._game.seats[self._seat], self.legal)

    @property
    def question(self) -> str | None:
        """Return the question to answer on behalf of the other seat, or None if no question is pending."""
        return None if self._asked is None else self._dialogue.view(self._asked).message

    @property
    def reward(self) -> float:
        """Return the reward that the caller's seat has earned so far."""
        return self._dialogue.rewards[self._seat]

    @property
    def done(self) -> bool:
        """Return True if the episode is over."""
        return self._dialogue.is_over

    @property
    def status(self) -> str:
        """Return the reason why the episode is over, or an empty string while it is running."""
        return self._broken.status if self._broken else self._dialogue.status

    @property
    def error(self) -> str | None:
        """Return a description of the failure that ended the episode; None if there was no failure.

        Do not show the description to a policy, because it may reveal the solution.
        """
        return self._broken.error if self._broken else None

    @property
    def truncated(self) -> bool:
        """Return True if the episode was ended by a limit that is not part of the protocol."""
        return self._dialogue.truncated

    @property
    def usage(self) -> dict[str, Usage]:
        """Return the model usage that the players in the other seats report, keyed by seat name."""
        return {
            self._game.seats[seat].name: used
            for seat, used in enumerate(map(usage_of, self._players))
            if used is not None
        }

    @property
    def outcome(self) -> dict[str, Any]:
        """Return the public result of the episode."""
        return self._dialogue.outcome()

    @property
    def events(self) -> tuple[Any, ...]:
        """Return the events that the caller's seat has seen, oldest first."""
        return tuple(self._dialogue.heard(self._seat))

    def act(self, action: str, data: Any = None) -> Step:
        """Play an action, and return the resulting step.

        Args:
            action: the name of the action, such as `clarify`.
            data: the data of the action (see `Action`).

        Raises:
            InputError: the episode is over, another move is under way, or a question must be answered first
                (see `answer`).
        """
        with self._one_move(made_by_caller=True):
            return self._play(Move(action, data))

    def call(self, message: Any) -> Step:
        """Play the tool call in a model's message, and return the resulting step.

        A message without exactly one valid call counts as a malformed move.

        Args:
            message: a chat message as a dict, or the object that the OpenAI SDK (chat completions, Responses)
                or the Anthropic SDK returned.

        Raises:
            TypeError: `message` is not a model's message.
            InputError: as in `act`.
        """
        found = as_chat_message(message)
        with self._one_move(made_by_caller=True):
            return self._call(found)

    def say(self, text: str) -> Step:
        """Play the move that a model wrote in the game's markup, and return the resulting step.

        Raises:
            InputError: the game has no markup; or as in `act`.
        """
        with self._one_move(made_by_caller=True):
            return self._say(text)

    def answer(self, text: str) -> Step:
        """Answer the pending `question` on behalf of the other seat, and return the resulting step.

        Raises:
            InputError: no question is pending.
        """
        with self._one_move():
            if self._asked is None:
                raise InputError("there is no question to answer: call act(), call() or say()")
            seat, self._asked = self._asked, None
            view = self._dialogue.view(seat)
            self._apply(seat, Move(view.legal[0] if view.legal else "answer", text))
            return self._result(malformed=False)

    def stop(self, status: str = "stopped") -> None:
        """End a running episode as truncated, and set its status to `status`."""
        with self._one_move():
            self._dialogue.stop(status)

    def record(self, agent: str = "") -> Records:
        """Return the records of a finished episode, for `birdenv.runs.write_run`.

        Args:
            agent: the name of the caller's policy.

        Raises:
            InputError: the episode is not over yet. Call `stop` to end it.
        """
        if not self.done:
            raise InputError("the episode is not over: play it to the end, or call stop()")
        names = list(self._names)
        names[self._seat] = agent
        used = [None if player is None else usage_of(player) for player in self._players]
        return record_episode(
            self._game,
            self._tasks,
            self.instance_id,
            self._dialogue,
            self._players,
            names,
            used,
            self._broken,
            self._started,
        )

    async def aact(self, action: str, data: Any = None) -> Step:
        """Async version of `act`: play an action without blocking the event loop."""
        return await self._later(lambda: self._play(Move(action, data)))

    async def acall(self, message: Any) -> Step:
        """Async version of `call`: play a model's tool call without blocking the event loop."""
        found = as_chat_message(message)
        return await self._later(lambda: self._call(found))

    async def asay(self, text: str) -> Step:
        """Async version of `say`: play a move in the game's markup without blocking the event loop."""
        return await self._later(lambda: self._say(text))

    def close(self) -> None:
        """End the episode, and release its players and its database."""
        close_players(self._players)
        self._dialogue.close()

    def _one_move(self, *, made_by_caller: bool = False) -> OneMove:
        if self._async and made_by_caller:
            names = ", ".join(self._names[seat] for seat in self._async)
            raise InputError(f"{names} is asynchronous: play with aact(), acall() or asay()")
        return self._moving

    async def _later(self, play: Callable[[], Step]) -> Step:
        return await self._moving.in_threads(self._awaited, play)

    async def _awaited(self, thread: Callable[..., Awaitable[Any]], play: Callable[[], Step]) -> Step:
        """Play a move in a thread, but let asynchronous players move in the event loop of the caller."""
        step: Step = await thread(play)
        earned = step.reward
        while self._asked in self._async:
            seat = self._asked
            assert seat is not None
            player = self._watched[seat]
            assert player is not None
            must_move = self._seat not in self._dialogue.open
            try:
                for _ in range(SILENT_ROUNDS if must_move else 1):  # as in `advance`
                    if (move := await player.move_later(self._dialogue.view(seat))) is not None:
                        break
            except (InfrastructureError, SeatError) as error:
                self._asked = None
                self._broken = end_by_fault(self._dialogue, error)
            else:
                self._asked = None
                if move or must_move:
                    await thread(self._apply, seat, move)
            step = self._result(malformed=step.malformed)
            earned += step.reward
        return step._replace(reward=round(earned, _DIGITS))

    def _call(self, message: Any) -> Step:
        found = read_tool_call(message, self._game.seats[self._seat])
        self._log.pending_call = found.call_id or f"call_{self._turns + 1}"
        return self._play(found.move, message, malformed=found.malformed)

    def _say(self, text: str) -> Step:
        if self._game.read_text is None:
            raise InputError(f"{self._game.name} has no markup: use act() or call()")
        move = self._game.read_text(text, self.view)
        self._log.pending_call = None
        words = {"role": "assistant", "content": text}
        return self._play(move, words, malformed=move.action == MALFORMED)

    def _play(self, move: Move, message: Any = None, *, malformed: bool = False) -> Step:
        if self._dialogue.is_over:
            raise InputError("the episode is over: start a new one")
        if self._asked is not None:
            raise InputError("another seat has to answer a question first: call answer()")
        as_move(move)  # raises an error if the action is no text
        self._turns += 1
        self._phase = self.view.phase
        self._log.write(move, message, self._turns)
        self._apply(self._seat, move)
        return self._result(malformed=malformed)

    def _apply(self, seat: int, move: Move | None) -> None:
        """Play a move and let the other players answer, or end the dialogue if the move is None."""
        try:
            if move is None:
                self._dialogue.stop("silence")
            else:
                self._dialogue.apply(seat, move)
            self._asked = advance(self._dialogue, self._inside, self._seat)
            self._broken = left_alone(self._dialogue, self._watched, self._seat)
        except (InfrastructureError, SeatError) as error:
            self._broken = end_by_fault(self._dialogue, error)

    def _result(self, *, malformed: bool) -> Step:
        dialogue = self._dialogue
        view = dialogue.view(self._seat)
        before, self._before = self._before, dialogue.rewards[self._seat]
        earned = round(self._before - before, _DIGITS)
        if earned:
            total = self.breakdown.get(self._phase, 0.0) + earned
            self.breakdown[self._phase] = round(total, _DIGITS)
        text = view.message if self._broken is None else fault_words(self._broken)
        if (question := self.question) is None:
            self._log.write_reply(text)
        else:
            text = ""
        return Step(
            text,
            view.sender,
            earned,
            dialogue.is_over,
            dialogue.truncated,
            question,
            malformed,
            self._broken is not None,
        )
