"""What a set of databases must hold: an expectation file, or the figures that the benchmark's authors give.

The file is JSON: `{"alien": {"signals": 1000, ...}, ...}`, the rows of every table of every database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from birdenv.errors import InputError
from birdenv.files import read_json

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class OfficialSet:
    """One public set as BIRD-Interact's `check_db_metadata.py` describes it."""

    databases: tuple[str, ...]
    tables: int
    mean_rows: float
    """Rows a table, rounded to two places."""

    def differences(self, present: Mapping[str, Mapping[str, int]]) -> list[str]:
        """Return a line for each table whose number of rows is not the published one."""
        missing = [name for name in self.databases if name not in present]
        if missing:
            return [f"of {len(self.databases)} databases, {len(missing)} are missing: {', '.join(missing)}"]
        rows = [count for name in self.databases for count in present[name].values()]
        lines = []
        if len(rows) != self.tables:
            lines.append(f"{len(rows)} tables in all, expected {self.tables}")
        mean = round(sum(rows) / max(len(rows), 1), 2)
        if mean != self.mean_rows:
            lines.append(f"{mean} rows a table, expected {self.mean_rows}")
        return lines


OFFICIAL_SETS: Final[Mapping[str, OfficialSet]] = {
    "lite": OfficialSet(
        tuple(
            "alien archeology credit cross_db crypto cybermarket disaster fake gaming insider mental museum "
            "news polar robot solar vaccine virtual".split()
        ),
        tables=175,
        mean_rows=1038.48,
    ),
    "full": OfficialSet(
        tuple(
            "archeology_scan cold_chain_pharma_compliance cross_border crypto_exchange cybermarket_pattern "
            "disaster_relief exchange_traded_funds fake_account households hulushows insider_trading "
            "labor_certification_applications mental_health museum_artifact organ_transplant planets_data "
            "polar_equipment reverse_logistics robot_fault_prediction solar_panel sports_events "
            "virtual_idol".split()
        ),
        tables=244,
        mean_rows=1121.19,
    ),
}


def read_expectations(path: Path) -> dict[str, dict[str, int]]:
    """Return rows of every table by database, from a file. Raises `InputError` naming what is not as
    described.
    """
    value = read_json(path)
    if not isinstance(value, dict) or not value:
        raise InputError(f'{path}: expected {{"database": {{"table": rows}}}}')
    return {name: _tables(tables, f"{path}: database {name!r}") for name, tables in value.items()}


def _tables(value: Any, where: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise InputError(f'{where}: expected {{"table": rows}}')
    for table, rows in value.items():
        if type(rows) is not int or rows < 0:
            raise InputError(f"{where}: table {table!r}: expected a number of rows, found {rows!r:.40}")
    return value
