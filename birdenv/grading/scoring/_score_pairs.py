"""EX of many pairs at once: as fast as the databases answer, on as many processes as are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, cast

from birdenv.databases import DatabaseSource, Limits, QueryError, SqliteSource
from birdenv.databases.cache import ResultCache
from birdenv.databases.sqlite import SqliteFileSource
from birdenv.grading._ex import ExGrader
from birdenv.grading._result_store import ResultStore
from birdenv.grading._second_run import is_late, second_limits
from birdenv.grading._verdict import ExStatus, ExVerdict, without_results
from birdenv.grading.compare._metrics import Metric
from birdenv.grading.scoring._pool import ScoringPool, WorkerCrash
from birdenv.grading.scoring._schedule import Schedule
from birdenv.grading.scoring._worker import ScoringConfig, sql_digest
from birdenv.processes._one_at_a_time import alone

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

    Workers are processes that grade whole pairs; one that dies costs its own pair only, and is replaced. Where a server runs the SQL, workers are threads. Verdicts do
    not depend on the number of workers.

    Args:
        pairs: in any order; those on one database are graded near each other in time.
        source: of SQLite's, the directory counts; a subclass's own ways do not.
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
    elif distinct:
        schedule = _schedule(distinct, source)
        setting = ScoringConfig(
            str(source.root),
            str(source.file) if isinstance(source, SqliteFileSource) else None,
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
