"""What runs leave on a server: nothing, where their process ended by itself; else `db clean` removes it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pg_shop import load_shop

from birdenv.cli import main
from birdenv.databases.postgres import (
    PostgresServer,
    PostgresSource,
    find_server,
    leftovers,
    remove_leftovers,
    templates,
)

WRITE = "CREATE TABLE t (a int)"


@pytest.fixture
def own(cache: Path, tmp_path: Path) -> Iterator[PostgresServer]:
    """A server that no other test uses."""
    with find_server() as server:
        load_shop(server, tmp_path)
        yield server


def made_for_episodes(server: PostgresServer) -> list[str]:
    kept = ("birdenv-master-", "birdenv-reading-")
    return [each.name for each in leftovers(server) if not each.name.startswith(kept)]


@pytest.mark.slow
def test_a_source_that_nobody_holds_any_more_is_closed(
    own: PostgresServer, wait_until: Callable[..., None]
) -> None:
    database = PostgresSource(own, warm=1).open("shop")
    database.execute(WRITE)
    gc.collect()
    assert made_for_episodes(own), "while an episode goes on, its source is not closed"
    assert database.execute("SELECT 1")
    database.close()
    del database
    gc.collect()
    assert made_for_episodes(own) == []


@pytest.mark.slow
def test_status_shows_and_clean_removes(
    own: PostgresServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def db(word: str) -> str:
        monkeypatch.setattr(sys, "argv", ["birdenv", "db", word])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        return capsys.readouterr().out

    with own.connect() as connection:  # as a killed process leaves them
        for statement in (
            'CREATE DATABASE "birdenv-episode-0123456789abcdef-1"',
            'CREATE ROLE "birdenv-agent-0123456789abcdef-1"',
            "CREATE DATABASE birdenv_loading_0123456789ab",
            "CREATE ROLE birdenv_loading_0123456789ab",
        ):
            connection.execute(statement)
    with PostgresSource(own, warm=0) as source, source.open("shop") as database:
        database.execute("SELECT 1")
        database.execute(WRITE)
        used, *_ = made_for_episodes(own)
        shown = db("status")
        assert f"  database    {used}" in shown
        assert "birdenv_loading_0123456789ab" in shown
        removed = db("clean")
        assert "removed role birdenv_loading_0123456789ab" in removed
        assert "in use by running processes" in removed
        assert used in made_for_episodes(own)
        assert database.execute("SELECT * FROM t")
    assert "Removed " in db("clean")
    assert leftovers(own) == remove_leftovers(own) == []
    assert "There was nothing to remove." in db("clean")
    assert list(templates(own)) == ["shop"]
    assert "In addition to the loaded databases" not in db("status")


@pytest.mark.slow
def test_what_listens_and_tells_keeps_little(own: PostgresServer) -> None:
    """One LISTEN in an open transaction keeps everything that anybody tells; the server's disk is all's."""
    tell = (
        "DO $$ BEGIN FOR i IN 1..4000 LOOP"
        " PERFORM pg_notify('a', i || repeat('x', 7000)); IF i % 100 = 0 THEN COMMIT; END IF;"
        " END LOOP; END $$"
    )
    with PostgresSource(own, warm=0) as source, source.open("shop") as one, source.open("shop") as other:
        one.run(["LISTEN a; BEGIN; SELECT 1"])
        other.execute("LISTEN a")
        result = other.execute(tell)
        assert "too many notifications" in getattr(result, "message", "")
        with own.connect() as connection:
            sizes = (
                "SELECT sum((pg_stat_file('pg_notify/' || name)).size) FROM pg_ls_dir('pg_notify') AS name"
            )
            (used,) = connection.execute(sizes).fetchone() or (0,)
        assert used < 20_000_000
