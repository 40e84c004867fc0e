"""Check generated task families: grade gold and wrong candidates, and test the simulated user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from birdenv.benchmarks.generator._families import Concepts, Entity, Family, Values
from birdenv.databases import DatabaseSource, EpisodeDatabase, Limits, QueryResult
from birdenv.dialogue import Dialogue, Move
from birdenv.dialogue.players import advance
from birdenv.envs.candidates import MAX_SPANS, phrases, question_about
from birdenv.errors import InputError
from birdenv.grading import InteractGrader
from birdenv.tasks import SYSTEM, USER
from birdenv.tasks.c_interact import CInteractRules, CInteractTask, DatabaseNotes, parse_record, split_record
from birdenv.users import RulePlayer

_MOST_ROWS: Final = 100_000
_PASSED: Final = 1.0


class Checker:
    """Checks families of generated tasks (`Family`) for a single database.

    Attributes:
        values: the values in the database for each entity's quantities, keyed by the entity's table.
    """

    def __init__(self, concepts: Concepts, source: DatabaseSource, notes: DatabaseNotes) -> None:
        self._source, self._notes = source, notes
        self._grader = InteractGrader(source)
        self._database: EpisodeDatabase = source.open(concepts.database, Limits())
        self.values: Mapping[str, Values] = {e.table: self._values_of(e) for e in concepts.entities}

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def are_distinct(self, family: Family) -> bool:
        """Return True if all candidates return rows, and no two candidates return the same rows."""
        return self._all_differ([self._probe(family, combination) for combination in family.combinations])

    def _probe(self, family: Family, combination: Sequence[int]) -> str:
        """Return a query for the rows that the candidate for a combination of meanings shows or changes."""
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
        """Describe the first fault in a family's tasks; return an empty string if there is no fault.

        The gold must earn the full reward, wrong candidates must fail in both phases, and the simulated user
        must explain every ambiguous point when the agent asks about it.
        """
        tasks = [
            split_record(parse_record(record, "generated"), 0, self._notes, self._source.dialect)
            for record in records
        ]
        if found := self._fault_of_answers(tasks):
            return f"{records[0]['family']}: {found}"
        for record, task in zip(records, tasks, strict=True):
            if found := self._fault_of(task):
                return f"{record['instance_id']}: {found}"
        return ""

    def _fault_of(self, task: CInteractTask) -> str:
        private, follow_up = task.private, task.private.follow_up
        assert follow_up is not None
        gold, later = private.gold[0], follow_up.gold[0]
        if self._play(task, [gold, later]) != _PASSED:
            return "the gold SQL fails"
        if not self._all_differ(follow_up.candidates) and private.category == "Query":
            return "two candidates of the follow-up return the same rows, or a candidate returns no rows"
        wrong = [sql for sql in task.public.candidates if sql != gold]
        if any(self._play(task, pair) for pair in _pairs(wrong)):
            return "a wrong candidate passes"
        lost = [sql for sql in follow_up.candidates if sql != later]
        if any(self._play(task, [gold, *pair]) > 0.7 for pair in _pairs(lost)):
            return "a wrong candidate of the follow-up passes"
        return ""

    def _play(self, task: CInteractTask, sqls: Sequence[str]) -> float:
        """Return the reward of an agent that submits the statements in order."""
        rules = CInteractRules(task, self._source, self._grader)
        dialogue = Dialogue(rules)
        for sql in sqls:
            if dialogue.open:
                dialogue.apply(SYSTEM, Move("submit_sql", sql))
        dialogue.close()
        return dialogue.rewards[SYSTEM]

    def _fault_of_answers(self, tasks: Sequence[CInteractTask]) -> str:
        """Describe what is wrong with the simulated user's answers in a family; return "" if all are correct.

        The term of each ambiguous point must be in the request. In every task, the user must explain the
        meaning when asked about the term, and when asked about at least one phrase in the request that shares
        a word with the term.
        """
        request = tasks[0].public.question
        points = [task.private.brief.ambiguities for task in tasks]
        by_term = {point.term: _phrases_with(point.term, request) for point in points[0]}
        asked = [question_about(text) for term, found in by_term.items() for text in (term, *found)]
        heard = [self._answers(task, dict.fromkeys(asked)) for task in tasks]
        for place, (term, found) in enumerate(by_term.items()):
            meant = [each[place].snippet for each in points]
            tell = [
                text
                for text in (term, *found)
                if _bring([answers[question_about(text)] for answers in heard], term, meant)
            ]
            if term.lower() not in request.lower():
                return f"{term!r} is not in the request"
            if term not in tell or not set(found).intersection(tell):
                return f"the user does not explain {term!r} when asked about it"
        return ""

    def _answers(self, task: CInteractTask, questions: Collection[str]) -> dict[str, tuple[str, str]]:
        """Return the user's answer to each question, with the ambiguous point that it is about."""
        rules = CInteractRules(task, self._source, self._grader, questions=len(questions))
        dialogue = Dialogue(rules)
        user = RulePlayer([replace(brief, converses=False) for brief in rules.private_brief(USER)])
        given = {}
        for question in questions:
            dialogue.apply(SYSTEM, Move("clarify", question))
            advance(dialogue, [None, user], SYSTEM)
            given[question] = dialogue.view(SYSTEM).message, str(rules.private_log[-1]["target"])
        dialogue.close()
        return given

    def _values_of(self, entity: Entity) -> Values:
        found: dict[str, list[Any]] = {}
        for name, quantity in entity.quantities.items():
            sql = f"SELECT {quantity.sql} FROM {entity.table} {entity.alias}"
            known = [row[0] for row in self._rows(sql) if row[0] is not None]
            if len({type(value) is str for value in known}) > 1:
                raise InputError(f"{entity.plural}: the values of {name} mix strings and numbers")
            found[name] = sorted(known)
        return found

    def _rows(self, sql: str) -> Sequence[Sequence[Any]]:
        result = self._database.execute(sql, _MOST_ROWS)
        if not isinstance(result, QueryResult):
            raise InputError(f"a concept's SQL does not run: {result.message}: {sql}")
        return result.rows


def _pairs(sqls: Sequence[str]) -> list[Sequence[str]]:
    """Return the statements in pairs, because a phase of an episode has two attempts."""
    return [sqls[start : start + 2] for start in range(0, len(sqls), 2)]


def _phrases_with(term: str, request: str) -> list[str]:
    """Return the phrases that share a word with a term, and that the candidate setting can ask about."""
    words = set(term.lower().split())
    return [each.text for each in phrases(request)[:MAX_SPANS] if words & set(each.text.lower().split())]


def _bring(answers: Sequence[tuple[str, str]], term: str, meant: Sequence[str]) -> bool:
    """Return True if all answers are about a term, and are equal exactly where the meanings are equal.

    Each task has one answer in `answers` and one meaning in `meant`.
    """
    texts = [text for text, _ in answers]
    about_it = all(target == term for _, target in answers)
    return about_it and len(set(texts)) == len(set(meant)) == len(set(zip(texts, meant, strict=True)))
