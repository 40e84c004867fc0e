"""Which worker grades what: everything once, golds in one process, dear databases first."""

from __future__ import annotations

import random

from birdenv.grading.scoring._schedule import Schedule

COSTS = {"small": 1.0, "large": 100.0}


def schedule_of(groups: list[tuple[str, str]]) -> Schedule:
    return Schedule(groups, COSTS)


def test_every_pair_is_handed_out_once() -> None:
    random_ = random.Random(7)
    groups = [(random_.choice(["small", "large"]), f"gold {random_.randrange(30)}") for _ in range(500)]
    schedule = schedule_of(groups)
    taken: list[int] = []
    while not schedule.is_empty:
        part = schedule.take(random_.randrange(3), 3)
        taken += part
        for number in part:
            schedule.took(groups[number][0], random_.random() / 50)
    assert sorted(taken) == list(range(500))
    assert schedule.take(0, 3) == []


def test_large_databases_come_first_in_the_order_of_their_pairs() -> None:
    schedule = schedule_of([("small", "a"), ("large", "b"), ("small", "c"), ("large", "d")])
    taken = []
    while part := schedule.take(0, 1):
        taken += part
    assert taken == [1, 3, 0, 2]


def test_pairs_of_one_gold_stay_with_the_worker_that_has_it() -> None:
    groups = [("small", f"gold {number // 10}") for number in range(40)]
    schedule = schedule_of(groups)
    owners: dict[str, set[int]] = {}
    for turn in range(40):
        for number in schedule.take(turn % 2, 2):
            owners.setdefault(groups[number][1], set()).add(turn % 2)
    assert schedule.is_empty
    assert all(len(workers) == 1 for workers in owners.values())


def test_the_rest_of_a_long_group_is_shared_and_that_of_a_short_one_is_not() -> None:
    schedule = schedule_of([("small", "the only gold")] * 20)
    assert schedule.take(0, 2) == [0]
    schedule.took("small", 0.001)
    assert schedule.take(1, 2) == []
    for _ in range(20):
        schedule.took("small", 1.0)
    assert [schedule.take(turn % 2, 2) for turn in range(19)] == [[number] for number in range(1, 20)]


def test_quick_pairs_are_handed_out_together_and_slow_ones_alone() -> None:
    schedule = schedule_of([("small", str(number)) for number in range(400)])
    assert len(schedule.take(0, 2)) == 1, "nothing is known yet"
    schedule.took("small", 0.001)
    assert len(schedule.take(0, 2)) > 20
    for _ in range(20):
        schedule.took("small", 1.0)
    assert len(schedule.take(0, 2)) == 1


def test_what_is_handed_back_comes_next() -> None:
    schedule = schedule_of([("large", str(number)) for number in range(6)])
    taken = schedule.take(0, 1)
    schedule.give_back("large", taken)
    assert schedule.take(1, 1)[:1] == taken
