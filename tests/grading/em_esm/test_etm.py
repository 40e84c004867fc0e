"""The structural match says yes rarely, and rightly."""

from __future__ import annotations

import pytest

from birdenv.grading.em_esm import structural_match

SCHEMA = {
    "hero": {"id": "INTEGER", "name": "TEXT", "team_id": "INTEGER"},
    "team": {"id": "INTEGER", "label": "TEXT"},
}


@pytest.mark.parametrize(
    ("gold", "pred", "expected"),
    [
        ("SELECT name FROM hero", "select hero.name from HERO", True),
        ("SELECT name FROM hero", "SELECT h.name FROM hero AS h", False),
        ("SELECT name FROM hero WHERE NOT id <> 1", "SELECT name FROM hero WHERE id = 1", True),
        ("SELECT name FROM hero WHERE name = 'A'", "SELECT name FROM hero WHERE name = 'a'", False),
        ("SELECT name FROM hero", "SELECT id FROM hero", False),
        ("SELECT name FROM hero ORDER BY id", "SELECT name FROM hero", False),
        ("SELECT name FROM hero", "SELECT nothing FROM hero", False),
        ("SELECT name FROM hero", "Women's", False),
        ("SELECT name FROM hero", "DELETE FROM hero", False),
        ("no SQL (", "no SQL (", None),
        ("SELECT nothing FROM hero", "SELECT nothing FROM hero", None),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_structural_match(gold: str, pred: str, expected: bool | None, dialect: str) -> None:
    assert structural_match(gold, pred, SCHEMA, dialect) is expected


SAME = {
    "18: an IN list": (
        "SELECT id FROM hero WHERE id IN (2, 1)",
        "SELECT id FROM hero WHERE id = 1 OR id = 2",
    ),
    "18: NOT IN": (
        "SELECT id FROM hero WHERE name NOT IN ('a', 'b')",
        "SELECT id FROM hero WHERE name <> 'b' AND name != 'a'",
    ),
    "18: one item": (
        "SELECT id FROM hero WHERE id IN (1) OR name = 'a'",
        "SELECT id FROM hero WHERE name = 'a' OR id = 1",
    ),
    "22: BETWEEN": (
        "SELECT id FROM hero WHERE id BETWEEN 1 AND 3",
        "SELECT id FROM hero WHERE id <= 3 AND id >= 1",
    ),
    "23: NOT": (
        "SELECT id FROM hero WHERE NOT (id < 3 OR name = 'a')",
        "SELECT id FROM hero WHERE name <> 'a' AND id >= 3",
    ),
    "102: the SELECT list": ("SELECT name, max(id) FROM hero", "SELECT MAX(id), name FROM hero"),
    "102: and an ORDER BY by number": (
        "SELECT name, max(id) FROM hero GROUP BY name ORDER BY 2",
        "SELECT max(id), name FROM hero GROUP BY name ORDER BY 1",
    ),
    "104: the order of joins": (
        "SELECT name FROM hero JOIN team ON hero.team_id = team.id WHERE label = 'x'",
        "SELECT name FROM team JOIN hero ON team.id = hero.team_id AND team.label = 'x'",
    ),
    "104: joins by comma": (
        "SELECT name FROM hero INNER JOIN team ON hero.team_id = team.id",
        "SELECT name FROM team, hero WHERE team.id = team_id",
    ),
    "105: sides": ("SELECT id FROM hero WHERE id = team_id", "SELECT id FROM hero WHERE team_id = id"),
    "107: parentheses": ("SELECT id FROM hero WHERE id = 1", "SELECT (id) FROM hero WHERE ((id) = (1))"),
}
OTHER = {
    "a left join is no inner one": (
        "SELECT name FROM hero LEFT JOIN team ON hero.team_id = team.id",
        "SELECT name FROM team JOIN hero ON hero.team_id = team.id",
    ),
    "nor the same from the other side": (
        "SELECT name FROM hero LEFT JOIN team ON hero.team_id = team.id",
        "SELECT name FROM team LEFT JOIN hero ON hero.team_id = team.id",
    ),
    "columns of a union are positional": (
        "SELECT id, team_id FROM hero UNION SELECT id, id FROM team",
        "SELECT team_id, id FROM hero UNION SELECT id, id FROM team",
    ),
    "another key of ORDER BY": (
        "SELECT name, max(id) FROM hero GROUP BY name ORDER BY 2",
        "SELECT name, max(id) FROM hero GROUP BY name ORDER BY 1",
    ),
    "another key inside": (
        "SELECT max(id) FROM hero WHERE id = (SELECT max(id) FROM team GROUP BY id ORDER BY 1 LIMIT 1)",
        "SELECT max(id) FROM hero WHERE id = (SELECT max(id) FROM team GROUP BY id ORDER BY id LIMIT 1)",
    ),
    "a list with another value": (
        "SELECT id FROM hero WHERE id IN (1, 2)",
        "SELECT id FROM hero WHERE id IN (1, 3)",
    ),
    "a branch missing": ("SELECT id FROM hero WHERE id IN (1, 2)", "SELECT id FROM hero WHERE id = 1"),
}


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize(("gold", "pred"), SAME.values(), ids=SAME.keys())
def test_rules(gold: str, pred: str, dialect: str) -> None:
    assert structural_match(gold, pred, SCHEMA, dialect) is True
    assert structural_match(pred, gold, SCHEMA, dialect) is True


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize(("gold", "pred"), OTHER.values(), ids=OTHER.keys())
def test_what_the_rules_keep_apart(gold: str, pred: str, dialect: str) -> None:
    assert structural_match(gold, pred, SCHEMA, dialect) is False


def test_iif_is_a_case() -> None:
    iif = "SELECT IIF(id > 1, 'a', 'b') FROM hero"
    case = "SELECT CASE WHEN id > 1 THEN 'a' ELSE 'b' END FROM hero"
    assert structural_match(iif, case, SCHEMA, "sqlite") is True
    assert structural_match(iif, case.replace("'b'", "'c'"), SCHEMA, "sqlite") is False
