"""Find and connect to a PostgreSQL server: the embedded server, or a server named by a connection string.

    server = find_server()                 # embedded, unless BIRDENV_DSN is set
    with server.connect("postgres") as connection: ...
    server.close()

`server_choice` describes the server that `find_server` would choose, without starting or contacting it.
Connection strings are validated, and shown without their secrets.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from birdenv.databases.postgres.server._cluster import Cluster
from birdenv.databases.postgres.server._programs import find_binaries
from birdenv.errors import InfrastructureError, InputError

_SECRET_KEYS: Final = re.compile(r"pass|secret|key|token")
_SHOWN_KEYS: Final = ("user", "host", "hostaddr", "port", "dbname")
_IN_A_URI: Final = re.compile(r"\w+://[^:/?#@]*:(?P<secret>.*)@", re.DOTALL)
_BAD_DSN: Final = (
    "the DSN is not a PostgreSQL connection string: expected postgresql://user@host:port/database or "
    "'host=... port=... user=... dbname=...' (it is not shown here, because it may contain a password)"
)
_AMBIGUOUS_PASSWORD: Final = (
    "the DSN is ambiguous: its password contains characters with a special meaning; write them as %XX "
    "(@ as %40, / as %2F, : as %3A, ? as %3F), or leave the password out and set PGPASSWORD"
)
_DEFAULT_CONNECT_SECONDS: Final = "10"


@dataclass(frozen=True, slots=True)
class Dsn:
    """A valid connection string for a PostgreSQL server.

    Attributes:
        text: the connection string.
        shown: a description of the server without secrets.
        secrets: the values that must not be printed, longest first.
        connect_seconds: number of seconds to wait for a connection; 10 unless the connection string sets it.
    """

    text: str
    shown: str
    secrets: tuple[str, ...]
    connect_seconds: str

    def without_secrets(self, message: str) -> str:
        """Return the message with every secret replaced by asterisks."""
        for secret in self.secrets:
            message = message.replace(secret, "***")
        return message


def read_dsn(dsn: str) -> Dsn:
    """Parse a connection string. Raises `InputError` if it is invalid; the message does not contain it."""
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
"""The database of the embedded server to connect to for work on the server as a whole."""

_OLDEST_MAJOR: Final = 14  # used by the public benchmark; older versions lack features it needs
_CATALOG_ONLY: Final = {"search_path": "pg_catalog,pg_temp"}  # pg_temp last, so that it hides nothing
_LOGIN_TRIGGERS: Final = 170_000  # the first version with login triggers and a setting to disable them
_CONNECT_SECONDS: Final = 10
_RESTART_SECONDS: Final = 10.0
_NO_CONNECTION_LEFT: Final = re.compile(
    "too many clients|too many connections|remaining connection slots|connection limit"
)
_LONGEST_ERROR: Final = 2_000  # characters of a server's message
_NO_DATABASE: Final = re.compile(r'database ".*" does not exist', re.DOTALL)


class ServerError(InfrastructureError):
    """The server is unreachable, lost or full. The SQL did not cause this, and retrying may help."""


class _OutOfReachError(ServerError):
    """The server did not answer at all."""


class PostgresServer:
    """A PostgreSQL server that accepts connections and has a supported version.

    Args:
        conninfo: the connection string. If it names a database, birdenv uses that database for maintenance.
        shown: a description of the server without secrets.
        cluster: the embedded server that this object represents; None for an external server.

    Attributes:
        is_ours: whether this is the embedded server, on which birdenv has all privileges.
    """

    def __init__(self, conninfo: str, shown: str, cluster: Cluster | None = None) -> None:
        self._conninfo = conninfo
        self._cluster = cluster
        parts = conninfo_to_dict(conninfo)
        self._secrets = [str(parts[key]) for key in ("password", "sslpassword") if parts.get(key)]
        self._options = str(parts.get("options") or "")
        self.maintenance = str(parts.get("dbname") or MAINTENANCE_DATABASE)
        self.shown = shown
        self.is_ours = cluster is not None
        self.version_number = 0
        """The version as a number, such as `180004` for 18.4."""
        self.is_superuser = False
        """Whether the default role is a superuser."""
        self.notes: list[str] = []
        """Messages for the user about starting the server."""
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
        """Return the connection string for a database and a role. It may contain a password: never print it.

        If `user` is None, the default role is used. Its sessions have all privileges, but the database may
        contain hostile functions. Therefore these sessions look up names only in `pg_catalog`, and do not run
        event triggers. Settings of the database, the role or the DSN cannot change this.
        """
        if user is not None:
            own: dict[str, Any] = {"user": user, "password": password}
        else:
            guards = " ".join(f"-c {name}={value}" for name, value in self._guards().items())
            own = {"options": f"{self._options} {guards}".strip()}
        return make_conninfo(self._conninfo, dbname=database, application_name="birdenv", **own)

    def _guards(self) -> dict[str, str]:
        """Return the safety settings for sessions of the default role."""
        has_login_triggers = self.version_number >= _LOGIN_TRIGGERS
        return _CATALOG_ONLY | ({"event_triggers": "off"} if has_login_triggers and self.is_superuser else {})

    def connect(
        self, database: str | None = None, user: str | None = None, password: str | None = None
    ) -> psycopg.Connection[Any]:
        """Return a connection in autocommit mode. If the embedded server was killed, restart it first.

        By default, the default role connects to the maintenance database. Raises `InputError` if the database
        does not exist, and `ServerError` if the connection fails.
        """
        end = time.monotonic() + _RESTART_SECONDS
        while True:
            try:
                return self._connect(database or self.maintenance, user, password)
            except _OutOfReachError:
                if self._cluster is None or time.monotonic() > end:
                    raise
            self.notes += self._cluster.use()  # may not notice at once that the server is gone
            time.sleep(0.05)

    def close(self) -> None:
        """Stop using the server. The embedded server shuts down when no process is using it.

        Open connections are not closed.
        """
        if self._cluster is not None:
            self._cluster.release()

    def __enter__(self) -> PostgresServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self, database: str, user: str | None, password: str | None) -> psycopg.Connection[Any]:
        dsn = make_conninfo(
            self.conninfo(database, user, password), connect_timeout=_CONNECT_SECONDS, client_encoding="UTF8"
        )
        try:
            return psycopg.connect(dsn, autocommit=True, prepare_threshold=None)
        except (psycopg.Error, OSError) as error:
            text = one_line(error)[:_LONGEST_ERROR]
        for secret in self._secrets:
            text = text.replace(secret, "***")
        if _NO_DATABASE.search(text):
            raise InputError(f"there is no database {database!r} on the PostgreSQL server at {self.shown}")
        if _NO_CONNECTION_LEFT.search(text):
            raise ServerError(
                f"the PostgreSQL server at {self.shown} has no connections left: lower --parallel, end other "
                "runs, or raise its max_connections"
            )
        raise _OutOfReachError(f"cannot connect to the PostgreSQL server at {self.shown}: {text}")


def find_server(dsn: str | None = None) -> PostgresServer:
    """Return the PostgreSQL server to use, starting the embedded server if necessary.

    The server is named by `dsn` or, by default, by the environment variable BIRDENV_DSN. If neither is set,
    it is the embedded server. Raises `InputError` if the DSN is not valid, the server is too old, or the
    embedded server cannot be started, and `ServerError` if the server does not answer.
    """
    named = dsn if dsn is not None else os.environ.get(DSN_VARIABLE) or None
    if named is not None:
        return PostgresServer(named, read_dsn(named).shown)
    cluster = Cluster()
    return PostgresServer(cluster.conninfo, f"{cluster.place.root}", cluster)


def one_line(error: BaseException) -> str:
    """Return the server's message about an error on one line, omitting the SQL statement."""
    diagnosis = getattr(error, "diag", None)
    text = (diagnosis and diagnosis.message_primary) or f"{error}" or type(error).__name__
    return " ".join(text.split())


def server_choice() -> str:
    """Describe the server that `find_server()` would use, or say what to do if there is none.

    The text never contains a password.
    """
    dsn = os.environ.get(DSN_VARIABLE)
    try:
        if dsn:
            return f"the server that {DSN_VARIABLE} names: {read_dsn(dsn).shown} (not contacted)"
        return f"birdenv's embedded server, PostgreSQL {find_binaries().version} from the `postgres` extra"
    except InputError as error:
        return f"none: {DSN_VARIABLE}: {error}" if dsn else f"none: {error}"
