"""The learned policy: a log-linear model of the next dialogue act, given the features of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from birdenv.cocoa.acts import Act
from birdenv.cocoa.files._values import read_list
from birdenv.errors import InputError
from birdenv.files import read_json, read_text, write_text

Array = NDArray[np.float64]
_LEAST_WEIGHT: Final = 0.005
_MOST_WEIGHT: Final = 1e6
_MOST_COUNT: Final = 2**53
"""Training never gives larger weights or counts; their sums might not be finite."""


class KnownAct(BaseModel):
    """A dialogue act that occurs in the transcripts, with the moves that perform it.

    Attributes:
        action: the name of the action.
        parts: the intents of the sentences and the attributes that they mention, such as `ask Company`.
        data: the data (such as the text) of each distinct move, the most frequent first. Slots stand for
            names and values from the scenario.
        counts: how often the transcripts contain each move in `data`.
        about: a text that describes the situation of each move in `data`; empty if the data have slots.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: str
    parts: tuple[str, ...]
    data: tuple[Any, ...] = Field(min_length=1)
    counts: tuple[Annotated[int, Field(gt=0, le=_MOST_COUNT)], ...]
    about: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_count_each(self) -> KnownAct:
        if len(self.counts) != len(self.data) or len(self.about) not in (0, len(self.data)):
            raise ValueError("counts must have one number for each entry of data")
        return self

    @property
    def act(self) -> Act:
        """Return the act without its data."""
        return Act(self.action, self.parts)


class PolicyFile(BaseModel):
    """The content of a policy file.

    Attributes:
        birdenv_policy: the version of the format.
        game: the name of the game.
        trained: facts about the training, such as the number of dialogues.
        acts: the dialogue acts in the training data.
        weights: for each part of an act (see `parts`), the weight of each feature of a view.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    birdenv_policy: Literal[1]
    game: str
    trained: Mapping[str, int]
    acts: list[KnownAct] = Field(min_length=1)
    weights: Mapping[str, Mapping[str, Annotated[float, Field(ge=-_MOST_WEIGHT, le=_MOST_WEIGHT)]]]


def parts(act: Act) -> list[str]:
    """Return the keys of an act's weights: the whole act, its action, and the action with each part."""
    return [f"= {act}", act.action, *(f"{act.action} {part}" for part in act.parts)]


class Policy:
    """A policy that computes the probability of each dialogue act from the features of a view.

    An act's score is the sum of its parts' weights for all features of the view. The probabilities
    are the softmax of the scores of the legal acts. If an act is unknown, only its known parts count.

    Args:
        file: the content of the policy file.

    Attributes:
        file: the content of the policy file.
        known: the known acts, with the moves that perform them.
        acts: the known acts, in the same order.
    """

    def __init__(self, file: PolicyFile) -> None:
        self.file = file
        self.known = file.acts
        self.acts = [known.act for known in file.acts]
        self._actions = np.array([act.action for act in self.acts])
        names = list(file.weights)
        self._places = {name: place for place, name in enumerate(names)}
        features = sorted({feature for row in file.weights.values() for feature in row})
        self._features = {name: place for place, name in enumerate(features)}
        self._weights = np.zeros((len(names), len(features)))
        for row, weights in zip(self._weights, file.weights.values(), strict=True):
            for feature, weight in weights.items():
                row[self._features[feature]] = weight
        self._of_acts = membership(self.acts, self._places)

    def probabilities(self, features: Sequence[str], legal: Sequence[str]) -> Array:
        """Return the probability of each act in the attribute `acts`; 0 for acts with an illegal action."""
        scores = self._of_acts @ self._part_scores(features)
        return softmax(np.where(np.isin(self._actions, legal), scores, -np.inf))

    def scores(self, features: Sequence[str], acts: Sequence[Act]) -> Array:
        """Return the score of each given act, which does not have to occur in the training data."""
        return membership(acts, self._places) @ self._part_scores(features)

    def _part_scores(self, features: Sequence[str]) -> Array:
        places = [self._features[each] for each in features if each in self._features]
        summed: Array = self._weights[:, places].sum(axis=1)
        return summed


def membership(acts: Sequence[Act], places: Mapping[str, int]) -> Array:
    """Return a matrix of zeros and ones that shows which known parts (columns) each act (row) has.

    Args:
        acts: the acts to describe.
        places: the column of each known part.
    """
    found = np.zeros((len(acts), len(places)))
    for row, act in zip(found, acts, strict=True):
        row[[places[part] for part in parts(act) if part in places]] = 1
    return found


def softmax(scores: Array) -> Array:
    """Return the softmax of scores along the last axis, or zeros where no score is finite."""
    highest = scores.max(axis=-1, keepdims=True)
    raised = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = raised.sum(axis=-1, keepdims=True)
    made: Array = raised / np.where(total, total, 1)
    return made


def write_policy(path: Path, file: PolicyFile) -> None:
    """Write a policy to a file, leaving out weights that are close to zero."""
    weights = {
        part: {name: round(weight, 4) for name, weight in row.items() if abs(weight) >= _LEAST_WEIGHT}
        for part, row in file.weights.items()
    }
    write_text(path, file.model_copy(update={"weights": weights}).model_dump_json() + "\n")


def read_policy(path: Path, game: str) -> Policy:
    """Read a policy for a game. Each process reads a file only once.

    Raises:
        InputError: the file is not a policy for this game.
    """
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    policy = _read(path, stamp)
    if policy.file.game != game:
        raise InputError(f"{path} was trained for {policy.file.game}, but this game is {game}")
    return policy


@lru_cache(maxsize=8)
def _read(path: Path, stamp: int) -> Policy:
    found = read_json(path) if read_text(path).lstrip()[:1] in "[{" else None
    if not isinstance(found, Mapping) or "birdenv_policy" not in found:
        raise InputError(
            f"{path} is not a policy: train one with birdenv train-player GAME --data FILE --out FILE"
        )
    return Policy(read_list(PolicyFile, [found], str(path))[0])
