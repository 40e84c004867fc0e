"""Control access to pages by signed tokens in links, cookies and forms, and by the origin of requests."""

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
"""The number of seconds after which the admin page asks for its token again."""

FOREIGN: Final = 4403
"""The code with which a socket is closed that a page of another origin opened."""

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_BYTES: Final = 32  # the length of a secret


class Doors:
    """Creates and verifies the signed tokens that give people access to the pages of a study.

    Args:
        folder: the study's folder, which stores the signing secret so that tokens stay valid after a restart.
            If `folder` is None, the tokens are valid only in this process.
        cookie: the name of the cookie that contains a person's token. A token is valid only for the cookie
            that it was issued for.

    Attributes:
        cookie: the name of the cookie that contains a person's token.
        admin_token: the token for the pages of the study's owner.
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
        """Return the signed value for a person's cookie."""
        return _dumped(self._people, person)

    def person(self, token: str | None) -> str | None:
        """Return the id of the person whose cookie has the value `token`; None if it is missing or forged."""
        return _loaded(self._people, token)

    def form(self, person: str) -> str:
        """Return the token to include in the forms on a person's pages."""
        return _dumped(self._forms, person)

    def is_form_of(self, person: str, token: str) -> bool:
        """Return True if the token in a form was issued to this person."""
        return _loaded(self._forms, token) == person

    def link(self, person: str) -> str:
        """Return the token at the end of the link that lets a person continue in a different browser."""
        return _dumped(self._links, person)

    def person_of_link(self, end: str) -> str | None:
        """Return the id of the person whose link ends with the token `end`; None if the token is forged."""
        return _loaded(self._links, end)

    def admin(self, given: str) -> str | None:
        """Return the value of the administrator's cookie, or None if `given` is not the admin token."""
        is_right = hmac.compare_digest(given.encode(errors="replace"), self.admin_token.encode())
        return _text(self._admins.dumps("admin")) if is_right else None

    def is_admin(self, cookie: str | None) -> bool:
        """Return True if the value of the administrator's cookie is genuine and has not expired."""
        if not cookie:
            return False
        try:
            return bool(self._admins.loads(cookie, max_age=ADMIN_SECONDS) == "admin")
        except BadSignature:
            return False


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Return True if a request was sent by a page on the same host.

    Args:
        origin: the `Origin` header of the request; None if the header is missing.
        host: the `Host` header of the request; None if the header is missing.
    """
    if not origin or not host:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc == host


def _kept_secret(path: Path) -> str:
    """Return the secret in a file, and create the file if it is missing.

    The file is linked into place, so that it is always complete, and two servers get the same secret.
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
        raise InputError(
            f"{path} does not contain a complete secret: delete it. Participants then have to sign in again"
        )
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
