"""Load dumps: the authors' folders `<db>_template/<table>.sql`, and single files written by pg_dump.

The files in a folder are loaded in the order of their names. A file that needs a table from another file is
loaded after that file, and foreign keys are added after all rows are loaded. psql commands and statements
about roles and other databases are ignored. If anything else fails, the whole database is rejected.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg

from birdenv.databases.postgres.loading._dump_file import DumpPiece, Fault, reset, run_file, run_piece
from birdenv.databases.postgres.loading._loading import Filled, Loaded, load
from birdenv.databases.postgres.server._server import PostgresServer
from birdenv.errors import InputError
from birdenv.files import exists, file_digest, file_errors, is_directory

_RULES: Final = "dump 1"
_SUFFIX: Final = "_template"
_MISSING_TABLE: Final = "42P01"
_MISSING_PARENT: Final = "23503"


@dataclass(frozen=True, slots=True)
class Dump:
    """A dump of one database, in one or more files.

    Attributes:
        db_id: the id of the database.
        files: the paths of the dump's .sql files.
        one_table_each: whether each file holds a single table, and is named after it.
    """

    db_id: str
    files: tuple[Path, ...]
    one_table_each: bool


def find_dumps(path: Path) -> list[Dump]:
    """Return the dumps at a path, sorted by database id.

    The path can be a folder of `<db>_template` folders, a folder of .sql files, a single `<db>_template`
    folder, or a single file. Raises `InputError` if there is no dump.
    """
    if not exists(path):
        raise InputError(f"{path}: no such file or folder")
    if not is_directory(path):
        return [Dump(_db_id(path.name.removesuffix(".sql")), (path,), one_table_each=False)]
    with file_errors(path):
        inside = sorted(path.iterdir())
    if path.name.endswith(_SUFFIX):
        return [_folder_dump(path)]
    folders = [each for each in inside if each.is_dir() and each.name.endswith(_SUFFIX)]
    files = [each for each in inside if each.suffix == ".sql" and each.is_file()]
    if not folders and not files:
        raise InputError(
            f"{path} contains no dumps: expected folders named <db>{_SUFFIX} with a .sql file for each table "
            "or one .sql file for each database (for SQLite files use --from-sqlite)"
        )
    dumps = [_folder_dump(each) for each in folders]
    dumps += [Dump(_db_id(each.stem), (each,), one_table_each=False) for each in files]
    return sorted(dumps, key=lambda dump: dump.db_id)


def load_dump(
    server: PostgresServer, dump: Dump, *, again: bool = False, expected: dict[str, int] | None = None
) -> Loaded:
    """Load a dump as a template. For `again`, `expected` and the errors raised, see `load`."""
    named = "".join(f"{path.name} {file_digest(path)}\n" for path in dump.files)
    digest = hashlib.sha256(f"{_RULES}\n{named}".encode()).hexdigest()
    return load(
        server,
        dump.db_id,
        digest,
        "dump",
        lambda connection: _fill(connection, dump),
        again=again,
        expected=expected,
    )


def _folder_dump(folder: Path) -> Dump:
    with file_errors(folder):
        files = sorted(each for each in folder.iterdir() if each.suffix == ".sql")
    if not files:
        raise InputError(f"{folder} contains no .sql files: the dump is incomplete; download it again")
    return Dump(_db_id(folder.name), tuple(files), one_table_each=True)


def _db_id(name: str) -> str:
    return name.removesuffix(_SUFFIX)


def _fill(connection: psycopg.Connection[Any], dump: Dump) -> Filled:
    waiting, keys = list(dump.files), list[tuple[Path, DumpPiece]]()
    faults: list[Fault] = []
    while waiting:
        faults = []
        for path in waiting:
            later: list[tuple[Path, DumpPiece]] = []
            fault = run_file(connection, path, later.append)
            if fault is None:
                keys += later
            elif fault.state in (_MISSING_TABLE, _MISSING_PARENT):
                faults.append(fault)
            else:
                raise InputError(f"database {dump.db_id!r} cannot be loaded: {fault}")
        if len(faults) == len(waiting):
            raise InputError(f"database {dump.db_id!r} cannot be loaded: {faults[0]}")
        waiting = [fault.path for fault in faults]
    for path, piece in keys:
        fault = run_piece(connection, path, piece)
        if fault is not None:
            raise InputError(f"database {dump.db_id!r} cannot be loaded: {fault}")
    reset(connection)
    _check_names(connection, dump)
    return Filled(None, [])


def _check_names(connection: psycopg.Connection[Any], dump: Dump) -> None:
    if not dump.one_table_each:
        return
    rows = connection.execute("SELECT lower(tablename) FROM pg_tables").fetchall()
    present = {name for (name,) in rows}
    missing = [path.name for path in dump.files if path.stem.lower() not in present]
    if missing:
        raise InputError(
            f"database {dump.db_id!r} was not loaded because it would be incomplete: these files do "
            f"not create a table: {', '.join(missing)}"
        )
