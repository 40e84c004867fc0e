"""Manage the embedded server, which is started on demand and shared by all processes of this user.

The server holds only templates and their copies, which can be reloaded. Therefore it never forces data to
disk. If the server is killed, PostgreSQL recovers the data. If the machine crashes, the data may be damaged,
so birdenv deletes them.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from psycopg.conninfo import make_conninfo

from birdenv.databases.postgres.server._paths import (
    ADMIN,
    last_words,
    lock,
    machine_session,
    make_data,
    pid_file,
    remove_stale_locks,
    server_place,
    wait_for_lock,
    with_reachable_programs,
)
from birdenv.databases.postgres.server._programs import Binaries, find_binaries
from birdenv.errors import InputError
from birdenv.files import file_errors

MOST_CONNECTIONS: Final = 200
_SETTINGS: Final = {
    "listen_addresses": "",  # connections are made through a socket in a private folder
    "port": "5432",  # part of the socket's name
    "max_connections": str(MOST_CONNECTIONS),
    "max_locks_per_transaction": "256",  # times max_connections is the size of the shared table of locks
    "client_connection_check_interval": "1s",  # stop the statement of a killed client
    # The data can be re-created: never force them to disk, and log only what recovery needs. A killed server
    # may lose its last commits, except those made with SET synchronous_commit = on, as loading does.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    "autovacuum": "off",  # templates are vacuumed and analysed once, when loaded
    # The same query must return the same rows in the same order, and the same sums, in every run.
    "synchronize_seqscans": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "lc_messages": "C",
    "client_encoding": "UTF8",
    # Errors in agents' statements are not worth logging, and the statements may be private.
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
    "max_notify_queue_pages": "1024",  # of 8 kB; one LISTEN may keep the queue from being emptied
}
_START_SECONDS: Final = 120.0  # including recovery after a kill
_STOP_SECONDS: Final = 40.0
_KEEPER: Final = Path(__file__).with_name("_supervisor.py")


class Cluster:
    """The embedded server, which runs while any process uses it.

    A process uses the server from its call to `use` until it calls `release` or ends. Raises `InputError` if
    this machine cannot run the server.
    """

    def __init__(self) -> None:
        self._binaries = find_binaries()
        self.place = server_place(self._binaries)
        self._held: int | None = None

    @property
    def version(self) -> str:
        """Return the version of the server, such as `18.4`."""
        return self._binaries.version

    @property
    def conninfo(self) -> str:
        """Return the superuser's connection string, which names no database."""
        return make_conninfo(host=str(self.place.sockets), port=5432, user=ADMIN)

    def use(self) -> list[str]:
        """Start the server if necessary, and keep it running. Return messages for the user.

        Raises `InputError` if the server cannot be started.
        """
        if self._held is None:
            descriptor = os.open(self.place.users, os.O_RDWR | os.O_CLOEXEC)
            try:
                busy = f"{self.place.root}: the server is being stopped by another process; try again"
                wait_for_lock(descriptor, fcntl.LOCK_SH, _STOP_SECONDS, busy)
            except BaseException:
                os.close(descriptor)
                raise
            self._held = descriptor
        busy = f"{self.place.root}: another process has not finished starting the server"
        try:
            with lock(self.place.starting, fcntl.LOCK_EX, _START_SECONDS, busy):
                return [] if self.is_running() else self._start()
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Stop using the server.

        The server shuts down one second after its last user has called `release` or ended.
        """
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def is_running(self) -> bool:
        """Return whether the server is running and accepts connections."""
        return self._is_kept() and pid_file(self.place.data).get("status") == "ready"

    def is_used(self) -> bool:
        """Return whether any process, including this one, is using the server."""
        with self.place.users.open("r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def keep(self) -> None:
        """Keep the server running until `stop` is called, even if no process uses it."""
        with file_errors(self.place.stay, "written"):
            self.place.stay.touch()

    def is_kept_running(self) -> bool:
        """Return whether `keep` has been called, and `stop` has not been called since."""
        return self.place.stay.exists()

    def stop(self, force: bool = False) -> bool:
        """Stop the server. Return False if it was not running.

        Raises `InputError` if other processes are using the server and `force` is false.
        """
        self.place.stay.unlink(missing_ok=True)
        self.release()
        if not self._is_kept():
            return False
        if self.is_used() and not force:
            raise InputError(
                "the server is in use by another process, and stops automatically a second after the last "
                "process has ended; to stop it now, use --force"
            )
        if force:
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(self.place.keeper.read_text()), signal.SIGTERM)
        end = time.monotonic() + _STOP_SECONDS
        while self._is_kept():
            if time.monotonic() > end:
                raise InputError(f"the server did not stop; see its log, {self.place.log}")
            time.sleep(0.05)
        return True

    def _is_kept(self) -> bool:
        try:
            descriptor = os.open(self.place.keeper, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _start(self) -> list[str]:
        place = self.place
        binaries = with_reachable_programs(self._binaries, place)
        notes = self._wipe_after_a_crash()
        if not (place.data / "PG_VERSION").exists():
            make_data(binaries, place)
        place.make_sockets_folder()
        remove_stale_locks(place)
        _write(place.session, machine_session())
        keeper = self._run_keeper(binaries)
        end = time.monotonic() + _START_SECONDS
        while not self.is_running():
            if keeper.poll() is not None or time.monotonic() > end:
                raise InputError(f"the PostgreSQL server did not start: {last_words(place.log)}")
            time.sleep(0.01)
        return notes

    def _run_keeper(self, binaries: Binaries) -> subprocess.Popen[bytes]:
        place = self.place
        command = [str(binaries.folder / "postgres"), "-D", str(place.data), "-k", str(place.sockets)]
        for name, value in _SETTINGS.items():
            command += ["-c", f"{name}={value}"]
        setting = {
            "command": command,
            "account": {"cwd": str(place.data), **place.account.as_keywords()},
            "keeper": str(place.keeper),
            "users": str(place.users),
            "stay": str(place.stay),
            "session": str(place.session),
        }
        with file_errors(place.log, "written"), place.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-I", str(_KEEPER), json.dumps(setting)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={"PATH": os.defpath, "LC_ALL": "C"},
            )

    def _wipe_after_a_crash(self) -> list[str]:
        """Delete the data if the machine stopped while the server ran, because they may be damaged."""
        place = self.place
        if not place.session.exists() or place.session.read_text() == machine_session():
            return []
        shutil.rmtree(place.data, ignore_errors=True)
        place.session.unlink()
        return [
            "the machine was stopped while the PostgreSQL server was running, so its databases were deleted; "
            "reload them with `birdenv db load`"
        ]


def _write(path: Path, text: str) -> None:
    with file_errors(path, "written"):
        path.write_text(text)
