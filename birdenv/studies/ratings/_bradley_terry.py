"""Rank players by pairwise comparisons, with confidence intervals for strengths and ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from birdenv.statistics import Figure, percentiles, resamples, undefined
from birdenv.studies.ratings._agreement import with_interval
from birdenv.studies.ratings._judgements import BlindChoice

RESAMPLES: Final = 1000
_FEW_RATERS: Final = 10
_COLUMNS: Final = {"left": 0, "right": 1, "tie": 2, "both_bad": 2}

_PRIOR: Final = 0.01  # precision of a normal prior, which keeps strengths finite if a player always wins
_LONGEST_STEP: Final = 2.0
_STEPS: Final = 60
_NEAR: Final = 1e-7


class RankedPlayer(NamedTuple):
    """A player's position in a ranking.

    Attributes:
        player: the name of the player.
        wins: the number of comparisons won.
        losses: the number of comparisons lost.
        ties: the number of comparisons without a winner.
        strength: the log-odds of winning against a player of mean strength, where a tie counts as half a win.
        rank: the position in the ranking; 1 is the strongest player.
    """

    player: str
    wins: int
    losses: int
    ties: int
    strength: Figure
    rank: Figure


class Ranking(NamedTuple):
    """A ranking of players, strongest first.

    Attributes:
        standings: the players with their strengths and ranks.
        tie: the share of comparisons that ended in a tie.
        resampled: the units that were resampled for the intervals: `comparisons` or `raters`.
        left_out: the number of comparisons that were ignored because they compared a player with itself.
        why: the reason why there is no ranking; empty if there is a ranking.
    """

    standings: tuple[RankedPlayer, ...]
    tie: Figure
    resampled: str
    left_out: int = 0
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the ranking as a JSON object."""
        return {
            "players": [
                {
                    **each._asdict(),
                    "strength": each.strength.to_json(),
                    "rank": each.rank.to_json(),
                }
                for each in self.standings
            ],
            "tie_share": self.tie.to_json(),
            "resampled": self.resampled,
            "comparisons_with_itself": self.left_out,
            **({"why": self.why} if self.why else {}),
        }


def rank_players(comparisons: Sequence[BlindChoice]) -> Ranking:
    """Rank players with the Bradley-Terry model (1952). A tie counts as half a win for each player.

    Confidence intervals are bootstrap percentiles. With at least ten raters, raters are resampled with all
    their choices, because the choices of one person are not independent; otherwise, comparisons are
    resampled. A player that won all or none of its comparisons has a rank but no strength. Players that no
    chain of wins and ties connects have neither.
    """
    used = [each for each in comparisons if each.left != each.right]
    left_out = len(comparisons) - len(used)
    players = sorted({name for each in used for name in (each.left, each.right)})
    reaches = _reaches(used, players)
    mutual = reaches & reaches.T
    group = _group(used, players, mutual)
    places = {players[number]: place for place, number in enumerate(group)}
    inside = [each for each in used if each.left in places and each.right in places]
    resampled = "raters" if len({each.rater for each in inside}) >= _FEW_RATERS else "comparisons"
    why = _no_ranking(used, inside)
    if why:
        alone = [(undefined(why), undefined(why)) for _ in players]
        return Ranking(_standings(used, players, alone), undefined(why), resampled, left_out, why)
    pairs, counts = _tables(inside, places, resampled == "raters")
    strengths = fit_strengths(pairs, counts[..., :2] + counts[..., 2:] / 2, len(places))
    drawn = len({each.rater for each in inside}) if resampled == "raters" else len(inside)

    def figure(values: npt.NDArray[np.float64]) -> Figure:
        """Return the first value, with the percentile interval of the other values, which are resampled."""
        return with_interval(float(values[0]), values[1:], drawn, resampled)

    found = []
    for number, name in enumerate(players):
        above = int((reaches[:, number] & ~reaches[number]).sum())
        apart = [players[other] for other in np.flatnonzero(~(reaches[number] | reaches[:, number]))]
        rank = undefined(f"no comparisons connect this player with {', '.join(apart)}") if apart else None
        if name in places:
            own = strengths[:, places[name]]
            better = (strengths > own[:, None]).sum(axis=1)
            strength = figure(own)
            found.append((strength, rank or _rank(1.0 + above + better, strength)))
        else:
            extreme = _extreme(reaches, number, group)
            found.append((undefined(extreme), rank or Figure(1.0 + above, None, extreme)))
    if any(map(_is_tie, inside)):
        tie = figure(counts[..., 2].sum(axis=1) / counts.sum(axis=(1, 2)))
    elif any(map(_is_tie, used)):
        tie = undefined("every tie involves a player that has no strength")
    else:
        tie = Figure(0.0, None, "there were no ties")
    return Ranking(_standings(used, players, found), tie, resampled, left_out)


def fit_strengths(
    pairs: npt.NDArray[np.int64], wins: npt.NDArray[np.float64], players: int
) -> npt.NDArray[np.float64]:
    """Fit the Bradley-Terry model to several tables of wins at once.

    In this model, the log-odds that one player beats another are the difference of their strengths. The
    log-likelihood is concave in the strengths, so Newton's method finds the maximum.

    Args:
        pairs: the indices of the two players in each pair, shape (pairs, 2).
        wins: how often the first and the second player in each pair won, shape (tables, pairs, 2).
        players: the number of players.

    Returns:
        The strengths, shape (tables, players). In each table, their mean is 0.
    """
    rows = np.arange(len(pairs))
    differences = np.zeros((len(pairs), players))
    differences[rows, pairs[:, 0]], differences[rows, pairs[:, 1]] = 1, -1
    outer = (differences[:, :, None] * differences[:, None, :]).reshape(len(pairs), -1)
    met = wins.sum(axis=-1)
    found = np.zeros((len(wins), players))
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-found @ differences.T))
        gradient = (wins[..., 0] - met * chance) @ differences - _PRIOR * found
        curvature = ((met * chance * (1 - chance)) @ outer).reshape(-1, players, players)
        step = np.linalg.solve(curvature + _PRIOR * np.eye(players), gradient[..., None])[..., 0]
        found += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max(initial=0) < _NEAR:
            break
    strengths: npt.NDArray[np.float64] = found - found.mean(axis=1, keepdims=True)
    return strengths


def _rank(values: npt.NDArray[np.float64], strength: Figure) -> Figure:
    """Return a rank, with an interval if the strength has an interval. The interval may have no width."""
    if strength.interval is None:
        return Figure(float(values[0]), None, strength.why)
    return Figure(float(values[0]), percentiles(values[1:]))


def _is_tie(each: BlindChoice) -> bool:
    return _COLUMNS[each.winner] == 2


def _no_ranking(used: Sequence[BlindChoice], inside: Sequence[BlindChoice]) -> str:
    """Return the reason why there is no ranking, or an empty string if there is a ranking.

    `inside` contains the comparisons between players that get strengths.
    """
    if not used:
        return "there are no comparisons between two players"
    if all(map(_is_tie, used)):
        return "every comparison is a tie"
    if not inside:
        return "no player lost, directly or indirectly, to a player that it won against"
    return ""


def _reaches(used: Sequence[BlindChoice], players: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a matrix that is True if the row's player won against or tied with the column's player.

    Chains of such results through other players count, too.
    """
    numbers = {name: number for number, name in enumerate(players)}
    found = np.eye(len(players), dtype=np.bool_)
    for each in used:
        left, right = numbers[each.left], numbers[each.right]
        found[left, right] |= each.winner != "right"
        found[right, left] |= each.winner != "left"
    for middle in range(len(players)):
        found |= found[:, [middle]] & found[middle]
    return found


def _group(
    used: Sequence[BlindChoice], players: Sequence[str], mutual: npt.NDArray[np.bool_]
) -> npt.NDArray[np.intp]:
    """Return the largest group of players that all reach each other, with at least one win; may be empty."""
    numbers = {name: number for number, name in enumerate(players)}
    sizes = np.zeros(len(players), np.int64)
    for each in used:
        left, right = numbers[each.left], numbers[each.right]
        if not _is_tie(each) and mutual[left, right]:
            sizes[left] = mutual[left].sum()
    return np.flatnonzero(mutual[sizes.argmax()]) if sizes.any() else np.empty(0, np.intp)


def _extreme(reaches: npt.NDArray[np.bool_], number: int, group: npt.NDArray[np.intp]) -> str:
    """Return the reason why a player has no strength."""
    up, down = bool(reaches[number, group].any()), bool(reaches[group, number].any())
    if up:
        return "this player never lost to or tied with the others, so its lead cannot be estimated"
    if down:
        return "this player never won against or tied with the others, so its deficit cannot be estimated"
    return "no comparisons connect this player with the others"


def _tables(
    used: Sequence[BlindChoice], places: Mapping[str, int], by_rater: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return pairs of players, and tables of their wins and ties: first for all data, then for resamples."""
    pairs = sorted({_pair(each, places) for each in used})
    rows = {pair: row for row, pair in enumerate(pairs)}
    units = [each.rater if by_rater else number for number, each in enumerate(used)]
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    cells = np.zeros((len(numbers), len(pairs), 3))
    for unit, each in zip(units, used, strict=True):
        pair = _pair(each, places)
        column = _COLUMNS[each.winner]
        turned = column < 2 and places[each.left] != pair[0]
        cells[numbers[unit], rows[pair], 1 - column if turned else column] += 1
    drawn = [np.tensordot(times, cells, axes=1) for times in resamples(len(cells), RESAMPLES)]
    return np.array(pairs), np.concatenate([cells.sum(axis=0)[None], *drawn])


def _pair(each: BlindChoice, places: Mapping[str, int]) -> tuple[int, int]:
    left, right = places[each.left], places[each.right]
    return (left, right) if left < right else (right, left)


def _standings(
    used: Sequence[BlindChoice], players: Sequence[str], found: Sequence[tuple[Figure, Figure]]
) -> tuple[RankedPlayer, ...]:
    """Return the players sorted by rank, with unranked players last."""
    tallies: Counter[tuple[str, str]] = Counter()
    for each in used:
        tied = _is_tie(each)
        tallies[each.left, "tie" if tied else "win" if each.winner == "left" else "loss"] += 1
        tallies[each.right, "tie" if tied else "win" if each.winner == "right" else "loss"] += 1
    made = [
        RankedPlayer(name, tallies[name, "win"], tallies[name, "loss"], tallies[name, "tie"], *figures)
        for name, figures in zip(players, found, strict=True)
    ]
    return tuple(sorted(made, key=_order))


def _order(standing: RankedPlayer) -> tuple[float, float, str]:
    rank, strength = standing.rank.value, standing.strength.value
    return (inf if rank is None else rank, 0.0 if strength is None else -strength, standing.player)
