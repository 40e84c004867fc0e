"""A dataset: dialogues to learn from, and dialogues to test on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from birdenv.cocoa.files._dialogue_files import ExampleRecord, read_examples
from birdenv.errors import InputError

T = TypeVar("T")

FOLDS = (0.6, 0.2, 0.2)
"""Shares of training, development and test, as in CoCoA's script."""


class Dataset(NamedTuple):
    """Dialogues for training and for testing."""

    train: tuple[ExampleRecord, ...]
    test: tuple[ExampleRecord, ...]


def read_dataset(
    train: Sequence[Path],
    test: Sequence[Path],
    train_limit: int | None = None,
    test_limit: int | None = None,
) -> Dataset:
    """Read a dataset from files.

    Args:
        train: files of dialogues for training.
        test: files of dialogues for testing.
        train_limit: the most dialogues for training; None or -1 (CoCoA's) for all.
        test_limit: the same for testing.
    """
    return Dataset(_read(train, train_limit), _read(test, test_limit))


def _read(paths: Sequence[Path], limit: int | None) -> tuple[ExampleRecord, ...]:
    found = [example for path in paths for example in read_examples(path)]
    return tuple(found if limit in (None, -1) else found[:limit])


def split(examples: Sequence[T], shares: Sequence[float] = FOLDS, seed: int = 0) -> list[list[T]]:
    """Return the examples in folds; each example is drawn into one by the shares.

    Raises:
        InputError: a share is negative, or there is none above 0.
    """
    if min(shares, default=0) < 0 or sum(shares) <= 0:
        raise InputError(f"shares of folds are numbers from 0, not all of them 0; got {list(shares)}")
    rng = Random(seed)
    folds: list[list[T]] = [[] for _ in shares]
    for example in examples:
        [fold] = rng.choices(range(len(shares)), weights=shares)
        folds[fold].append(example)
    return folds
