"""One PostgreSQL server to work on: the embedded one, or the one that a connection string names.

    server = find_server()                 # embedded, unless BIRDENV_DSN is set
    with server.connect("postgres") as connection: ...
    server.close()

`server_choice` says which server `find_server` would take here, without starting or asking it. Connection
strings are checked, and shown without what is secret in them.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from birdenv.databases.postgres.server._cluster import Cluster
from birdenv.databases.postgres.server._programs import find_binaries
from birdenv.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    import psycopg


_SECRET_KEYS: Final = re.compile(r"pass|secret|key|token")
_SHOWN_KEYS: Final = ("user", "host", "hostaddr", "port", "dbname")
_IN_A_URI: Final = re.compile(r"\w+://[^:/?#@]*:(?P<secret>.*)@", re.DOTALL)
_BAD_DSN: Final = (
    "the DSN is not a connection string of PostgreSQL: expected postgresql://user@host:port/database or "
    "'host=... port=... user=... dbname=...' (it is not shown here, because it may hold a password)"
)
_AMBIGUOUS_PASSWORD: Final = (
    "the DSN is ambiguous: its password holds characters with a meaning of their own; write them as %XX "
    "(@ as %40, / as %2F, : as %3A, ? as %3F), or leave the password out and set PGPASSWORD"
)
_DEFAULT_CONNECT_SECONDS: Final = "10"


@dataclass(frozen=True, slots=True)
class Dsn:
    """A connection string that libpq can read."""

    text: str
    shown: str
    """What may be printed of it."""
    secrets: tuple[str, ...]
    """What must not be, the longest first."""
    connect_seconds: str
    """How long to wait for a connection: what it says itself, or 10."""

    def without_secrets(self, message: str) -> str:
        """Return a message with every secret replaced by stars."""
        for secret in self.secrets:
            message = message.replace(secret, "***")
        return message


def read_dsn(dsn: str) -> Dsn:
    """Check a connection string. Raises `InputError`, which does not show it, if libpq cannot read it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    if "\0" in dsn:
        raise InputError(_BAD_DSN)
    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(dsn).items() if value is not None}
    except (psycopg.Error, UnicodeError, ValueError):
        raise InputError(_BAD_DSN) from None
    written = _IN_A_URI.match(dsn)
    if written and unquote(written["secret"]) != parts.get("password", ""):
        raise InputError(_AMBIGUOUS_PASSWORD)
    shown = " ".join(f"{key}={parts[key]}" for key in _SHOWN_KEYS if key in parts)
    secrets = sorted((value for key, value in parts.items() if _SECRET_KEYS.search(key) and value), key=len)
    return Dsn(
        dsn,
        shown or "(defaults of libpq)",
        tuple(secrets[::-1]),
        parts.get("connect_timeout", _DEFAULT_CONNECT_SECONDS),
    )


DSN_VARIABLE: Final = "BIRDENV_DSN"
MAINTENANCE_DATABASE: Final = "postgres"
"""The database to connect to for what concerns the server as a whole, on the embedded one."""

_OLDEST_MAJOR: Final = 14  # that the public benchmark runs on; older ones lack what its databases use
_CATALOG_ONLY: Final = {"search_path": "pg_catalog,pg_temp"}  # named last, temporary tables hide nothing
_LOGIN_TRIGGERS: Final = 170_000  # the first version that has them, and the setting against them
_CONNECT_SECONDS: Final = 10
_RESTART_SECONDS: Final = 10.0
_NO_CONNECTION_LEFT: Final = re.compile(
    "too many clients|too many connections|remaining connection slots|connection limit"
)
_LONGEST_ERROR: Final = 2_000  # characters of what a server says
_NO_DATABASE: Final = re.compile(r'database ".*" does not exist', re.DOTALL)


class ServerError(InfrastructureError):
    """The server is out of reach, lost, or full: nobody's SQL is to blame, and trying again may help."""


class _OutOfReachError(ServerError):
    """There was no answer at all."""


class PostgresServer:
    """A server that answered, with a version that birdenv can work with.

    `is_ours`: the embedded server, whose data are throw-away and on which we may do everything.
    """

    def __init__(self, conninfo: str, shown: str, cluster: Cluster | None = None) -> None:
        """`conninfo` without a database's name, or with the one to use where none is wanted in particular."""
        from psycopg.conninfo import conninfo_to_dict

        self._conninfo = conninfo
        self._cluster = cluster
        parts = conninfo_to_dict(conninfo)
        self._secrets = [str(parts[key]) for key in ("password", "sslpassword") if parts.get(key)]
        self._options = str(parts.get("options") or "")
        self.maintenance = str(parts.get("dbname") or MAINTENANCE_DATABASE)
        self.shown = shown
        self.is_ours = cluster is not None
        self.version_number = 0
        """`180004` for 18.4."""
        self.is_superuser = False
        """Whether the usual role may do everything there."""
        self.notes: list[str] = []
        """What there is to say about how it was started."""
        if cluster is not None:
            self.notes += cluster.use()
        try:
            with self.connect() as connection:
                self.version_number = connection.info.server_version
                row = connection.execute(
                    "SELECT current_setting('server_version'), current_setting('is_superuser') = 'on'"
                ).fetchone()
            if self.version_number // 10_000 < _OLDEST_MAJOR:
                raise InputError(
                    f"PostgreSQL {self.version_number // 10_000} at {shown} is too old: birdenv needs"
                    f" {_OLDEST_MAJOR} or newer; name a newer server, or leave --dsn and BIRDENV_DSN out"
                )
        except BaseException:
            self.close()
            raise
        assert row is not None
        self.is_superuser = bool(row[1])
        self.version = f"PostgreSQL {str(row[0]).split()[0]}"

    def conninfo(self, database: str, user: str | None = None, password: str | None = None) -> str:
        """Return the connection string for one database, and a role (and its password) if it is not the usual
        one.

        The usual role has all rights, and the contents of a database are somebody else's: its sessions look
        names up in `pg_catalog` alone, whatever the database, the role or the DSN say, and no event trigger
        runs in them. It may hold a password: never print it.
        """
        from psycopg.conninfo import make_conninfo

        if user is not None:
            own: dict[str, Any] = {"user": user, "password": password}
        else:
            guards = " ".join(f"-c {name}={value}" for name, value in self._guards().items())
            own = {"options": f"{self._options} {guards}".strip()}
        return make_conninfo(self._conninfo, dbname=database, application_name="birdenv", **own)

    def _guards(self) -> dict[str, str]:
        """Return the settings of sessions with all rights."""
        has_login_triggers = self.version_number >= _LOGIN_TRIGGERS
        return _CATALOG_ONLY | ({"event_triggers": "off"} if has_login_triggers and self.is_superuser else {})

    def connect(
        self, database: str | None = None, user: str | None = None, password: str | None = None
    ) -> psycopg.Connection[Any]:
        """Return a connection in autocommit mode; the embedded server is started again if it was killed.

        Raises `InputError` if there is no such database, `ServerError` if there is no connection to be had.
        """
        end = time.monotonic() + _RESTART_SECONDS
        while True:
            try:
                return self._connect(database or self.maintenance, user, password)
            except _OutOfReachError:
                if self._cluster is None or time.monotonic() > end:
                    raise
            self.notes += self._cluster.use()  # that it is gone may take a moment to show
            time.sleep(0.05)

    def close(self) -> None:
        """Let go of the embedded server, which the last to do so stops; connections are the caller's."""
        if self._cluster is not None:
            self._cluster.release()

    def __enter__(self) -> PostgresServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connect(self, database: str, user: str | None, password: str | None) -> psycopg.Connection[Any]:
        import psycopg

        dsn = psycopg.conninfo.make_conninfo(
            self.conninfo(database, user, password), connect_timeout=_CONNECT_SECONDS, client_encoding="UTF8"
        )
        try:
            return psycopg.connect(dsn, autocommit=True, prepare_threshold=None)
        except (psycopg.Error, OSError) as error:
            text = one_line(error)[:_LONGEST_ERROR]
        for secret in self._secrets:
            text = text.replace(secret, "***")
        if _NO_DATABASE.search(text):
            raise InputError(f"no database {database!r} on the PostgreSQL server at {self.shown}")
        if _NO_CONNECTION_LEFT.search(text):
            raise ServerError(
                f"the PostgreSQL server at {self.shown} has no connection left: lower --parallel, end other "
                "runs, or raise its max_connections"
            )
        raise _OutOfReachError(f"no connection to the PostgreSQL server at {self.shown}: {text}")


def find_server(dsn: str | None = None) -> PostgresServer:
    """Return the server to work on: `dsn`, else what the variable BIRDENV_DSN says, else the embedded one,
    started.

    Raises `InputError` if the DSN cannot be read, the server is too old, or no server can be started here;
    `ServerError` if it does not answer.
    """
    named = dsn if dsn is not None else os.environ.get(DSN_VARIABLE) or None
    if named is not None:
        return PostgresServer(named, read_dsn(named).shown)
    cluster = Cluster()
    return PostgresServer(cluster.conninfo, f"{cluster.place.root}", cluster)


def one_line(error: BaseException) -> str:
    """Return what the server says about an error, without the statement that it is about."""
    diagnosis = getattr(error, "diag", None)
    text = (diagnosis and diagnosis.message_primary) or f"{error}" or type(error).__name__
    return " ".join(text.split())


def server_choice() -> str:
    """Return which server `find_server()` would use, or what to do if there is none; without a password."""
    dsn = os.environ.get(DSN_VARIABLE)
    try:
        if dsn:
            return f"the server that {DSN_VARIABLE} names: {read_dsn(dsn).shown} (not asked here)"
        return f"a server of birdenv's own, PostgreSQL {find_binaries().version} of the extra `postgres`"
    except InputError as error:
        return f"none: {DSN_VARIABLE}: {error}" if dsn else f"none: {error}"
