"""The databases that everybody on a server shares for one template, and what they are called."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from birdenv.databases._results import ContentId
from birdenv.databases.postgres._privileges import HAND_OVER, HIDE_THE_SERVER, ONLY_READING
from birdenv.databases.postgres.loading._templates import Template, templates
from birdenv.databases.postgres.server._server import PostgresServer

_MADE_BY: Final = "\0".join((HAND_OVER, HIDE_THE_SERVER, ONLY_READING))


@dataclass(frozen=True, slots=True)
class TemplateCopies(ContentId):
    """`template`: the database that was loaded. `master`: its copy that clones are made from, to which nobody
    connects. `reading`: the copy that episodes share while they only read."""

    db_id: str
    template: str
    master: str
    reading: str


def shared_copies(template: Template) -> TemplateCopies:
    """What they are called; other contents, and other ways of making them, give other names."""
    identity = "\0".join((template.name, template.stamp.digest, _MADE_BY))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return TemplateCopies(
        template.stamp.db_id, template.name, f"birdenv-master-{digest}", f"birdenv-reading-{digest}"
    )


def needed_names(server: PostgresServer) -> set[str]:
    """The names of all shared databases for the templates that are there now."""
    all_copies = [shared_copies(template) for template in templates(server).values()]
    return {name for copies in all_copies for name in (copies.master, copies.reading)}
