"""EX of many pairs at once: as fast as the databases answer, on as many processes as are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final, NamedTuple, cast

from birdenv.databases import DatabaseSource, Limits, SqliteSource
from birdenv.grading._second_run import alone, second_limits
from birdenv.grading._verdict import ExVerdict, without_results
from birdenv.grading.compare._metrics import Metric
from birdenv.grading.workers._graded import ExSettings
from birdenv.grading.workers._graders import ex_grading
from birdenv.grading.workers._grading import Grading

_DEFAULT_LIMITS: Final = Limits()
_MOST_TOGETHER: Final = 8  # pairs that a worker gets at once: each message wakes it up
_SHARES: Final = 4  # that each worker gets, at least


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
        metrics: further metrics, as in `ExGrader`.
        workers: how many pairs are graded at the same time.
        on_done: called with the number of pairs that were graded since the last call.

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
    settings = ExSettings(clean, tuple(metrics))

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
            for pair, verdict in _graded([[pair] for pair in late], grading, 1):
                judged(pair, verdict, may_be_late=True)
    assert None not in verdicts
    return cast(list[ExVerdict], verdicts)


def _shares(pairs: Sequence[Pair], source: DatabaseSource, workers: int) -> list[list[Pair]]:
    """Return the pairs in shares, each for one worker: large databases first, pairs of one gold together.

    Raises:
        InputError: a database cannot be used.
    """
    sizes = _sizes({pair.db_id for pair in pairs}, source)
    ordered = sorted(pairs, key=lambda pair: (-sizes[pair.db_id], pair.db_id, pair.golds))
    most = min(max(len(pairs) // (_SHARES * workers), 1), _MOST_TOGETHER)
    return [ordered[start : start + most] for start in range(0, len(ordered), most)]


def _sizes(names: set[str], source: DatabaseSource) -> Mapping[str, int]:
    if isinstance(source, SqliteSource):
        return {name: source.path(name).stat().st_size for name in sorted(names)}
    for name in sorted(names):
        source.check(name)
    return dict.fromkeys(names, 0)


def _graded(shares: list[list[Pair]], grading: Grading, workers: int) -> Iterator[tuple[Pair, ExVerdict]]:
    """Grade shares in the order given, in so many threads that each have a worker, and yield the verdicts."""
    with ThreadPoolExecutor(workers) as threads:
        try:
            asked = {threads.submit(grading.do, share): share for share in shares}
            for done in as_completed(asked):
                for pair, graded in zip(asked[done], done.result(), strict=True):
                    yield pair, graded.found
        finally:
            grading.stop()
