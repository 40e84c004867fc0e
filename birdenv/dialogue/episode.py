"""One episode in which the caller plays one seat: text in, text out."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from birdenv.dialogue._dialogue import Dialogue
from birdenv.dialogue._move import Move, View, as_move
from birdenv.dialogue.chat import MALFORMED, read_tool_call, tool_schemas
from birdenv.dialogue.players import Player, advance
from birdenv.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    from birdenv.dialogue.games import Game

_DIGITS = 10  # of sums of rewards
_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


class Step(NamedTuple):
    """The result of one move of the caller.

    Attributes:
        text: everything said to the caller since.
        sender: the last one who spoke.
        reward: earned by this step; the total is `Episode.reward`.
        done: the episode is over.
        truncated: a limit outside of the protocol ended it.
        question: words that wait for the caller's `answer`, where another seat is played from outside.
        malformed: the move could not be read.
    """

    text: str
    sender: str
    reward: float
    done: bool
    truncated: bool
    question: str | None = None
    malformed: bool = False


class Episode:
    """One running episode. Moves never raise for what a model does; a lost server ends it as `infra_error`.

    Attributes:
        instruction: what the caller's seat is told; constant.
        messages: the dialogue as chat messages. What a model wrote is kept whole.
    """

    def __init__(self, game: Game, dialogue: Dialogue, players: list[Player | None], seat: int) -> None:
        self._game = game
        self._dialogue = dialogue
        self._players = players
        self._seat = seat
        self._asked: int | None = None
        self._before = dialogue.rewards[seat]
        self._pending_call: str | None = None
        self._turns = 0
        view = dialogue.view(seat)
        self.instruction = view.instruction
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": view.instruction}]
        self._advance()

    def __enter__(self) -> Episode:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def view(self) -> View:
        """The view of the caller's seat."""
        return self._dialogue.view(self._seat)

    @property
    def legal(self) -> tuple[str, ...]:
        """Names of the actions that are possible now."""
        return self.view.legal

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Tool schemas of the actions that are possible now."""
        return tool_schemas(self._game.seats[self._seat], self.legal)

    @property
    def question(self) -> str | None:
        """The words that wait for `answer`, if any do."""
        return None if self._asked is None else self._dialogue.view(self._asked).message

    @property
    def reward(self) -> float:
        """The total of the caller's seat."""
        return self._dialogue.rewards[self._seat]

    @property
    def done(self) -> bool:
        """True when the episode is over."""
        return self._dialogue.is_over

    @property
    def outcome(self) -> dict[str, Any]:
        """The public result."""
        return self._dialogue.outcome()

    @property
    def events(self) -> tuple[Any, ...]:
        """The events that the caller's seat has seen."""
        return tuple(self._dialogue.heard(self._seat))

    def act(self, action: str, data: Any = None) -> Step:
        """Play an action by name, with its data.

        Raises:
            InputError: the episode is over, or another seat's words are waited for.
        """
        return self._play(Move(action, data), None)

    def call(self, message: Any) -> Step:
        """Play a model's message with one tool call; one without a single valid call is malformed."""
        found = read_tool_call(message, self._game.seats[self._seat])
        self._pending_call = found.call_id or f"call_{self._turns + 1}"
        return self._play(found.move, message, malformed=found.malformed)

    def say(self, text: str) -> Step:
        """Play a model's plain text, read by the game's markup.

        Raises:
            InputError: the game has no markup.
        """
        if self._game.read_text is None:
            raise InputError(f"{self._game.name} has no markup: use act() or call()")
        move = self._game.read_text(text, self.view)
        self._pending_call = None
        words = {"role": "assistant", "content": text}
        return self._play(move, words, malformed=move.action == MALFORMED)

    def answer(self, text: str) -> Step:
        """Answer for the seat that is played from outside.

        Raises:
            InputError: nobody has asked.
        """
        if self._asked is None:
            raise InputError("nobody waits for an answer")
        seat, self._asked = self._asked, None
        view = self._dialogue.view(seat)
        self._apply(seat, Move(view.legal[0] if view.legal else "answer", text))
        return self._result(malformed=False)

    async def aact(self, action: str, data: Any = None) -> Step:
        """Like `act`, for async callers."""
        return await self._later(self.act, action, data)

    async def acall(self, message: Any) -> Step:
        """Like `call`, for async callers."""
        return await self._later(self.call, message)

    async def asay(self, text: str) -> Step:
        """Like `say`, for async callers."""
        return await self._later(self.say, text)

    def close(self) -> None:
        """End the episode and let go of its database."""
        for player in self._players:
            close = getattr(player, "close", None)
            if callable(close):
                close()
        self._dialogue.close()

    async def _later(self, step: Any, *arguments: Any) -> Step:
        """Play in a thread; a player of another seat whose `move` is a coroutine is awaited here."""
        import asyncio  # with what it brings in, a tenth of the time in which a player's process starts

        waiting = {
            seat: player
            for seat, player in enumerate(self._players)
            if player is not None and inspect.iscoroutinefunction(player.move)
        }
        for seat in waiting:
            self._players[seat] = None
        try:
            result: Step = await asyncio.to_thread(step, *arguments)
            earned = result.reward
            while self._asked in waiting:
                seat = self._asked
                assert seat is not None
                made = await waiting[seat].move(self._dialogue.view(seat))  # type: ignore[misc]
                self._asked = None
                move = as_move(made)
                if move is None:
                    break
                await asyncio.to_thread(self._apply, seat, move)
                result = self._result(malformed=result.malformed)
                earned += result.reward
            return result._replace(reward=round(earned, _DIGITS))
        finally:
            for seat, player in waiting.items():
                self._players[seat] = player

    def _play(self, move: Move, message: Any, *, malformed: bool = False) -> Step:
        if self._dialogue.is_over:
            raise InputError("the episode is over: start another one")
        if self._asked is not None:
            raise InputError("another seat's words are waited for: call answer() first")
        self._turns += 1
        self._write(move, message)
        self._apply(self._seat, move)
        return self._result(malformed=malformed)

    def _apply(self, seat: int, move: Move) -> None:
        try:
            self._dialogue.apply(seat, move)
            self._advance()
        except InfrastructureError:
            self._dialogue.stop("infra_error")

    def _advance(self) -> None:
        self._asked = advance(self._dialogue, self._players, self._seat)

    def _result(self, *, malformed: bool) -> Step:
        dialogue = self._dialogue
        view = dialogue.view(self._seat)
        before, self._before = self._before, dialogue.rewards[self._seat]
        earned = round(self._before - before, _DIGITS)
        text, question = view.message, None
        if self._asked is None:
            self._write_reply(text)
        else:
            text, question = "", self.question
        return Step(
            text,
            view.sender,
            earned,
            dialogue.is_over,
            dialogue.truncated,
            question,
            malformed,
        )

    def _write(self, move: Move, message: Any) -> None:
        """Keep what the model wrote, whole; a bare move becomes a tool call."""
        if isinstance(message, dict) and message.get("role") == "assistant":
            self.messages.append(message)
            return
        action = self._game.seats[self._seat].by_name.get(move.action)
        self._pending_call = self._pending_call or f"call_{self._turns}"
        arguments = action.arguments_of(move.data) if action else {}
        texts = [f"{_json(name)}: {_json(value)}" for name, value in arguments.items()]
        function = {"name": move.action, "arguments": f"{{{', '.join(texts)}}}"}
        call = {"id": self._pending_call, "type": "function", "function": function}
        self.messages.append({"role": "assistant", "content": None, "tool_calls": [call]})

    def _write_reply(self, text: str) -> None:
        last = self.messages[-1]
        if last.get("tool_calls"):
            for call in last["tool_calls"]:
                identity = call.get("id") if isinstance(call, dict) else None
                self.messages.append({"role": "tool", "tool_call_id": identity, "content": text})
        else:
            self.messages.append({"role": "user", "content": text})
        self._pending_call = None
