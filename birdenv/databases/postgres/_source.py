"""Databases on a PostgreSQL server, to open episodes on: its templates, or those of a benchmark folder.

What is not loaded yet of a folder is loaded when it is first needed.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from birdenv.databases._limits import Limits
from birdenv.databases._protocols import dump_places
from birdenv.databases._results import Allowance, QueryError, Scope
from birdenv.databases.postgres._catalog import read_schema_text
from birdenv.databases.postgres._episode import EpisodeContext, PostgresDatabase
from birdenv.databases.postgres.clones._clone_pool import ClonePool
from birdenv.databases.postgres.clones._episode_sessions import Readers
from birdenv.databases.postgres.loading._dumps import Dump, find_dumps, load_dump
from birdenv.databases.postgres.loading._from_sqlite import load_from_sqlite
from birdenv.databases.postgres.loading._templates import (
    Template,
    find_template,
    published_names,
    shared_copies,
    templates,
    verify_template,
)
from birdenv.databases.postgres.server._server import PostgresServer
from birdenv.databases.sqlite._source import SqliteSource
from birdenv.errors import InputError
from birdenv.files import is_directory

_DEFAULT_LIMITS: Final = Limits()
_FOR_SCHEMAS: Final = Allowance(_DEFAULT_LIMITS.rows, _DEFAULT_LIMITS.seconds, _DEFAULT_LIMITS.bytes)
_WARM: Final = 2


class PostgresSource:
    """Databases to open episodes on, loaded before (`load_from_sqlite`, `load_dump`); they are never written.

    Args:
        server: where they are; the source does not close it.
        warm: clones of each template that are made ahead, once an episode wrote to the first; 0 for none.

    An episode may write 1 GiB beyond its template (`MOST_GROWTH`), and 1 GB of temporary files in a session;
    what takes more is stopped with a `too_large` error, and the episode goes on. On the embedded server, on
    Linux, a session may also take 1.5 GiB of memory; on any other server its memory is not bounded by us.

    May be used by several threads. At `close`, when nothing refers to the source and its databases any more,
    or at the end of the process, what was made for episodes is dropped; what a killed process leaves is
    dropped by the next source on that server.
    """

    dialect: Final = "postgres"
    """Where statements run, as a run's configuration names it."""
    image: Final = "clone"
    """How a writing episode gets a database of its own."""

    def __init__(self, server: PostgresServer, warm: int = _WARM) -> None:
        if warm < 0:
            raise InputError(f"the number of clones to keep ready cannot be negative: {warm}")
        self._server = server
        self._pool = ClonePool(server, warm)
        self._readers = Readers(server, self._pool)
        self._templates: dict[str, Template] = {}
        self._surroundings: dict[str, EpisodeContext] = {}
        self._schemas: dict[str, str] = {}
        self._close = weakref.finalize(self, _close, self._readers, self._pool)

    @property
    def engine(self) -> str:
        """Return the engine and its version: `PostgreSQL 18.4`."""
        return self._server.version

    def names(self) -> list[str]:
        """Return the ids of the databases that are loaded there, sorted. Raises `ServerError` without a
        server.
        """
        return sorted({*templates(self._server), *published_names(self._server)})

    def check(self, db_id: str) -> None:
        """Raise `InputError` unless the database is loaded and copies of it can be made."""
        self._around(db_id)

    def digest(self, db_id: str) -> str:
        """Return the SHA-256 in hexadecimal of what the database was loaded from; as of its first use here.

        Raises `InputError` if it is not loaded.
        """
        return self._template(db_id).stamp.digest

    def version(self, db_id: str) -> str:
        """Return a value that identifies the contents: the digest, which costs nothing here."""
        return self.digest(db_id)

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return what results on a fresh database depend on, besides the statement. Raises as `digest`."""
        digest = self.digest(db_id)
        return Scope(self.engine, digest, limits)

    def config(self) -> dict[str, Any]:
        """Return what a run writes down about the source."""
        return {
            "dialect": self.dialect,
            "server": self._server.shown,
            "engine": self.engine,
            "image": self.image,
        }

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> PostgresDatabase:
        """Return a database for one episode, private and with the contents of the template; `limits` hold for
        each statement.

        Raises `InputError` if it is not loaded, `ServerError` if the server is out of reach.
        """
        return PostgresDatabase(self._around(db_id), limits, self)

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements of a database, in the order in which its tables were made.

        Raises as `open` does.
        """
        if db_id not in self._schemas:
            around = self._around(db_id)
            text = self._readers.use(around.copies, lambda session: read_schema_text(session, _FOR_SCHEMAS))
            if isinstance(text, QueryError):
                raise InputError(f"{db_id}: the schema cannot be read: {text.message}")
            self._schemas[db_id] = text
        return self._schemas[db_id]

    def close(self) -> None:
        """Drop what was made for episodes; closing again does nothing."""
        self._close()

    def __enter__(self) -> PostgresSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _template(self, db_id: str) -> Template:
        if db_id not in self._templates:
            self._templates[db_id] = find_template(self._server, db_id)
        return self._templates[db_id]

    def _around(self, db_id: str) -> EpisodeContext:
        around = self._surroundings.get(db_id)
        if around is None:
            copies = shared_copies(self._template(db_id))
            self._pool.reader(copies)
            around = EpisodeContext(self._server, self._pool, self._readers, copies)
            self._surroundings[db_id] = around
        return around


def _close(readers: Readers, pool: ClonePool) -> None:
    readers.close()
    pool.close()


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
        """Return the ids of the databases that are loaded, or can be loaded from the folder, sorted."""
        return sorted({*super().names(), *self._dumps, *self._files.names()})

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return what results on a fresh database depend on, besides the statement. Raises as `digest`."""
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
    """Return the dumps in the folder or beside it, by database; nothing of them is read yet."""
    places = reversed(dump_places(folder))  # the nearest counts
    return {dump.db_id: dump for place in places for dump in find_dumps(place)}
