"""Grade in worker processes: EX, EM and ESM, c-Interact submissions, gold checks, and many pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final, NamedTuple, cast

from birdenv.databases import DatabaseSource, Limits, SqliteSource
from birdenv.grading._answer_cleaning import Cleaned
from birdenv.grading._ex import ExVerdict, without_results
from birdenv.grading._gold_check import GoldCheck
from birdenv.grading._second_run import alone, second_limits, with_second_run
from birdenv.grading.compare._metrics import Metric
from birdenv.grading.em_esm._pair_rules import PairRules, PairVerdict, RunQuery
from birdenv.grading.interact._job import Grade, GradingJob
from birdenv.grading.workers._graded import ExSettings, Graded, GradingSettings, OwnedServer, PairSettings
from birdenv.grading.workers._grading import Grading, places_of

_DEFAULT_LIMITS: Final = Limits()


class ExGrader:
    """A thread-safe grader for EX, which runs each query on its own freshly opened database.

    Worker processes do the grading. If a statement times out, the prediction is regraded once, on its own and
    with twice the limit. Rows that cannot be compared within 30 s of CPU time do not agree.

    Args:
        source: the source that opens the databases.
        limits: the limits on each statement.
        clean: whether to remove everything around the SQL (`clean_sql`) before computing `ex` and the
            metrics.
        metrics: metrics to compute in addition to EX.
        fail_doubtful: whether a prediction that reads no table fails all metrics if the gold reads a table.
    """

    def __init__(
        self,
        source: DatabaseSource,
        limits: Limits = _DEFAULT_LIMITS,
        clean: bool = False,
        metrics: Sequence[Metric] = (),
        *,
        fail_doubtful: bool = False,
    ) -> None:
        self._source = source
        self._limits = limits
        self._settings = ExSettings(clean, tuple(metrics), fail_doubtful)

    def grade(self, db_id: str, golds: Sequence[str], prediction: str | None) -> ExVerdict:
        """Grade a prediction, which passes if it returns the same rows as any of the gold queries.

        A prediction of None means that nothing was submitted, which fails. A gold that fails to run matches
        nothing; if all golds fail, the status is `gold_error`. If values are nested too deeply to be
        compared, the prediction fails.

        Raises:
            InputError: the database cannot be opened.
            InfrastructureError: there is not enough memory, even in a new worker, or no worker can be
                started.
        """
        job = (db_id, tuple(golds), prediction)
        return with_second_run(
            lambda limits: cast(
                ExVerdict, ex_grading(self._source, limits, self._settings).do([job])[0].found
            ),
            self._limits,
            lambda verdict: verdict.was_late,
        )


def ex_grading(source: DatabaseSource, limits: Limits, settings: ExSettings) -> Grading:
    """Return a `Grading` for EX. Each of its jobs is a tuple (database id, golds, prediction)."""

    def uncompared(reason: str) -> ExVerdict:
        return ExVerdict(False, False, reason, "wrong_result", metrics=dict.fromkeys(settings.metrics, 0.0))

    return Grading(GradingSettings(places_of(source), limits, settings), uncompared, source)


class InteractGrader:
    """A thread-safe grader for c-Interact submissions, which uses worker processes."""

    def __init__(self, source: DatabaseSource, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._source = source
        self._limits = limits

    def grade(self, job: GradingJob, prediction: str) -> Grade:
        """Grade one submission.

        Under strict rules, if the prediction leaves a transaction open, the changes in this transaction are
        lost. If `base_pred` fails, the prediction fails. If a statement times out, the submission is regraded
        once, on its own and with twice the limit. Rows that cannot be compared within 30 s of CPU time do not
        agree.

        Raises:
            InputError: the database cannot be opened.
            InfrastructureError: there is not enough memory, even in a new worker, or no worker can be
                started.
        """
        if not prediction.strip():
            return Grade(False, "no_submission", "no SQL was submitted")
        if not job.gold:
            return Grade(False, "infra_error", "there is no gold SQL")

        def run(limits: Limits) -> Graded:
            settings = GradingSettings(places_of(self._source), limits, "interact")
            return Grading(settings, _uncompared, self._source).do([(job, prediction)])[0]

        grade: Grade = with_second_run(run, self._limits, _was_late).found
        return grade


def _was_late(graded: Graded) -> bool:
    """Return whether a time limit may have affected the grade."""
    return graded.was_late or (graded.state_was_late and graded.found.status == "infra_error")


def _uncompared(reason: str) -> Grade:
    return Grade(False, "wrong_result", reason)


class PairGrader:
    """A grader for EM and ESM, which compares pairs of queries in worker processes.

    Thread-safe if `run` is thread-safe.

    Args:
        run: a function that runs a query on a database; it can be None if the rules do not include ESM.
        dialect: `sqlite` or `postgres`.
        rules: the metrics to compute, and the rules for them.

    Raises:
        ValueError: the rules include ESM, but `run` is None.
    """

    def __init__(self, run: RunQuery | None, dialect: str, rules: PairRules | None = None) -> None:
        self.rules = rules or PairRules()
        self.dialect = dialect
        if self.rules.esm and run is None:
            raise ValueError("ESM needs a function that runs queries: pass `run`")

        settings = GradingSettings(OwnedServer(dialect), Limits(), PairSettings(self.rules, run is not None))
        answer = None if run is None else lambda question: run(*question)
        self._grading = Grading(settings, lambda reason: reason, answer=answer)

    def is_none(self, cleaned: Cleaned) -> bool:
        """Return whether a cleaned answer means that the question cannot be answered in SQL."""
        return cleaned.sql in self.rules.nones

    def grade(self, gold: str, pred: str, db_id: str = "") -> PairVerdict:
        """Return the verdict on a pair, from the first matching row of this decision table.

        Each row has a condition, followed by EM / ESM / bucket. `-` stands for None, and `key` means that EM
        passes if the EM keys are equal. The answer "None" means that the question cannot be answered in SQL.

        1. both are None: pass / pass / ok
        2. the prediction is empty: - / - / skipped
        3. the gold is empty: - / - / skipped
        4. only the gold is None: fail / fail / mismatch
        5. only the prediction is None: fail / fail / mismatch
        6. ESM is off: key / - / skipped
        7. the gold is not a single query: key / - / non_select
        8. the prediction is not a single query: key / fail / non_select
        9. the gold is too slow: key / - / timeout
        10. the gold fails: key / - / gold_fail
        11. the prediction is too slow: key / fail / timeout
        12. the prediction fails: key / fail / pred_fail
        13. a result is too large: key / - (the gold's) or fail (the prediction's) / other_error
        14. the database returns no answer: key / - / other_error
        15. the results agree: key / pass / ok
        16. the results differ: key / fail / mismatch

        A metric that is off is None in every row, and with ESM off the bucket is always `skipped`. The gold
        runs first. The database refuses anything but a plain query with the error kind `denied`.
        """
        found = self._grading.do([(gold, pred, db_id)])[0].found
        if isinstance(found, str):
            sides = Cleaned(gold, ()), Cleaned(pred, ())
            return PairVerdict(*sides, "other_error", found, keys=(gold, pred))
        return cast(PairVerdict, found)


def check_gold(source: DatabaseSource, db_id: str, sql: str, limits: Limits = _DEFAULT_LIMITS) -> GoldCheck:
    """Run a gold query twice, each time on a fresh database, and compare the results in all comparison modes.

    If the result is empty, the mode `superset` is left out, because empty results never agree in this mode.
    If values are nested too deeply to be compared, the check has the failure `gold`. If a run times out, both
    runs are repeated, on their own and with twice the limit.

    Raises:
        InputError: the database cannot be opened.
    """

    def run(limits: Limits) -> tuple[GoldCheck, bool]:
        settings = GradingSettings(places_of(source), limits, "gold")
        grading = Grading(settings, lambda reason: GoldCheck({"gold": reason}, 0.0), source)
        graded = grading.do([(db_id, sql)])[0]
        return graded.found, graded.was_late

    return with_second_run(run, limits, lambda found: found[1])[0]


_MOST_TOGETHER: Final = 8  # maximum number of pairs in one message to a worker
_SHARES: Final = 4  # minimum number of messages to each worker


class Pair(NamedTuple):
    """A prediction and its gold queries. The prediction is correct if it agrees with any gold query."""

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
    """Grade pairs as `ExGrader` does. Return the verdicts in the order of the pairs.

    The verdicts contain no results (`gold_result` and `pred_result` are None). Equal pairs are graded only
    once, and each gold is run as few times as possible. If a statement times out, its pair is graded once
    more after all the others, on its own and with twice the limit. If a worker dies, only its current pair is
    affected, and the worker is replaced. Verdicts do not depend on the number of workers.

    Args:
        pairs: the pairs, in any order.
        source: the source that opens the databases.
        limits: the limits on each statement.
        clean: as in `ExGrader`.
        metrics: as in `ExGrader`.
        workers: number of pairs to grade at the same time.
        on_done: a function that is called with the number of pairs graded since the previous call.

    Raises:
        InputError: a database cannot be used. If possible, this is raised before any statement runs.
        InfrastructureError: the connection to the server is lost.
        ValueError: `workers` is less than 1.
    """
    if workers < 1:
        raise ValueError(f"`workers` must be at least 1, got {workers}")
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
    """Split the pairs into shares for workers. Pairs with the same gold stay next to each other.

    Pairs on large databases come first.

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
    """Grade the shares in order, in threads that use one worker each, and yield the verdicts."""
    with ThreadPoolExecutor(workers) as threads:
        try:
            asked = {threads.submit(grading.do, share): share for share in shares}
            for done in as_completed(asked):
                for pair, graded in zip(asked[done], done.result(), strict=True):
                    yield pair, graded.found
        finally:
            grading.stop()
