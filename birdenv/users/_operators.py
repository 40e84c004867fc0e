"""Keywords, and the words for operators and constants (BIRD-Interact §3: the user speaks plain language)."""

from __future__ import annotations

__all__ = [
    "ARITHMETIC",
    "ARROWS",
    "CALLABLE_CLAUSES",
    "CLAUSE_WORDS",
    "COMPARISONS",
    "CONSTANTS",
    "FRAME",
    "NEGATED",
    "QUANTIFIERS",
    "STOPS",
]

CLAUSE_WORDS = frozenset(
    """SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT JOIN LEFT RIGHT INNER
    FULL CROSS NATURAL ON USING WITH WINDOW RETURNING VALUES INSERT UPDATE DELETE CREATE SET FETCH
    PARTITION""".split()
)
STOPS = CLAUSE_WORDS | frozenset("AS THEN WHEN ELSE END ASC DESC NULLS ) , ; ]".split())
CALLABLE_CLAUSES = frozenset({"LEFT", "RIGHT"})
ARITHMETIC = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divided by",
    "%": "modulo",
    "||": "joined with",
    "DIV": "divided by",
    "MOD": "modulo",
}
COMPARISONS = {
    "=": "equals",
    "==": "equals",
    "<>": "does not equal",
    "!=": "does not equal",
    ">": "is greater than",
    "<": "is less than",
    ">=": "is greater than or equal to",
    "<=": "is less than or equal to",
    "~": "matches the pattern",
    "~*": "matches the pattern",
    "!~": "does not match the pattern",
    "!~*": "does not match the pattern",
    "LIKE": "matches the pattern",
    "ILIKE": "matches the pattern (in any letter case)",
    "GLOB": "matches the pattern",
    "REGEXP": "matches the pattern",
    "SIMILAR": "matches the pattern",
    "MATCH": "matches the pattern",
    "BETWEEN": "is between",
    "IN": "is one of",
    "@>": "contains",
    "<@": "is contained in",
}
NEGATED = {
    "LIKE": "does not match the pattern",
    "ILIKE": "does not match the pattern (in any letter case)",
    "GLOB": "does not match the pattern",
    "REGEXP": "does not match the pattern",
    "SIMILAR": "does not match the pattern",
    "BETWEEN": "is not between",
    "IN": "is not one of",
}
CONSTANTS = {
    "NULL": "null",
    "TRUE": "true",
    "FALSE": "false",
    "CURRENT_DATE": "the date of today",
    "CURRENT_TIME": "the time of today",
    "CURRENT_TIMESTAMP": "the date and time of today",
}
QUANTIFIERS = {"DISTINCT": "different", "ALL": "all", "ANY": "any", "SOME": "some"}
FRAME = {
    "ROWS": "over the neighbouring rows",
    "RANGE": "over the neighbouring cases",
    "GROUPS": "over the neighbouring groups",
    "BETWEEN": "between",
    "AND": "and",
    "UNBOUNDED": "everything",
    "PRECEDING": "before",
    "FOLLOWING": "after",
    "CURRENT": "the current",
    "ROW": "one",
}
ARROWS = frozenset({"->", "->>", "#>", "#>>"})
