"""Which questions a user does not answer: for SQL, database names, the answer, instructions, everything.

A question may name an annotated term and still ask for one of these ("give me the SQL for <term>"), so the
term's words are left out before it is asked here; a question *about* a term called "sql" is then not taken
for a request for SQL.
"""

from __future__ import annotations

import re

from birdenv.users.understanding._asked import any_of

_OWN_WORK = re.compile(
    r"\b(?:to|i|we|before|when|while|for|so) (?:(?!you\b)\w+ ){0,2}?"
    r"(?:writ(?:e|ing)|build(?:ing)?|generat(?:e|ing)|construct(?:ing)?|compos(?:e|ing)|produc(?:e|ing)"
    r"|creat(?:e|ing)|formulat(?:e|ing)|prepar(?:e|ing)|get(?:ting)?) (?:\w+ ){0,4}?"
    r"(?:sql|quer(?:y|ies)|statement|code|answer|solution|result)s?(?: (?:query|statement|code))?\b"
    r"|\b(?:in|for|of) my (?:sql|query)(?: query)?\b"
    r"|\b(?:the|your) (?:schema|database|ddl) (?:has|shows|lists|contains|offers|knows|says|gives)\b"
)
_SECRET = re.compile(
    r"\b(?:sql|ground truth|gold(?:en)? (?:answer|query|standard|solution)"
    r"|(?:reference|sample|model) (?:answer|query|solution)|annotat\w*|snippets?"
    r"|system prompt"
    r"|(?:repeat|reprint|echo|print|recite|quote) (?:\w+ ){0,3}?(?:above|word for word|verbatim)"
    r"|(?:ignore|disregard|forget|override) (?:\w+ ){0,3}?(?:instructions?|rules?|prompts?)"
    r"|(?:your|hidden|secret) (?:\w+ )?(?:instructions?|prompts?)"
    r"|(?:correct|final|expected|right|full|complete) (?:answer|solution|query|code|statement)s?"
    r"|(?:full|clear|entire|whole|complete|original|unambiguous|exact) (?:\w+ )?(?:questions?|requests?|task)"
    r"|(?:give|tell|show|provide|reveal|what is|what s|send|write) (?:\w+ ){0,3}?"
    r"(?:answer|solution|code|query|queries|statement|clear question|original question))\b"
)
_NAMES = re.compile(
    r"\b(?:schema|ddl|primary key|foreign key|database (?:structure|name|layout)"
    r"|(?:correct|expected) (?:result|output)s?"
    r"|(?:which|what|names? of the|name the|list (?:the|all)|all the) (?:\w+ ){0,2}?"
    r"(?:tables?|columns?|fields?|relations?|attributes?|databases?)"
    r"|(?:table|column|field|attribute|database) names?"
    r"|(?:table|column|field|attribute|database)s? (?:is|are) (?:called|named))\b"
)
_SQL_WORDS = any_of(
    r"""
    (?:where|having|from|select|join|case|group by|order by|with) (?:clause|condition|statement)s?
    (?:where|having|from|select|join|case|group by|order by|with) (?:expression|part)s?
    sub ?quer(?:y|ies) | cte | ctes | window functions? | case when
    (?:left|inner|outer|right|full|cross) join | pseudo ?code
    (?:should|do|can|shall) (?:i|we) (?:use )?(?:join|(?:a|an) (?:cte|join|group by)|exists)
    (?:should|do|can|shall) (?:i|we) use group by"""
)
_SHOUTED = re.compile(
    r"\b(?:SELECT|WHERE|JOIN|HAVING|GROUP BY|UNION|EXISTS|CASE WHEN|INSERT|UPDATE|DELETE"
    r"|BETWEEN|LIKE|NULLIF|CHECK|OVER)\b"
    r"|\b(?i:substr|strftime|julianday|json_extract|coalesce)\b"
)
_ORDER_TO_WRITE = re.compile(
    r"^(?:please )?(?:(?:can|could|would|will) you )?(?:please )?(?:just )?"
    r"(?:write(?! off)|compose|paste|draft|formulate|spell out|code)\b(?!.*\bmeans?\b)"
)
_EXERCISE = any_of(
    r"""
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
)
"""The exercise itself, its marking and its solution."""
_TOOLS = any_of(
    r"""
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
)
"""How the query is built, and what is in the database."""
_OPINION = any_of(
    r"""
    do you (?:\w+ )?(?:think|believe|feel|find)(?! (?:only )?of)
    in your (?:own )?(?:opinion|view|experience)
    (?:which|what|who) (?:\w+ ){0,4}?should (?:we|i) (?:drop|buy|sell|invest|close|promote|fire|hire|praise)
    do you (?:suggest|advise|propose) | (?:ethical|moral)(?:ly)?
    (?:who|what|how) is the (?:president|capital|king|queen|mayor|weather)
    (?:real|actual) (?:person|human) | are you (?:a|an|the) \w+
    your (?:opinion|advice) | would you (?:recommend|advise)
    isn t (?:it|this|that) (?:\w+ )?(?:harsh|unfair|cruel|wrong|strange|odd) | (?:too|rather) harsh
    is (?:it|this|that) (?:fair|harsh|ethical|legal|right to|wise|moral|justified|worth)"""
)
_RESULTS = any_of(
    r"""
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
)
_COLUMN_OF = any_of(
    r"""
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
)
_OUTPUT_COLUMNS = any_of(
    r"""
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
)


_WRITTEN_INTO = any_of(
    r"""
    WRITE (?:\w+ ){0,3}?(?:in|into|to) (?:\w+ ){1,3}?(?:column|field|attribute)
    (?:column|field|attribute) (?:is |be |get |to )?(?:set|filled|become)""".replace(
        "WRITE", "(?:put|write|written|enter|entered|set|fill|filled|goes?|stored?)"
    )
)
"""What is written into a column is a fair question."""


_EVERYTHING = re.compile(
    r"\b(?:(?:full|complete|entire|exact|whole|all|every|all of|all the|each of) (?:\w+ ){0,2}?"
    r"(?:requirements?|specifications?|specs?|filters?|conditions?|clauses?|constraints?|criteria|details|steps?"
    r"|ambiguit(?:y|ies)|clarifications?|logic)"
    r"|(?:tell|give|show|list|explain|reveal|dump|print|share|send) (?:me |us )?"
    r"(?:everything|it all|all of it)"
    r"|everything (?:you|that you|about (?:your|the) (?:question|request|task)))\b"
)
_KINDS = tuple(
    re.compile(rf"\b(?:{kind})\b")
    for kind in (
        r"filter(?:s|ed|ing)?|conditions?|where|restrictions?",
        r"sort(?:s|ed|ing)?|order(?:s|ed|ing)?|order by",
        r"group(?:s|ed|ing)?|group by|aggregations?|aggregates?",
        r"limits?|limited|row counts?",
        r"joins?|joined",
        r"columns?|fields?|outputs?",
        r"round(?:ed|ing)?|decimals?|precision",
        r"distinct|duplicates?",
        r"having|thresholds?",
    )
)


def out_of_scope(text: str, about_a_term: bool = False) -> bool:
    """Whether `text` (words of a question, lower case, one space between) asks for what a user never tells.

    An asker's remark about its own work ("to write the query, ..") is no request; which columns the output
    should have is a fair question. In a question `about_a_term` a mention of columns does no harm, if it does
    not ask which of them holds the term: the answer is the term's meaning in plain words.
    """
    text = _OWN_WORK.sub(" ", text)
    if any(
        pattern.search(text)
        for pattern in (_SECRET, _SQL_WORDS, _ORDER_TO_WRITE, _OPINION, _RESULTS, _EXERCISE, _TOOLS)
    ):
        return True
    text = _WRITTEN_INTO.sub(" ", text)
    if _COLUMN_OF.search(_OUTPUT_COLUMNS.sub(" ", text)):
        return True
    return not about_a_term and asks_for_names(text)


def asks_for_output(text: str) -> bool:
    """Whether `text` asks for the columns of the output, which is a fair question."""
    return _OUTPUT_COLUMNS.search(text) is not None


def asks_for_names(text: str) -> bool:
    """Whether `text` asks for names or the structure of the database."""
    return _NAMES.search(_OUTPUT_COLUMNS.sub(" ", text)) is not None


def asks_for_everything(text: str) -> bool:
    """Whether `text` asks for all there is to know, or for several kinds of clause at once."""
    if _EVERYTHING.search(text):
        return True
    return sum(kind.search(text) is not None for kind in _KINDS) > 2


def quotes_sql(question: str) -> bool:
    """Whether a question, as it was written, has keywords of SQL in capitals."""
    return _SHOUTED.search(question) is not None
