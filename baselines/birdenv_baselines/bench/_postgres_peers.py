"""The way in which BIRD-Interact resets a database before each task, with the server's own programs.

Sessions are ended by psql, then dropdb and createdb run, each a process of its own, and a new connection is
made. Nothing is checked in between, and only what the programs' authors gave out is called.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import psycopg

    from birdenv.databases.postgres import PostgresServer

__all__ = ["ResetByPrograms", "commands"]

_SECONDS: Final = 60  # as there, for each command


class ResetByPrograms:
    """One working database, made from a template before each episode.

    `programs` is the folder of psql, dropdb and createdb; nobody may be connected to `template`.
    """

    def __init__(self, server: PostgresServer, programs: Path, template: str, name: str) -> None:
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        parts = conninfo_to_dict(server.conninfo(name))
        parts.pop("options", None)  # a plain session, as theirs are: ours look up catalogs only
        self._where = make_conninfo(**parts)
        options = {"-h": parts.get("host"), "-p": parts.get("port"), "-U": parts.get("user")}
        account = [word for option, value in options.items() if value for word in (option, str(value))]
        self._commands = commands(programs, account, server.maintenance, template, name)

    def reset(self) -> psycopg.Connection[Any]:
        """End everybody's session, drop the database, make it again, and connect.

        Raises `subprocess.SubprocessError` if a program fails.
        """
        import psycopg

        for command in self._commands:
            self._run(command)
        return psycopg.connect(self._where)

    def remove(self) -> None:
        """End everybody's session and drop the database."""
        for command in self._commands[:2]:
            self._run(command)

    def _run(self, command: list[str]) -> None:
        subprocess.run(
            command,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
        )


def commands(
    programs: Path, account: list[str], maintenance: str, template: str, name: str
) -> list[list[str]]:
    """The three commands, in their order; the first two drop the database."""
    ending = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    return [
        [str(programs / "psql"), *account, "-d", maintenance, "-c", ending],
        [str(programs / "dropdb"), *account, "--if-exists", name],
        [str(programs / "createdb"), *account, name, f"--template={template}"],
    ]
