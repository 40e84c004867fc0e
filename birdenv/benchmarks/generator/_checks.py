"""Checking families by playing them: what the gold, the wrong candidates and the user come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from birdenv.benchmarks.generator._concepts import Concepts, Entity
from birdenv.benchmarks.generator._families import Family, Values
from birdenv.databases import DatabaseSource, EpisodeDatabase, Limits, QueryResult
from birdenv.dialogue import Dialogue, Move
from birdenv.dialogue.episode import advance
from birdenv.errors import InputError
from birdenv.grading.interact import InteractGrader
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import CInteractRules, CInteractTask, DatabaseNotes, parse_record, split_record
from birdenv.users import RulePlayer

_MOST_ROWS: Final = 100_000
_PASSED: Final = 1.0


class Checker:
    """Runs statements and plays tasks on one database.

    Attributes:
        values: the values of each entity's quantities, by its table.
    """

    def __init__(self, concepts: Concepts, source: DatabaseSource, notes: DatabaseNotes) -> None:
        self._source, self._notes = source, notes
        self._grader = InteractGrader(source)
        self._database: EpisodeDatabase = source.open(concepts.database, Limits())
        self.values: Mapping[str, Values] = {e.table: self._values_of(e) for e in concepts.entities}

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def are_distinct(self, family: Family) -> bool:
        """Return whether all candidates of a family find something, and no two the same."""
        return self._all_differ([self._probe(family, combination) for combination in family.combinations])

    def _probe(self, family: Family, combination: Sequence[int]) -> str:
        """The rows that a combination shows, or changes."""
        if family.change is None:
            return family.sql(combination)
        return f"SELECT {family.columns(combination)} FROM {family.rows(combination)}"

    def _all_differ(self, sqls: Sequence[str]) -> bool:
        seen = set()
        for sql in sqls:
            rows = self._rows(sql)
            if not rows:
                return False
            seen.add(tuple(sorted(map(repr, rows))))
        return len(seen) == len(sqls)

    def fault(self, records: Sequence[Mapping[str, Any]]) -> str:
        """Return what is wrong with the tasks of a family; empty if nothing is.

        The gold must earn everything. Each wrong candidate must fail, in both phases. Each open point must be
        in the request, and asking about it must bring an answer about it that no leak guard stopped.
        """
        for record in records:
            task = split_record(parse_record(record, "generated"), 0, self._notes, self._source.dialect)
            if found := self._fault_of(task):
                return f"{record['instance_id']}: {found}"
        return ""

    def _fault_of(self, task: CInteractTask) -> str:
        private, follow_up = task.private, task.private.follow_up
        assert follow_up is not None
        gold, later = private.gold[0], follow_up.gold[0]
        if self._play(task, [gold, later]) != _PASSED:
            return "its gold fails"
        if not self._all_differ(follow_up.candidates) and private.category == "Query":
            return "a candidate of the follow-up finds nothing, or the same as another"
        wrong = [sql for sql in task.public.candidates if sql != gold]
        if any(self._play(task, pair) for pair in _pairs(wrong)):
            return "a wrong candidate passes"
        lost = [sql for sql in follow_up.candidates if sql != later]
        if any(self._play(task, [gold, *pair]) > 0.7 for pair in _pairs(lost)):
            return "a wrong candidate of the follow-up passes"
        return self._unanswered(task)

    def _play(self, task: CInteractTask, sqls: Sequence[str]) -> float:
        """The reward of submitting these statements."""
        rules = CInteractRules(task, self._source, self._grader)
        dialogue = Dialogue(rules)
        for sql in sqls:
            if dialogue.open:
                dialogue.apply(SYSTEM, Move("submit_sql", sql))
        dialogue.close()
        return dialogue.rewards[SYSTEM]

    def _unanswered(self, task: CInteractTask) -> str:
        points = task.private.brief.ambiguities
        rules = CInteractRules(task, self._source, self._grader, questions=len(points))
        dialogue = Dialogue(rules)
        user = RulePlayer(rules.private_brief(1))
        for point in points:
            if point.term.lower() not in task.public.question.lower():
                return f"{point.term!r} is not in the request"
            dialogue.apply(SYSTEM, Move("clarify", f"What do you mean by '{point.term}'?"))
            advance(dialogue, [None, user], SYSTEM)
            entry = rules.private_log[-1]
            if entry["target"] != point.term or entry["guard"]:
                return f"asked about {point.term!r}, the user does not tell"
        dialogue.close()
        return ""

    def _values_of(self, entity: Entity) -> Values:
        found: dict[str, list[Any]] = {}
        for name, quantity in entity.quantities.items():
            sql = f"SELECT {quantity.sql} FROM {entity.table} {entity.alias}"
            known = [row[0] for row in self._rows(sql) if row[0] is not None]
            if len({type(value) is str for value in known}) > 1:
                raise InputError(f"{entity.plural}: {name} mixes texts and numbers")
            found[name] = sorted(known)
        return found

    def _rows(self, sql: str) -> Sequence[Sequence[Any]]:
        result = self._database.execute(sql, _MOST_ROWS)
        if not isinstance(result, QueryResult):
            raise InputError(f"a concept's SQL does not run: {result.message}: {sql}")
        return result.rows


def _pairs(sqls: Sequence[str]) -> list[Sequence[str]]:
    """Two at a time: an episode has two attempts in a phase."""
    return [sqls[start : start + 2] for start in range(0, len(sqls), 2)]
