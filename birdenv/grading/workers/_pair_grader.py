"""EM and ESM: is a predicted query the gold's own text, and does it return what the gold returns?"""

from __future__ import annotations

from typing import Any, cast

from birdenv.databases import Limits
from birdenv.grading._answer_cleaning import Cleaned
from birdenv.grading.em_esm._pair_rules import PairRules, PairVerdict, RunQuery
from birdenv.grading.workers._graded import GradingSettings, OwnedServer, PairSettings
from birdenv.grading.workers._grading import Grading


class PairGrader:
    """Grades pairs in worker processes; may be used by several threads if `run` may.

    Args:
        run: runs a query; None where ESM is not wanted.
        dialect: `sqlite` or `postgres`.
        rules: what is worked out, and how.
    """

    def __init__(self, run: RunQuery | None, dialect: str, rules: PairRules | None = None) -> None:
        self.rules = rules or PairRules()
        self.dialect = dialect
        if self.rules.esm and run is None:
            raise ValueError("ESM needs a database")

        def answer(question: Any) -> Any:
            assert run is not None
            sql, db_id = question
            return run(sql, db_id)

        settings = PairSettings(self.rules, run is not None)
        self._grading = Grading(
            GradingSettings(OwnedServer(dialect), Limits(), settings), lambda reason: reason, answer=answer
        )

    def is_none(self, cleaned: Cleaned) -> bool:
        """Return whether a side says that the question has no answer in SQL."""
        return cleaned.sql in self.rules.nones

    def grade(self, gold: str, pred: str, db_id: str = "") -> PairVerdict:
        """The verdict by the first row that fits, as em / esm / bucket (`-`: None; `key`: EM keys equal):

        1 both None: pass / pass / ok. 2 prediction empty: - / - / skipped. 3 gold empty: - / - / skipped.
        4 gold None: fail / fail / mismatch. 5 prediction None: fail / fail / mismatch. 6 ESM off: key / - /
        skipped. 7 gold no single query: key / - / non_select. 8 prediction no single query: key / fail /
        non_select. 9 gold too slow: key / - / timeout. 10 gold fails: key / - / gold_fail. 11 prediction too
        slow: key / fail / timeout. 12 prediction fails: key / fail / pred_fail. 13 result too large: key / -
        or fail by side / other_error. 14 no answer: key / - / other_error. 15 results agree: key / pass / ok.
        16 results differ: key / fail / mismatch.

        A metric that is off is None in every row, and with ESM off the bucket is always `skipped`. The gold
        runs first; the database says that something is no plain query with the error kind `denied`.
        """
        found = self._grading.do([(gold, pred, db_id)])[0].found
        if isinstance(found, str):
            sides = Cleaned(gold, ()), Cleaned(pred, ())
            return PairVerdict(*sides, "other_error", found, keys=(gold, pred))
        return cast(PairVerdict, found)
