"""EX of many pairs at once: as fast as the databases answer, on as many processes as are wanted.

Which pair is graded next by which worker.

Pairs with the same golds are a group, and a worker takes a group for its own, so that a gold runs in one
process only. Groups of large databases come first and those of small ones last, so that no worker is left
with long work while the others have none. Where no group is left without an owner, the rest of the
longest one is shared, if that is worth running its gold twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, cast

from birdenv.databases import DatabaseSource, Limits, QueryError, SqliteSource
from birdenv.databases.cache import ResultCache
from birdenv.databases.sqlite import SqliteFileSource
from birdenv.grading._ex import ExGrader
from birdenv.grading._result_store import ResultStore
from birdenv.grading._scoring_pool import ScoringPool, WorkerCrash
from birdenv.grading._scoring_worker import ScoringConfig, sql_digest
from birdenv.grading._second_run import is_late, second_limits
from birdenv.grading._verdict import ExStatus, ExVerdict, without_results
from birdenv.grading.compare._metrics import Metric
from birdenv.processes._one_at_a_time import alone

_TOGETHER_SECONDS: Final = 0.05  # of work that is handed out at once (a message costs about 0.0002); the
# time that a pair is taken to need as long as nothing is known of its database
_MOST_TOGETHER: Final = 256  # pairs
_SHARED_SECONDS: Final = 0.2  # of work with one gold that two workers share, each running the gold
_WEIGHT: Final = 0.3  # of the latest time in the running mean of a database's


class Schedule:
    """Hands out the numbers of pairs, each once, unless it is handed back.

    `groups`: for each pair, in order, its database and its golds. `costs`: of databases, in any unit.
    """

    def __init__(self, groups: Sequence[tuple[str, Hashable]], costs: Mapping[str, float]) -> None:
        members: dict[tuple[str, Hashable], deque[int]] = {}
        for number, group in enumerate(groups):
            members.setdefault(group, deque()).append(number)
        dearest = sorted(members, key=lambda group: (-costs.get(group[0], 0.0), group[0]))
        self._waiting = deque((group[0], members[group]) for group in dearest)  # sorting is stable
        self._owned: dict[int, tuple[str, deque[int]]] = {}
        self._left = len(groups)
        self._seconds: dict[str, float] = {}  # that a pair of a database takes

    @property
    def is_empty(self) -> bool:
        """Whether every pair is handed out."""
        return self._left == 0

    def take(self, worker: int, workers: int) -> list[int]:
        """The next pairs for one of so many workers, about 50 ms of work; none if all are handed out, or what
        is left is better done by those who have its golds, as far as is known by now."""
        taken: list[int] = []
        seconds = 0.0
        share = max(self._left // (4 * workers), 1)  # near the end each gets little, and nobody waits long
        while self._left and len(taken) < min(share, _MOST_TOGETHER):
            group = self._group_of(worker)
            if group is None:
                break
            database, numbers = group
            cost = self._seconds.get(database, _TOGETHER_SECONDS)
            if taken and seconds + cost > _TOGETHER_SECONDS:
                break
            taken.append(numbers.popleft())
            seconds += cost
            self._left -= 1
        return taken

    def took(self, database: str, seconds: float) -> None:
        """Grading a pair of this database took so long."""
        before = self._seconds.get(database, seconds)
        self._seconds[database] = (1 - _WEIGHT) * before + _WEIGHT * seconds

    def give_back(self, database: str, numbers: Sequence[int]) -> None:
        """These were not graded after all; they come next."""
        if numbers:
            self._waiting.appendleft((database, deque(numbers)))
            self._left += len(numbers)

    def _group_of(self, worker: int) -> tuple[str, deque[int]] | None:
        """The group that this worker goes on with."""
        own = self._owned.get(worker)
        if own is not None and own[1]:
            return own
        if self._waiting:
            own = self._waiting.popleft()
        else:
            own = max(self._owned.values(), key=self._cost_of, default=None)
            if own is None or self._cost_of(own) < _SHARED_SECONDS:
                return None
        self._owned[worker] = own
        return own

    def _cost_of(self, group: tuple[str, deque[int]]) -> float:
        """Seconds that the rest of a group takes, about."""
        return self._seconds.get(group[0], _TOGETHER_SECONDS) * len(group[1])


_DEFAULT_LIMITS: Final = Limits()
_NO_STATEMENT: Final = bytes(16)
_MOST_DEATHS: Final = 8  # of processes over one pair: more than it has statements that can kill


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
    store: ResultStore | None = None,
    check_every: int = 0,
    on_done: Callable[[int], None] | None = None,
) -> list[ExVerdict]:
    """The verdicts of `ExGrader` on all pairs, in their order, without the results (`gold_result` and
    `pred_result` are None).

    Pairs that are the same are graded once, and a gold runs once, whatever its predictions. Where a time
    limit ended a statement, the pair is graded once more when all others are done, alone and with twice the
    limit, before that is the verdict.

    More than one
    worker, and any number with `isolation="process"`, are processes that grade whole pairs; one that dies
    costs its own pair only, and is replaced. Where a server runs the SQL, workers are threads. Verdicts do
    not depend on the number of workers.

    Args:
        pairs: in any order; those on one database are graded near each other in time.
        source: of SQLite's, directory and isolation count; a subclass's own ways do not.
        limits: of each statement.
        clean: see `ExGrader`.
        metrics: beside EX, see `ExGrader`.
        workers: how many pairs are graded at the same time.
        store: where results are found and kept.
        check_every: execute every n-th known statement again and compare; 0 for never.
        on_done: called with how many more of the pairs are graded.

    Raises `InputError` if a database cannot be used, before any statement runs where that can be seen then,
    `InfrastructureError` if the server is lost, and `ValueError` if there is to be no worker.
    """
    if workers < 1:
        raise ValueError(f"there must be a worker, not {workers}")
    numbers: dict[Pair, list[int]] = {}
    for number, pair in enumerate(pairs):
        numbers.setdefault(Pair(*pair), []).append(number)
    distinct = list(numbers)
    verdicts: list[ExVerdict | None] = [None] * len(pairs)

    late: list[int] = []

    def judged(number: int, verdict: ExVerdict, *, may_be_late: bool = False) -> None:
        if verdict.was_late and not may_be_late:
            late.append(number)
            return
        for place in numbers[distinct[number]]:
            verdicts[place] = verdict
        if on_done is not None:
            on_done(len(numbers[distinct[number]]))

    settings = _Settings(source, limits, clean, tuple(metrics), store, check_every)
    _score(distinct, settings, workers, judged)
    if late:
        again = sorted(late)
        with alone():
            _score(
                [distinct[number] for number in again],
                settings._replace(limits=second_limits(limits)),
                1,
                lambda place, verdict: judged(again[place], verdict, may_be_late=True),
            )
    if store is not None:
        store.flush()
    assert None not in verdicts
    return cast(list[ExVerdict], verdicts)


class _Settings(NamedTuple):
    """See `score_pairs`."""

    source: DatabaseSource
    limits: Limits
    clean: bool
    metrics: tuple[Metric, ...]
    store: ResultStore | None
    check_every: int


def _score(
    distinct: Sequence[Pair], settings: _Settings, workers: int, judged: Callable[[int, ExVerdict], None]
) -> None:
    """Grade each pair once."""
    source, limits, clean, metrics, store, check_every = settings
    workers = min(workers, max(len(distinct), 1))
    cache = ResultCache(store, check_every=check_every)
    if not isinstance(source, SqliteSource):
        _in_threads(distinct, source, ExGrader(source, limits, clean, metrics, cache), workers, judged)
    elif workers == 1 and source.isolation == "inline":
        grader = ExGrader(source, limits, clean, metrics, cache)
        _in_this_process(distinct, _schedule(distinct, source), grader, judged)
    elif distinct:
        schedule = _schedule(distinct, source)
        setting = ScoringConfig(
            str(source.root),
            str(source.file) if isinstance(source, SqliteFileSource) else None,
            source.isolation,
            (limits.seconds, limits.rows, limits.bytes),
            clean,
            metrics,
            None if store is None else (str(store.path), store.most_bytes),
            check_every,
        )
        with ScoringPool(setting, workers) as pool:
            _Scoring(distinct, schedule, pool, workers, metrics, store, judged).run()


def _schedule(pairs: Sequence[Pair], source: SqliteSource) -> Schedule:
    """The order of grading. Raises `InputError` if a database cannot be used."""
    sizes = {name: float(source.path(name).stat().st_size) for name in sorted({p.db_id for p in pairs})}
    return Schedule([(pair.db_id, pair.golds) for pair in pairs], sizes)


def _in_this_process(
    pairs: Sequence[Pair], schedule: Schedule, grader: ExGrader, judged: Callable[[int, ExVerdict], None]
) -> None:
    while taken := schedule.take(0, 1):
        for number in taken:
            began = time.monotonic()
            judged(number, without_results(grader.grade_once(*pairs[number])))
            schedule.took(pairs[number].db_id, time.monotonic() - began)


def _in_threads(
    pairs: Sequence[Pair],
    source: DatabaseSource,
    grader: ExGrader,
    workers: int,
    judged: Callable[[int, ExVerdict], None],
) -> None:
    """On a server, whose own processes do the work, and end it when it is late."""
    for name in sorted({pair.db_id for pair in pairs}):
        source.check(name)

    def graded(pair: Pair) -> ExVerdict:
        return without_results(grader.grade_once(*pair))

    with ThreadPoolExecutor(workers) as pool:
        for number, verdict in enumerate(pool.map(graded, pairs)):
            judged(number, verdict)


class _Scoring:
    """One call's pairs on their way through the processes."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        schedule: Schedule,
        pool: ScoringPool,
        workers: int,
        metrics: Sequence[Metric],
        store: ResultStore | None,
        judged: Callable[[int, ExVerdict], None],
    ) -> None:
        self._pairs = pairs
        self._schedule = schedule
        self._crew = pool
        self._metrics = metrics
        self._store = store
        self._judged = judged
        self._under_way: dict[int, list[int]] = {worker: [] for worker in range(workers)}
        self._known: dict[int, dict[bytes, tuple[Any, ...]]] = {}  # by pair, the statements that killed

    def run(self) -> None:
        if self._store is not None:
            self._store.flush()
        self._give_to_idle()
        while any(self._under_way.values()):
            for news in self._crew.wait():
                if isinstance(news, WorkerCrash):
                    self._after_crash(news)
                    continue
                for number, verdict, seconds in news.verdicts:
                    self._under_way[news.worker].remove(number)
                    self._schedule.took(self._pairs[number].db_id, seconds)
                    self._judged(number, verdict)
                if self._store is not None:
                    self._store.count(executed=news.executed, found=news.found)
                    self._store.fault = self._store.fault or news.fault
                if news.is_idle:
                    self._give_to_idle()
                elif news.wants_work:
                    self._give(news.worker)
        if self._store is not None:
            fault = self._crew.finish()
            self._store.fault = self._store.fault or fault

    def _give_to_idle(self) -> None:
        for worker, under_way in self._under_way.items():
            if not under_way:
                self._give(worker)

    def _give(self, worker: int) -> None:
        taken = self._schedule.take(worker, len(self._under_way))
        if not taken:
            return
        if self._crew.give(worker, [(n, *self._pairs[n], self._known.get(n, {})) for n in taken]):
            self._under_way[worker] += taken
        else:
            self._give_back(taken)

    def _after_crash(self, death: WorkerCrash) -> None:
        """Grade the pair again, with what killed the process taken as that statement's error."""
        left, self._under_way[death.worker] = self._under_way[death.worker], []
        for number in left:
            if number == death.number:
                known = self._known.setdefault(number, {})
                prediction = sql_digest(self._pairs[number].prediction or "")
                # Between two statements it compared, and what takes memory then is what was predicted.
                statement = prediction if death.statement == _NO_STATEMENT else death.statement
                if statement in known or len(known) >= _MOST_DEATHS:
                    self._judged(number, self._given_up(death.error))
                    continue
                error = death.error
                known[statement] = (error.kind, error.message, error.elapsed)
            self._give_back([number])
        self._give_to_idle()

    def _give_back(self, numbers: Sequence[int]) -> None:
        for number in reversed(numbers):
            self._schedule.give_back(self._pairs[number].db_id, [number])

    def _given_up(self, error: QueryError) -> ExVerdict:
        status: ExStatus = "sql_timeout" if error.kind == "timeout" else "sql_error"
        scores: dict[str, float] = dict.fromkeys(self._metrics, 0.0)
        reason, late = f"the query failed: {error.message}", is_late(error)
        return ExVerdict(False, False, reason, status, error, metrics=scores, was_late=late)
