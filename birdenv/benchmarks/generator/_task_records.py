"""Task records of a family, as they stand in a c-Interact task file."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from birdenv.benchmarks.generator._families import Family
from birdenv.benchmarks.generator._follow_ups import GeneratedFollowUp
from birdenv.benchmarks.generator._wording import clear_request, term

_TIERS: Final = ("Easy", "Easy", "Medium", "Hard")
_NUMBERS: Final = 100  # of tasks of a family are below
_CONDITIONS: Final = {"decimal": -1, "distinct": False, "order": False}


def family_records(
    family: Family, name: str, text: str, follow_up: GeneratedFollowUp, order: Random, suffix: str = ""
) -> list[dict[str, Any]]:
    """Return one record for each combination of meanings that the user may mean.

    Beside the fields of c-Interact a record has `family` and `open_points`, which birdenv does not read.
    Neither the number in an id nor the order of the records tells what is meant, or how many tasks there are.

    Args:
        family: the family.
        name: its name; the tasks' ids begin with it.
        text: the request.
        follow_up: the follow-up.
        order: shuffles the candidates, in the same way for all tasks, and draws the tasks' numbers.
        suffix: stands behind each id.
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
