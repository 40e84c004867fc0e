"""Collect the candidates: annotated points, parts of the gold SQL, and what the gold SQL leaves open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from birdenv.users._brief import Ambiguity, Brief
from birdenv.users.segments import Segment, is_key, segments
from birdenv.users.sql_in_words import in_words
from birdenv.users.understanding._candidate import Candidate, Field
from birdenv.users.understanding._candidate_words import (
    all_stems,
    kinds_of_sql,
    meaning_stems,
    names_of,
    noted_stems,
    settled_kinds,
    spoken_stems,
    stems_in,
    stems_of,
    tables_joined,
    values_of,
)
from birdenv.users.understanding._gold_parts import (
    as_noun,
    changes,
    has_snippet,
    shares_condition,
    telling_parts,
)
from birdenv.users.understanding._left_open import (
    ANSWERS,
    SAID,
    TOGETHER,
    implied,
    in_one,
    kept,
    mentioned_in,
    said_in,
    unused_columns,
)
from birdenv.users.understanding._phrases import PLAIN_KINDS
from birdenv.users.understanding._word_forms import GENERIC_STEMS, clean

_SETTLED = {
    "null": re.compile(r"\b(?:null|coalesce|ifnull|nulls|nullif)\b|\belse (?!0\b)"),
    "round": re.compile(
        r"\bround|\btrunc|\b(?:ceil|floor|printf|format|to_char)|\bas (?:int|decimal\(|numeric\()"
    ),
    "limit": re.compile(r"\b(?:row_number|rank|dense_rank|ntile)\b|\bfetch first\b"),
    "distinct": re.compile(r"\bdistinct\b|\bunion\b(?! all)"),
}
"""Patterns that show that the gold SQL settles a kind of thing, so that "no preference" would be wrong."""


def candidates_of(brief: Brief) -> list[Candidate]:
    """Return everything that a question about a task can be about."""
    return [*_points(brief), *_parts(brief), *_left_open(brief)]


def _points(brief: Brief) -> Iterator[Candidate]:
    by_term: dict[str, list[Ambiguity]] = {}
    for item in brief.ambiguities:
        if clean(item.term):
            by_term.setdefault(clean(item.term), []).append(item)
    for term, items in by_term.items():
        snippets = " ".join(item.snippet for item in items)
        if items[0].kind == "non_critical":
            spoken, notes = set[str](), all_stems(snippets)
        else:
            spoken = spoken_stems(snippets, brief.identifiers)
            notes = noted_stems(brief.notes, items)
        main_kinds = _main_kinds(items)
        if is_key(snippets, brief.gold):
            main_kinds |= {"order"}
        yield Candidate(
            group=items[0].kind,
            target=items[0].term,
            kinds=main_kinds.union(*map(settled_kinds, items)),
            items=(*items, *_alternatives(items, brief)),
            names=names_of(term),
            values=values_of(snippets, small="limit" in main_kinds),
            main_kinds=main_kinds,
            stems={"term": stems_of(term), "sql": spoken, "notes": notes},
        )


def _alternatives(items: list[Ambiguity], brief: Brief) -> list[Ambiguity]:
    """Return the annotated knowledge that the gold SQL offers as an alternative to some points.

    For the point `x < 95`, this is `y > 60` if the gold SQL has `x < 95 OR y > 60`.
    """
    known = [one for one in brief.ambiguities if one.kind == "knowledge"] * (items[0].kind == "critical")
    own = [item.snippet for item in items]
    either = [
        part.sql
        for part in (segments(brief.gold) if known else ())
        if part.clause in _CONDITIONS and " OR " in part.sql and any(has_snippet([part.sql], s) for s in own)
    ]
    return [one for one in known if has_snippet(either, one.snippet) and not has_snippet(own, one.snippet)]


_CONDITIONS = ("where", "having")


def _main_kinds(items: list[Ambiguity]) -> frozenset[str]:
    if items[0].kind == "non_critical":
        settled = settled_kinds(items[0])
        order = ("order", "round", "distinct", "unmatched", "null")
        return frozenset([kind for kind in order if kind in settled][:1]) | (settled & {"tie", "scale"})
    return frozenset().union(*(kinds_of_sql(item.snippet) for item in items)) & {"limit", "order"}


def _parts(brief: Brief) -> Iterator[Candidate]:
    for part, terms in telling_parts(segments(brief.gold), brief.ambiguities):
        if part.clause == "join":
            continue
        inherited = [one.term for one in brief.inherited if shares_condition(part.sql, one.snippet)]
        called = [*terms, *inherited]
        sets = part.clause == "assign"
        items = [one for one in brief.ambiguities if sets and part.sql.endswith(f' = "{as_noun(one.term)}"')]
        notes = meaning_stems(brief.notes, part.sql).union(*map(stems_of, inherited))
        yield Candidate(
            group="part",
            target=items[0].term if items else part.id,
            kinds=kinds_of_sql(part.sql, part.clause),
            clause=part.clause,
            items=tuple(items),
            segments=(part,),
            names=tuple(name for term in called for name in names_of(clean(term))),
            values=values_of(part.sql, small=bool(brief.earlier_gold) or part.clause == "limit"),
            main_kinds=PLAIN_KINDS & {part.clause, *_MAIN_KINDS.get(part.clause, ())},
            stems={"sql": spoken_stems(part.sql, brief.identifiers), "notes": notes},
        )


def _dropped_terms(brief: Brief, kind: str) -> list[str]:
    """Return the terms of the conditions or the order that only the earlier phase's SQL has.

    "Still only the roomy ones?" asks about such a term.
    """
    dropped = (one for one in brief.inherited if brief.gold and not has_snippet(brief.gold, one.snippet))
    return [clean(one.term) for one in dropped if in_words(one.snippet, brief).form == _FORMS.get(kind)]


_FORMS = {"filter": "condition", "order": "arrangement"}


def _dropped_stems(brief: Brief) -> set[str]:
    """Return the words that occur only in the earlier phase's SQL.

    "Are cancelled orders still left out?" may ask about a condition that nobody annotated.
    """
    earlier, now = (
        spoken_stems(" ".join(sql), brief.identifiers) for sql in (brief.earlier_gold, brief.gold)
    )
    return earlier - now - GENERIC_STEMS


def _dropped_values(brief: Brief) -> tuple[str, ...]:
    """Return the values that occur only in the earlier phase's SQL."""
    earlier, now = (values_of(" ".join(sql), small=True) for sql in (brief.earlier_gold, brief.gold))
    return tuple(value for value in earlier if brief.gold and value not in now)


_MAIN_KINDS = {
    "create": ("name",),
    "assign": ("change",),
    "values": ("change",),
    "columns": ("output",),
    "key": ("order", "output"),
}


def _left_open(brief: Brief) -> Iterator[Candidate]:
    """Yield candidates for joins, for changes, and for what the gold SQL and the points leave open.

    If the gold SQL is withheld, the request is the only source for the kinds that the points leave open.
    """
    gold = " ".join(brief.gold).lower()
    parts = segments(brief.gold)
    settled = {part.clause for part in parts}
    for item in brief.ambiguities:
        kinds = settled_kinds(item)
        settled |= kinds if item.kind == "non_critical" else kinds & {"order", "limit", "distinct"}
    written = " ".join([gold, *(item.snippet.lower() for item in brief.ambiguities)])
    settled |= {kind for kind, said in _SETTLED.items() if said.search(written)}
    # an index has an order of columns, and "all of them" would be no answer about its columns
    settled |= {"order", "filter"} if re.search(r"\bcreate (?:unique )?index\b", gold) else set()
    settled |= {"tie"} if any(part.clause == "order" and "," in part.sql for part in parts) else set()
    joins, answer = kept(parts)
    if not joins and "join" in settled:
        settled |= {"null"}  # a condition may decide about rows without a match
    if joins and "unmatched" not in settled:
        groups = joins[-1].clause == "group"
        conditions = " ".join(part.sql for part in parts if part.clause == "where" and groups)
        stems: dict[Field, set[str]] = {"sql": tables_joined(joins) | stems_in(conditions)}
        yield _answered("join", joins, answer, "unmatched", stems)
    yield from _shaped(parts, brief)
    if any(part.clause == "statement" and not _is_cut(part, parts) for part in parts):
        return  # a statement that could not be parsed may settle anything
    if not gold:
        for kind in sorted({"output", "limit"} - settled):
            if answer := said_in(brief.request, kind):
                repeated = _answered(kind, (), SAID + answer, kind, {"notes": stems_in(answer)})
                yield replace(repeated, group="said")
        settled = (settled | mentioned_in(brief.request) | {"distinct", "null"}) - {"filter"}
    for kind, answer in (ANSWERS | implied(brief.gold, parts)).items():
        if kind in settled:
            continue
        dropped = _dropped_terms(brief, kind)
        spoken = set[str]().union(*map(stems_of, dropped))
        own = {kind}
        if kind == "filter":
            own.add("extent")
            spoken |= stems_in(unused_columns(brief)) - GENERIC_STEMS | _dropped_stems(brief)
        yield Candidate(
            group="open",
            target="",
            kinds=frozenset(own),
            clause=kind,
            main_kinds=PLAIN_KINDS & own,
            names=tuple(name for term in dropped for name in names_of(term)),
            values=_dropped_values(brief) if kind == "filter" else (),
            answer=answer,
            stems={"sql": spoken},
        )


def _shaped(parts: tuple[Segment, ...], brief: Brief) -> Iterator[Candidate]:
    """Yield candidates for a result without groups, and for changes of tables."""
    if whole := in_one(parts):
        yield _answered("group", whole, TOGETHER, "group", {"sql": tables_joined(whole)})
    for told, answer in changes(parts, brief):
        said = stems_in(" ".join(part.sql for part in told))
        own = said if told[0].clause == "copied" else stems_in(answer)
        yield _answered(told[0].clause, told, answer, "change", {"sql": own, "notes": said})


def _is_cut(statement: Segment, parts: Iterable[Segment]) -> bool:
    return any(part.id.startswith(f"{statement.id}.") for part in parts)


def _answered(
    clause: str, parts: tuple[Segment, ...], answer: str, kind: str, stems: dict[Field, set[str]]
) -> Candidate:
    """Return a candidate for parts of the gold SQL with an answer that is not made from SQL."""
    return Candidate(
        group="part",
        target=parts[0].id if parts else "",
        kinds=frozenset({kind}),
        clause=clause,
        segments=parts,
        main_kinds=frozenset({kind}),
        answer=answer,
        stems=stems,
    )
