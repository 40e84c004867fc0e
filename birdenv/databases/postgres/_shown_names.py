"""What agents see of the names that we make up: the same in every run, though no two databases share one.

Databases and roles of episodes have names of their own on the server. Values of the types that hold such a
name (`current_database()`, `current_user`, columns of the catalogs) and messages show the stable one instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import psycopg
from psycopg.types.string import TextLoader

_TYPES: Final = (19, 1033, 4096)  # name, aclitem, regrole


def with_shown_names(text: str, shown: Mapping[str, str]) -> str:
    """The text with every made-up name replaced."""
    for name, other in shown.items():
        text = text.replace(name, other)
    return text


def show_names(connection: psycopg.Connection[Any], shown: Mapping[str, str]) -> None:
    """Replace the names in all values of those types that are read on a connection."""
    written = {f'"{name}"': other for name, other in shown.items()} | dict(shown)  # as an identifier, first

    class ShownNameLoader(TextLoader):
        def load(self, data: Any) -> str | bytes:
            text = super().load(data)
            return with_shown_names(text, written) if isinstance(text, str) else text

    for oid in _TYPES:
        connection.adapters.register_loader(oid, ShownNameLoader)
