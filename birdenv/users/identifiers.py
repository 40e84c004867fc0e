"""Distinguish names that reveal the schema (identifiers) from words that anybody might use.

A name counts as an identifier if it contains an underscore, a digit or an inner capital, or if it is several
words run together. A name is assumed to be run together if it is not an ordinary word and

* begins or ends with a common part of data names ("...registry", "...pct", "avg..."),
* contains an ordinary word and more letters than an English ending ("shopmesh"),
* has nine letters or more and no English ending, or
* has no vowel, or four consonants in a row.

So `loafref` and `qltyx` are identifiers; `loaves`, `status` and `performance` are not.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MARKED = re.compile(r"[\d_$]|[a-z][A-Z]")
_UNPRONOUNCEABLE = re.compile(r"[bcdfghjklmnpqrstvwxz]{4}|^[^aeiouy]+$")
_ENDS = re.compile(
    r"(?:registry|ref|reg|refs|score|status|state|stat|rate|count|cnt|level|lvl|type|kind|code|key|mark|tag|link|node"
    r"|pct|percent|ratio|freq|hrs|hours|mins?|secs?|days?|date|time|dt|usd|val|value|idx|index|num|flag|name|label"
    r"|trace|tally|span|pivot|size|range|risk|data|profile|history|hist|amt|cost|sum|total|sensitivity|metrics"
    r"|degrees|deg|kmh|mhz|hz|khz|ppb|kwh|mw|kw|db|dbm|mm|cm|km|kg|tons|lpm|rpm|kpa|hpa|pa|mb|gb|ms|temp|tempc|rh"
    r"|assess|audit|comp|conf|meth|method|prob|prof|qual|res|resp|sense|sess|sys|test|usage|use|plan|stage|notes?"
    r"|reqs|prior|priority|operation|environment|measure|market|spot|quote|detail|details)$"
)
_STARTS = re.compile(
    r"^(?:acc|acct|avg|auth|batt|cert|comm|comp|conserve|cur|cust|dev|dist|elec|emp|env|eq|exp|geo|hist|hrs?|idx"
    r"|int|inv|lat|lon|maint|max|min|mkt|mod|msg|net|num|obs|oper|ops|opt|org|perf|phys|pow|pub|reg|res|resp|sec"
    r"|sens|sess|sig|soc|src|stat|sub|surf|sys|tech|temp|tot|trans|trk|tx|upd|usr|veh|vend|vol)"
)
_ENGLISH_ENDING = re.compile(
    r"(?:tion|ment|[ae]nc[ey]|ity|ies|ics?|ing|ness|ship|[ai]ble|[oa]ry|[oe]rs?|ure|al|age|ous|ive|ate|[ae]nt|is[tm]"
    r"|logy|graphy|ees?|ed|ly|ful|one|ide|ine|ise|ize|house|hold|stamp|work|ite|ship|dom|hood|ward|less|like|ese"
    r"|ure|ile|ude)s?$"
)
_ORDINARY = frozenset(
    """account activity address age alert amount article assessment audit author average balance battery
    behavior buyer candidate card category certificate channel city class client code comment commerce
    communication community company compare complete compliance compute condition consistent contact
    content contract control cost count country coupon course current customer customise cycle data date
    day days degree delay delivery density detail device discount discover disease distance distribution
    district documents dose duration education efficiency electrical email employee employer encounter
    energy engagement engine engineer environment equipment error estimate event events exchange expense
    expert express facilities facility factor fans fee field film financial format frequency fund game
    genre grade grant group handler health height history holder hospital hour house household humidity
    image impact incident income index insurance interaction interest international inventory inverter
    invest investigation investment invoice issue item job journey judge kind label language latitude
    length level light link list loan location longitude maintenance manager manufacturer market mass
    matches material maximum mechanical member membership message method metric minimum model module
    moment month mood movie museum name network news note number observatories observatory occupation
    office operate operation operator option order organ organisation organization original owner
    package panel parameter parent partner patient patients payment peak people performance period person
    personnel phase phone photo place plan planet plant platform player policy position power premium
    presentation pressure price priority problem process product profile program project property
    provider publisher purchase purpose quality quantity quarter question radius rank rate ratio reading
    reason recommendation record reference refund region registration relation remark report request
    reserve resolve resource response result return revenue review risk robot role route rule sales
    sample satisfaction scale scan schedule school scientific score season seat section sector security
    segment seller sensor separate service session sex share shift shipment shop show showcase side
    signal site sites size skill snapshot source space speed stage standard star start state station
    status step stock storage store structure student subject submit subscriber summarise summary
    supplier supplies supply surface survey system target task team technical technique telescope
    temperature temporary test text ticket tier time timestamp title tool topic total tournament track
    trader training transaction transfer transform transmission transport transportation treatment trend
    trial trip type unit update usage user vaccine value vehicle vendor venue version video view visit
    visitor volume vote wage warehouse warning water weather weight window winner word worker world year
    zone""".split()
)


_ENDINGS = frozenset(
    "s es ed d er ers or al ally ly ing ings y ic ical ity ities ion ions ment ful able ary".split()
)


def is_identifier(name: str, ordinary: frozenset[str] = frozenset()) -> bool:
    """Return True if a name reveals the schema. Words of the task's own request (`ordinary`) never do.

    >>> [is_identifier(name) for name in ("loafref", "CrustScore", "avg_dose", "status", "planets")]
    [True, True, True, False, False]
    """
    return _looks_made_up(name) and (_MARKED.search(name) is not None or name.lower() not in ordinary)


@lru_cache(maxsize=20_000)
def _looks_made_up(name: str) -> bool:
    if _MARKED.search(name):
        return True
    word = name.lower()
    if len(word) < 4 or word in _ORDINARY or word.removesuffix("s") in _ORDINARY:
        return False
    return any(p.search(word) is not None for p in (_UNPRONOUNCEABLE, _ENDS, _STARTS)) or _run_together(word)


def _run_together(word: str) -> bool:
    if len(word) > 8 and _ENGLISH_ENDING.search(word) is None:
        return True
    for i in range(1, len(word) - 1):
        front, back = word[:i], word[i:]
        if i > 3 and front in _ORDINARY and back not in _ENDINGS:
            return True
        if i > 1 and len(back) > 3 and back in _ORDINARY:
            return True
        if any(back[:end] in _ORDINARY for end in range(6, len(back) - 1)):
            return True
    return False
