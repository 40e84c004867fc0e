"""Sources of databases on a PostgreSQL server.

`PostgresSource` opens episodes on the templates that the server holds. `PostgresFolderSource` also loads the
databases of a benchmark folder when they are first needed.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from pathlib import Path
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
    """The databases that were loaded into a PostgreSQL server (`load_from_sqlite`, `load_dump`). Thread-safe.

    The loaded databases never change. In an episode, a database may become 1 GiB larger than its template
    (`MOST_GROWTH`), and a session may write 1 GB of temporary files. A statement that exceeds these limits is
    stopped with a `too_large` error, and the episode continues. On Linux, a session on the embedded server is
    also limited to 1.5 GiB of memory; birdenv does not limit the memory of sessions on external servers.

    The databases of episodes are dropped when the source is closed or garbage-collected, or when the process
    ends. If the process is killed, the next source on the same server drops them.

    Args:
        server: the server. Closing the source does not close the server.
        warm: number of spare clones to keep for each template that an episode has already written to; 0 to
            create clones only on demand.
    """

    dialect: Final = "postgres"
    image: Final = "clone"
    """The kind of private database that a writing episode gets."""

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
        """Return the engine and its version, such as `PostgreSQL 18.4`."""
        return self._server.version

    def names(self) -> list[str]:
        """Return the sorted ids of the loaded databases. Raises `ServerError` if the connection is lost."""
        return sorted({*templates(self._server), *published_names(self._server)})

    def check(self, db_id: str) -> None:
        """Raise `InputError` if the database is not loaded, or cannot be copied."""
        self._around(db_id)

    def digest(self, db_id: str) -> str:
        """Return the digest of a database's contents (`Stamp.digest`), which is read once and then cached.

        Raises `InputError` if the database is not loaded.
        """
        return self._template(db_id).stamp.digest

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return everything that determines the results of statements on an unchanged database.

        Raises the same errors as `digest`.
        """
        return Scope(self.engine, self.digest(db_id), limits)

    def config(self) -> dict[str, Any]:
        """Return a description of the source for a run's configuration."""
        return {
            "dialect": self.dialect,
            "server": self._server.shown,
            "engine": self.engine,
            "image": self.image,
        }

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> PostgresDatabase:
        """Open a private database with the contents of the template for one episode.

        The limits apply to each statement. Raises `InputError` if the database is not loaded, and
        `ServerError` if the server cannot be reached.
        """
        return PostgresDatabase(self._around(db_id), limits, self)

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements of a database in creation order.

        Raises the same errors as `open`.
        """
        if db_id not in self._schemas:
            around = self._around(db_id)
            text = self._readers.use(around.copies, lambda session: read_schema_text(session, _FOR_SCHEMAS))
            if isinstance(text, QueryError):
                raise InputError(f"{db_id}: the schema cannot be read: {text.message}")
            self._schemas[db_id] = text
        return self._schemas[db_id]

    def close(self) -> None:
        """Drop all databases that were created for episodes. Closing again does nothing."""
        self._close()

    def __enter__(self) -> PostgresSource:
        return self

    def __exit__(self, *_: object) -> None:
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
    """The databases in a benchmark folder, and all other databases that are loaded into the server.

    A database in the folder is loaded into the server when it is first needed. A template `<db>_template`
    that is already on the server is used unchanged. Otherwise the database is loaded from the folder's dump
    (`<db>_template/<table>.sql`, in the folder or one of its `dump_places`) or, without a dump, from
    `<db>/<db>.sqlite`. Before a database is first used, its rows are counted to verify that it is complete.

    Args:
        server: the server. Closing the source also closes the server.
        folder: the benchmark's folder of databases.
        tell: a function to call with progress messages while databases are loaded.

    Raises:
        InputError: the folder does not exist.
    """

    def __init__(
        self, server: PostgresServer, folder: Path | str, tell: Callable[[str], object] | None = None
    ) -> None:
        self.folder = Path(folder).absolute()
        if not is_directory(self.folder):
            raise InputError(f"there is no database directory at {self.folder}")
        super().__init__(server)
        self._tell = tell or (lambda line: None)
        self._files = SqliteSource(self.folder)
        self._dumps = _find_dumps(self.folder)
        self._loading = threading.Lock()

    def names(self) -> list[str]:
        """Return the sorted ids of the databases that are loaded, or can be loaded from the folder."""
        return sorted({*super().names(), *self._dumps, *self._files.names()})

    def config(self) -> dict[str, Any]:
        return super().config() | {"db_dir": str(self.folder)}

    def close(self) -> None:
        super().close()
        self._server.close()

    def _template(self, db_id: str) -> Template:
        with self._loading:
            is_new = db_id not in self._templates
            if is_new:
                self._load(db_id)
            template = super()._template(db_id)
            if is_new:
                self._check_whole(template)
            return template

    def _load(self, db_id: str) -> None:
        dump, there = self._dumps.get(db_id), templates(self._server).get(db_id)
        if there is None and db_id in published_names(self._server):
            return  # it is the authors' own database
        is_from_dump = there is not None and there.stamp.source == "dump"
        if dump is None and (is_from_dump or db_id not in self._files.names()):
            return  # a dump is closer to the authors' database than a conversion
        if there is None:
            self._tell(f"Loading {db_id} into PostgreSQL (only needed once) ...")
        loaded = load_dump(self._server, dump) if dump else load_from_sqlite(self._server, self._files, db_id)
        if not loaded.skipped:
            rows = sum(loaded.tables.values())
            self._tell(f"Loaded {db_id}: {len(loaded.tables)} tables, {rows:,} rows")

    def _check_whole(self, template: Template) -> None:
        wrong = verify_template(self._server, template)
        if wrong:
            self._templates.pop(template.stamp.db_id, None)
            raise InputError(
                f"database {template.stamp.db_id!r} is incomplete on the PostgreSQL server at "
                f"{self._server.shown}: {'; '.join(wrong)}; reload it with `birdenv db load --again`"
            )


def _find_dumps(folder: Path) -> dict[str, Dump]:
    """Return the dumps in the folder or beside it, keyed by database, without reading them."""
    places = reversed(dump_places(folder))  # the nearest dump wins
    return {dump.db_id: dump for place in places for dump in find_dumps(place)}
