"""Who may come in: signed tokens, forms that came from our own pages, sockets of our own origin."""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeSerializer

from birdenv.errors import InputError
from birdenv.web._config import StudyConfig

PERSON_COOKIE: Final = "person"
ADMIN_COOKIE: Final = "admin"
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


class Doors:
    """Signs and checks tokens of one study. A secret in the study's folder outlives restarts.

    Attributes:
        admin_token: opens the admin page.
    """

    def __init__(self, folder: Path) -> None:
        secret = _kept_secret(folder / "secret")
        self._people = URLSafeSerializer(secret, salt="person")
        self._forms = URLSafeSerializer(secret, salt="form")
        self._admins = URLSafeSerializer(secret, salt="admin")
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

    def admin(self, given: str) -> str | None:
        """Return the cookie of the admin page for the right token."""
        is_right = hmac.compare_digest(given.encode(errors="replace"), self.admin_token.encode())
        return _dumped(self._admins, "admin") if is_right else None

    def is_admin(self, cookie: str | None) -> bool:
        """Return True for the cookie of the admin page."""
        return _loaded(self._admins, cookie) == "admin"


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Return True if a request came from a page of the host that it goes to."""
    if not origin or not host:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc == host


def host_names(config: StudyConfig, host: str) -> list[str]:
    """Return the names under which pages are served; others are refused (DNS rebinding)."""
    bound = () if host in ("0.0.0.0", "::") else (host,)
    return list(dict.fromkeys((*LOOPBACK, *bound, *config.hosts)))


def _kept_secret(path: Path) -> str:
    try:
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(secrets.token_hex(32))
        return path.read_text()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _dumped(serializer: URLSafeSerializer, value: str) -> str:
    made = serializer.dumps(value)
    return made if isinstance(made, str) else made.decode()


def _loaded(serializer: URLSafeSerializer, token: str | None) -> str | None:
    if not token:
        return None
    try:
        value = serializer.loads(token)
    except BadSignature:
        return None
    return value if isinstance(value, str) else None
