"""The embedded server: shared, stopped after its last user, started again whatever happened to it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from postgres_server import PASSWORD, start_postgres

from birdenv.databases.postgres import Cluster, PostgresServer, ServerError, find_server
from birdenv.databases.postgres.server._paths import server_place, with_reachable_programs
from birdenv.databases.postgres.server._programs import Binaries, ServerAccount, find_binaries
from birdenv.errors import InputError

USER = """
import sys
from birdenv.databases.postgres import find_server
server = find_server()
with server.connect() as connection:
    print(connection.execute("SELECT pg_postmaster_start_time()::text").fetchone()[0], flush=True)
    connection.execute("CREATE TABLE IF NOT EXISTS public.visits (x integer)")
    connection.execute("INSERT INTO public.visits VALUES (1)")
sys.stdin.read()
"""


@contextmanager
def another_user(
    cache: Path, program: str = sys.executable, **options: object
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that uses the server of a cache until its input ends, and when that server was started."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [program, "-c", USER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        **options,  # type: ignore[call-overload]
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        if process.poll() is None:
            process.stdin.close()
            process.wait()


def value(server: PostgresServer, query: str) -> object:
    with server.connect() as connection:
        row = connection.execute(query.encode()).fetchone()
        return row[0] if row else None


def postmaster(cluster: Cluster) -> int:
    return int((cluster.place.data / "postmaster.pid").read_text().split()[0])


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("fsync", "off"),
        ("synchronous_commit", "off"),
        ("full_page_writes", "off"),
        ("wal_level", "minimal"),
        ("max_wal_senders", "0"),
        ("listen_addresses", ""),
        ("autovacuum", "off"),
        ("TimeZone", "UTC"),
        ("DateStyle", "ISO, YMD"),
        ("extra_float_digits", "1"),
        ("server_encoding", "UTF8"),
    ],
)
def test_it_is_set_up_for_data_that_can_be_made_again(
    server: PostgresServer, name: str, setting: str
) -> None:
    assert value(server, f"SELECT current_setting('{name}')") == setting


def test_text_is_ordered_by_code_point_as_in_sqlite(server: PostgresServer) -> None:
    ordered = "SELECT string_agg(x, '' ORDER BY x) FROM unnest(ARRAY['b', 'B', 'é', 'a', '_', 'Z']) AS x"
    assert value(server, ordered) == "".join(sorted("bBéa_Z"))
    assert value(server, "SELECT upper('é')") == "É"


def test_it_never_runs_as_root(server: PostgresServer) -> None:
    folder = Path(str(value(server, "SELECT current_setting('data_directory')")))
    assert folder.stat().st_uid != 0
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_two_runs_share_one_server(server: PostgresServer, server_cache: Path) -> None:
    with another_user(server_cache) as (_, first), another_user(server_cache) as (_, second):
        assert first == second == value(server, "SELECT pg_postmaster_start_time()::text")
    assert value(server, "SELECT 1") == 1  # they have gone, we have not


@pytest.mark.slow
def test_it_stops_after_its_last_user_and_keeps_its_data(
    cache: Path, wait_until: Callable[..., None]
) -> None:
    with another_user(cache) as (_, first):
        cluster = Cluster()
        assert cluster.is_running()
    wait_until(lambda: not cluster.is_running())
    with another_user(cache) as (_, second), find_server() as server:
        assert first != second
        assert value(server, "SELECT count(*) FROM public.visits") == 2


@pytest.mark.kills
def test_a_killed_user_does_not_leave_the_server_behind(cache: Path, wait_until: Callable[..., None]) -> None:
    with another_user(cache) as (process, _):
        process.kill()
        process.wait()
        wait_until(lambda: not Cluster().is_running())


@pytest.mark.slow
def test_users_that_start_at_the_same_time_get_one_server(cache: Path) -> None:
    with ExitStack() as users:
        started = [users.enter_context(another_user(cache))[1] for _ in range(3)]
    assert len(set(started)) == 1 and started[0]


@pytest.mark.slow
def test_a_kept_server_stays_until_it_is_stopped(cache: Path, wait_until: Callable[..., None]) -> None:
    cluster = Cluster()
    cluster.use()
    cluster.keep()
    with pytest.raises(InputError, match="in use by another process"), another_user(cache):
        Cluster().stop()
    cluster.keep()
    cluster.release()
    threading.Event().wait(2)  # longer than it lingers
    assert cluster.is_running()
    assert Cluster().stop()
    assert not cluster.is_running()
    assert not Cluster().stop()


@pytest.mark.slow
def test_a_killed_server_is_started_again_with_what_was_flushed(cache: Path) -> None:
    with find_server() as server:
        with server.connect() as connection:
            connection.execute("SET synchronous_commit = on")
            connection.execute("CREATE TABLE public.kept AS SELECT generate_series(1, 1000) AS x")
        busy = server.connect()
        failure: list[Exception] = []

        def work() -> None:
            try:
                busy.execute("SELECT count(*) FROM generate_series(1, 1000000000)")
            except psycopg.Error as error:
                failure.append(error)

        working = threading.Thread(target=work)
        working.start()
        os.kill(postmaster(Cluster()), signal.SIGKILL)
        assert value(server, "SELECT count(*) FROM public.kept") == 1000
        working.join()
        assert isinstance(failure[0], psycopg.OperationalError)


@pytest.mark.kills
def test_a_killed_keeper_takes_the_server_with_it(cache: Path, wait_until: Callable[..., None]) -> None:
    with find_server() as server:
        cluster = Cluster()
        before = postmaster(cluster)
        os.kill(int(cluster.place.keeper.read_text()), signal.SIGKILL)
        if sys.platform != "linux":
            os.kill(before, signal.SIGINT)
        wait_until(lambda: not cluster.is_running())
        assert value(server, "SELECT 1") == 1
        assert postmaster(cluster) != before


@pytest.mark.kills
def test_a_stale_lock_with_the_number_of_another_program_is_no_obstacle(cache: Path) -> None:
    with another_user(cache):
        cluster = Cluster()
        written = (cluster.place.data / "postmaster.pid").read_text().splitlines()
    cluster.stop()
    other = subprocess.Popen(["sleep", "600"], **cluster.place.account.as_keywords())
    lines = [str(other.pid), *written[1:]]
    (cluster.place.data / "postmaster.pid").write_text("\n".join(lines) + "\n")
    (cluster.place.sockets / ".s.PGSQL.5432.lock").write_text("\n".join(lines) + "\n")
    try:
        with find_server() as server:
            assert value(server, "SELECT count(*) FROM public.visits") == 1
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.slow
def test_after_a_crash_of_the_machine_it_begins_anew_and_says_so(cache: Path) -> None:
    with another_user(cache):
        cluster = Cluster()
    cluster.stop()
    cluster.place.session.write_text("another session of the machine")
    with find_server() as server:
        assert any("reload them with `birdenv db load`" in note for note in server.notes)
        assert value(server, "SELECT to_regclass('visits')") is None


@pytest.mark.slow
def test_a_path_too_long_for_a_socket_is_no_obstacle(
    cache: Path, monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., None]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / ("long" * 30)))
    with find_server() as server:
        cluster = Cluster()
        assert cluster.place.sockets != cluster.place.data
        assert value(server, "SELECT 1") == 1
    wait_until(lambda: not cluster.is_running())
    shutil.rmtree(cluster.place.sockets)
    cluster.place.sockets.touch()
    try:
        with pytest.raises(InputError, match="set XDG_CACHE_HOME to a shorter one"):
            find_server()
    finally:
        cluster.place.sockets.unlink()


@pytest.mark.slow
def test_the_log_does_not_grow_without_end(cache: Path, wait_until: Callable[..., None]) -> None:
    """A session that runs out of memory tells the log so, each time."""
    with find_server() as server:
        log = Cluster().place.log
        with log.open("ab") as file:
            file.write(b"x" * 4_000_001)
        wait_until(lambda: log.stat().st_size < 4_000_000)
        assert value(server, "SELECT 1") == 1


def test_a_full_server_says_so(server: PostgresServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE ROLE crowd LOGIN")
        connection.execute("GRANT CONNECT ON DATABASE postgres TO crowd")  # others' tests may have revoked it
    with ExitStack() as open_connections, pytest.raises(ServerError) as failure:
        for _ in range(300):
            open_connections.callback(server.connect(user="crowd").close)
    assert "has no connections left: lower --parallel" in str(failure.value)
    assert value(server, "SELECT 1") == 1


@pytest.mark.slow
def test_what_does_not_start_says_why(cache: Path) -> None:
    with another_user(cache):
        cluster = Cluster()
    cluster.stop()
    (cluster.place.data / "global" / "pg_control").unlink()
    with pytest.raises(InputError, match=r"did not start: .*pg_control"):
        find_server()


def test_root_without_a_way_to_its_cache_gets_a_place_in_var_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch, as_root: None
) -> None:
    closed = cache / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", str(closed))
    place = server_place(find_binaries())
    try:
        assert place.root.parent == Path("/var/cache/birdenv")
        assert place.account.can_reach(place.data)
    finally:
        shutil.rmtree(place.root)


@pytest.mark.slow
def test_programs_that_only_root_can_reach_are_copied(cache: Path, as_root: None) -> None:
    binaries = find_binaries()
    closed = cache / "closed"
    closed.mkdir(mode=0o700)
    install, libraries = binaries.folder.parent, f"{binaries.package.name}.libs"
    package = closed / binaries.package.name
    shutil.copytree(install, package / install.name, symlinks=True)
    shutil.copytree(binaries.package.with_name(libraries), closed / libraries)
    hidden = Binaries(package / install.name / "bin", binaries.version, package)
    place = server_place(binaries)
    reached = with_reachable_programs(hidden, place)
    told = subprocess.run(
        [reached.folder / "initdb", "--version"], capture_output=True, text=True, **place.maker.as_keywords()
    )
    assert binaries.version in told.stdout
    assert with_reachable_programs(hidden, place) == reached


@pytest.fixture
def public_python(as_root: None) -> str:
    """A Python like this one that other users can run."""
    folders = [*os.environ["PATH"].split(os.pathsep), "/usr/bin", "/usr/local/bin"]
    for folder in folders:
        program = Path(folder) / f"python{sys.version_info.major}.{sys.version_info.minor}"
        if program.exists() and ServerAccount(54444).can_reach(program.resolve()):
            return str(program)
    pytest.skip("there is no Python that a plain user can run")


@pytest.mark.slow
def test_it_works_as_a_plain_user(cache: Path, public_python: str, wait_until: Callable[..., None]) -> None:
    mine = cache / "nobody"
    mine.mkdir()
    shutil.chown(mine, "nobody")
    with another_user(mine, public_python, user="nobody", group=65534, extra_groups=[]) as (_, started):
        assert started
        (place,) = (mine / "birdenv").iterdir()
        assert (place / "data").owner() == "nobody"
        process = int((place / "data" / "postmaster.pid").read_text().split()[0])
    wait_until(lambda: not Path(f"/proc/{process}").exists())


def test_a_user_without_a_name_is_told(cache: Path, public_python: str) -> None:
    cache.chmod(0o777)
    told = subprocess.run(
        [public_python, "-c", USER],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)},
        user=54444,
        group=54444,
        extra_groups=[],
    )
    assert "user 54444 has no name on this machine" in told.stderr


@pytest.mark.parametrize("has_old_programs", [False, True])
def test_a_machine_without_the_package_is_told_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_old_programs: bool
) -> None:
    monkeypatch.setattr("birdenv.databases.postgres.server._programs._PACKAGE", "an_old_package")
    if has_old_programs:
        programs = tmp_path / "an_old_package" / "pginstall" / "bin"
        programs.mkdir(parents=True)
        for name in ("postgres", "initdb"):
            (programs / name).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 15.3'\n")
            (programs / name).chmod(0o755)
        monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"pip install -U 'birdenv\[postgres\]'.*--dsn or BIRDENV_DSN"):
        find_binaries()


def test_a_server_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("birdenv.databases.postgres.server._server._OLDEST_MAJOR", 99)
    with pytest.raises(InputError, match=r"is too old: birdenv needs 99 or newer"):
        find_server(start_postgres().reader)


def test_another_server_is_named_by_dsn_or_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    postgres = start_postgres()
    with find_server(postgres.reader) as server:
        assert not server.is_ours
        assert server.version.startswith("PostgreSQL ")
        assert "reader" in server.shown
        assert PASSWORD not in server.shown
        with server.connect("postgres") as connection:
            assert connection.execute("SELECT count(*) FROM public.item").fetchone() == (4,)
    monkeypatch.setenv("BIRDENV_DSN", postgres.reader)
    with find_server() as server:
        assert not server.is_ours


@pytest.mark.parametrize("broken", ["password", "host", "database"])
def test_no_error_shows_a_password(broken: str) -> None:
    secret = "Pa55-nobody-sees"
    postgres = start_postgres()
    dsn = postgres.dsn(password=secret if broken == "password" else PASSWORD)
    if broken == "host":
        dsn = f"postgresql://reader:{secret}@/postgres?host=/no/such/folder"
    with pytest.raises((ServerError, InputError)) as failure:
        find_server(dsn.replace("/postgres?", "/no_such_one?") if broken == "database" else dsn)
    assert secret not in str(failure.value)
    assert PASSWORD not in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_disk_too_small_for_the_server_is_told(cache: Path, as_root: None) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", cache], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode()}")
    try:
        with pytest.raises(InputError, match=r"the server's files cannot be created: .*No space left"):
            find_server()
    finally:
        subprocess.run(["umount", "-l", cache], check=True)
