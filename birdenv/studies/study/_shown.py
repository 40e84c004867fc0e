"""Compute the JSON data for a person's page: the constant data, and a line for each event."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from birdenv.dialogue import Action, Dialogue, Event, Game, Rules, Seat
from birdenv.dialogue.move import HOUSE
from birdenv.dialogue.people import ActionWords, Panel, table_panel

_VOICES: Final = {"judge": "Study", "database": "Database"}
_PARTNER: Final = "Partner"
_STUDY: Final = "Study"
_ENDS: Final = {
    "completed": "Your conversation is complete.",
    "no deal": "Your conversation ended without a deal.",
    "time limit": "The time for your conversation is up.",
    "event limit": "The conversation is over: no more messages can be sent.",
    "task limit reached": "The conversation is over: no more moves are possible.",
    "silence": "The conversation is over: nobody had anything more to say.",
    "left": "Your partner has left.",
}
_ENDED: Final = "Your conversation has ended."
_SLOT: Final = re.compile(r"\{(\w+)\}")


class Shown(NamedTuple):
    """An immutable snapshot of what a seat may see in a dialogue.

    Attributes:
        events: the events so far, as lines for the seat's page.
        state: the actions that are possible now, and the end of the dialogue if it is over.
    """

    events: tuple[dict[str, Any], ...]
    state: dict[str, Any]


def setup(game: Game, rules: Rules, seat: int) -> dict[str, Any]:
    """Return the constant data for a seat's page: labels, knowledge, and actions."""
    made = told(game, rules, seat)
    del made["instruction"]  # for programs; panels have what people need
    return {**made, "actions": actions(game, rules, seat)}


def show(
    dialogue: Dialogue, seat: int, numbers: Mapping[float, str], before: tuple[dict[str, Any], ...] = ()
) -> Shown:
    """Return the events and the possible actions that a seat may see now.

    Args:
        dialogue: the dialogue.
        seat: the seat.
        numbers: the ids that browsers gave to moves (`cid`), keyed by the time of the move's event. A seat
            sees only the ids of its own moves.
        before: the lines for earlier events, which are reused.
    """
    new = tuple(
        {
            "number": len(before) + place,
            "cid": numbers.get(event.time) if event.agent == seat else None,
            **line(event, seat, dialogue.rules.seats),
        }
        for place, event in enumerate(dialogue.heard(seat, len(before)))
    )
    view = dialogue.view(seat)
    state: dict[str, Any] = {
        "legal": list(view.legal),
        "left": left(dialogue.rules, seat),
        "choices": list(view.choices),
        "over": dialogue.is_over,
    }
    if dialogue.is_over:
        state |= {"status": dialogue.status, "reward": dialogue.rewards[seat]}
    return Shown((*before, *new), state)


def left(rules: Rules, seat: int) -> str:
    """Describe a seat's remaining turns and, in a game with several phases, the phase."""
    words, seats = rules.left_in_words(seat), rules.seats
    has_parts = seats[seat].phases > 1 and type(rules).left_in_words is Rules.left_in_words
    return f"Part {rules.phase()}. {words}" if has_parts else words


def told(game: Game, rules: Rules, seat: int) -> dict[str, Any]:
    """Return the information that a seat gets before the first move, as JSON data for the seat's page."""
    said, voice = rules.opening(seat)
    panels = rules.panels(seat) or _plain_panels(rules, seat)
    return {
        "guide": game.seats[seat].guide,
        "panels": [asdict(each) for each in panels],
        "instruction": rules.instruction(seat),
        "opening": said,
        "voice": _voice(game.seats[seat], voice),
        "partner": _partner(game.seats, seat),
    }


def _plain_panels(rules: Rules, seat: int) -> tuple[Panel, ...]:
    """Return panels that show a seat's knowledge and instruction, for a game that declares no panels."""
    known, instruction = rules.knowledge(seat), Panel("What you are told", rules.instruction(seat))
    if isinstance(known, Sequence) and known and all(isinstance(each, Mapping) for each in known):
        return table_panel("What you know", [dict(each) for each in known]), instruction
    if isinstance(known, Mapping):
        entries = tuple((str(name), named(value)) for name, value in known.items())
        return Panel("What you know", entries=entries), instruction
    return (instruction,)


def actions(game: Game, rules: Rules, seat: int) -> list[dict[str, Any]]:
    """Return descriptions of all actions that a seat can take in an episode, for the controls on its page."""
    scale, offered = rules.scale(seat), rules.offered(seat)
    made = []
    for action in game.seats[seat].actions:
        if action.name not in offered:
            continue
        words = _words(game.seats[seat], action)
        labels = {each.name: words.fields.get(each.name, _spelt(each.name)) for each in action.fields}
        fields = [
            {
                "name": each.name,
                "label": labels[each.name],
                "kind": each.kind,
                "low": each.low,
                "high": scale.get(each.name, each.high),
                "length": each.max_length,
                "optional": each.optional,
            }
            for each in action.fields
        ]
        said = {"label": words.label, "hint": words.hint, "place": words.place, "question": words.question}
        made.append({"name": action.name, **said, "fields": fields})
    return made


def _words(seat: Seat, action: Action) -> ActionWords:
    """Return the labels of an action and its place on the page. By default, labels follow from names."""
    words = seat.words.actions.get(action.name) or ActionWords(_spelt(action.name), action.about)
    if words.place:
        return words
    kinds = [each.kind for each in action.fields]
    place = "message" if kinds == ["text"] else "editor" if kinds == ["code"] else "more"
    if place == "message" and next(each for each in seat.actions if each.is_text) is not action:
        place = "more"  # the page has one text box
    return ActionWords(words.label, words.hint, place, words.done, words.fields, words.question)  # type: ignore[arg-type]


def _spelt(name: str) -> str:
    return name.replace("_", " ").capitalize()


def line(event: Event, seat: int, seats: Sequence[Seat]) -> dict[str, Any]:
    """Convert an event that a seat saw to a line for the seat's page.

    If the data of a move is not text, the field `said` describes the data. If the data is text but not a
    message, the field `done` is a phrase that follows the seat's name, such as "ran this SQL".
    """
    metadata: Mapping[str, Any] = event.metadata or {}
    reply = metadata.get("reply")
    made: dict[str, Any] = {
        "who": "house" if event.agent == HOUSE else "you" if event.agent == seat else "partner",
        "action": event.action,
        "data": event.data,
        "reply": reply,
        "voice": metadata.get("sender"),
        "refused": bool(metadata.get("refused")),
    }
    if event.agent == HOUSE:
        return made | {"name": _STUDY, "said": ended(str(event.data))}
    made["name"] = "You" if event.agent == seat else _partner(seats, seat)
    if reply is not None and seat < len(seats):
        made |= {"reply": seats[seat].words.reply(str(reply)), "voice": _voice(seats[seat], made["voice"])}
    mover = seats[event.agent] if 0 <= event.agent < len(seats) else None
    action = None if mover is None else mover.by_name.get(event.action)
    words = ActionWords("") if mover is None or action is None else _words(mover, action)
    if not isinstance(event.data, str):
        given = {} if action is None or event.data is None else action.arguments_of(event.data)
        return made | {"said": _filled(words.done, given) or _raw(event, given)}
    plain = event.action == "message" or words.place == "message"
    is_code = action is not None and [each.kind for each in action.fields] == ["code"]
    return made | {"done": words.done or ("" if plain else _spelt(event.action).lower()), "is_code": is_code}


def ended(status: str, seat: Seat | None = None) -> str:
    """Return a sentence for the person in a seat that says how the conversation ended."""
    own = {} if seat is None else seat.words.ends
    return own.get(status) or _ENDS.get(status, _ENDED)


def _partner(seats: Sequence[Seat], seat: int) -> str:
    """Return the name that a seat uses for its partner."""
    others = [each.name for place, each in enumerate(seats) if place != seat]
    has_other = others and seat < len(seats)
    return seats[seat].words.voices.get(others[0], _PARTNER) if has_other else _PARTNER


def _voice(seat: Seat, voice: str) -> str:
    return seat.words.voices.get(voice) or _VOICES.get(voice, _PARTNER)


def _filled(done: str, given: Mapping[str, Any]) -> str:
    """Return a description of a move with its data, or only the part before the colon if there is no data."""
    if not given and _SLOT.search(done):
        return done.partition(":")[0]
    return _SLOT.sub(lambda slot: named(given.get(slot[1], "")), done).strip()


def _raw(event: Event, given: Mapping[str, Any]) -> str:
    said = _spelt(event.action)
    if len(given) > 1:
        return f"{said}: {'; '.join(f'{name}: {named(value)}' for name, value in given.items())}"
    return said if event.data is None else f"{said}: {named(event.data)}"


def named(value: Any) -> str:
    """Format a JSON value as one line of text. The values in a list or an object are joined with commas."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return ", ".join(named(each) for each in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(named, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
