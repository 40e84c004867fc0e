"""Rules that allow or refuse the actions of SQL statements. SQLite asks an authorizer about each action.

There are two sets of rules. The rules for *reading* allow only actions that leave nothing behind on the
connection. The rules for a *private copy*, which belongs to one episode, allow all actions whose effects stay
inside the copy. Both sets refuse every action that is not known to be harmless.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import Final, NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OTHER_THAN_QUERIES = _words("""
    ALTER ANALYZE ATTACH BEGIN COMMIT CREATE DELETE DETACH DROP END EXPLAIN INSERT PRAGMA REINDEX RELEASE
    REPLACE ROLLBACK SAVEPOINT UPDATE VACUUM
    """)
"""First words of statements that are not plain queries. Any word except these, SELECT, WITH and VALUES is a
syntax error in SQLite."""

READING_PRAGMAS = _words(
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list"
)
"""Pragmas that only describe the schema. They also have table-valued functions (`pragma_table_info`)."""

# Functions that depend only on their arguments. Functions of date and time may depend on 'now'.
_PURE_FUNCTIONS = _words("""
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh
    count cume_dist degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif instr
    json json_array json_array_length json_extract json_group_array json_group_object json_insert json_object
    json_patch json_quote json_remove json_replace json_set json_type json_valid lag last_value lead length
    like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value ntile nullif octet_length
    percent_rank pi pow power printf quote radians rank replace round row_number rtrim sign sin sinh soundex
    sqrt string_agg substr substring sum tan tanh total trim trunc typeof unhex unicode unlikely upper
    zeroblob
    """)

# Used internally by full-text search while it reads.
_INNER_PRAGMAS = _words("data_version")

# Pragmas of a connection or database, which may be read and set on a private copy. full_column_names and
# short_column_names are excluded, because they rename the columns of all queries, including our own.
_PRIVATE_PRAGMAS = _words("""
    analysis_limit application_id auto_vacuum automatic_index busy_timeout case_sensitive_like cell_size_check
    checkpoint_fullfsync collation_list compile_options count_changes database_list defer_foreign_keys
    empty_result_callbacks encoding foreign_key_check foreign_keys freelist_count fullfsync
    function_list ignore_check_constraints incremental_vacuum integrity_check journal_mode journal_size_limit
    legacy_alter_table legacy_file_format locking_mode module_list optimize page_count pragma_list query_only
    quick_check read_uncommitted recursive_triggers reverse_unordered_selects secure_delete
    shrink_memory synchronous trusted_schema user_version wal_autocheckpoint wal_checkpoint
    """)
# These reach beyond the copy, or lift one of our limits: they may be read but not set.
_READABLE_PRAGMAS = _words(
    "cache_size cache_spill default_cache_size max_page_count mmap_size page_size schema_version temp_store"
    " threads"
)
_REFUSED_FUNCTIONS = _words("load_extension fts3_tokenizer readfile writefile edit lsdir")
_REFUSED_TABLES = _words("sqlite_dbpage")
_VIRTUAL_TABLE_MODULES = _words("fts3 fts4 fts5 rtree rtree_i32")
_SCHEMA_TABLES = _words("sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema")

_READING = frozenset(
    [sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE]
)
_CHANGES = {
    sqlite3.SQLITE_INSERT: "insert into {}",
    sqlite3.SQLITE_UPDATE: "update {}",
    sqlite3.SQLITE_DELETE: "delete from {}",
    sqlite3.SQLITE_TRANSACTION: "control transactions ({})",
    sqlite3.SQLITE_SAVEPOINT: "control transactions ({} a savepoint)",
    sqlite3.SQLITE_ATTACH: "attach a database",
    sqlite3.SQLITE_DETACH: "detach a database",
    sqlite3.SQLITE_PRAGMA: "use PRAGMA {}",
    sqlite3.SQLITE_ANALYZE: "analyze {}",
    sqlite3.SQLITE_REINDEX: "rebuild index {}",
}


LIST_OF_FILES: Final = "pragma_database_list"
"""A table that shows paths on the host machine, on some connections."""

_LONGEST_REMEMBERED: Final = 200  # characters of names, which may be as long as the SQL


class Rule(NamedTuple):
    """The rule for one action of a statement, both for reading and for a private copy.

    Attributes:
        on_a_copy: the reason why the action is refused even on a private copy; empty if it is allowed there.
        reading: the reason why the action is refused where only reading is allowed; empty if it is allowed
            there.
        is_repeatable: whether a statement with this action returns the same rows whenever it runs on the same
            contents.
    """

    on_a_copy: str
    reading: str
    is_repeatable: bool


HARMLESS: Final = Rule("", "", True)
"""The rule for actions that are always allowed, as nearly all actions are in practice."""


def rule_of(action: int, first: str | None, second: str | None) -> Rule:
    """Return the rule for an action, given the arguments that SQLite passes to its authorizer.

    Rules are cached, because the authorizer is called for every column of every statement.
    """
    if len(first or "") + len(second or "") > _LONGEST_REMEMBERED:
        return _rule_of.__wrapped__(action, first, second)
    return _rule_of(action, first, second)


@lru_cache(maxsize=4096)
def _rule_of(action: int, first: str | None, second: str | None) -> Rule:
    rule = Rule(
        _outside_a_copy(action, first, second),
        _beyond_reading(action, first),
        first != LIST_OF_FILES and _is_repeatable(action, first, second),
    )
    return HARMLESS if rule == HARMLESS else rule


def _outside_a_copy(action: int, first: str | None, second: str | None) -> str:
    sentence = ""
    if action == sqlite3.SQLITE_PRAGMA:
        sentence = _pragma_fault((first or "").lower(), second)
    elif action == sqlite3.SQLITE_ATTACH and first not in ("", ":memory:"):
        sentence = "files cannot be attached or written: only ATTACH ':memory:' is allowed"
    elif action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _REFUSED_FUNCTIONS:
        sentence = f"the function {second}() is not allowed"
    elif action == sqlite3.SQLITE_CREATE_VTABLE and (second or "").lower() not in _VIRTUAL_TABLE_MODULES:
        sentence = f"virtual tables of module {second} are not allowed"
    elif (first or "").lower() in _REFUSED_TABLES:
        sentence = f"the table {first} is not allowed"
    return sentence


def _pragma_fault(name: str, value: str | None) -> str:
    if name in READING_PRAGMAS or name in _INNER_PRAGMAS:
        return ""
    if name in _READABLE_PRAGMAS:
        return "" if value is None else f"PRAGMA {name} can be read but not set"
    if name not in _PRIVATE_PRAGMAS:
        return f"PRAGMA {name} is not allowed"
    if name == "journal_mode" and value and "off".startswith(value.lower()):  # SQLite accepts prefixes
        return "PRAGMA journal_mode = off is not allowed: a rollback would destroy the database"
    return ""


def _is_repeatable(action: int, first: str | None, second: str | None) -> bool:
    if action == sqlite3.SQLITE_FUNCTION:
        return (second or "").lower() in _PURE_FUNCTIONS
    if action == sqlite3.SQLITE_PRAGMA:
        return (first or "").lower() in READING_PRAGMAS
    return action in _READING


def _beyond_reading(action: int, first: str | None) -> str:
    if action in _READING:
        return ""
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in READING_PRAGMAS | _INNER_PRAGMAS:
        return ""
    what = _CHANGES.get(action, "change the schema").format(first)
    if (first or "").lower() in _SCHEMA_TABLES:
        what = "change the schema"
    return f"only reading is allowed here, and this statement would {what}"
