"""Who may come in: signed tokens in addresses, cookies and forms, and requests of our own origin."""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeSerializer, URLSafeTimedSerializer

from birdenv.errors import InputError
from birdenv.files import file_errors

PERSON: Final = "person"
RATER: Final = "rater"
ADMIN_COOKIE: Final = "admin"
ADMIN_SECONDS: Final = 12 * 3600
"""After which the admin page asks for its token again."""

FOREIGN: Final = 4403
"""Closes a socket that a foreign page opened."""

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_BYTES: Final = 32
"""Of a secret."""


class Doors:
    """Signs and checks tokens of one study. A secret in the study's folder outlives restarts.

    Args:
        folder: the study's folder; None for a secret that ends with the process.
        cookie: the name of the cookie that holds a person's token. A token is good for one name only.

    Attributes:
        cookie: that name.
        admin_token: opens the pages of the study's owner.
    """

    def __init__(self, folder: Path | None, cookie: str = PERSON) -> None:
        secret = secrets.token_hex(_BYTES) if folder is None else _kept_secret(folder / "secret")
        self.cookie = cookie
        self._people = URLSafeSerializer(secret, salt=cookie)
        self._forms = URLSafeSerializer(secret, salt=f"{cookie} form")
        self._links = URLSafeSerializer(secret, salt=f"{cookie} link")
        self._admins = URLSafeTimedSerializer(secret, salt="admin")
        self.admin_token = hmac.new(secret.encode(), b"admin token", "sha256").hexdigest()[:32]

    def token(self, person: str) -> str:
        """Return the cookie of a person."""
        return _dumped(self._people, person)

    def person(self, token: str | None) -> str | None:
        """Return the person whose cookie this is; None for a forged one."""
        return _loaded(self._people, token)

    def form(self, person: str) -> str:
        """Return what a form of a person's page carries."""
        return _dumped(self._forms, person)

    def is_form_of(self, person: str, token: str) -> bool:
        """Return True if a form came from this person's page."""
        return _loaded(self._forms, token) == person

    def link(self, person: str) -> str:
        """Return the path of the link by which a person continues in another browser."""
        return _dumped(self._links, person)

    def person_of_link(self, end: str) -> str | None:
        """Return the person whose link ends so; None for a forged one."""
        return _loaded(self._links, end)

    def admin(self, given: str) -> str | None:
        """Return the cookie of the admin page for the right token."""
        is_right = hmac.compare_digest(given.encode(errors="replace"), self.admin_token.encode())
        return _text(self._admins.dumps("admin")) if is_right else None

    def is_admin(self, cookie: str | None) -> bool:
        """Return True for the cookie of the admin page, as long as it is valid."""
        if not cookie:
            return False
        try:
            return bool(self._admins.loads(cookie, max_age=ADMIN_SECONDS) == "admin")
        except BadSignature:
            return False


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Return True if a request came from a page of the host that it goes to."""
    if not origin or not host:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc == host


def _kept_secret(path: Path) -> str:
    """Return the secret of a file, which is there whole or not at all; of two servers that make it, one
    does.
    """
    with file_errors(path, "used"):
        if not path.exists():
            made = path.with_name(f".{secrets.token_hex(8)}.tmp")
            made.touch(mode=0o600)
            made.write_text(secrets.token_hex(_BYTES))
            with suppress(FileExistsError):
                os.link(made, path)
            made.unlink()
        secret = path.read_text()
    if len(secret) < 2 * _BYTES:
        raise InputError(f"{path} holds no whole secret: remove it; people who were signed in come anew")
    return secret


def _dumped(serializer: URLSafeSerializer, value: str) -> str:
    return _text(serializer.dumps(value))


def _text(made: str | bytes) -> str:
    return made if isinstance(made, str) else made.decode()


def _loaded(serializer: URLSafeSerializer, token: str | None) -> str | None:
    if not token:
        return None
    try:
        value = serializer.loads(token)
    except BadSignature:
        return None
    return value if isinstance(value, str) else None
