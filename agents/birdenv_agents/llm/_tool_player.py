"""The player whose model calls tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from birdenv.dialogue import Event, Move, PlayerContext, Seat, View
from birdenv.dialogue.chat import MALFORMED, NO_CALL, chat_messages, read_tool_call, tool_schemas
from birdenv.dialogue.games import find_game
from birdenv.llm import Completion, ContextOverflowError
from birdenv_agents.llm._model_seat import LEFT_OUT, ModelSeat

_SAID: Final[Mapping[str, str]] = {
    "no call": "Your message has no tool call.",
    "several calls": "Your message has several tool calls; none was carried out.",
    "unknown tool": "There is no such tool.",
    "bad arguments": "The arguments do not fit the tool.",
    "empty answer": "Your message is empty.",
    "cut off": "Your message was cut off because it was too long.",
    "refusal": "You declined to answer.",
}
"""The feedback to a model whose message is not a move, by the kind of fault."""

_UNREAD: Final = {NO_CALL: "no call", MALFORMED: "bad arguments"}
"""The kinds of faults of unreadable moves in a log."""


class ToolPlayer:
    """A player that sends its model the dialogue as chat messages, and reads the tool call in each answer.

    An answer without exactly one valid call becomes a malformed move, whose cost depends on the game's rules.
    The next message then tells the model what was expected.

    Args:
        model: the name of the model; empty for the model in the run's settings.
        context: the game, the task and the seat.
    """

    def __init__(self, model: str, context: PlayerContext) -> None:
        self._model = ModelSeat(model, context)
        self._seat: Seat = find_game(context.game).seats[context.seat]
        self._history: History | None = None
        self._fault = ""
        self._system = self._model.prompt("tools").render(
            game=context.game,
            tools=self._seat.kinds,
            question=getattr(context.scenario, "question", ""),
        )
        self.usage = self._model.usage
        self.faults = self._model.faults

    def move(self, view: View) -> Move:
        """Request a move from the model, and return the move."""
        history = self._told(view)
        tools = tool_schemas(self._seat, view.legal)
        while True:
            try:
                completion = self._model.chat.complete(history.messages(), tools)
                break
            except ContextOverflowError:
                if not history.shorten():
                    self._model.fault("context overflow")
                    raise
                self._model.fault("history shortened")
        history.add(completion.history())
        found = read_tool_call(
            {"content": words(completion), "tool_calls": list(completion.tool_calls)}, self._seat
        )
        self._fault = fault_of(completion, self._seat) if found.malformed else ""
        if self._fault:
            self._model.fault(self._fault)
        return found.move

    def remember(self, view: View, move: Move) -> None:
        """Add a move to the history as if the model had made it, without sending a request to the model."""
        history = self._told(view)
        seat = view.seat
        event = Event(seat, len(view.heard), move.action, move.data)
        history.add(chat_messages("", [event], self._seat, seat)[-1])
        self._fault = _UNREAD.get(move.action, "")

    def _told(self, view: View) -> History:
        """Return the history, extended by the new events of a view."""
        if self._history is None:
            self._history = History(self._system, view.instruction)
        else:
            self._history.reply(self._said(view))
        return self._history

    def _said(self, view: View) -> str:
        if not self._fault:
            return view.message
        expected = f"Expected exactly one tool call, to one of: {', '.join(view.legal)}."
        return f"{_SAID[self._fault]} {expected}\n{view.message}"


def words(completion: Completion) -> str:
    """Return the text of a completion, or the refusal if the model refused to answer."""
    return completion.content or completion.refusal


def fault_of(completion: Completion, seat: Seat) -> str:
    """Return the kind of fault that makes a model's message unreadable as a move."""
    calls = completion.tool_calls
    if completion.finish_reason == "length":
        return "cut off"
    if completion.refusal or completion.finish_reason == "content_filter":
        return "refusal"
    if len(calls) > 1:
        return "several calls"
    if not calls:
        return "no call" if completion.content.strip() else "empty answer"
    function = calls[0].get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    return "bad arguments" if isinstance(name, str) and name in seat.by_name else "unknown tool"


class History:
    """The history of a dialogue as chat messages.

    The first messages are followed by exchanges, each of which is a message from the model and the replies to
    that message. The oldest exchanges can be dropped if the dialogue gets too long.

    Args:
        system: the system message.
        instruction: the first user message.
    """

    def __init__(self, system: str, instruction: str) -> None:
        self._head = [{"role": "system", "content": system}, {"role": "user", "content": instruction}]
        self._exchanges: list[list[dict[str, Any]]] = []
        self._was_shortened = False

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages to send. Their roles alternate, because some servers require this."""
        system, instruction = self._head
        if self._was_shortened:
            instruction = instruction | {"content": f"{instruction['content']}\n\n{LEFT_OUT}"}
        return [system, instruction, *(message for each in self._exchanges for message in each)]

    def add(self, message: dict[str, Any]) -> None:
        """Add a message from the model."""
        self._exchanges.append([message])

    def reply(self, text: str) -> None:
        """Add a reply as the result of each tool call or, if there are no calls, as a user message."""
        exchange = self._exchanges[-1]
        calls: Sequence[Mapping[str, Any]] = exchange[0].get("tool_calls", ())
        if not calls:
            exchange.append({"role": "user", "content": text})
        for call in calls:
            exchange.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    def shorten(self) -> bool:
        """Drop the older half of the exchanges, and return True; return False if there are fewer than two."""
        if len(self._exchanges) < 2:
            return False
        del self._exchanges[: len(self._exchanges) // 2]
        self._was_shortened = True
        return True
