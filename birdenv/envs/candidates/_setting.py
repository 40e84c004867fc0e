"""The tasks and settings of candidate environments, and the random choices in their episodes.

The candidates come from the task file or from prediction files of other systems. The simulated user has no
memory, and may be unable to explain some ambiguities.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from birdenv.dialogue import Arena, Move, Player, PlayerContext, View, make_game
from birdenv.dialogue.players import refuse_async
from birdenv.envs._sampling import checked_index
from birdenv.envs.candidates._layout import MAX_POINTS, Layout
from birdenv.errors import InputError, SettingError
from birdenv.files import read_records
from birdenv.tasks import USER
from birdenv.tasks.interact.profile import PROFILES
from birdenv.tasks.interact.rewards import RewardScheme
from birdenv.users import Brief, RulePlayer

CANNOT_TELL: Final = "I cannot tell. Please decide that for yourself."


def answers_alone(argument: str, context: PlayerContext) -> RulePlayer:
    """Return a rule-based user without memory, whose answers do not depend on earlier questions."""
    return RulePlayer(tuple(replace(brief, converses=False) for brief in context.brief))


def points_of(briefs: Any) -> tuple[str, ...]:
    """Return the annotated ambiguous terms in a request, or () if `briefs` contains no `Brief`."""
    if not isinstance(briefs, Sequence) or not briefs or not isinstance(briefs[0], Brief):
        return ()
    return tuple(dict.fromkeys(point.term for point in briefs[0].ambiguities))


class UnsureUser:
    """A user that passes on another player's answers, but cannot explain the terms in `unknown`."""

    def __init__(self, player: Player, unknown: Collection[str]) -> None:
        self._player = player
        self._unknown = frozenset(unknown)

    def move(self, view: View) -> Move | None:
        """Answer the last question, or reply that the user cannot tell."""
        made = self._player.move(view)
        trace = None if made is None else made.trace
        if made is None or not isinstance(trace, dict) or not self._unknown.intersection(targets_of(trace)):
            return made
        return Move(made.action, CANNOT_TELL, {"call": "unanswerable", "target": "", "granted": []})


def targets_of(trace: Any) -> tuple[str, ...]:
    """Return the annotated ambiguous terms that an answer explains, according to its private trace."""
    return tuple(str(trace.get("target", "")).split(" + "))


class Candidates(NamedTuple):
    """The candidate SQL statements for a task: `first` for the request, `follow_up` for the follow-up."""

    first: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()


def read_candidates(files: str | Sequence[str] | None) -> Mapping[str, Candidates] | None:
    """Read SQL statements from prediction files, and return them keyed by task id; None if `files` is None.

    A file contains records with the fields `instance_id`, `sql` and `follow_up_sql`. The last two fields are
    strings or lists of strings. Duplicate statements are removed.

    Raises:
        InputError: a file cannot be used.
    """
    if files is None:
        return None
    found: dict[str, Candidates] = {}
    for file in [files] if isinstance(files, str) else files:
        for number, record in enumerate(read_records(Path(file)), 1):
            name = record.get("instance_id")
            if not isinstance(name, str):
                raise InputError(f"{file}: record {number} has no instance_id")
            known = found.get(name, Candidates())
            found[name] = Candidates(
                _joined(known.first, record.get("sql"), f"{file}: {name}: sql"),
                _joined(known.follow_up, record.get("follow_up_sql"), f"{file}: {name}: follow_up_sql"),
            )
    return found


def _joined(known: tuple[str, ...], more: Any, where: str) -> tuple[str, ...]:
    statements = [] if more is None else [more] if isinstance(more, str) else more
    if not isinstance(statements, list) or not all(isinstance(each, str) for each in statements):
        raise InputError(f"{where} must be a string or a list of strings")
    return tuple(dict.fromkeys([*known, *(each for each in statements if each.strip())]))


GAME: Final = "c-interact"
PRICES: Final = (0.02, 0.05, 0.1, 0.2)
QUESTIONS: Final = 6
MAX_SPANS: Final = 12
MAX_CANDIDATES: Final = 12
_OPTIONS: Final = ("instance_id", "index", "price")

Uniforms = npt.NDArray[np.float64]


class Drawn(NamedTuple):
    """The random choices in n episodes.

    Attributes:
        tasks: the index of each episode's task. Shape (n,).
        prices: the price of a question in each episode. Shape (n,).
        orders: two arrays of random keys, one for each phase, that order the candidates (see `order_by`).
            Shape (n, candidates).
        refusals: a random number for each annotated ambiguity. The user cannot explain the ambiguity if the
            number is below `CandidateSetting.refusals`. Shape (n, `MAX_POINTS`).
    """

    tasks: npt.NDArray[np.intp]
    prices: Uniforms
    orders: tuple[Uniforms, Uniforms]
    refusals: Uniforms


class CandidateSetting:
    """The tasks and settings of candidate environments.

    Attributes:
        arena: the arena of c-Interact.
        ids: the ids of the tasks that have candidates.
        layout: the layout of observations and actions.
        prices: the possible prices of a question.
        refusals: the probability, from 0 to 1, that the user cannot explain an annotated ambiguity.
        questions: the maximum number of questions in each task.
        recorded: the statements in prediction files, keyed by task id; None to use the candidates in the task
            file.
    """

    def __init__(
        self,
        prices: Sequence[float] = PRICES,
        refusals: float = 0.0,
        questions: int = QUESTIONS,
        candidates: str | Sequence[str] | None = None,
        max_spans: int = MAX_SPANS,
        max_candidates: int = MAX_CANDIDATES,
        **settings: Any,
    ) -> None:
        given = list(prices) if isinstance(prices, Iterable) else []
        if not given or not all(map(_is_price, given)):
            raise SettingError(
                "prices", f" must be a non-empty list of finite numbers, each at least 0, got {prices!r}"
            )
        self.prices = tuple(map(float, given))
        if not 0 <= refusals <= 1:
            raise SettingError("refusals", f" must be a probability from 0 to 1, got {refusals!r}")
        if max_spans < 1 or max_candidates < 1:
            raise SettingError("max_spans", " and max_candidates must be at least 1")
        self.refusals = float(refusals)
        self.questions = questions
        self.layout = Layout(max_spans, max_candidates)
        chosen = {"user": answers_alone, "execute_sql": True, **settings}
        self.arena: Arena = make_game(GAME, questions=questions, **chosen)
        try:
            refuse_async(self.arena.players.values())
            self.recorded = read_candidates(candidates)
            self.ids = self._playable()
        except BaseException:
            self.arena.close()
            raise
        self._place = {name: place for place, name in enumerate(self.ids)}
        groups: dict[Any, list[int]] = {}
        for place, name in enumerate(self.ids):
            public = self.arena._tasks.public(name)
            groups.setdefault((public.database, public.question, self.first(name)), []).append(place)
        self._sizes = np.array([len(group) for group in groups.values()])
        self._starts = self._sizes.cumsum() - self._sizes
        self._grouped = np.array([place for group in groups.values() for place in group])

    @property
    def dialect(self) -> str:
        """Return the SQL dialect of the databases."""
        return str(self.arena.settings.dialect)  # type: ignore[attr-defined]

    @property
    def can_execute(self) -> bool:
        """Return True if the settings allow the agent to execute candidates."""
        return bool(self.arena.settings.execute_sql)  # type: ignore[attr-defined]

    @property
    def can_compile(self) -> bool:
        """Return True if compiled tables can replace dialogues.

        This requires the profile `strict`, the default user and the default reward scheme.
        """
        settings: Any = self.arena.settings
        own_user = self.arena.players.get(USER) is answers_alone
        return settings.profile == "strict" and own_user and settings.scheme == RewardScheme()

    @property
    def free_refusals(self) -> int:
        """Return the number of refused moves per phase that cost nothing after the first submission."""
        return PROFILES[self.arena.settings.profile].free_refusals  # type: ignore[attr-defined]

    def _playable(self) -> tuple[str, ...]:
        with_some = tuple(name for name in self.arena.ids if self.first(name))
        if not with_some:
            raise InputError("no tasks have candidates: pass prediction files with candidates=[...]")
        missing = len(self.arena.ids) - len(with_some)
        if missing:
            warnings.warn(f"{missing} tasks have no candidates and are left out", stacklevel=4)
        most = max(len(self.first(name)) for name in with_some)
        if most > self.layout.candidates:
            raise InputError(
                f"a task has {most} candidates, more than max_candidates: set max_candidates={most}"
            )
        return with_some

    def first(self, name: str) -> tuple[str, ...]:
        """Return the candidates for the request, excluding the follow-up, in the task with the id `name`."""
        if self.recorded is None:
            found: tuple[str, ...] = self.arena._tasks.public(name).candidates
            return found
        return self.recorded.get(name, Candidates()).first

    def shown(self, name: str, extras: Mapping[str, Any], phase: int) -> tuple[str, ...]:
        """Return the candidates that the agent sees in a phase.

        Args:
            name: the id of the task.
            extras: the public extras of the dialogue's view.
            phase: 1 for the request, 2 for the follow-up.
        """
        if self.recorded is None:
            return tuple(extras.get("candidates", ()))[: self.layout.candidates]
        recorded = self.recorded.get(name, Candidates())
        return (recorded.first if phase == 1 else recorded.follow_up)[: self.layout.candidates]

    def draw(self, uniforms: Uniforms) -> Drawn:
        """Convert uniform random numbers of shape (n, `layout.draws`) to the random choices for n episodes.

        All distinct requests are equally likely, even if several tasks share a request.
        """
        place = uniforms[:, 0] * len(self._sizes)
        group = place.astype(np.intp)
        within = ((place - group) * self._sizes[group]).astype(np.intp)
        size = self.layout.candidates
        return Drawn(
            self._grouped[self._starts[group] + within],
            np.array(self.prices)[(uniforms[:, 1] * len(self.prices)).astype(np.intp)],
            (uniforms[:, 2 : 2 + size], uniforms[:, 2 + size : 2 + 2 * size]),
            uniforms[:, 2 + 2 * size : 2 + 2 * size + MAX_POINTS],
        )

    def draw_one(self, uniforms: Uniforms, options: Mapping[str, Any] | None) -> Drawn:
        """Return the random choices for one episode. Reset options can fix the task and the price.

        Raises:
            InputError: an option or a task is not known, or the price cannot be used.
        """
        chosen = {name: value for name, value in (options or {}).items() if value is not None}
        unknown = [name for name in chosen if name not in _OPTIONS]
        if unknown:
            raise InputError(f"unknown reset option {unknown[0]!r}; known options: {', '.join(_OPTIONS)}")
        drawn = self.draw(uniforms[None, :])
        task = self._named(chosen)
        if task is not None:
            drawn = drawn._replace(tasks=np.array([task]))
        if "price" in chosen:
            if not _is_price(chosen["price"]):
                raise InputError(f"price must be a finite number, at least 0, got {chosen['price']!r}")
            drawn = drawn._replace(prices=np.array([float(chosen["price"])]))
        return drawn

    def _named(self, chosen: Mapping[str, Any]) -> int | None:
        if "instance_id" in chosen and "index" in chosen:
            raise InputError("specify either instance_id or index as a reset option, not both")
        if "instance_id" in chosen:
            place = self._place.get(chosen["instance_id"])
            if place is None:
                raise InputError(
                    f"none of the {len(self.ids)} tasks with candidates has the id {chosen['instance_id']!r}"
                )
            return place
        return checked_index(chosen["index"], len(self.ids)) if "index" in chosen else None

    def close(self) -> None:
        """Release the game's databases."""
        self.arena.close()


def _is_price(value: Any) -> bool:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and isfinite(value) and bool(value >= 0)


def order_by(keys: Uniforms, counts: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Order the candidates in n episodes by random keys, and return indices of shape (n, candidates).

    Args:
        keys: random numbers, shape (n, candidates).
        counts: the number of candidates in each episode. Unused indices stay at the end.
    """
    places = np.arange(keys.shape[1])
    return np.where(places < counts[:, None], keys, 2.0 + places).argsort(axis=1)
