"""Judge what a question proposes ("does 40 count?", "so damaged ones are left out?") by the SQL.

`_focus` finds the proposal, `_claims` reads it and `_facts` the SQL, and both are compared here. `_bounds`
judges amounts, `_clauses` proposals of names in a clause, and `_unrestricted` those of rows where no piece of
SQL is the answer.

The user never says what is false: if a word reverses or widens a proposal, the result is neither yes nor no.
"""

from __future__ import annotations

import re
from dataclasses import replace

from birdenv.users._bounds import as_in, of_bound, of_value, yes_or_no
from birdenv.users._brief import Brief
from birdenv.users._claims import PART_STEMS, UNIT_STEMS, claims_of, says
from birdenv.users._clauses import TIMES, is_foreign, known_names, of_clause, schema_names
from birdenv.users._facts import facts_of, stems_of, values_beside
from birdenv.users._focus import proposed
from birdenv.users._unrestricted import of_rows, offers_a_choice
from birdenv.users.sql_in_words import in_words
from birdenv.users.understanding import Choice
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._left_open import DROPPED, KEPT, SAID
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import GENERIC_STEMS, content_stems, stem, stem_list, words


def agreed(asked: Question, choice: Choice, brief: Brief) -> str:
    """Return "Yes", "No" or a short statement such as "They are left out"; empty if nothing decides it.

    If the answer only repeats a sentence from the request, the result is "Yes" if this sentence contains all
    distinctive words in the question. Other answers that no SQL gives are judged by `of_rows`.
    """
    topic, asked = proposed(asked)
    said = asked.said.found
    proposes = asked.confirms or "proposal" in said or " = " in asked.text
    if choice.answer and proposes and not offers_a_choice(asked.text):
        told = content_stems(asked.text) - GENERIC_STEMS
        repeats = choice.answer.startswith(SAID) and len(told) > 1 and told <= stems_of(choice.answer)
        return "Yes" if repeats else of_rows(claims_of(asked.text, topic).said, choice.answer)
    if "choice" in said or not proposes:
        is_enquiry = "enquiry" in said and "choice" not in said
        return "" if is_enquiry else _judged(asked, choice, brief, topic, proposes=False)
    return _judged(asked, choice, brief, topic, proposes=True)


def _judged(asked: Question, choice: Choice, brief: Brief, topic: str, *, proposes: bool) -> str:
    """Judge a question about a point.

    Args:
        asked: the question.
        choice: the point.
        brief: what the user knows.
        topic: the text before the question, to which a pronoun may refer.
        proposes: False if the question only mentions amounts or values.
    """
    granted = choice.granted()
    if len(granted) != 1 or not (proposes or facts_of(*granted).decide_something):
        return ""
    proposal = _Proposal(asked, choice, brief, topic, proposes)
    for judge in (
        proposal.of_rows,
        proposal.of_clause,
        proposal.of_digits,
        proposal.of_missing,
        proposal.of_duplicates,
        proposal.of_reversal,
        proposal.of_another_subject,
    ):
        if (said := judge()) is not None:
            return said
    return proposal.of_amounts() or proposal.of_values()


class _Proposal:
    """A question that may propose something about a point, and what the SQL of the point says.

    Most methods judge one sort of proposal: the result is "Yes", "No" or a statement, or empty if nothing
    decides it. Some of them return None for proposals of another sort.

    Attributes:
        claims: what the question claims.
        facts: what the SQL says.
        own: the stems of the SQL in words.
        term: the stems of the annotated term.
        rest: the telling stems in the question, without numbers.
        subjects: the stems of the words for what the request lists.
        schema: the stems of each name in the schema.
        after: the telling stems after the amount in the question, without units and subjects.
        keeps: whether something is in, or None if this is not proposed. "So 3 days is late?" proposes it.
    """

    def __init__(self, asked: Question, choice: Choice, brief: Brief, topic: str, proposes: bool) -> None:
        self.asked, self.choice, self.brief, self.proposes = asked, choice, brief, proposes
        (sql,) = choice.granted()
        self.own = stems_of(in_words(sql, brief).text)
        self.facts = facts_of(sql)
        self.term = stems_of(" ".join(item.term for item in choice.items))
        self.rest = frozenset(word for word in asked.content if not word.isdigit()) - GENERIC_STEMS
        self.subjects = index_of(brief).subjects
        self.claims = claims_of(asked.text, months=_MONTH in self.own)
        if topic and _PRONOUN.search(asked.text):
            names_something = self.rest - self.subjects - self.term - PART_STEMS
            if not names_something and not self.claims.amounts:
                self.claims = claims_of(asked.text, topic, months=_MONTH in self.own)
            elif "missing" in says(topic):
                self.claims = replace(self.claims, said=self.claims.said | {"missing"})
        self.schema = schema_names(brief.identifiers, brief.notes)
        self.after = self.claims.after & self.rest - _OF_AMOUNTS - self.subjects
        self.keeps = self.claims.keeps
        if self.keeps is None and "choice" not in self.claims.said:
            self.keeps = True if self.facts.ranges and self.after & self.term - self.own else None

    def of_rows(self) -> str | None:
        """Judge whether rows without a match are kept, or whether rows are deleted."""
        (sql,) = self.choice.granted()
        said = self.claims.said
        if _ONLY_JOINS.match(sql) and self.proposes:
            return of_rows(said, KEPT if "LEFT" in sql.upper() else DROPPED)
        goes, stays = said & {"out", "hidden", "deleted"}, said & {"stays", "in"}
        if _DELETES.match(sql) and self.proposes:
            is_all = said.isdisjoint(("narrows", "widens", "turned", "missing", "unmatched"))
            return yes_or_no(bool(goes)) if is_all and bool(goes) != bool(stays) else ""
        is_open = goes and self.brief.changes_rows  # out of the table, or out of the rows that change
        return "" if is_open else None

    def of_duplicates(self) -> str | None:
        """Judge whether something that occurs several times counts once."""
        said = self.claims.said & {"once", "repeated"}
        if not (said and self.proposes and self.facts.counts_once):
            return None
        return yes_or_no("once" in said) if len(said) == 1 else ""

    def of_clause(self) -> str | None:
        """Judge a proposal about a clause that lists names or arranges rows."""
        said = self.claims.said
        if not self.proposes:
            return None
        found = of_clause(self.asked.text, said, self.choice, self.brief)
        is_reversed = said & {"out", "not out"} or _DENIED.search(self.asked.text)
        return "" if found and is_reversed and "repeated" not in said else found

    def of_digits(self) -> str | None:
        """Judge a plain proposal to how many decimals a figure is rounded."""
        claims, digits = self.claims, self.facts.digits
        is_about_digits = digits is not None and not claims.units.isdisjoint(_DIGITS)
        if not (self.proposes and is_about_digits and len(claims.amounts) == 1):
            return None
        is_plain = self.rest <= PART_STEMS | self.own | self.term | _OF_ROUNDING
        if not is_plain or claims.sign or claims.said & {"turned", "out", "choice"}:
            return ""
        return yes_or_no(claims.amounts[0][0] == digits)

    def of_missing(self) -> str | None:
        """Judge whether entries without a value are in or out.

        If a question names a different column whose values are missing, the result is an empty string. The
        same holds for a question whether they count as a number.
        """
        claims, facts, said = self.claims, self.facts, self.claims.said
        if "missing" not in said:
            return None
        empty = frozenset(map(stem, _EMPTY.findall(self.asked.text)))
        if facts.keeps_missing is None:
            is_filled = empty and claims.amounts and not claims.sign
            return "" if is_filled or _ABSENT.search(self.asked.text) else None
        others = empty - self.own - self.term - GENERIC_STEMS.difference(*self.schema)
        if "not out" in said or ("out" in said and "leaves" not in said) or not others <= _OF_GAPS:
            return ""
        if said >= {"in", "out"} or "choice" in said:
            return _OUT if "out" in said and not facts.keeps_missing else ""
        return "" if claims.keeps is None else yes_or_no(claims.keeps == facts.keeps_missing)

    def of_another_subject(self) -> str | None:
        """Deny an amount of another column, and leave open an amount of something else.

        A table's name does not count as another column, because "fines of at least 5" may mean the amount of
        each fine. "9 docks" does not mean a difference of docks and trips.
        """
        if not self.claims.amounts:
            return None
        text, content, facts, tables = self.asked.text, self.asked.content, self.facts, self.subjects
        own = self.own - (self.term - GENERIC_STEMS)
        kept = stems_of(" ".join(name for name, _ in facts.values))
        known = {name for name in known_names(self.choice, self.brief) if not name - TIMES <= kept}
        names = facts.names | own.intersection(content)
        columns = {name for name in known if not (name <= tables or name - TIMES <= tables & facts.names)}
        if is_foreign(text, names - tables, columns):
            return "No" if self.proposes and self.claims.keeps is None and not facts.joins else ""
        others = [item for item in self.brief.ambiguities if item not in self.choice.items]
        values = " ".join(name for item in others for name, _ in facts_of(item.snippet).values).split()
        terms = stems_of(" ".join(item.term for item in others)) - tables
        told = self.term | self.own | GENERIC_STEMS
        operands = [one & own - UNIT_STEMS for one in facts.compared]
        is_elsewhere = (
            is_foreign(text, names, known)
            or not terms.union(values).difference(told).isdisjoint(content)
            or len({one.isdisjoint(content) for one in operands if one}) > 1
        )
        return "" if is_elsewhere else None

    def of_reversal(self) -> str | None:
        """Leave a proposal open that a word may reverse, or that counts something else."""
        said, noun = self.claims.said, self.claims.noun
        # Of "are 9 docks too large?", "too large" sounds like leaving something out.
        is_twofold = "out" in said and any(
            "out" in words(item.term) or "out" in says(item.term) for item in self.choice.items
        )
        is_counted = noun in self.rest - self.own - _OF_AMOUNTS and any(noun in name for name in self.schema)
        may_be_either = said & {"turned", "valued", "both"} or ("stays" in said and self.brief.changes_rows)
        return "" if may_be_either or is_twofold or is_counted else None

    def of_amounts(self) -> str:
        """Judge a proposal about numbers, dates or times."""
        claims, facts, ranges, sign = self.claims, self.facts, self.facts.ranges, self.claims.sign
        values = [as_in(facts, value, is_percentage) for value, is_percentage in claims.amounts]
        if not self._is_in_one_unit() or "only amount" in claims.said or facts.is_turned:
            return ""
        if not values and "edge" in claims.said and len(ranges) == 1:
            edges = {of_value(end, "", facts, self.keeps).partition(".")[0] for _, end in ranges[0]}
            return of_value(ranges[0][0][1], "", facts, self.keeps) if len(edges) == 1 else ""
        is_excluded = any(one in ("<", ">") and end in values for ends in ranges for one, end in ends)
        is_told_of = claims.said & {"exact", "edge"} or not self.proposes or (is_excluded and self.after)
        if ranges and (self.keeps is not None or (is_told_of and not sign)):
            is_open = "side" in claims.said and not sign
            return "" if len(values) != 1 or is_open else of_value(values[0], sign, facts, self.keeps)
        is_plain = self.rest <= PART_STEMS | self.own
        return of_bound(values, sign, facts) if values and (self.proposes or is_plain) else ""

    def _is_in_one_unit(self) -> bool:
        """Return whether the question has no unit, or the units of the point.

        Kilometres divided by (minutes divided by 60) are kilometres per hour.
        """
        units, own = self.claims.units, self.own & UNIT_STEMS
        if not self.claims.amounts or not units:
            return True
        is_converted = 60 in self.facts.amounts and len(own) > 1
        of_point = {"hour" if is_converted and unit == _MINUTE else unit for unit in own}
        return set[str]().union(*(_UNITS_IN.get(unit, {unit}) for unit in units)) == of_point

    def of_values(self) -> str:
        """Judge a proposal about texts: whether those that it mentions are in, or all that are."""
        claims, facts, keeps = self.claims, self.facts, self.keeps
        listed = [kept for _, kept in facts.values]
        (sql,) = self.choice.granted()
        others = ((name, not all(listed)) for name in values_beside(sql, self.brief.notes.columns))
        named = [kept for name, kept in (*facts.values, *others) if f" {name} " in claims.spaced]
        is_one_of_several = facts.is_turned or (named and facts.leave_open(any(named)))
        counts_none = any(value == 0 for value, _ in claims.amounts)  # "tiers with zero suspended cards"
        is_open = is_one_of_several or "contrast" in claims.said or counts_none
        if not listed or is_open or not facts.beside.isdisjoint(self.rest):
            return ""
        if claims.said >= {"in", "out", "choice"} and named and not any(named):
            return _OUT
        if len(named) > 1 and "leaves" in claims.said and _INCLUDED.search(self.asked.text):
            return ""  # "are pending ones ignored and refunded ones included?"
        is_whole = len(named) == len(listed) or ("only those" in claims.said and not named)
        is_all = self.rest <= self.own | self.term | self.subjects | _OTHERS
        may_list = not facts.ranges and not facts.joins and all(listed)
        if "only" in claims.said and not all(listed):
            return ""  # "only paid ones?" where all but open ones count
        if "only" in claims.said and may_list:
            if keeps is False or not all(named):
                return ""  # "not only paid ones?", "just collected, no pending ones?"
            counted = {value for value, _ in claims.amounts} <= {len(listed)}
            if not counted or (is_whole and not is_all):
                return ""
            return "Yes" if is_whole else "No" if named else ""
        if keeps is not None:
            return yes_or_no(keeps == named[0]) if len(set(named)) == 1 else ""
        is_all_of_them = is_all and may_list and len(named) == len(listed) and all(named)
        return "Yes" if self.proposes and is_all_of_them else ""


_ONLY_JOINS = re.compile(r"(?is)(?:FROM\b(?:(?!\bJOIN\b|\().)*|\s*)\b(?:LEFT|INNER)\b(?:(?!\bWHERE\b|\().)*$")
_DELETES = re.compile(r"(?i)DELETE FROM \w+$")
_ABSENT = re.compile(r"\b(?:missing|blank|null|empty|unknown|never|without)\b")
_PRONOUN = re.compile(r"\b(?:they|them|these|those|it|this|that|such)\b")
_OTHERS = stem_list("others")
_INCLUDED = re.compile(r"\b(?:inclu\w+|count(?:s|ed)?|kept|belongs?)\b")
_DENIED = re.compile(r"\b(?:wrong|false|not)\b")
_UNITS_IN = {"h": {"hour"}, "kmh": {"km", "hour"}, "kph": {"km", "hour"}, "mph": {"mil", "hour"}}
_DIGITS = frozenset(map(stem, ("decimal", "digit")))
_OF_ROUNDING = stem_list("rounding") | stem_list("confirming")
_MINUTE, _MONTH = map(stem, ("minute", "month"))


_EMPTY = re.compile(r"\b(?:without|no|missing|empty|blank|null|lack\w*) (?:an? |the |any |its )?(\w+)")
_OUT = "They are left out"
_OF_AMOUNTS = UNIT_STEMS | {stem("percent")}
"""Words after a number that name nothing that is counted."""

_OF_GAPS = frozenset(map(stem, "missing value count".split()))
"""Words after "missing" or "no" that name no column."""
