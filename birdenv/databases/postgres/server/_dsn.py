"""Connection strings that somebody gives us: checked, and shown without what is secret in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from birdenv.errors import InputError

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
_CONNECT_SECONDS: Final = "10"


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
        """A message with every secret replaced by stars."""
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
        parts.get("connect_timeout", _CONNECT_SECONDS),
    )
