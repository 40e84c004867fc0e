"""What one answer must not say, worked out once from the task's brief and what the answer was granted.

Tell names that only somebody with the schema knows from words that anybody uses.

A name counts as an identifier if it has an underscore, a digit or a capital inside, or if it looks run
together: it is no ordinary word, and

* it begins or ends with a usual part of data names ("...registry", "...pct", "avg..."),
* it begins or ends with an ordinary word and goes on beyond an English ending ("shopmesh"), or has a long
  one inside,
* it has nine letters or more and no English ending, or
* it has no vowel, or four consonants in a row.

So `loafref` and `qltyx` are identifiers; `loaves`, `status` and `performance` are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from birdenv.users._brief import Brief
from birdenv.users.leak_guard._patterns import (
    DISGUISED_KEYWORDS,
    letters,
    mirrored_and_turned,
    plain,
    rot13,
)
from birdenv.users.sql_in_words import in_words, read_aloud, respelt
from birdenv.users.sql_in_words._lexer import split_words, tokenize
from birdenv.users.sql_in_words._words import quoted

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
    """account accounts activity address age alert alerts amount article articles assessment audit
    author average balance battery behavior buyer buyers candidate card category certificate channel
    city class client code comment comments commerce communication community company compliance
    condition contact content contract cost count country coupon course customer customers cycle
    data date day days degree delay delivery density detail details device devices discount disease
    distance district documents dose duration education efficiency electrical email employee
    employer encounter encounters energy engagement engine environment equipment error estimate
    event events exchange expense expert facilities facility factor fans fee fees field film
    financial financials format frequency fund funds game genre grade grant group groups handler
    health height history holder hospital hour hours house household households humidity image
    impact incident incidents income index insurance interaction interactions interest inventory
    inverter investigation investment invoice issue item items job journey judge kind label language
    latitude length level light link list loan location longitude maintenance manager manufacturer
    market markets mass matches material maximum mechanical member membership message metric metrics
    minimum model module moment month mood movie museum name names network news note notes number
    observatories observatory occupation office operation operations operator option order orders
    organ organisation organization owner package panel parameter parent parents partner patient
    patients payment peak people performance period person personnel phase phone photo place plan
    planet plant platform player policy position power premium presentation pressure price priority
    problem process product products profile program project projects property provider publisher
    purchase purpose quality quantity quarter question radius rank rate ratio reading candidates
    reason recommendation recommendations record records reference refund region registration
    relation remark remarks report request reserve resource resources response result return returns
    revenue review reviews risk robot role route routes rule sales sample satisfaction scale scan
    scans schedule school scientific score season seat section sector security segment seller sensor
    service session sessions sex share shift shipment shipments shop show showcase showcases side
    signal signals site sites size skill snapshot source space speed stage standard star stars start
    state station status step stock storage store structure student subject summary supplier
    supplies supply surface survey system target task team technique telescope telescopes
    temperature test text ticket tier time timestamp title tool topic total tournament track trader
    traders training transaction transactions transfer transform transmission transport
    transportation treatment trend trial trip type types unit usage user users vaccine value values
    vehicle vehicles vendor vendors venue version video view visit visitor volume vote wage
    warehouse warning water weather weight window winner word worker workers world year years zone
    compare complete compute consistent control current customise discover distribution engineer
    express international invest method operate option original resolve response section separate
    stage submit subscriber summarise technical temporary transfer update""".split()
)


_ENDINGS = frozenset(
    "s es ed d er ers or al ally ly ing ings y ic ical ity ities ion ions ment ful able ary".split()
)


def is_identifier(name: str, ordinary: frozenset[str] = frozenset()) -> bool:
    """Whether `name` gives the schema away; `ordinary` are words of the task's own question, which never do.

    >>> [is_identifier(name) for name in ("loafref", "CrustScore", "avg_dose", "status", "performance")]
    [True, True, True, False, False]
    """
    return _looks_made_up(name) and (_MARKED.search(name) is not None or name.lower() not in ordinary)


@lru_cache(maxsize=20_000)
def _looks_made_up(name: str) -> bool:
    if _MARKED.search(name):
        return True
    word = name.lower()
    if len(word) < 4 or word in _ORDINARY:
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


_GOLD_RUN = 6
"""Words in a row of hidden SQL that are a leak."""

_GOLD_LETTERS = 30
"""Letters in a row of hidden SQL, whatever stands between them, that are a leak."""

_CLEAR_RUN = 8
_CLEAR_LETTERS = 40
_MOST_GRANTS = 256

_SQL = "repeats the reference beyond what was granted"
_CLEAR = "repeats the clear question"

_PART = re.compile(r"[^\W_]+")
_SIGN = re.compile(r"\d+\.\d+|\w+|<=|>=|<>|!=|\|\||::|->|[^\w\s]")
_COMPARED = re.compile(r"[=<>*/]|\|\||::|!=")
_QUOTES = re.compile(r"['\"`‘’“”]")
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "||", "::", "->", "*", "/"})

_Run = TypeVar("_Run", str, tuple[str, ...])


class Runs(Generic[_Run]):
    """Stretches of letters or of words of which a text must have none: of the SQL, and of the clear question.

    Any stretch of a text holds a whole block of half its length that begins at a multiple of the step. Only
    where such a block is known is the text looked at stretch by stretch.
    """

    def __init__(self, sql: Set[_Run], clear: Set[_Run], sql_length: int, clear_length: int) -> None:
        self._found_in: tuple[tuple[str, Set[_Run], int], ...] = (
            (_SQL, sql, sql_length),
            (_CLEAR, clear, clear_length),
        )
        least = min(sql_length, clear_length)
        self._block = (least + 1) // 2
        self._step = least - self._block + 1
        blocks = {run[i : i + self._block] for run in sql | clear for i in range(len(run) - self._block + 1)}
        self._blocks: Set[_Run] = frozenset(blocks)
        self._disguised: Set[_Run] = frozenset(blocks.union(*map(_disguises, blocks)))

    def may_hold(self, said: _Run) -> bool:
        """Return whether `said` has a part of one of the stretches, plain, mirrored or in rot13."""
        block = self._block
        starts = range(0, len(said) - block + 1, self._step)
        return not self._disguised.isdisjoint([said[i : i + block] for i in starts])

    def reason(self, said: _Run) -> str:
        """Return a reason if `said` has one of the stretches."""
        block = self._block
        starts = range(0, len(said) - block + 1, self._step)
        if self._blocks.isdisjoint([said[i : i + block] for i in starts]):
            return ""
        for reason, stretches, length in self._found_in:
            if not stretches.isdisjoint([said[i : i + length] for i in range(len(said) - length + 1)]):
                return reason
        return ""


def _disguises(run: _Run) -> tuple[_Run, ...]:
    """A stretch mirrored, and words in rot13 too: letters are read before they are turned."""
    if isinstance(run, str):
        return (run[::-1],)
    return tuple(word[::-1] for word in reversed(run)), tuple(map(rot13, run))


@dataclass(frozen=True, slots=True)
class Secrets:
    """What one answer must not say: words of the schema, and pieces of SQL and of the clear question.

    `quotations` may be said: they are taken out first. `own_world` are words that mean no reference here.
    """

    names: frozenset[str]
    long_names: frozenset[str]
    disguised_words: frozenset[str]
    names_as_letters: frozenset[str]
    spelt: frozenset[str]
    free_pairs: frozenset[str]
    own_world: frozenset[str]
    quotations: tuple[str, ...]
    signs: frozenset[tuple[str, ...]]
    words: Runs[tuple[str, ...]]
    letters: Runs[str]


class Protected:
    """What a brief's answers must not say, less what each was granted."""

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._terms = tuple(dict.fromkeys(item.term for item in brief.ambiguities))
        self._own = _vocabulary((brief.clear_query,))
        names = {
            token.text
            for sql in (*brief.gold, *(item.snippet for item in brief.ambiguities))
            for token in tokenize(sql)
            if token.kind in ("word", "quoted")
        }
        self._made_up = frozenset(
            plain(name) for name in names | brief.identifiers if is_identifier(name, self._own)
        )
        self._identifiers = frozenset(map(plain, brief.identifiers))
        self._free = _vocabulary(self._terms, brief.identifiers)
        self._by_grant: dict[tuple[str, ...], Secrets] = {}

    def secrets(self, granted: tuple[str, ...]) -> Secrets:
        """Return what is secret in an answer that was granted these snippets."""
        found = self._by_grant.get(granted)
        if found is None:
            if len(self._by_grant) >= _MOST_GRANTS:
                self._by_grant.clear()
            found = self._by_grant[granted] = self._less(granted)
        return found

    def _less(self, granted: tuple[str, ...]) -> Secrets:
        brief = self._brief
        hidden = (*brief.gold, *(a.snippet for a in brief.ambiguities if a.snippet not in granted))
        said = tuple(
            text
            for part in granted
            for text in (read_aloud(part, brief.identifiers).text, in_words(part, brief).text)
        )
        known = tuple(map(plain, (*granted, *said, *self._terms)))
        clear, sql = plain(brief.clear_query), list(map(plain, hidden))
        clear_run = min(_CLEAR_RUN, max(len(_PART.findall(clear)), 5))
        clear_length = min(_CLEAR_LETTERS, max(len(letters(clear)), 20))
        tokens = [t for part in (*hidden, *granted) for t in tokenize(part)]
        named = {t.text for part in hidden for t in tokenize(part) if t.kind in ("word", "quoted")}
        made_up = self._made_up & frozenset(map(plain, named | brief.identifiers))
        allowed = _vocabulary(granted, brief.identifiers) | self._free
        names = made_up - allowed
        long_names = frozenset(name for name in names if len(name) > 5)
        spelt = frozenset(plain(t.text) for t in tokens if t.kind in ("word", "quoted"))
        return Secrets(
            names=names,
            long_names=long_names,
            disguised_words=DISGUISED_KEYWORDS.union(*map(mirrored_and_turned, long_names)),
            names_as_letters=frozenset(map(letters, long_names)),
            spelt=spelt | self._identifiers,
            free_pairs=frozenset(plain(t.text) for t in tokens if t.kind == "quoted" and "." in t.text),
            own_world=allowed | self._own | _vocabulary(tuple(sorted(brief.identifiers))),
            quotations=_quotations(granted, self._terms),
            signs=frozenset(sign for part in sql for sign in signs(part))
            - frozenset(sign for part in granted for sign in signs(plain(part))),
            words=Runs(
                _word_runs(sql, _GOLD_RUN) - _word_runs(known, _GOLD_RUN),
                _word_runs([clear], clear_run) - _word_runs(known, clear_run),
                _GOLD_RUN,
                clear_run,
            ),
            letters=Runs(
                _letter_runs(sql, _GOLD_LETTERS) - _letter_runs(known, _GOLD_LETTERS),
                _letter_runs([clear], clear_length) - _letter_runs(known, clear_length),
                _GOLD_LETTERS,
                clear_length,
            ),
        )


@lru_cache(maxsize=256)
def _vocabulary(parts: tuple[str, ...], identifiers: frozenset[str] = frozenset()) -> frozenset[str]:
    """Words, spelt as they are and split (as the schema splits them too), that are not secret."""
    found: set[str] = set()
    for part in parts:
        found.update(re.findall(r"\w+", plain(part)))
        found.update(split_words(part).split())
        found.update(
            w for token in respelt(tokenize(part), identifiers) for w in split_words(token.text).split()
        )
    return frozenset(found)


def _quotations(granted: tuple[str, ...], terms: tuple[str, ...]) -> tuple[str, ...]:
    """What the granted snippets and the terms put in quotation marks, in every form; the longest first."""
    strings = {
        t.text
        for part in granted
        for t in tokenize(part)
        if t.kind in ("string", "quoted") and t.text.strip()
    }
    strings.update(" ".join(term.split()) for term in terms)
    ordered = sorted(strings, key=lambda s: (-len(s), s))
    return tuple(dict.fromkeys(form for s in ordered for form in (quoted(s), f"'{s}'", f'"{s}"')))


def signs(text: str) -> Iterable[tuple[str, ...]]:
    """The comparisons and divisions that are written in signs."""
    if _COMPARED.search(text) is None:
        return
    said = _SIGN.findall(_QUOTES.sub(" ", text))
    for i in range(len(said) - 2):
        if said[i + 1] in _COMPARISONS and said[i][0].isalnum() and said[i + 2][0].isalnum():
            yield tuple(said[i : i + 3])


def _word_runs(parts: Iterable[str], length: int) -> frozenset[tuple[str, ...]]:
    said = (tuple(_PART.findall(part)) for part in parts)
    return frozenset(words[i : i + length] for words in said for i in range(len(words) - length + 1))


def _letter_runs(parts: Iterable[str], length: int) -> frozenset[str]:
    runs = map(letters, parts)
    return frozenset(run[i : i + length] for run in runs for i in range(len(run) - length + 1))
