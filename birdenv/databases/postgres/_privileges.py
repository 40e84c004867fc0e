"""SQL that revokes the privileges that PostgreSQL grants to every role by default.

The statements run once as a superuser, in the database that episodes' databases are copied from. Privileges
are stored in a database, and are copied with it.
"""

from __future__ import annotations

from typing import Final

CONTENTS_OWNER: Final = "birdenv_contents"
"""The role that owns the contents of the databases that copies are made from. It owns nothing else on the
server, so that REASSIGN OWNED in a copy transfers only the contents of that copy."""

_READABLE_VIEWS: Final = """
    pg_tables pg_views pg_matviews pg_indexes pg_sequences pg_rules pg_policies pg_stats pg_stats_ext
    pg_stats_ext_exprs pg_publication_tables pg_timezone_names pg_timezone_abbrevs pg_available_extensions
    pg_available_extension_versions pg_cursors pg_prepared_statements
    pg_stat_all_tables pg_stat_user_tables pg_stat_sys_tables pg_stat_all_indexes pg_stat_user_indexes
    pg_stat_sys_indexes pg_statio_all_tables pg_statio_user_tables pg_statio_sys_tables
    pg_statio_all_indexes pg_statio_user_indexes pg_statio_sys_indexes pg_stat_user_functions
    pg_stat_xact_all_tables pg_stat_xact_user_tables pg_stat_xact_sys_tables pg_stat_xact_user_functions
    pg_statio_all_sequences pg_statio_user_sequences pg_statio_sys_sequences
"""

_FUNCTIONS_OF_THE_SERVER: Final = r"""
    ^pg_(terminate|cancel)_backend$ ^pg_stat_get_(activity|backend|db_|progress|wal|replication|subscription)
    ^pg_stat_get_(io|lock|checkpointer|bgwriter|archiver|slru|recovery) ^pg_lock_status$ _blocking_pids$
    ^pg_show_ ^pg_prepared_xact$ ^pg_logical_ ^pg_replication_ ^pg_get_replication_ ^pg_export_snapshot$
    ^pg_tablespace_size$ ^pg_get_shmem ^pg_get_backend_memory ^pg_get_aios$ ^pg_config$
    ^pg_notification_queue_usage$ ^pg_control_ ^pg_hba_ ^pg_ident_ ^pg_listening_channels$
    ^pg_stat_(get_checkpoint|have_stats) ^pg_tablespace_ ^pg_isolation_test_ ^pg_(try_)?advisory_
    ^pg_current_wal_ ^pg_available_wal_summaries$ ^(txid|pg_xact)_status$ ^pg_get_multixact_members$
    ^pg_xact_commit_timestamp ^pg_last_committed_xact$
"""
"""Advisory locks are included, because all sessions of the server share one table of locks."""

_STATISTICS: Final = r"^pg_stat(io)?_"
"""Functions and views that show activity. Gold SQL runs in the databases that agents read, so agents could
learn from them which tables the gold SQL needs."""

_FUNCTIONS_THAT_STICK: Final = r"""
    ^lo_ ^lo(read|write)$ ^set_config$ ^setseed$ ^pg_notify$ ^pg_sleep
    ^txid_current$ ^pg_current_xact_id$ ^(query|table|cursor|schema|database)_to_xml
"""

_REVOKE_FUNCTIONS: Final = """
DO $do$ DECLARE f record; BEGIN
  FOR f IN SELECT p.oid::regprocedure AS signature FROM pg_proc AS p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND (p.proname ~ '{pattern}'
      OR p.pronargs = 0 AND p.proname ~ '^pg_stat_get_')  -- of no object here: the whole server's
    ORDER BY p.oid
  LOOP EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', f.signature); END LOOP;
END $do$;
"""

CLOSE_DATABASES: Final = """
DO $do$ DECLARE d record; BEGIN
  PERFORM pg_advisory_xact_lock(7308895141391264612);
  FOR d IN SELECT datname FROM pg_database
    WHERE has_database_privilege('public', oid, 'CONNECT') AND datallowconn
    AND NOT starts_with(datname, 'birdenv-') AND NOT starts_with(datname, 'birdenv_loading_')
    AND ({all} OR starts_with(datname, 'birdenv_'))
  LOOP EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', d.datname); END LOOP;
END $do$;
"""
"""Let only roles that were granted access by name connect to templates (on the embedded server: to any
database). The lock keeps two processes from updating the same rows at the same time."""


def _pattern(words: str) -> str:
    return "|".join(words.split())


_EXTENSIONS_OF_THE_SERVER: Final = (
    r"^(pg_(?!trgm$|bigm$)|page|pgstat|pgrow|amcheck$|adminpack$|dblink$|sslinfo$|powa$|system_stats$)|_fdw$"
)
"""Extensions whose functions and views show activity on the server, or reach beyond the database."""

_HIDE_EXTENSIONS: Final = f"""
DO $do$ DECLARE o record; BEGIN
  FOR o IN
    SELECT CASE d.classid WHEN 'pg_class'::regclass THEN 'TABLE ' || d.objid::regclass
        ELSE 'ROUTINE ' || d.objid::regprocedure END AS what
    FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
    WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
    AND e.extname ~ '{_EXTENSIONS_OF_THE_SERVER}'
    AND (d.classid = 'pg_proc'::regclass OR d.classid = 'pg_class'::regclass
      AND EXISTS (SELECT 1 FROM pg_class AS c WHERE c.oid = d.objid AND c.relkind IN ('r', 'v', 'm', 'f')))
  LOOP EXECUTE format('REVOKE ALL ON %s FROM PUBLIC {{also}}', o.what); END LOOP;
END $do$;
"""

HIDE_THE_SERVER: Final = (
    f"""
DO $do$ DECLARE r record; BEGIN
  FOR r IN SELECT c.oid::regclass AS name FROM pg_class AS c
    WHERE c.relnamespace = 'pg_catalog'::regnamespace
    AND (c.relisshared AND c.relkind = 'r'
      OR c.relkind = 'v' AND c.relname <> ALL (string_to_array('{" ".join(_READABLE_VIEWS.split())}', ' ')))
    ORDER BY c.oid
  LOOP EXECUTE format('REVOKE ALL ON %s FROM PUBLIC', r.name); END LOOP;
END $do$;
"""
    + _REVOKE_FUNCTIONS.format(pattern=_pattern(_FUNCTIONS_OF_THE_SERVER))
    + _HIDE_EXTENSIONS.format(also="")
)
"""Revoke everything by which an agent could see or end other sessions and databases, or see the state of the
server. `information_schema` still works, because its views read with the rights of their owner."""

ONLY_READING: Final = (
    _REVOKE_FUNCTIONS.format(pattern=_pattern(_FUNCTIONS_THAT_STICK))
    + _REVOKE_FUNCTIONS.format(pattern=_STATISTICS)
    + f"""
DO $do$ DECLARE s record; BEGIN
  FOR s IN SELECT c.oid::regclass AS name FROM pg_class AS c
    WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'v' AND c.relname ~ '{_STATISTICS}'
  LOOP EXECUTE format('REVOKE ALL ON %s FROM PUBLIC', s.name); END LOOP;
"""
    """
  FOR s IN SELECT oid::regnamespace AS name FROM pg_namespace
    WHERE nspname <> 'information_schema' AND NOT starts_with(nspname, 'pg_')
  LOOP
    EXECUTE format('REVOKE CREATE ON SCHEMA %s FROM PUBLIC', s.name);
    EXECUTE format('GRANT USAGE ON SCHEMA %s TO {reader}', s.name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %s TO {reader}', s.name);
    EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %s TO {reader}', s.name);
  END LOOP;
END $do$;
""" + _HIDE_EXTENSIONS.format(also=", {reader}")
)
"""In the database that many episodes read, revoke everything by which a plain SELECT could wait, or leave
something behind in the database or in a session. Let the role `reader` read the database."""

HAND_OVER: Final = f"""
DO $do$ DECLARE o record; BEGIN
  FOR o IN SELECT evtname FROM pg_event_trigger  -- they would run in our own sessions, and nothing fires here
  LOOP EXECUTE format('DROP EVENT TRIGGER %I CASCADE', o.evtname); END LOOP;
  FOR o IN
    SELECT format('ALTER SCHEMA %s', n.oid::regnamespace) AS what FROM pg_namespace AS n
      WHERE n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
    UNION ALL
    SELECT format(CASE WHEN c.relkind = 'c' THEN 'ALTER TYPE %s' ELSE 'ALTER TABLE %s' END, c.oid::regclass)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
      AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c')
      AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = c.oid
        AND d.classid = 'pg_class'::regclass
        AND (d.deptype = 'e' OR c.relkind = 'S' AND d.deptype IN ('a', 'i')))
    UNION ALL
    SELECT format('ALTER ROUTINE %s', p.oid::regprocedure)
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
      WHERE n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
      AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = p.oid
        AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e')
    UNION ALL
    SELECT format(CASE WHEN t.typtype = 'd' THEN 'ALTER DOMAIN %s' ELSE 'ALTER TYPE %s' END, t.oid::regtype)
      FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
      WHERE n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
      AND t.typtype IN ('d', 'e', 'r')
      AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = t.oid
        AND d.classid = 'pg_type'::regclass AND d.deptype = 'e')
  LOOP EXECUTE o.what || ' OWNER TO {CONTENTS_OWNER}'; END LOOP;
END $do$;
"""
"""Make `CONTENTS_OWNER` the owner of everything that does not belong to an extension."""
