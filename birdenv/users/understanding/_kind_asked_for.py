"""What kind of thing a question asks for, by its phrases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PHRASES: Final[Mapping[str, str]] = {
    "meaning": r"""
        mean(?:s|t|ing)? | interpret\w* | defin\w* | clarify | explain\w* | refers? to
        count(?:s|ed)? as | qualif\w+ | consider(?:ed)? | regard(?:ed)? | who (?:is|are)
        what (?:is|are) an? | what (?:makes|constitutes) | recogni[sz]e""",
    "threshold": r"""
        how (?:many|much|high|low|large|big|great|small|long|old|recent|recently|fast|slow|far|close|late)
        how (?:early|often|few|strong|serious|severe|bad) | minimum | maximum | at (?:least|most)
        cut ?offs? | thresholds? | above | below
        (?:more|less|greater|bigger|higher|lower|fewer|larger|longer) than | over which | under which
        positive | negative | even or | zero | exceed\w* | must (?:\w+ ){0,4}?have
        does it take | has to be | minimal | boundar\w+ | bounds? | FROM(?:value|amount)s?
        FROM(?:level|number|score)s?
        FROM(?:speed|percentage)s? | FROM(?:share|price|ratio|size) | from (?:what|which|when|how)
        draw the line
        (?:what|which) (?:\w+ ){1,3}?(?:is|are|means?|makes?) (?:\w+ )?(?:too )?GRADE
        where (?:does|do|is|are) (?:\w+ ){0,3}?(?:begin|start|end|stop)
        how \w+ (?:must|should|has|have|need)
        inclusive\w* | limits? | enough | qualif\w+ | counts? as | required? | requirements?""",
    "formula": r"""
        calculat\w* | comput\w* | formulas? | formulae | equations?
        work(?:ed|ing)? (?:it |this |that )?out | deriv\w* | divid\w* | denominators? | numerators?
        multipl\w* | weights? | weighted | weighting | ratio | measured? | relative to | in relation to
        minus | plus | differences? | made up of | composed | components? | determined? | combin\w*
        defin\w* | definition | what goes into | goes? into | enters? | add up | quantif\w*
        by how (?:much|many)
        by what (?:amount|factor|margin|percentage)
        how (?:do|does|should|shall|can|would) (?:i|we|you) (?:get|judge|score|assess|compare)
        how (?:do|does|should|shall|can|would) (?:i|we|you) (?:find|tell|recogni[sz]e)
        compared? (?:with|to) | expressed""",
    "category": r"""
        (?:which|what) (?:\w+ ){0,2}?(?:status|statuses|states?|kinds?|types?|class)
        (?:which|what) (?:\w+ ){0,2}?(?:category|categories|classes)
        (?:which|what) (?:\w+ ){0,2}?(?:plans?|tiers?|reasons?|groups?|districts?)
        (?:which|what) (?:\w+ ){0,2}?(?:cities|town|regions?|values?)
        (?:which|what) (?:\w+ ){0,2}?(?:conditions?|levels?|labels?|ones|combinations?) | counts?
        counted | includ\w* | belong\w* | falls? | part of | covers? | covered | as well | too
        leave out | left out | exclud\w* | only | also | just | considered? | treat(?:ed)? | qualif\w+
        means? | meant | refers? | labels? | rules? | categor\w+ | classif\w+ | classes""",
    "period": r"""
        when | dates? | years? | months? | weeks? | days? | hours? | since | recent | recently | period
        time ?(?:frame|span|window) | how (?:old|long|recent|recently|late|early) | after which
        before which | past | last | calendar | quarter | season | o'clock | time of day | begin | began
        starts? | ended? | during | until | latest | earliest""",
    "order": r"""
    a to z | z to a | by name | biggest first | leads? the | sort(?:s|ed|ing)? | order(?:ed|ing)
    ^order$ | order (?:of|for) (?:the )?\w+
        (?:in|the|an|any|some|what|which|particular|preferred) order(?! (?:status|lines?|dates?|days?|is|was))
        (?:specific|certain|do|shall i|should i|i) order | order (?:by|of|them|the|it|matter)
        rank(?:s|ed|ing)? | ascending | descending | sequence | arrang\w* | alphabetical\w*
        first or last | on top | (?:comes?|go|goes|be|listed|be listed|placed) (?:first|last)
        at the (?:top|bottom|end|beginning)
        (?:highest|largest|biggest|best|worst|heaviest|newest|oldest) (?:\w+ ){0,3}?first
        (?:earliest|latest|longest) (?:\w+ ){0,3}?first
        (?:greatest|most \w+|\w+est) (?:\w+ ){0,3}?(?:first|on top) | high(?:est)? to low(?:est)?
        best to worst | comes? (?:out )?first | goes? first | on top | worst (?:\w+ ){0,2}?first | arranged
        first line | listed by
        low(?:est)? to high(?:est)? | first to last | begin with | positioned
        in (?:\w+ ){1,2}order | chronological\w* | sequenced? | (?:line|lined|lining) (?:\w+ )?up | unsorted
        (?:at|to) the head | (?:come|came|coming|comes|stand|placed|put) (?:\w+ ){0,2}?(?:first|ahead)
        (?:asc|desc)
        in front | lead the (?:list|table) | open the (?:list|table) | top of the (?:list|table)
        follow each other | most to (?:the )?least | ahead of""",
    "extreme": r"""
        first | last | top | highest | lowest | largest | smallest | biggest | best | worst | most
        least | heaviest | newest | oldest""",
    "round": r"""
        round(?:ed|ing)? | decimals? | decimal places? | digits? | precision | how precise
        whole (?:numbers?|\w+s)
        precise (?:\w+ )?(?:figures?|numbers?|values?|results?) | cents
        whole percent | exact figure | (?:how many|NUMBER) places | integers?
        how (?:exact|precise|accurate) | two places
        significant | after the (?:decimal )?(?:point|comma)
        trim(?:med)? | unrounded | nearest | to the cent | fractions? of""",
    "null": r"""
        missing | nulls? | empty | blanks? | unknown | not recorded | unrecorded | absent | unrated
        nobody rated
        no (?:values?|entry|entries|data|information|score|rating|cost|address|date|status)
        without (?:a |an |any )?\w+ | (?:is|are) ?n ?t (?:available|known|recorded) | not available
        unavailable | placeholder | wasn t recorded | lacks? | lacking | gaps?
        un(?:timed|dated|priced|filled)
        no \w+ (?:noted|recorded|known|given|filled) | not (?:noted|filled|given|come back|returned|timed)
        (?:w o|without) \w+ | skip | never (?:recorded|noted|filled)
        no \w+ (?:entered|on (?:record|file)|written|stated) | carr(?:y|ies) no
        nobody (?:\w+ )?(?:wrote|entered|noted|recorded|gave|filled)
        (?:treat|take|took|taken|count|counted|read|assume) (?:\w+ ){0,4}?(?:zero|nil|nothing|nought|0(?! \d))
        as (?:a )?(?:zero|nil|nothing|nought|0(?! \d))""",
    "tie": r"""
        equally | same \w+ for (?:two|both|several) | identical | (?:two|both|several) (?:\w+ ){0,3}?the same
    ties? | tied | tie ?break\w* | equal | second (?:sort )?key
        same (?:value|score|share|number|rank|rate|total|amount)""",
    "distinct": r"""
        duplicat\w* | distinct | unique\w* | once | twice | repeat(?:s|ed|edly)? | different
        more than once | several times | deduplicat\w* | only one | just one
        (?:single|one) time | dupes? | dedupe\w* | no more than once | each \w+ once
        several \w+ of (?:the same|one)
        nothing twice""",
    "limit": r"""
        max(?:imum)? (?:rows|results|entries|number of)
    how many (?:\w+ ){0,3}?(?:rows|results|records|entries|lines|items)
        how many (?:\w+ ){1,4}?(?:return\w*|list(?:ed)?|shown?|see|want|have)
        (?<!at the )(?<!on the )(?<!over the )(?<!under the )limit(?:s|ed)?(?! value)
        cap(?:ped)? | top (?:\w+ )?(?:n|few|results|ones|NUMBER)
        only (?:the |want the )?(?:first|top|best|worst|few|latest) | (?:maximum|max) (?:number|length)
        first (?:few|NUMBER) | cut (?:the list|it|them) off | all of them | entire list
        just the (?:top|first) | batch | at most | top n | top (?:how many|three|five|ten)
        (?:only|just) the (?:NUMBER |most )?\w+ (?:best|worst|ones)
        (?:all|everybody|everything|every \w+) or (?:only|just|the)
        (?:only|just) (?:a few|a handful|the NUMBER) | a handful | how long (?:\w+ ){0,3}?list
        how many (?:\w+ ){1,3}?(?:at|on|in) the (?:head|top|list)
        how many (?:rows|lines) | ^how many \w+$ | short list | hit list
        number of (?:rows|results|lines) | NUMBER (?:rows|lines|results|entries|records|items)
        (?:exactly|only|just) NUMBER
        stop (?:after|at|somewhere) | (?:and|or) no more | complete (?:list|set|ranking)
        (?:merely|only|just) (?:for |in )?(?:the |a )?(?:\w+ )?(?:NUMBER|few|handful|first|worst|best|top)
        NUMBER (?:most|worst|best|strongest|rows?|lines?) | kept short | how long (?:is|should)""",
    "output": r"""
        columns? | fields? | attributes? | outputs? | display\w* | details | information
        present(?:ed)? | shown
        (?:i|we|be|you|to|please|should) (?:show|list|report|include|return)(?:n|ed)? | besides?
        (?:what|which) (?:\w+ ){0,3}?(?:see|want to know|include|present|figures) | identifiers? | ids?
        nothing else | anything (?:else|more|besides) | is that all | want printed | show what | print
        what (?:else )?(?:should|shall|do|would|must) (?:i|we|you|be) (?:\w+ ){0,3}?(?:list|show|print)
        what (?:else )?(?:should|shall|do|would) (?:i|we|you|be) (?:\w+ ){0,3}?(?:return|display|report|see)
        in the (?:list|line|row|table) | (?:in|on) (?:each|every) (?:list|line|row) | next to
        (?:want|like|need|wish) to see
        (?:want|need) (?:only|just)
        (?:only|just) (?:want|need) | all (?:that )?you need
        what goes into | (?:line|row|table|list) (?:\w+ )?(?:carry|contain|hold|have)
        nothing (?:else|more) | print
        (?:shall|should|would|will) (?:carry|contain|hold) | (?:full|whole) (?:list|output) | cols?""",
    "group": r"""
        ^(?:so )?by (?!how|what)(?:the )?\w+ | (\w{3,}) by \1 | group(?:s|ed|ing)? by | grouped | grouping
        (?:should|shall|do) (?:i|we) group | break ?downs?
        (?:figure|row|line|total|number|one|per|for) (?:\w+ )?(?:per|each) | per \w+
        one (?:figure|total|line|row) | by (?:calendar )?(?:year|month) | broken down | split
        aggregat\w* | level of detail | separate(?:ly)?
        by (?:what|which)(?! (?:amount|factor|margin|percentage|rule)) | overall | for each | each \w+
        (?:a|an|one|single) (?:\w+ )?(?:line|row|record|entry|figure|result) (?:per|for|to)
        (?:a|an|one|single) (?:\w+ )?(?:sum|total|value|number) (?:per|for|to)
        (?:added|summed|summing|adding|counted|taken|totall?ed) (?:\w+ )?(?:up |over |by |for )
        grand total
        (?:separate|own|each|every|one|single) (?:\w+ )?(?:lines?|rows?) | rather than for
        (?:line|row|figure) to (?:each|every)
        one \w+ (?:amount|average|percentage|figure|sum|total) | split | combined""",
    "count": r"""
        count(?:s|ed|ing)? | number of
        how many (?!.*\b(?:must|take|needs?|least|required?|qualify|makes?)\b) | sum(?:med)? | totals?
        averages? | mean of
        percentages? | shares? | rate | absolute | proportions? | amount | money | pieces | quantity
        quantities | revenue | median""",
    "unmatched": r"""
        without (?:any|a|an) | with no | no match\w* | unmatched | appears? (?:as well|too)
        (?:be )?kept | keep | drop(?:ped)? | that have none | nobody | never | zero
        (?:what|how) (?:happens?|becomes?|about) (?:\w+ ){1,6}?(?:no(?! of)|without|never) | remains?
        even \w+ without
        still (?:appear|listed|shown) | unused | stay | in or out | incl(?:ude)? | no \w+ at all
        (?:got|had|have|has) (?:nothing|none) | nil | zero | 0(?! \d) | (?:not|without) a single | absent
        missing from
        (?:still|even) (?:in|on) | close the ranking | w o | mentioned | nobody""",
    "name": r"""
        wording | caption | labell?ed | (?:what|which) (?:text|tag|wording|caption|label|heading|title)
    (?:be )?(?:named|called) | names? (?!of the (?:table|column|field)) | titled?
        call (?:it|the|them|this)
        name (?:it|the|this)""",
    "filter": r"""
        only | also | too | includ\w* | exclud\w* | still | skip\w* | leave out | left out | left aside | all
        every\w* | any | specific | whole | restrict\w* | period | date range | no matter | regardless
        irrespective | as well | in there | count(?:ed)? | drop\w* | spare\w* | exempt\w*
        (?:an?|any|no|some|such|further) (?:\w+ )?minimum | stay
        certain | particular | which (?:years?|dates?|months?) | or just | or (?:is|are|does) | limited? to
        suffic\w+ | enough | sufficient
        filtered | in or out | (?:removed?|taken?) (?:out )?(?:from|out of|off) the | remains? | confine
        eliminate | confined? | disregard(?:ed)? | strip | set aside | irrelevant | matters? | suffices?
        exempted
        limited to | whole history | all years | thrown together | of no consequence | in as well""",
    "extent": r"""
        (?:whole|entire|full|complete) (?:\w+ )?(?:history|period|time|span|past|data)
        all (?:the )?(?:years|time)
        (?:one|any|given|certain|particular|specific|single) (?:\w+ )?(?:year|month|period|date|season|time)
        on record | ever since | since the beginning | from the (?:start|beginning) | all along | to date
        over all | (?:what|which) period | over which | so far | any time | lifetime | history | all years
        a (?:certain|given|particular) (?:\w+ )?(?:year|month|period|date) | everything since | this year
        restrict\w* (?:\w+ ){0,4}?(?:year|years|month|date|dates|period|time) | in (?:time|total)
        (?:of|over|from) (?:all|every) (?:\w+ )?(?:years?|months?)""",
    "scale": r"""
    number (?:out of|from 0) | percent(?:ages?|s)? | fractions? | decimal (?:number|fraction)
    out of (?:a )?(?:100|hundred)
        (?:0|zero|nought) (?:(?:to|and|through) )?(?:1|one|100|a hundred|hundred)
        ratio or | or (?:a |as )?ratio | scale | unit
        per cent | (?:between|from) (?:0|zero|nought)""",
    "change": r"""
    set | becomes? | turned? into
    (?:value|word|string|text) (?:do i |should i |to )(?:write|put|enter|use|store)
    (?:write|put|enter|store)s? (?:in|into) | overwrit\w+ | filled? in | chang\w* | updat\w*
        new (?:\w+ )?(?:value|status|state|level|price|amount)
        delet\w* | remov\w* | insert\w* | add(?:ed)? | move | copy | copying | afterwards | write into
        put into
        (?:status|state|value|level) (?:after|do they get|does it get) | get(?:s)? (?:which|what)
        (?:what|which) (?:status|state|value|level) (?:do|does|should|shall|will)""",
}
"""For each kind the phrases that ask for it, as `users._phrases` reads them."""

KINDS: tuple[str, ...] = tuple(PHRASES)
"""All kinds of thing that are asked for or settled, in the order of the weights."""

PLAIN_KINDS = frozenset(
    {
        "order",
        "round",
        "null",
        "distinct",
        "limit",
        "output",
        "group",
        "unmatched",
        "name",
        "change",
        "tie",
        "scale",
        "filter",
        "extent",
    }
)
"""Kinds that can be asked for without naming anything."""
