"""The state of a batch of candidate episodes, and the observations and action masks computed from it.

A single environment is a batch of one episode. Its state comes from a dialogue or from compiled tables, and
the state of a vector environment comes from compiled tables. The same code computes all observations.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from birdenv.envs.candidates._layout import CandidateColumn, EpisodeColumn, Layout, SpanColumn
from birdenv.envs.candidates._phase import NEAR, Flags, Floats

Indices = npt.NDArray[np.intp]
_C, _S, _E = CandidateColumn, SpanColumn, EpisodeColumn


class CandidateState:
    """The visible state of n episodes. Candidates are in the order that the agent sees.

    Attributes:
        layout: the layout of observations and actions.
        spans: the values of `SpanColumn`. Shape (n, spans, columns).
        candidates: the values of `CandidateColumn`. Shape (n, candidates, columns).
        episode: the values of `EpisodeColumn`. Shape (n, columns).
        readable: True for read-only candidates, which may be executed. Shape (n, candidates).
        asked: True for questions that the agent has already asked in this phase; the useless question is
            last. Shape (n, spans + 1).
        turns_left: the number of questions left. Shape (n,).
        can_ask: True if the protocol allows questions now. Shape (n,).
        can_execute: True if the protocol allows executions now. Shape (n,).
    """

    def __init__(self, n: int, layout: Layout, questions: int, most: float) -> None:
        self.layout = layout
        self._questions, self._most = max(questions, 1), max(most, NEAR)
        self.spans = np.zeros((n, layout.spans, len(SpanColumn)), np.float32)
        self.candidates = np.zeros((n, layout.candidates, len(CandidateColumn)), np.float32)
        self.episode = np.zeros((n, len(EpisodeColumn)), np.float32)
        self.readable = np.zeros((n, layout.candidates), np.bool_)
        self.asked = np.zeros((n, layout.spans + 1), np.bool_)
        self.turns_left = np.zeros(n, np.int64)
        self.can_ask = np.zeros(n, np.bool_)
        self.can_execute = np.zeros(n, np.bool_)
        self._executed = np.zeros((n, layout.candidates), np.bool_)
        self._results = np.zeros((n, layout.candidates), np.int64)
        self._said = np.zeros((n, layout.candidates), np.float32)
        self._agrees = np.zeros((n, layout.candidates), np.bool_)
        self._told = np.zeros(n, np.float32)

    def begin(self, who: Indices, spans: Floats, candidates: Floats, readable: Flags, phase: int) -> None:
        """Begin a phase in the episodes with the indices `who`.

        Args:
            who: the indices of the episodes.
            spans: the array `ShownPhase.spans` for each of these episodes.
            candidates: the array `ShownPhase.candidates`, with the candidates in the episode's order.
            readable: the array `ShownPhase.readable`, in the same order.
            phase: 1 for the request, 2 for the follow-up.
        """
        self.spans[who] = spans
        self.candidates[who] = candidates
        self.readable[who] = readable
        self.asked[who] = False
        self._executed[who] = False
        self._said[who] = 0.0
        self._agrees[who] = True
        self._told[who] = 0.0
        self.episode[who, _E.FOLLOW_UP] = phase - 1
        self.episode[who, _E.DEBUG] = 0.0
        self.episode[who, _E.SPANS] = spans[:, :, _S.EXISTS].sum(axis=1) / self.layout.spans
        self.episode[who, _E.CANDIDATES] = candidates[:, :, _C.EXISTS].sum(axis=1) / self.layout.candidates

    def price(self, who: Indices, prices: npt.NDArray[np.float64]) -> None:
        """Set the price of a question in the episodes with the indices `who`."""
        self.episode[who, _E.PRICE] = prices / self._most

    def hear(self, who: Indices, question: Indices, fits: Floats) -> None:
        """Record the user's answers.

        Args:
            who: the indices of the episodes.
            question: the index of each episode's question.
            fits: how well each answer fits each candidate (see `ShownPhase.fit`).
        """
        self.asked[who, question] = True
        exists = self.candidates[who, :, _C.EXISTS] > 0
        worst = np.where(exists, fits, 1.0).min(axis=1)
        informs = fits.max(axis=1) - worst > NEAR
        about = question < self.layout.spans
        self.spans[who[about], question[about], _S.ASKED] = 1.0
        self.spans[who[about], question[about], _S.INFORMED] = informs[about]
        told = who[informs]
        self._said[told] += fits[informs]
        self._agrees[told] &= fits[informs] >= 1.0 - NEAR
        self._told[told] += 1.0

    def see(self, who: Indices, candidate: Indices, rows: Floats, results: npt.NDArray[np.int64]) -> None:
        """Record the results of executed candidates.

        Args:
            who: the indices of the episodes.
            candidate: the index of each episode's executed candidate.
            rows: the value of `rows_shown` for each result.
            results: a number that identifies each result; equal results in an episode have equal numbers.
        """
        self._executed[who, candidate] = True
        self._results[who, candidate] = results
        self.candidates[who, candidate, _C.EXECUTED] = 1.0
        self.candidates[who, candidate, _C.FAILED] = rows < 0
        self.candidates[who, candidate, _C.ROWS] = np.maximum(rows, 0.0)
        ran = self._executed[who]
        results_of = self._results[who]
        same = ran[:, None, :] & (results_of[:, None, :] == results_of[:, :, None])
        others = np.maximum(ran.sum(axis=1, keepdims=True) - 1, 1)
        self.candidates[who, :, _C.SAME] = np.where(ran, (same.sum(axis=2) - 1) / others, 0.0)

    def try_out(self, who: Indices, candidate: Indices) -> None:
        """Record that `candidate` was submitted in each of the episodes `who` and failed."""
        self.candidates[who, candidate, _C.TRIED] = 1.0

    def debug(self, who: Indices) -> None:
        """Record that the first attempt in the current phase is used up in the episodes `who`."""
        self.episode[who, _E.DEBUG] = 1.0

    def masks(self) -> npt.NDArray[np.bool_]:
        """Return masks of the possible actions, shape (n, actions). No action can be repeated in a phase."""
        layout = self.layout
        made = np.ones((len(self.turns_left), layout.actions), np.bool_)
        ask = self.can_ask[:, None]
        made[:, : layout.spans + 1] = ask & ~self.asked
        made[:, : layout.spans] &= self.spans[:, :, _S.EXISTS] > 0
        made[:, layout.execute : layout.submit] = (
            self.can_execute[:, None] & self.readable & (self.candidates[:, :, _C.EXECUTED] == 0)
        )
        made[:, layout.submit : layout.give_up] = (self.candidates[:, :, _C.EXISTS] > 0) & (
            self.candidates[:, :, _C.TRIED] == 0
        )
        return made

    def observe(self) -> dict[str, Floats]:
        """Return the observations of all episodes, in new arrays."""
        shown, episode = self.candidates, self.episode
        exists, tried = shown[:, :, _C.EXISTS], shown[:, :, _C.TRIED]
        answers = self._said / np.maximum(self._told, 1.0)[:, None]
        shown[:, :, _C.ANSWERS] = answers
        shown[:, :, _C.FITS_ANSWERS] = self._agrees & (exists > 0)
        total = (shown[:, :, _C.REQUEST] + 2.0 * answers) / 3.0
        shown[:, :, _C.TOTAL] = total
        open_ = np.where((exists > 0) & (tried == 0), total, -1.0)
        behind = open_.max(axis=1, keepdims=True) - open_
        best = (behind < NEAR) & (open_ >= 0)
        shown[:, :, _C.BEHIND] = np.minimum(behind, 1.0) * (exists > 0)
        shown[:, :, _C.BEST] = best
        count = best.sum(axis=1)
        episode[:, _E.QUESTIONS_LEFT] = self.turns_left / self._questions
        episode[:, _E.CAN_ASK] = self.can_ask
        episode[:, _E.ASKED] = self.asked.sum(axis=1) / self._questions
        episode[:, _E.INFORMED] = self._told / self._questions
        episode[:, _E.BEST] = count / self.layout.candidates
        episode[:, _E.ONE_OF_BEST] = 1.0 / np.maximum(count, 1)
        np.minimum(episode, 1.0, out=episode)
        n = len(episode)
        return {
            "spans": self.spans.reshape(n, -1).copy(),
            "candidates": shown.reshape(n, -1).copy(),
            "episode": episode.copy(),
        }


def observation_space(layout: Layout) -> spaces.Dict:
    """Return the observation space for an episode: flattened tables of numbers from 0 to 1."""
    sizes = {
        "spans": layout.spans * len(SpanColumn),
        "candidates": layout.candidates * len(CandidateColumn),
        "episode": len(EpisodeColumn),
    }
    return spaces.Dict({name: spaces.Box(0.0, 1.0, (size,), np.float32) for name, size in sizes.items()})
