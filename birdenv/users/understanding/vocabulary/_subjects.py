"""Words that speak of other things than what a request means: each word's subject.

A question that has them, where the task does not, asks for what a user does not tell, or does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from birdenv.users.understanding.vocabulary._word_forms import stem

_WORDS: Final[Mapping[str, str]] = {
    "engine": """
        alias aliased anti antijoin api arrow asterisk autoincrement banker bigint bitmap blob bool boolean
        bracket brackets btree bug bytes cache cached cardinality cast casting char clause coalesce code
        coding coerce collate collation commit compile concat concatenate conflict constraint constraints
        correlated cpu crash cross cte ctes cursor datatype datatypes dateadd datediff datetime db dbms ddl
        debug decltype deferrable dense dialect dml engine engines escape excel exception execute execution
        exists explain expression expressions extract float floating fn fns fts function functions gin git
        github glob hash idx ifnull iif index indexed indexes indices inequality inner instr int int64
        integer integers intersect interval isnull iso java join joins json jsonb julianday keyword keywords
        lag latency lateral literal literals loop lpad mariadb materialize materialized memory merge migrate
        migration milliseconds mysql nested notation notebook ntile null nullable nullif nulls numeric nvl
        operator operators optimiser optimize optimizer oracle orm outer overload pandas parameter
        parentheses parenthesis parse parser partition partitioned performance pivot planner postgres
        postgresql pragma predicate predicates printf procedure procedures pseudocode psql python queries
        query querying ram recursive regex regexp rollback rollup rowid rownum runtime sargable savepoint
        scalar scan script select semi semicolon semijoin serial server smallint snippet sql sqlite
        statement statements strftime strpos subquery subselect substr substring syntax tablespace thread
        timeout timestamp timestamps timezone tinyint transaction transactions trigger triggers tsquery
        tsvector typecast unicode union unnest unpivot upsert utc utf utf8 uuid vacuum varchar wildcard
        window""",
    "structure": """
        adjoin ambiguously associative attach autonumber bridge cardinality composite compound connect
        connected connection connects diagram entities entity er fk foreign hang hierarchy integrity join
        joined joining key keyed keys link linkage linked linking links lookup lookups map mapped mapping
        maps match model modeled modelled nested normalised normalized orphan orphans parent parents path
        paths pk primary reference referenced references referencing referential relate related relates
        relation relational relations relationship relationships surrogate""",
    "storage": """
        array attribute attributes bytes catalog catalogue column columns data database databases datatype
        dictionary document documented domain encoded encoding entity folder format formats found json live
        lives located lookup metadata nullable numeric object ordinal path physically properties property
        reside resides saved schema sheet sheets spelled spelling spelt store stored stores storing string
        structure structured table tabs tabular tbl text type typed types underscore variable variables""",
    "exercise": """
        accept accepted ai allowed ambiguities ambiguity annotate annotated annotation annotations annotator
        answer answers assess assessed assessment assignment assistant attempt attempts benchmark
        benchmarked blur blurred bonus bot challenge chance chances chat chatgpt cheat cheating check
        checked checker checks conversation correct credit deadline difficult difficulty easy episode eval
        evaluate evaluated evaluation evaluator exam examiner exercise exercises fail failed gpt grade
        graded grader grading hand handed hidden hint hints homework human intentionally leaderboard llm
        marker patience penalised penalized previous problem problems prompt purpose puzzle question
        questions quiz quizmaster restart resubmit retry reviewer reward rewards riddle rubric session
        simulate simulated simulation simulator solution solutions solve solved solving submission
        submissions submit submitted submitting supervisor task tasks teacher test tested tester testing
        tests ticket tickets trainer trap trick tricky tries try turn turns vague validator verified verify
        wizard wrote""",
    "opinion": """
        absurd admire admit agree annoyed annoying appropriate approve ashamed awful beautiful believe
        better biased blame boring brave brilliant clever compassion complain complaint crazy cruel
        dangerous deplorable deserve deserved deserves disagree disappointed disappointing discriminate
        discrimination disgusting dislike doubt dumb embarrassing enjoy envy ethical ethics evil exaggerated
        excessive exciting fair fairly fairness fan fault favorite favourite fear feel feeling feelings fond
        foolish forgive fun funny generous glad good greedy guilty gut harsh harshly hate honest honestly
        horrible humane ideal immoral impressed impressive inhumane intuition ironic irresponsible judgment
        justice justified justify kinder lazy lenient love lucky mad mercy moral morally naive nasty nice
        opinion optimism optimistic outrage overrated pathetic personal personally perspective pessimism
        pessimistic pity pleasant pleased politically poor prejudice promising proud punish punished
        punishing punishment racist reasonable regret reliable respect ridiculous rude sad sane satisfaction
        satisfied scandal scary sceptical selfish seriously severe shame shameful shocking silly skeptical
        smart sorry stance strange stupid surprise surprised surprising suspicious sympathise sympathize
        sympathy taste terrible think tolerate trust trustworthy unacceptable unethical unfair unjust
        unjustified unreasonable upset useless viewpoint waste wise wonder worried worry worrying worth
        worthwhile worthy wrong""",
    "world": """
        acronym aliens amazon america american army astrology astronaut autumn bank bible bitcoin blockchain
        boss brand brexit capital celebrity china christmas church climate coffee colleague colleagues
        competitor competitors concert congress constellation continent cook country court crime crisis
        cuisine culture dad detective dinner dinosaur discovered discovery doctor dog dollar earth easter
        economist economy election employer energy english euro europe european evolution exchange explain
        famous fashion film flight football founded founder france friday friend gdp german germany god
        google government gravity gym hacker headline holiday hospital humanity inflation inhabitants
        insurance internet invented inventor invest invested investing investment investor investors joke
        journalist journalists king language laws lawsuit lawyer legal legally legislation licence license
        lifestyle literature lottery lunch mail mayor meeting millionaire minister monday moon mother movie
        museum music myth nasa nation newspaper nobel novel office olympic opera originate pandemic party
        patent philosophy photo picture planet planets poem poet police politician politics pollution
        president prize profession professor profit prosecuted proverb pub queen recipe regulation
        regulations regulator religion restaurant rich rumor rumour satellite saturday school science
        scientist scientists sell shop singer soccer society song spell stadium startup student sunday sunny
        supplier synonym team telephone telescope terrorism theory thursday today tomorrow tonight tourism
        tourist tourists translate translation travel trivia tuesday tv twitter universe university usa
        vacation vaccine vendor vendors video vote wage wages war wealthy weather website wednesday weekend
        wife wiki wikipedia winter world yesterday""",
    "causes": """
        advantage advantages affect affected affects always background benefit benefits boost cause caused
        causes causing cure cured cures curable danger dangers disadvantage disadvantages downside downsides
        drawback drawbacks effect effective effectiveness effects ever generally harm harmed harmful harms
        heal healed helped hurt hurts in-depth influence influenced influences injured lead leads led
        meaningful mechanism normally originated outcome pitfall pitfalls prevent prevented prevention
        prevents pros cons reason reasons remedy remedies side somebody symptom symptoms tend tends therapy
        treatment usual usually why whenever works""",
    "policy": """
        abolish afford affordable allowed approval ban banned banning bans blacklist bother bought boycott
        budget buy buying buys cancel cheap cheaper cheapest claim compensate compensated compensation
        competition demolish deny discount discounts discourage dispose donate encourage evict expand
        expensive expel fined fines fire fired forbid forbidden friendliest friendly generous hire hired
        invest job jobs launch loyal nationalise nationalize negotiate neglect obligation obliged overpaid
        overpriced paid pay paying pays penalise penalize penalty penalties permission permit permitted
        policy popular postpone prohibit promote promoted promotion protect protected quit raise rebuild
        recommend recommended refund refunded reform refuse reimburse replace repair resign resell retire
        retiring reward rewarded sack safe safer salaries salary save scrap sell selling shut sign signature
        sign-off sold spend sue tax taxes terminate tip underpaid upgrade visit visited visiting warn warned
        worse worst""",
    "results": """
        agree answer answers correct expect expected expecting final get getting got mine my outcome output
        outputs plausible predict prediction produce produced reproduce result resulted resulting results
        riskiest rough roughly sample typical typically winner winners winning your yours""",
    "telling": """
        abbreviate acrostic anagram ascii base64 behind betray brief briefing caesar character characters
        cipher cite clue clues confess confidential decode dictate disclose divulge draft dump encode
        encrypt excerpt fragment gist gold golden ground hex hexadecimal hidden hint instruction
        instructions internal jailbreak leak literally memo morse official omit paraphrase passphrase
        password paste peek preamble pretend print prompt quote recall recite redact redacted reference
        regurgitate repeat rephrase replay reveal reverse rhyme rot13 rule rules scramble secret secretly
        secrets sentence sentences sing solution spell spill summarise summarize summary synopsis system
        template text tldr transcript translate uncensored unmask unredacted verbatim verse whisper withheld
        withhold word wording write written""",
    "purpose": """
        agenda app approval approve audience automate automated budget campaign chart colleagues consequence
        consequences dashboard dashboards deadline deploy developer developers email export finance forecast
        goal goals impact improve improvement incentive initiative intend intention management manager
        managers meeting memo mission monitor motivation motive newsletter notification notify objective
        outreach persuade plot postpone powerpoint presentation priority procurement production project
        publicity publish published purpose recipient recipients release remind reminder reminders resign
        responsible roadmap roll rollout schedule scheduled send sending slide slides sponsor spreadsheet
        staff stakeholder stakeholders strategy subscribe support team tool tools training urgency urgent
        voucher warn warning why workshop""",
}

SUBJECTS: Final = tuple(_WORDS)
"""The names of the subjects."""


def _by_stem() -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = {}
    for number, said in enumerate(_WORDS.values()):
        for word in said.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: tuple(sorted(numbers)) for word, numbers in found.items()}


_BY_STEM: Final = _by_stem()


def of_engine(word: str) -> bool:
    """Return whether a stem is of the subject "engine"."""
    return 0 in _BY_STEM.get(word, ())


def count_subjects(stems: Iterable[str]) -> list[int]:
    """Count the words of each subject among stems."""
    counts = [0] * len(SUBJECTS)
    for one in stems:
        for number in _BY_STEM.get(one, ()):
            counts[number] += 1
    return counts
