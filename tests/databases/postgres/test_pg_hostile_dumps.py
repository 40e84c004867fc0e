"""A dump is somebody else's program: none of it ever runs with all rights, on birdenv's server or another.

Each trap is something that a statement of ours would run, had it looked a name up among the dump's own, or
had it run as a superuser what belongs to the dump. Whoever runs one with all rights leaves its
name in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import start_postgres

from birdenv.databases import DatabaseState
from birdenv.databases.postgres import (
    PostgresServer,
    PostgresSource,
    find_dumps,
    find_server,
    find_template,
    load_dump,
    templates,
    verify_template,
)
from birdenv.databases.postgres.loading._templates import loading_name
from birdenv.errors import InputError

TRAP = """
CREATE FUNCTION trap(name text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE pg_catalog.format('COPY (SELECT %L) TO PROGRAM %L', name, 'cat >> {told}');
  RETURN true;
EXCEPTION WHEN insufficient_privilege THEN RETURN true;
END $$;
"""

SHADOWS = {
    # Nearer to what a statement of ours hands over than the catalog's own.
    "format": ("text, regnamespace", "text, regclass", "text, regprocedure", "text, regtype", "text, name"),
    "starts_with": ("name, text", "name, name"),
    "count": ("integer",),
    "pg_database_size": ("text",),
    "quote_ident": ("name",),
    "string_to_array": ("text, name",),
    "current_setting": ("name",),
    "pg_terminate_backend": ("integer",),
}
SHADOW = "CREATE FUNCTION {name}({types}) RETURNS text LANGUAGE sql AS $$ SELECT trap('{name}')::text $$;"
OPERATOR = """
CREATE FUNCTION {word}({left}, {right}) RETURNS {gives} LANGUAGE sql AS $$ SELECT trap('{word}')::{gives} $$;
CREATE OPERATOR {symbol} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {word});
"""
OPERATORS = [
    OPERATOR.format(word="matches", symbol="~", left="name", right="varchar", gives="boolean"),
    OPERATOR.format(word="differs", symbol="<>", left="name", right="varchar", gives="boolean"),
    OPERATOR.format(word="equals", symbol="=", left="regclass", right="regclass", gives="boolean"),
    OPERATOR.format(word="joins", symbol="||", left="regclass", right="text", gives="text"),
]
OBJECTS = """
CREATE FUNCTION kept(x integer, name text) RETURNS integer LANGUAGE plpgsql IMMUTABLE
  AS $$ BEGIN PERFORM public.trap(name); RETURN x; END $$;
CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN PERFORM public.trap('trigger'); RETURN NEW; END $$;
CREATE DOMAIN checked AS integer CHECK (trap('domain'));
CREATE TABLE t (x integer CHECK (kept(x, 'check') = x), y checked, z integer DEFAULT kept(1, 'default'),
  g integer GENERATED ALWAYS AS (kept(x, 'generated')) STORED);
INSERT INTO t (x, y) SELECT n, n FROM generate_series(1, 50) AS n;
CREATE INDEX on_expression ON t (kept(x, 'index expression'));
CREATE INDEX on_part ON t (x) WHERE kept(x, 'index predicate') > 3;
CREATE STATISTICS on_both ON (kept(x, 'statistics')), z FROM t;
CREATE VIEW v AS SELECT kept(x, 'view') FROM t;
CREATE MATERIALIZED VIEW m AS SELECT kept(x, 'materialized view') FROM t;
CREATE TRIGGER fires BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON t EXECUTE FUNCTION fired();
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
ALTER TABLE t FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON t USING (trap('policy'));
CREATE RULE r AS ON DELETE TO t DO ALSO SELECT trap('rule');
CREATE TABLE pg_database (datname name, oid oid);
CREATE FUNCTION owned() RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$ SELECT trap('definer') $$;
DO $$ DECLARE what text; BEGIN
  FOREACH what IN ARRAY ARRAY['SET search_path = public, pg_catalog',
    'SET local_preload_libraries = ''none''',
    'CONNECTION LIMIT 0'] LOOP
    EXECUTE pg_catalog.format('ALTER DATABASE %I '::text, pg_catalog.current_database()::text) || what;
  END LOOP;
END $$;
"""


def hostile_dump(told: Path) -> str:
    shadows = [
        SHADOW.format(name=name, types=types) for name, overloads in SHADOWS.items() for types in overloads
    ]
    return "\n".join([TRAP.replace("{told}", str(told)), *shadows, *OPERATORS, OBJECTS])


@pytest.fixture(params=["birdenv's own", "another"])
def any_server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    if request.param == "another":
        with find_server(start_postgres().admin) as other:
            yield other
    else:
        yield request.getfixturevalue("server")


def test_nothing_of_a_dump_runs_with_all_rights(any_server: PostgresServer, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    told, file = tmp_path / "told", tmp_path / "hostile.sql"
    file.write_text(hostile_dump(told))
    (dump,) = find_dumps(file)
    assert load_dump(any_server, dump, again=True).tables == {"pg_database": 0, "t": 50}
    with PostgresSource(any_server, warm=0) as source:
        assert "hostile" in source.names()
        assert verify_template(any_server, find_template(any_server, "hostile")) == []
        with source.open("hostile") as database:
            with pytest.raises(InputError, match="not unique"):  # run as one who only reads
                source.schema_text("hostile")
            database.query("SELECT owned(), (SELECT count(*) FROM t)")
            database.run(["DELETE FROM t; VACUUM (ANALYZE); REINDEX TABLE t; REFRESH MATERIALIZED VIEW m"])
            assert isinstance(database.state(), DatabaseState), "its own names do not count there"
            database.checkpoint()
    assert not told.exists(), told.read_text()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()",
        "CREATE EXTENSION dblink",
        "CREATE FUNCTION g() RETURNS int LANGUAGE c AS 'libc.so.6', 'getpid'",
        "SELECT pg_read_file('/etc/passwd')",
        "DO $$ BEGIN EXECUTE 'SET ROLE birdenv_owner'; END $$",
        "DO $$ BEGIN EXECUTE 'ALTER DATABASE birdenv_beside CONNECTION LIMIT 0'; END $$",
        "DO $$ BEGIN EXECUTE 'CREATE ROLE mine SUPERUSER'; END $$",
    ],
)
def test_what_takes_rights_refuses_the_dump(
    any_server: PostgresServer, tmp_path: Path, statement: str
) -> None:
    """The server next door is no help: a role that fills a database has no other."""
    for name, text in (("beside", ""), ("greedy", f";{statement}")):
        file = tmp_path / f"{name}.sql"
        file.write_text(
            f"CREATE TABLE t AS SELECT 1 AS x; CREATE FUNCTION f() RETURNS event_trigger LANGUAGE"
            f" plpgsql AS $$ BEGIN END $$ {text}"
        )
        (dump,) = find_dumps(file)
        if not text:
            load_dump(any_server, dump)
            continue
        with pytest.raises(InputError, match=r"SQLSTATE (42501|0A000)"):  # denied, or not installed
            load_dump(any_server, dump)
    assert "greedy" not in templates(any_server)
    with any_server.connect() as connection:
        left = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [loading_name("greedy")])
        assert left.fetchone() is None
