"""The structural match says yes rarely, and rightly."""

from __future__ import annotations

import pytest

from birdenv.grading import structural_match

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
