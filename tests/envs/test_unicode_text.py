"""`UnicodeText`: what it contains, what it samples, equality and JSON."""

from __future__ import annotations

import json
import time

import pytest
from gymnasium.spaces import Dict, Discrete

from birdenv.envs import UnicodeText


@pytest.mark.parametrize("text", ["", "SELECT 1;\n", "Größe", "查询", "😀" * 50, "\x00", "x" * 50])
def test_contains_any_text_up_to_its_length(text: str) -> None:
    assert text in UnicodeText(50)


@pytest.mark.parametrize("value", ["x" * 51, b"bytes", 3, None, ["x"], ("x",)])
def test_contains_nothing_else(value: object) -> None:
    assert value not in UnicodeText(50)


def test_membership_of_a_long_text_takes_no_time() -> None:
    space, text = UnicodeText(10**7), "x" * 10**7
    start = time.process_time()
    for _ in range(1000):
        assert text in space
    assert time.process_time() - start < 0.1


def test_samples_are_members_mixed_and_free_of_surrogates() -> None:
    space = UnicodeText(1000, seed=0)
    samples = [space.sample() for _ in range(300)]
    assert all(sample in space and len(sample) <= 32 for sample in samples)
    together = "".join(samples)
    together.encode("utf-8")  # fails on a surrogate
    assert "\n" in together and "'" in together and any(ord(c) > 0xFFFF for c in together)
    assert max(len({ord(c) >> 8 for c in sample}) for sample in samples) >= 4


@pytest.mark.parametrize("max_length", [0, 1, 5])
def test_samples_keep_to_a_small_length(max_length: int) -> None:
    space = UnicodeText(max_length, seed=1)
    assert {len(space.sample()) for _ in range(200)} == set(range(max_length + 1))


def test_the_seed_decides_the_samples() -> None:
    first, second, other = UnicodeText(99, seed=5), UnicodeText(99, seed=5), UnicodeText(99, seed=6)
    drawn = [first.sample() for _ in range(5)]
    assert drawn == [second.sample() for _ in range(5)]
    assert drawn != [other.sample() for _ in range(5)]


def test_samples_inside_a_dict_with_a_mask_for_its_neighbour() -> None:
    import numpy as np

    space = Dict({"kind": Discrete(3), "text": UnicodeText(9)})
    mask = {"kind": np.array([0, 1, 0], dtype=np.int8), "text": None}
    assert space.sample(mask=mask)["kind"] == 1


def test_a_mask_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="neither a mask"):
        UnicodeText(9).sample(mask=(1, None))  # type: ignore[arg-type]


def test_equality_and_repr() -> None:
    assert UnicodeText(9) == UnicodeText(9)
    assert UnicodeText(9) != UnicodeText(8)
    assert UnicodeText(9) != Discrete(9)
    assert repr(UnicodeText(9)) == "UnicodeText(max_length=9)"


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="max_length"):
        UnicodeText(-1)


def test_json_and_back() -> None:
    space = UnicodeText(99, seed=2)
    samples = [space.sample() for _ in range(20)]
    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples)))) == samples
