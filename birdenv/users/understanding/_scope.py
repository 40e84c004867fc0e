"""Which questions a user does not answer: for SQL, database names, the answer, instructions, everything.

A question may name an annotated term and still ask for one of these ("give me the SQL for <term>"), so the
term's words are left out before it is asked here; a question *about* a term called "sql" is then not taken
for a request for SQL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from birdenv.users._phrases import Phrases, any_of
from birdenv.users.understanding._kind_asked_for import KINDS, PHRASES

_OWN_WORK = (
    r"""
    (?:to|i|we|before|when|while|for|so) (?:(?!you\b)\w+ ){0,2}?WRITE (?:\w+ ){0,4}?WORKs?(?: SORT)?
    (?:in|for|of) my (?:sql|query)(?: query)?
    (?:the|your) (?:schema|database|ddl) (?:has|shows|lists|contains|offers|knows|says|gives)""".replace(
        "WRITE",
        "(?:writ(?:e|ing)|build(?:ing)?|generat(?:e|ing)|construct(?:ing)?|compos(?:e|ing)|produc(?:e|ing)"
        "|creat(?:e|ing)|formulat(?:e|ing)|prepar(?:e|ing)|get(?:ting)?)",
    )
    .replace("WORK", "(?:sql|quer(?:y|ies)|statement|code|answer|solution|result)")
    .replace("SORT", "(?:query|statement|code)")
)
_SECRET = r"""
    sql | ground truth | gold(?:en)? (?:answer|query|standard|solution)
    (?:reference|sample|model) (?:answer|query|solution) | annotat\w* | snippets?
    system prompt
    (?:repeat|reprint|echo|print|recite|quote) (?:\w+ ){0,3}?(?:above|word for word|verbatim)
    (?:ignore|disregard|forget|override) (?:\w+ ){0,3}?(?:instructions?|rules?|prompts?)
    (?:your|hidden|secret) (?:\w+ )?(?:instructions?|prompts?)
    (?:correct|final|expected|right|full|complete) (?:answer|solution|query|code|statement)s?
    (?:full|clear|entire|whole|complete|original|unambiguous|exact) (?:\w+ )?(?:questions?|requests?|task)
    (?:give|tell|show|provide|reveal|what is|what s|send|write) (?:\w+ ){0,3}?REFERENCE""".replace(
    "REFERENCE", "(?:answer|solution|code|query|queries|statement|clear question|original question)"
)
_NAMES = r"""
    schema | ddl | primary key | foreign key | database (?:structure|name|layout)
    (?:correct|expected) (?:result|output)s?
    (?:which|what|names? of the|name the|list (?:the|all)|all the) (?:\w+ ){0,2}?PLACEs?
    (?:table|column|field|attribute|database) names?
    (?:table|column|field|attribute|database)s? (?:is|are) (?:called|named)""".replace(
    "PLACE", "(?:table|column|field|relation|attribute|database)"
)
_SQL_WORDS = r"""
    (?:where|having|from|select|join|case|group by|order by|with) (?:clause|condition|statement)s?
    (?:where|having|from|select|join|case|group by|order by|with) (?:expression|part)s?
    sub ?quer(?:y|ies) | cte | ctes | window functions? | case when
    (?:left|inner|outer|right|full|cross) join | pseudo ?code
    (?:should|do|can|shall) (?:i|we) (?:use )?(?:join|(?:a|an) (?:cte|join|group by)|exists)
    (?:should|do|can|shall) (?:i|we) use group by"""
_SHOUTED = re.compile(
    r"\b(?:SELECT|WHERE|JOIN|HAVING|GROUP BY|UNION|EXISTS|CASE WHEN|INSERT|UPDATE|DELETE"
    r"|BETWEEN|LIKE|NULLIF|CHECK|OVER)\b"
    r"|\b(?i:substr|strftime|julianday|json_extract|coalesce)\b"
)
_ORDER_TO_WRITE = re.compile(
    r"^(?:please )?(?:(?:can|could|would|will) you )?(?:please )?(?:just )?"
    r"(?:write(?! off)|compose|paste|draft|formulate|spell out|code)\b(?!.*\bmeans?\b)"
)
_EXERCISE = r"""
    (?:scored|graded|marked|evaluated|assessed) (?:at the end|row by row|afterwards)
    how (?:will|is|are|shall) my (?:\w+ )?(?:answers?|results?|submissions?|work)
    how (?:will|does) (?:it|this|that) (?:be |get )?(?:marked|scored|graded|judged|evaluated)
    test cases? | unit tests? | (?:turns|tries|attempts) (?:\w+ ){0,3}?left
    partial (?:credit|results|points)
    (?:other|different|last|previous|earlier|next|another) (?:assignment|task|exercise|ticket)
    official (?:answer|solution|result) | word for word | from now on you are | you are now
    when (?:do|would) you need (?:this|it) | in the (?:reference )?solution
    there was also a (?:request|question)
    (?:answer|cheat) sheet | (?:finished|your|two) statements? | marked as (?:vague|ambiguous)
    (?:you|would you|do you) (?:\w+ )?(?:trust|prefer|drive|ride|watch) (?:them|wired|to)
    (?:hidden|your|the author s|internal) (?:\w+ )?notes
    one best (?:\w+ )+in general | your (?:own|personal) (?:view|opinion|taste)"""
"""The exercise itself, its marking and its solution."""
_TOOLS = r"""
    window (?:fns?|functions?) | exists or in | in or exists | ntile | percent rank | row number | dense rank
    case (?:or|and) filter | (?:tables?|rows) (?:\w+ )?in (?:the )?(?:database|db) | rows in \w+$
    (?:inside|in) the json | plain column | data ?types? | runs? (?:fast|quick\w*) enough
    (?:path of|paths? between|key between|over how many) (?:\w+ )?(?:joins?|tables?)
    (?:cols?|columns?|fields?) (?:that )?(?:joins?|links?) | joins? \w+ (?:to|with) | fields in the table
    b ?tree | hash (?:or|index) | pk | fk | (?:which|what) indexes exist | console
    how many (?:rows|records|entries) (?:has|have|does|are (?:there )?in|in) (?:\w+ ){1,3}?(?:table|relation)
    covering index | (?:partial|composite) ind(?:ex|ices)
    (?:an|another) index (?:would|make|help|speed\w*|be)
    (?:walk|guide|lead|take|talk) me (?:\w+ )?through | step by step
    (?:technique|trick) (?:that )?you
    sqlite | postgres\w* | mysql
    how (?:do|would|can|should) (?:i|you|we) (?:pivot|code|implement|program|query)
    by what key | (?:fields|columns) that the \w+ table | run ?time | execution plan"""
"""How the query is built, and what is in the database."""
_OPINION = r"""
    do you (?:\w+ )?(?:think|believe|feel|find)(?! (?:only )?of)
    in your (?:own )?(?:opinion|view|experience)
    (?:which|what|who) (?:\w+ ){0,4}?should (?:we|i) (?:drop|buy|sell|invest|close|promote|fire|hire|praise)
    do you (?:suggest|advise|propose) | (?:ethical|moral)(?:ly)?
    (?:who|what|how) is the (?:president|capital|king|queen|mayor|weather)
    (?:real|actual) (?:person|human) | are you (?:a|an|the) \w+
    your (?:opinion|advice) | would you (?:recommend|advise)
    isn t (?:it|this|that) (?:\w+ )?(?:harsh|unfair|cruel|wrong|strange|odd) | (?:too|rather) harsh
    is (?:it|this|that) (?:fair|harsh|ethical|legal|right to|wise|moral|justified|worth)"""
_RESULTS = r"""
    (?:tell|give|show) me (?:\w+ ){0,2}?how many (?:\w+ ){1,4}?(?:come|there|are)
    (?:will|would|should) (?:\w+ ){0,2}?come out
    NUMBER (?:\w+ )?come out
    (?:result|results|answer|output) (?:you expect|do you expect|look like|would be(?! an?\b)|supposed to be)
    (?:expect|expected|right|true|actual) (?:\w+ )?(?:results?|numbers|figures|rows|list|values)
    just (?:tell|give|say) (?:me |us )?(?:the |your )?(?:results?|answers?|outcome|numbers?|figures?)
    what (?:will|would) (?:\w+ ){1,4}?be (?:afterwards|then|after|in the end|at the end)
    how many (?:\w+ ){1,4}?(?:will|would) (?:\w+ ){0,2}?be (?:in|at|left|there|after)
    (?:expected|target|final) (?:state|table|figures?)
    compare (?:\w+ ){0,3}?(?:expected|right|correct|true)
    check my (?:result|query|answer|sql) | compare (?:\w+ ){0,2}?(?:with|to|against) (?:mine|my)
    (?:see|check|verify|know|test) (?:if|whether) (?:i|my)
    so (?:that )?i can (?:check|test|verify|compare|see)
    i (?:get|got|find|found|count|counted) \d\w*
    my (?:query|result|sql) (?:returns|returned|gives|gave|has|shows)"""
_COLUMN_OF = r"""
    WHICH (?:holds?|stores?|contains?|represents?|corresponds?|indicates?|denotes?|used|i use|to use)
    WHICH (?:needed|i need|compared|stored|found|in the (?:database|schema|table))
    (?:table|column|field) names? | names? of the (?:table|column|field)s?
    (?:in|from|by) (?:which|what) (?:tables?|columns?|fields?)
    (?:the|a) (?:column|table|field) \w+ (?:or|and) (?:the )?(?:column |table |field )?\w+ | data types?
    primary keys? | foreign keys? | join (?:path|conditions?|keys?) | schema
    json (?:keys?|fields?|paths?) | (?:which|what) (?:\w+ ){0,2}?tables?
    (?:in|from|of) the (?!new |resulting |archive )\w+ tables?
    as an? (?:\w+ )?(?:column|field)
    the OWN(?:column|field)(?! (?:should|in the (?:result|output|list|view)))
    (?:which|what) (?:ids?|keys?) links?""".replace(
    "WHICH", r"(?:which|what) (?:\w+ ){0,3}?(?:columns?|fields?|tables?|keys?)(?: \w+){0,6}?"
).replace("OWN", r"(?!new |last |first |second |third |final |extra )\w+ ")
_OUTPUT_COLUMNS = r"""
    WHICH (?:should|shall|must|can|do) the (?:\w+ )?(?:result|output|list|report|table|answer)
    WHICH (?:should|shall|must|can) (?:come|appear|be|go|stand)
    WHICH (?:should|shall|must|can|do) (?:i|we) (?:show|include|return|list|display)
    WHICH (?:should|shall|must|can|do) (?:i|we) (?:fill|enter|set|report|give|put|present|output)
    WHICH (?:should|shall|must|can|do) be (?:shown|included|returned|listed|displayed|reported|presented)
    WHICH do you (?:want|need|wish|expect) | WHICH would you (?:like|want) | WHICH are to be
    WHICH to (?:show|list|include|return|display|print|output|report)
    ^(?:so |and |ok )*WHICH(?: (?:then|please|exactly|here|in the end|now))?$
    ^(?:the )?(?:columns?|fields?|cols) (?:to|i should|you want) \w+(?: \w+){0,3}$
    WHICH (?:should|shall|must|can|do|does|will|would) (?:i|we|it|they) \w+ (?:in the end|back|out)
    WHICH (?:go|belong|come)s? (?:in|into|to|out|back)(?! the (?:where|select|group|order|from))
    (?:columns?|fields?) (?:of|in|for) the (?:new |final |resulting )?(?:view|archive|output)
    (?:columns?|fields?|attributes?) (?!names)(?:\w+ ){0,2}?(?:in|of|for) (?:the|your) (?:\w+ )?OUTPUT
    one of the (?:columns|fields) | (?:columns|fields) (?:you|do you) (?:want|need|wish|expect)
    (?:fields|columns) of the new table
    (?:table|view|archive) (?:gets?|ha(?:s|ve)|holds?) which (?:columns|fields)
    WHICH the (?:archive|view|new table)
    (?:result|output|report)s? (?:\w+ ){0,3}?(?:columns?|fields?|attributes?)""".replace(
    "WHICH", r"(?:which|what) (?:\w+ ){0,2}?(?:columns?|fields?|attributes?)(?: or \w+)?"
).replace("OUTPUT", "(?:result|output|list|report)s?")


_WRITTEN_INTO = r"""
    WRITE (?:\w+ ){0,3}?(?:in|into|to) (?:\w+ ){1,3}?(?:column|field|attribute)
    (?:column|field|attribute) (?:is |be |get |to )?(?:set|filled|become)""".replace(
    "WRITE", "(?:put|write|written|enter|entered|set|fill|filled|goes?|stored?)"
)
"""What is written into a column is a fair question."""


_EVERYTHING = r"""
    (?:full|complete|entire|exact|whole|all|every|all of|all the|each of) (?:\w+ ){0,2}?DETAILS
    (?:tell|give|show|list|explain|reveal|dump|print|share|send) (?:me |us )?(?:everything|it all|all of it)
    everything (?:you|that you|about (?:your|the) (?:question|request|task))""".replace(
    "DETAILS",
    "(?:requirements?|specifications?|specs?|filters?|conditions?|clauses?|constraints?|criteria|details|steps?"
    "|ambiguit(?:y|ies)|clarifications?|logic)",
)
_CLAUSES = {
    "where clause": "filter(?:s|ed|ing)? | conditions? | where | restrictions?",
    "order clause": "sort(?:s|ed|ing)? | order(?:s|ed|ing)? | order by",
    "group clause": "group(?:s|ed|ing)? | group by | aggregations? | aggregates?",
    "limit clause": "limits? | limited | row counts?",
    "join clause": "joins? | joined",
    "output clause": "columns? | fields? | outputs?",
    "round clause": "round(?:ed|ing)? | decimals? | precision",
    "distinct clause": "distinct | duplicates?",
    "having clause": "having | thresholds?",
}


_NEVER_TOLD = {
    "secret": _SECRET,
    "SQL": _SQL_WORDS,
    "opinion": _OPINION,
    "results": _RESULTS,
    "exercise": _EXERCISE,
    "tools": _TOOLS,
}
_PLACES = {"column of": _COLUMN_OF, "names": _NAMES, "everything": _EVERYTHING}
_FAIR = {"own work": _OWN_WORK, "written": _WRITTEN_INTO, "output columns": _OUTPUT_COLUMNS}
"""What is no request for such things by itself: it is taken out before the rest is looked at."""

_WISH = r"""
    you (?:want|like|need|see|wish|prefer|mean|expect) | in the (?:\w+ )?(?:result|output|list|report)s?
    (?:result|output|list|report|figure)s? (?:\w+ )?(?:have|contain|include|show)
    should (?:i|be|we) (?:show|list|include|display|report|return|shown|listed)\w*"""
_PERSONAL = """
    why | who (?:are you|else|is (?:the|your)) | your (?:day|name|boss|opinion) | do you (?:think|like)
    recommend | joke | weather | capital | president | hello | thanks? | how are you | legal | fair
    hint | steps"""
_MANNERS = {"wish": _WISH, "personal": _PERSONAL}
"""Phrases that are evidence only, for or against a refusal."""

_FAIR_PATTERNS = {name: any_of(phrases) for name, phrases in _FAIR.items()}
ALL_PHRASES = Phrases({**PHRASES, **_NEVER_TOLD, **_PLACES, **_FAIR, **_CLAUSES, **_MANNERS})
_KINDS = frozenset(KINDS)


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a question, in lower case with one space between, and the groups of phrases in them."""

    text: str
    found: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Said:
        """Find what words ask for."""
        return cls(text, frozenset(ALL_PHRASES.found_in(text)))

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of thing that are asked for."""
        return self.found & _KINDS

    def without(self, fair: str) -> Said:
        """The same without what is fair."""
        return Said.of(_FAIR_PATTERNS[fair].sub(" ", self.text)) if fair in self.found else self


def out_of_scope(said: Said, about_a_term: bool = False) -> bool:
    """Whether words ask for what a user never tells.

    An asker's remark about its own work ("to write the query, ..") is no request; which columns the output
    should have is a fair question. In a question `about_a_term` a mention of columns does no harm, if it does
    not ask which of them holds the term: the answer is the term's meaning in plain words.
    """
    said = said.without("own work")
    if not said.found.isdisjoint(_NEVER_TOLD) or _ORDER_TO_WRITE.match(said.text):
        return True
    said = said.without("written").without("output columns")
    return "column of" in said.found or (not about_a_term and "names" in said.found)


def asks_for_output(said: Said) -> bool:
    """Whether words ask for the columns of the output, which is a fair question."""
    return "output columns" in said.found


def asks_for_names(said: Said) -> bool:
    """Whether words ask for names or the structure of the database.

    "Which columns?" alone may ask for them, so a question for the output is left out in longer ones only.
    """
    inside = Said(f" {said.text} ", said.found)
    return "names" in said.found and "names" in inside.without("output columns").found


_STRUCTURE = re.compile(r"\b(?:tables?|databases?|db|schemas?|keys?|json|join\w*)\b")


def asks_only_for_places(said: Said) -> bool:
    """Whether words are out of scope only for a mention of columns or names: that may yet be fair."""
    if asks_for_everything(said) or _ORDER_TO_WRITE.match(said.text) or _STRUCTURE.search(said.text):
        return False
    return said.without("own work").found.isdisjoint(_NEVER_TOLD)


def asks_for_everything(said: Said) -> bool:
    """Whether words ask for all there is to know, or for several kinds of clause at once."""
    return "everything" in said.found or len(said.found & _CLAUSES.keys()) > 2


def quotes_sql(question: str) -> bool:
    """Whether a question, as it was written, has keywords of SQL in capitals."""
    return _SHOUTED.search(question) is not None
