"""Measure how well a player predicts the moves in recorded dialogues, as CoCoA tests its models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from statistics import median
from time import process_time
from typing import Any, Final, Protocol, runtime_checkable

from birdenv.cocoa.acts import Act, Listener, Transcripts
from birdenv.dialogue import Move, View
from birdenv.dialogue.dialogue import spoken
from birdenv.dialogue.move import Event, as_move
from birdenv.dialogue.players import Player, PlayerFactory, close_players
from birdenv.statistics import Figure, Interval, Ratio, ratio_figure

_LEAST: Final = 1e-9  # a probability, so that one surprise does not make the perplexity infinite
_NEAR: Final = 0.05  # the largest relative difference of prices that count as equal


@runtime_checkable
class PredictsActs(Protocol):
    """A player that assigns probabilities to acts.

    Attributes:
        is_greedy: True to choose the most probable act, False to sample an act. `predict_moves` sets it.
    """

    is_greedy: bool

    def probabilities(self, view: View) -> Mapping[Act, float]:
        """Return the probability of each act that the player can make next, given the seat's view."""
        ...


@runtime_checkable
class PredictsWords(Protocol):
    """A player that assigns probabilities to words."""

    def surprise(self, view: View, move: Move) -> tuple[Sequence[float], Sequence[float]]:
        """Return negative log-probabilities: a list for the tokens before a move, and a list for the move.

        The first list begins after the seat's previous move.
        """


@dataclass
class MovePredictions:
    """The results of comparing predicted moves with recorded moves.

    Attributes:
        dialogues: the number of dialogues.
        moves: the number of recorded moves, excluding moves that the rules forbid.
        silent: the number of turns for which the player predicted no move.
        actions: the number of moves whose action was predicted correctly.
        acts: the number of moves whose act was predicted correctly, that is, the action, and the intent and
            attributes of each sentence.
        names: the number of entities (values and prices) in predicted moves, in recorded moves, and in both.
        surprise: the negative log-probability of each recorded act that the player knows; empty if the player
            gives no probabilities.
        unknown: the number of recorded acts that the player does not know.
        frequent: the number of moves with the most frequent act, as a baseline for `acts`.
        words: for each dialogue, the negative log-probability of all tokens, and the number of tokens; both
            are 0 if the player gives no word probabilities.
        own_words: like `words`, but only for the tokens in the recorded moves themselves.
        selections: for each dialogue, the number of correctly predicted selections (of an item, numbers or a
            price), and the number of all selections.
        seconds: the CPU time in seconds for each move. It differs between runs, so `figures` leaves it out.
    """

    dialogues: int = 0
    moves: int = 0
    silent: int = 0
    actions: int = 0
    acts: int = 0
    names: list[int] = field(default_factory=lambda: [0, 0, 0])
    surprise: list[float] = field(default_factory=list)
    unknown: int = 0
    frequent: int = 0
    words: list[Ratio] = field(default_factory=list)
    own_words: list[Ratio] = field(default_factory=list)
    selections: list[Ratio] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def time_of_a_move(self) -> str:
        """Return a description of the CPU time per move: the median and the 99th percentile."""
        times = sorted(self.seconds)
        late = times[len(times) * 99 // 100]
        return f"{1000 * median(times):.1f} ms of CPU time (99th percentile: {1000 * late:.1f} ms)"

    def figures(self) -> dict[str, Any]:
        """Return all results, keyed by name. An undefined result is None or a `Figure` without a value."""
        guessed, recorded, both = self.names
        rounded = {
            "action_accuracy": self._share(self.actions),
            "act_accuracy": self._share(self.acts),
            "most_frequent_act": self._share(self.frequent),
            "act_perplexity": exp(sum(self.surprise) / len(self.surprise)) if self.surprise else None,
            "unknown_acts": self._share(self.unknown) if self.surprise or self.unknown else None,
            "entity_f1": 2 * both / (guessed + recorded) if guessed + recorded else None,
            "silent": self._share(self.silent),
        }
        return {
            "dialogues": self.dialogues,
            "moves": self.moves,
            **{name: None if value is None else round(value, 4) for name, value in rounded.items()},
            "word_perplexity": _perplexity(self.words),
            "own_word_perplexity": _perplexity(self.own_words),
            "selection_accuracy": _over_dialogues(self.selections, is_rate=True),
        }

    def _share(self, count: int) -> float | None:
        return count / self.moves if self.moves else None


def _perplexity(ratios: Sequence[Ratio]) -> Figure:
    found = _over_dialogues(ratios)
    if found.value is None:
        return found
    ends = None if found.interval is None else Interval(*map(exp, found.interval))
    return Figure(exp(found.value), ends, found.why)


def _over_dialogues(ratios: Sequence[Ratio], *, is_rate: bool = False) -> Figure:
    counted = [each for each in ratios if each.below]
    return ratio_figure(counted, range(len(counted)), is_rate=is_rate)


def predict_moves(
    transcripts: Transcripts,
    factory: PlayerFactory,
    argument: str,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
    seats: Collection[int] | None = None,
) -> MovePredictions:
    """Measure how well a player predicts the moves in recorded dialogues.

    At every turn, the player predicts a move, but the dialogue continues with the recorded move.

    Args:
        transcripts: the dialogues.
        factory: a function that returns a player for one seat of one dialogue.
        argument: the factory's argument, such as `FILE` in `learned:FILE`.
        seed: the seed for the players.
        progress: a function that is called with the completed share of the dialogues, from 0 to 1.
        seats: the indices of the seats whose moves are predicted; None for all seats.
    """
    found = MovePredictions(dialogues=len(transcripts))
    made: Counter[Act] = Counter()
    ids = transcripts.ids
    for place in range(len(transcripts)):
        for ratios in (found.words, found.own_words, found.selections):
            ratios.append(Ratio(0.0, 0.0))
        players: dict[int, tuple[Player, Listener]] = {}
        with transcripts.dialogue(place) as dialogue:
            for view, move in transcripts.turns(place):
                if seats is not None and view.seat not in seats:
                    continue
                if view.seat not in players:
                    context = transcripts.arena.context(dialogue, ids[place], view.seat, seed=seed)
                    player = factory(argument, context)
                    if isinstance(player, PredictsActs):
                        player.is_greedy = True
                    players[view.seat] = player, Listener(view, transcripts.game)
                player, listener = players[view.seat]
                listener.follow(view)
                made[_compare(found, player, listener, view, move)] += 1
        close_players(player for player, _ in players.values())
        progress((place + 1) / len(transcripts))
    found.frequent = max(made.values(), default=0)
    return found


def _compare(found: MovePredictions, player: Player, listener: Listener, view: View, move: Move) -> Act:
    """Compare a recorded move with the player's move, add the result to `found`, and return the act."""
    began = process_time()
    guess = as_move(player.move(view))
    found.seconds.append(process_time() - began)
    act, _ = listener.act_of(move, view)
    found.moves += 1
    if isinstance(player, PredictsActs):
        known = player.probabilities(view)
        if act in known:
            found.surprise.append(-log(max(known[act], _LEAST)))
        else:
            found.unknown += 1
    if isinstance(player, PredictsWords):
        heard, own = player.surprise(view, move)
        found.words[-1] = _plus(found.words[-1], sum(heard) + sum(own), len(heard) + len(own))
        found.own_words[-1] = _plus(found.own_words[-1], sum(own), len(own))
    if _selects(move):
        again = (
            guess if guess is not None and guess.action == move.action else _made(player, view, move.action)
        )
        found.selections[-1] = _plus(
            found.selections[-1], again is not None and _same(again.data, move.data), 1
        )
    if guess is None:
        found.silent += 1
        return act
    found.actions += guess.action == move.action
    found.acts += listener.act_of(guess, view)[0] == act
    ours, theirs = (_entities(each, listener) for each in (guess, move))
    for place, count in enumerate((len(ours), len(theirs), len(ours & theirs))):
        found.names[place] += count
    return act


def _plus(ratio: Ratio, above: float, below: float) -> Ratio:
    return Ratio(ratio.above + above, ratio.below + below)


def _made(player: Player, view: View, action: str) -> Move | None:
    """Return the player's move if `action` were the only legal action, or None if there is no such move."""
    made = as_move(player.move(view._replace(legal=(action,))))
    return made if made is not None and made.action == action else None


def _selects(move: Move) -> bool:
    return move.data is not None and not isinstance(move.data, str)


def _same(one: Any, other: Any) -> bool:
    """Return True if two selections are equal. Offers are equal if their prices are nearly equal."""
    price, price_of_other = (
        each.get("price") if isinstance(each, Mapping) else None for each in (one, other)
    )
    if isinstance(price, int | float) and isinstance(price_of_other, int | float):
        return bool(abs(price - price_of_other) <= _NEAR * max(abs(price), abs(price_of_other)))
    return bool(one == other)


def _entities(move: Move, listener: Listener) -> frozenset[tuple[str, str]]:
    return listener.lexicon.entities(spoken(Event(0, 0, move.action, move.data)))
