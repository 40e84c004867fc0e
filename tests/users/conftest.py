"""The real Mini-Interact tasks as briefs, where a copy of them is at hand."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from samples import EVERY_TWENTIETH

from birdenv.users import Ambiguity, Brief

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("BIRDENV_SHARED_DATA", ROOT.parent / "shared" / "data")) / "mini_interact"

_TABLE = re.compile(r'CREATE TABLE "?([^"\s(]+)"?\s*\((.*?)\n\)', re.DOTALL)
_NOT_COLUMNS = re.compile(r"(?i)(PRIMARY|FOREIGN|UNIQUE|CONSTRAINT|CHECK)\b")


def schema_names(text: str) -> frozenset[str]:
    """Table and column names of a schema file."""
    names: set[str] = set()
    for table, body in _TABLE.findall(text):
        names.add(table)
        for line in map(str.strip, body.splitlines()):
            if line and not _NOT_COLUMNS.match(line):
                match = re.match(r'"([^"]+)"|([^\s",]+)', line)
                if match:
                    names.add(match[1] or match[2])
    return frozenset(names)


def load_briefs() -> list[tuple[str, Brief]]:
    """Every task's id and brief; no gold, as the public file has none."""
    schemas: dict[str, frozenset[str]] = {}
    briefs = []
    for line in (DATA / "mini_interact.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        database = row["selected_database"]
        if database not in schemas:
            schemas[database] = schema_names((DATA / database / f"{database}_schema.txt").read_text())
        points = row["user_query_ambiguity"]
        lists = (
            ("critical", points["critical_ambiguity"]),
            ("non_critical", points["non_critical_ambiguity"]),
            ("knowledge", row["knowledge_ambiguity"]),
        )
        ambiguities = tuple(
            Ambiguity(item["term"], item["sql_snippet"], kind, item["type"])
            for kind, items in lists
            for item in items
        )
        clear = row.get("query") or row["amb_user_query"]
        briefs.append((row["instance_id"], Brief(clear, ambiguities, (), schemas[database])))
    return briefs


@pytest.fixture(scope="session")
def all_real_briefs() -> list[tuple[str, Brief]]:
    if not (DATA / "mini_interact.jsonl").exists():
        pytest.skip(f"no Mini-Interact data in {DATA} (set BIRDENV_SHARED_DATA)")
    return load_briefs()


@pytest.fixture(params=EVERY_TWENTIETH)
def real_briefs(
    request: pytest.FixtureRequest, all_real_briefs: list[tuple[str, Brief]]
) -> list[tuple[str, Brief]]:
    return all_real_briefs[:: request.param]
