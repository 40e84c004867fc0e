"""A benchmark folder's databases on PostgreSQL: what is not loaded yet is loaded when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from birdenv.databases._dump_places import dump_places
from birdenv.databases._limits import Limits
from birdenv.databases._results import Scope
from birdenv.databases.postgres._source import PostgresSource
from birdenv.databases.postgres.loading._dumps import Dump, find_dumps, load_dump
from birdenv.databases.postgres.loading._from_sqlite import load_from_sqlite
from birdenv.databases.postgres.loading._templates import (
    Template,
    published_names,
    templates,
    verify_template,
)
from birdenv.databases.postgres.server._server import PostgresServer
from birdenv.databases.sqlite._source import SqliteSource
from birdenv.errors import InputError
from birdenv.files import is_directory


class PostgresFolderSource(PostgresSource):
    """The databases of a folder, and whatever else is loaded on the server.

    A database that the server holds as `<db>_template` is used as it is. Else it comes from the folder's
    dumps (`<db>_template/<table>.sql`, in the folder itself, or in a folder of the authors' name in it or
    beside it) if it has one, else from its `<db>/<db>.sqlite`, else it must have been loaded before. The rows
    of its tables are counted once, before its first use.

    Args:
        server: let go of at `close`.
        folder: the benchmark's folder of databases.
        tell: gets a line about each database that is loaded.

    Raises `InputError` if there is no such folder.
    """

    def __init__(
        self, server: PostgresServer, folder: Path | str, tell: Callable[[str], object] | None = None
    ) -> None:
        self.folder = Path(folder).absolute()
        if not is_directory(self.folder):
            raise InputError(f"no directory of databases at {self.folder}")
        super().__init__(server)
        self._tell = tell or (lambda line: None)
        self._files = SqliteSource(self.folder)
        self._dumps = _find_dumps(self.folder)
        self._loading = threading.Lock()

    def names(self) -> list[str]:
        """The ids of the databases that are loaded, or can be loaded from the folder, sorted."""
        return sorted({*super().names(), *self._dumps, *self._files.names()})

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """What results on a fresh database depend on, besides the statement. Raises as `digest`."""
        digest = self.digest(db_id)
        return Scope(self.engine, digest, limits)

    def config(self) -> dict[str, Any]:
        return super().config() | {"db_dir": str(self.folder)}

    def close(self) -> None:
        super().close()
        self._server.close()

    def _template(self, db_id: str) -> Template:
        with self._loading:
            if db_id not in self._templates:
                self._load(db_id)
                template = super()._template(db_id)
                self._check_whole(template)
                return template
            return super()._template(db_id)

    def _load(self, db_id: str) -> None:
        dump, there = self._dumps.get(db_id), templates(self._server).get(db_id)
        if there is None and db_id in published_names(self._server):
            return  # the authors' database itself
        is_from_dump = there is not None and there.stamp.source == "dump"
        if dump is None and (is_from_dump or db_id not in self._files.names()):
            return  # a dump is closer to the authors' database than a conversion
        if there is None:
            self._tell(f"Loading {db_id} into PostgreSQL, once ...")
        loaded = load_dump(self._server, dump) if dump else load_from_sqlite(self._server, self._files, db_id)
        if not loaded.skipped:
            rows = sum(loaded.tables.values())
            self._tell(f"Loaded {db_id}: {len(loaded.tables)} tables, {rows:,} rows")

    def _check_whole(self, template: Template) -> None:
        wrong = verify_template(self._server, template)
        if wrong:
            self._templates.pop(template.stamp.db_id, None)
            raise InputError(
                f"database {template.stamp.db_id!r} is not whole on the PostgreSQL server at "
                f"{self._server.shown}: {'; '.join(wrong)}; load it again with `birdenv db load --again`"
            )


def _find_dumps(folder: Path) -> dict[str, Dump]:
    """The dumps in the folder or beside it, by database; nothing of them is read yet."""
    places = reversed(dump_places(folder))  # the nearest counts
    return {dump.db_id: dump for place in places for dump in find_dumps(place)}
