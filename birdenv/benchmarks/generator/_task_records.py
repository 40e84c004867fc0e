"""Write a task family as records for a c-Interact task file, and draw follow-up requests.

A follow-up is unambiguous and has four candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from birdenv.benchmarks.generator._families import Family, Values, literal, middle_value
from birdenv.benchmarks.generator._wording import clear_request, term

_NARROWING: Final = (
    "Of these, keep only those with a {name} {direction} {value}.",
    "Now leave out all but those with a {name} {direction} {value}.",
    "The same again, restricted to a {name} {direction} {value}.",
)
_COUNTING: Final = (
    "Now take all {plural}: the {what} for each {group}, please.",
    "And over all {plural}, what is the {what} per {group}?",
)
_AFTER: Final = (
    "After that change: what is the {what} of all {plural} per {group}?",
    "With that done, give me the {what} of all {plural} for each {group}.",
)


@dataclass(frozen=True, slots=True)
class GeneratedFollowUp:
    """A follow-up request for a family. Its correct SQL can depend on the meaning of the first request.

    Attributes:
        text: the wording of the request.
        kind: `constraint_change`, `topic_pivot` or `state_dependent`.
        right: the index of the correct candidate.
        conditions: for each candidate, an SQL condition that selects some of the first request's rows; empty
            if there are `statements`.
        statements: for each candidate, a whole SQL statement; empty if there are `conditions`.
    """

    text: str
    kind: str
    right: int
    conditions: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()

    def candidates(self, family: Family, combination: Sequence[int]) -> list[str]:
        """Return the SQL of each candidate if the user meant this combination by the first request."""
        if self.statements:
            return list(self.statements)
        return [f"{family.sql(combination)} AND {condition}" for condition in self.conditions]


def narrowing(family: Family, values: Values, rng: Random) -> GeneratedFollowUp | None:
    """Draw a follow-up that asks for a subset of the rows. Return None if this is not possible."""
    used = {meaning.sql for point in family.points for meaning in point.meanings}
    names = [
        name
        for name, quantity in family.entity.quantities.items()
        if not any(quantity.sql in sql for sql in used)
    ]
    if len(names) < 2:
        return None
    drawn: list[tuple[str, str]] = []
    for name in rng.sample(sorted(names), 2):
        thresholds = [middle_value(values[name], rng) for _ in range(8)]
        distinct = list(dict.fromkeys(value for value in thresholds if value is not None))
        if len(distinct) < 2:
            return None
        quantity = family.entity.quantities[name]
        for operator, direction, value in ((">", "above", distinct[0]), ("<", "below", distinct[1])):
            words = rng.choice(_NARROWING).format(name=quantity.name, direction=direction, value=value)
            drawn.append((f"{quantity.sql} {operator} {literal(value)}", words))
    rng.shuffle(drawn)
    right = rng.randrange(len(drawn))
    return GeneratedFollowUp(
        drawn[right][1], "constraint_change", right, conditions=tuple(sql for sql, _ in drawn)
    )


def counting(family: Family, rng: Random) -> GeneratedFollowUp:
    """Draw a follow-up that asks for aggregates over groups of rows."""
    entity = family.entity
    plain = sorted(name for name, q in entity.quantities.items() if "COUNT(" not in q.sql)
    quantity = entity.quantities[rng.choice(plain)]
    key = next(iter(entity.show))
    drawn = []
    forms = _COUNTING if family.change is None else _AFTER
    for name in rng.sample(sorted(entity.groups), 2):
        group = entity.groups[name]
        for shown, what in (
            (f"COUNT({entity.alias}.{key})", f"number of {entity.plural}"),
            (f"MAX({quantity.sql})", f"highest {quantity.name.removeprefix('highest ')}"),
        ):
            sql = f"SELECT {group}, {shown} FROM {entity.table} {entity.alias} GROUP BY {group}"
            drawn.append((sql, rng.choice(forms).format(plural=entity.plural, what=what, group=name)))
    rng.shuffle(drawn)
    right = rng.randrange(len(drawn))
    kind = "topic_pivot" if family.change is None else "state_dependent"
    return GeneratedFollowUp(drawn[right][1], kind, right, statements=tuple(sql for sql, _ in drawn))


_TIERS: Final = ("Easy", "Easy", "Medium", "Hard")
_NUMBERS: Final = 100  # the numbers of a family's tasks are smaller than this
_CONDITIONS: Final = {"decimal": -1, "distinct": False, "order": False}


def family_records(
    family: Family, name: str, text: str, follow_up: GeneratedFollowUp, order: Random, suffix: str = ""
) -> list[dict[str, Any]]:
    """Return a task record for each combination that the user can mean.

    In addition to c-Interact's fields, records have the fields `family` and `open_points`, which birdenv
    ignores. The ids and the order of the records do not reveal what the user means, or how many tasks the
    family has.

    Args:
        family: the family.
        name: the name of the family, with which the task ids begin.
        text: the request.
        follow_up: the follow-up request.
        order: the random generator for the order of the candidates, which is the same in all tasks, and for
            the numbers in the ids.
        suffix: the text at the end of each id.
    """
    combinations = family.combinations
    order.shuffle(combinations)
    candidates = [family.sql(combination) for combination in combinations]
    opened = [point for point in family.points if point.is_open]
    meanings = family.meant
    order.shuffle(meanings)
    numbers = sorted(order.sample(range(_NUMBERS), len(meanings)))
    records = []
    for number, meant in zip(numbers, meanings, strict=True):
        later = follow_up.candidates(family, meant)
        category = "Query" if family.change is None else "Management"
        records.append(
            {
                "instance_id": f"{name}_{number}{suffix}",
                "family": name,
                "open_points": len(opened),
                "selected_database": family.database,
                "query": clear_request(family, meant),
                "amb_user_query": text,
                "category": category,
                "high_level": False,
                "difficulty_tier": _TIERS[len(opened)],
                "conditions": _CONDITIONS,
                "preprocess_sql": [],
                "clean_up_sqls": [],
                "sol_sql": [family.sql(meant)],
                "external_knowledge": [],
                "test_cases": [],
                **({} if family.change is None else {"grading": "state"}),
                "user_query_ambiguity": {
                    "critical_ambiguity": [
                        {
                            "term": term(family, point, text),
                            "sql_snippet": point.meanings[meaning].sql,
                            "is_mask": False,
                            "type": "semantic_ambiguity" if point.is_trait else "intent_ambiguity",
                        }
                        for point, meaning in zip(family.points, meant, strict=True)
                        if point.is_open
                    ],
                    "non_critical_ambiguity": [],
                },
                "knowledge_ambiguity": [],
                "candidates": candidates,
                "follow_up": {
                    "query": follow_up.text,
                    "type": follow_up.kind,
                    "category": "Query",
                    "difficulty_tier": "Easy",
                    "conditions": _CONDITIONS,
                    "sol_sql": [later[follow_up.right]],
                    "external_knowledge": [],
                    "test_cases": [],
                    "candidates": later,
                },
            }
        )
    return records
