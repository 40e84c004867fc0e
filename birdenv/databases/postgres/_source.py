"""Template databases on a PostgreSQL server, to open episodes on."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Final

from birdenv.databases._fetching import Allowance
from birdenv.databases._limits import Limits
from birdenv.databases._results import QueryError, Scope
from birdenv.databases.postgres._catalog import read_schema_text
from birdenv.databases.postgres._episode import EpisodeContext, PostgresDatabase
from birdenv.databases.postgres.clones._clone_pool import ClonePool
from birdenv.databases.postgres.clones._shared_readers import Readers
from birdenv.databases.postgres.clones._template_copies import shared_copies
from birdenv.databases.postgres.loading._templates import Template, find_template, published_names, templates
from birdenv.databases.postgres.server._server import PostgresServer
from birdenv.errors import InputError

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
        """The engine and its version: `PostgreSQL 18.4`."""
        return self._server.version

    def names(self) -> list[str]:
        """The ids of the databases that are loaded there, sorted. Raises `ServerError` without a server."""
        return sorted({*templates(self._server), *published_names(self._server)})

    def check(self, db_id: str) -> None:
        """Raise `InputError` unless the database is loaded and copies of it can be made."""
        self._around(db_id)

    def digest(self, db_id: str) -> str:
        """SHA-256 in hexadecimal of what the database was loaded from; as of its first use here.

        Raises `InputError` if it is not loaded.
        """
        return self._template(db_id).stamp.digest

    def version(self, db_id: str) -> str:
        """What tells these contents from others: the digest, which costs nothing here."""
        return self.digest(db_id)

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """What results on a fresh database depend on, besides the statement. Raises as `digest`."""
        digest = self.digest(db_id)
        return Scope(self.engine, digest, limits)

    def config(self) -> dict[str, Any]:
        """What a run writes down about the source."""
        return {
            "dialect": self.dialect,
            "server": self._server.shown,
            "engine": self.engine,
            "image": self.image,
        }

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> PostgresDatabase:
        """A database for one episode, private and with the contents of the template; `limits` hold for each
        statement.

        Raises `InputError` if it is not loaded, `ServerError` if the server is out of reach.
        """
        return PostgresDatabase(self._around(db_id), limits, self)

    def schema_text(self, db_id: str) -> str:
        """The CREATE TABLE statements of a database, in the order in which its tables were made.

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
