"""EX of many pairs at once: as fast as the databases answer, on as many processes as are wanted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Lock
from typing import Final, NamedTuple, cast

from birdenv.databases import DatabaseSource, Limits, SqliteSource
from birdenv.grading._second_run import second_limits
from birdenv.grading._verdict import ExVerdict, without_results
from birdenv.grading.compare._metrics import Metric
from birdenv.grading.workers._ex_grader import ex_grading
from birdenv.grading.workers._graded import ExSettings
from birdenv.grading.workers._grading import Grading
from birdenv.processes.one_at_a_time import alone

_DEFAULT_LIMITS: Final = Limits()
_TOGETHER_SECONDS: Final = 0.05  # of work that a worker gets at once: each message wakes it up
_MOST_TOGETHER: Final = 256  # pairs
_WEIGHT: Final = 0.3  # of the latest time in the running mean of a database's
_SHARES: Final = 4  # in how many parts of a worker's share the pairs of one gold are split, at least


class Pair(NamedTuple):
    """A prediction, and the golds any of which it may agree with."""

    db_id: str
    golds: tuple[str, ...]
    prediction: str | None


def score_pairs(
    pairs: Sequence[Pair],
    source: DatabaseSource,
    *,
    limits: Limits = _DEFAULT_LIMITS,
    clean: bool = False,
    metrics: Sequence[Metric] = (),
    workers: int = 1,
    on_done: Callable[[int], None] | None = None,
) -> list[ExVerdict]:
    """Return the verdicts of `ExGrader` on all pairs, in their order.

    The results (`gold_result` and `pred_result`) are None. Pairs that are the same are graded once, and a
    gold runs as seldom as possible. Where a time limit ended a statement, the pair is graded once more when
    all others are done, alone and with twice the limit, before that is the verdict. A worker that dies costs
    its own pair only, and is replaced. Verdicts do not depend on the number of workers.

    Args:
        pairs: in any order.
        source: the databases.
        limits: of each statement.
        clean: see `ExGrader`.
        metrics: beside EX, see `ExGrader`.
        workers: how many pairs are graded at the same time.
        on_done: called with how many more of the pairs are graded.

    Raises:
        InputError: a database cannot be used; before any statement runs where that can be seen then.
        InfrastructureError: the server is lost.
        ValueError: there is to be no worker.
    """
    if workers < 1:
        raise ValueError(f"there must be a worker, not {workers}")
    places: dict[Pair, list[int]] = {}
    for place, pair in enumerate(pairs):
        places.setdefault(Pair(*pair), []).append(place)
    verdicts: list[ExVerdict | None] = [None] * len(pairs)
    late: list[Pair] = []
    settings = ExSettings(clean, tuple(metrics), explain=True)

    def judged(pair: Pair, verdict: ExVerdict, *, may_be_late: bool = False) -> None:
        if verdict.was_late and not may_be_late:
            late.append(pair)
            return
        for place in places[pair]:
            verdicts[place] = without_results(verdict)
        if on_done is not None:
            on_done(len(places[pair]))

    grading = ex_grading(source, limits, settings)
    for pair, verdict in _graded(_shares(list(places), source, workers), grading, workers):
        judged(pair, verdict)
    if late:
        grading = ex_grading(source, second_limits(limits), settings)
        with alone():
            for pair, verdict in _graded([late], grading, 1):
                judged(pair, verdict, may_be_late=True)
    assert None not in verdicts
    return cast(list[ExVerdict], verdicts)


def _shares(pairs: Sequence[Pair], source: DatabaseSource, workers: int) -> list[list[Pair]]:
    """Return the pairs in shares, each for one worker: pairs of one gold together, large databases first.

    Many pairs of one gold are several shares, so that no worker is left with all of them.

    Raises:
        InputError: a database cannot be used.
    """
    sizes = _sizes({pair.db_id for pair in pairs}, source)
    groups: dict[tuple[str, tuple[str, ...]], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.db_id, pair.golds), []).append(pair)
    most = max(len(pairs) // (_SHARES * workers), 1)
    dearest = sorted(groups, key=lambda group: (-sizes[group[0]], group[0]))  # sorting is stable
    return [
        groups[key][start : start + most] for key in dearest for start in range(0, len(groups[key]), most)
    ]


def _sizes(names: set[str], source: DatabaseSource) -> Mapping[str, int]:
    if isinstance(source, SqliteSource):
        return {name: source.path(name).stat().st_size for name in sorted(names)}
    for name in sorted(names):
        source.check(name)
    return dict.fromkeys(names, 0)


def _graded(shares: list[list[Pair]], grading: Grading, workers: int) -> Iterator[tuple[Pair, ExVerdict]]:
    """Grade shares in the order given, in so many threads that each have a worker, and yield the verdicts."""
    schedule = _Schedule(shares, workers)
    news: SimpleQueue[list[tuple[Pair, ExVerdict]] | BaseException | None] = SimpleQueue()

    def work() -> None:
        own: deque[Pair] = deque()
        try:
            while batch := schedule.take(own):
                began = time.monotonic()
                found = grading.do(batch)
                if not found:
                    break  # stopped
                schedule.took(batch, time.monotonic() - began)
                news.put([(pair, each.found) for pair, each in zip(batch, found, strict=True)])
            news.put(None)
        except BaseException as error:
            news.put(error)

    with ThreadPoolExecutor(workers) as threads:
        try:
            running = [threads.submit(work) for _ in range(workers)]
            while running:
                found = news.get()
                if isinstance(found, BaseException):
                    raise found
                if found is None:
                    running.pop()
                    continue
                yield from found
        finally:
            grading.stop()


class _Schedule:
    """Hands out pairs to threads: about 50 ms of work at once, and little to each near the end."""

    def __init__(self, shares: list[list[Pair]], workers: int) -> None:
        self._waiting = deque(shares)
        self._left = sum(map(len, shares))
        self._workers = workers
        self._seconds: dict[str, float] = {}  # that a pair of a database takes
        self._lock = Lock()

    def take(self, own: deque[Pair]) -> list[Pair]:
        """Return the next pairs of a thread.

        Args:
            own: what the thread has left of the share that it works on.
        """
        taken: list[Pair] = []
        seconds = 0.0
        with self._lock:
            most = min(max(self._left // (_SHARES * self._workers), 1), _MOST_TOGETHER)
            while len(taken) < most and (own or self._waiting):
                if not own:
                    own.extend(self._waiting.popleft())
                seconds += self._seconds.get(own[0].db_id, _TOGETHER_SECONDS)
                if taken and seconds > _TOGETHER_SECONDS:
                    break
                taken.append(own.popleft())
                self._left -= 1
        return taken

    def took(self, batch: Sequence[Pair], seconds: float) -> None:
        """Note how long grading took."""
        with self._lock:
            for pair in batch:
                before = self._seconds.get(pair.db_id, seconds / len(batch))
                self._seconds[pair.db_id] = (1 - _WEIGHT) * before + _WEIGHT * seconds / len(batch)
