"""Clean-up that fails behind the first phase: nobody's failure, on either engine (BIRD-Interact §4.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toy_tasks import MANAGEMENT, write_benchmark

from birdenv.databases import open_source
from birdenv.dialogue import Move
from birdenv.grading import ConversationalGrader
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import PROFILES, CInteractController, load_benchmark

DELETE = "DELETE FROM loan WHERE days > 30"
FAILS = ["DROP TABLE nowhere", "INSERT INTO loan VALUES (2, 'E', 1)", "DROP TABLE scratch"]
"""The first always; the last unless the answer made the table. The second is seen in the follow-up."""


@pytest.fixture(params=["sqlite", "postgres"])
def dialect(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "postgres":
        request.getfixturevalue("postgres_dsn")
    return name


def episode(folder: Path, dialect: str, record: dict[str, Any], profile: str, **options: Any) -> Any:
    source = open_source(write_benchmark(folder, record), dialect)
    benchmark = load_benchmark(folder, source=source)
    grader = ConversationalGrader(source)
    return CInteractController(benchmark.tasks[0], source, grader, profile=PROFILES[profile], **options)


@pytest.mark.parametrize("profile", ["strict", "shell"])
def test_the_systems_own_database_has_been_cleaned_up_too(tmp_path: Path, dialect: str, profile: str) -> None:
    record = MANAGEMENT | {"clean_up_sqls": FAILS, "sol_sql": [DELETE]}
    made = episode(tmp_path, dialect, record, profile, execute_sql=True)
    made.apply(SYSTEM, Move("submit_sql", DELETE))
    assert made.phase == 2
    made.apply(SYSTEM, Move("execute_sql", "SELECT count(*) AS n FROM loan"))
    assert made.system_view().message == "n\n-\n2\n(1 row)"
