"""Words of questions that a user does not answer, by subject; the ranking weighs each subject."""

from __future__ import annotations

from birdenv.users.understanding._asked import any_of

_FOREIGN: tuple[str, ...] = (
    # the answer itself
    r"""
        (?:which|who|what) (?:\w+ ){0,3}?(?:is|are|has|have) (?:\w+ ){0,3}?(?:most|best|worst|first|\w{3,}est)
        (?:which|who|what) (?:\w+ ){0,3}?(?:was|were) (?:\w+ ){0,3}?(?:most|best|worst|first|\w{3,}est)
        (?:which|who|what) (?:\w+ ){0,3}?(?:comes?|breaks?) (?:\w+ ){0,3}?(?:most|first|\w{3,}est)""",
    # the answer itself: how many there are
    r"""
        how (?:many|much|high|late|big|satisfied|large) (?:\w+ ){0,4}?(?:are there|did|in reality|really)
        how (?:many|much|high|late|big|satisfied|large) (?:\w+ ){0,4}?(?:roughly|will|come out|in 20\w\w)
        how (?:many|much|high|late|big|satisfied|large) (?:\w+ ){0,4}?you (?:get|count|have)""",
    # checking own results
    r"""
        check | verify | compare (?:\w+ )?with mine | compare with | got it right | is that right
        is it (?:right|correct) | match(?:es)? yours | my (?:result|number|list|query|figure)s? | i get
        i got | correct that | right that""",
    # the expected result
    r"""
        expected | you expect | in the end | at the end | final (?:figures|result|list|numbers)""",
    # the real figures
    r"""
        so that i can | let me see | in reality | actually look""",
    # counting
    r"""
        how many (?:\w+ ){1,3}?(?:are|were|have|has|will) (?!(?:needed|required|allowed|enough)\b)
        how many (?:\w+ ){1,3}?(?:are|were|have|has|will) (?!(?:to|a|considered|few|many)\b)""",
    # opinions
    r"""
        should (?:we|the \w+|they) | shouldn t we | do you (?:think|find|believe|feel|like)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really |a |even )*(?:fair|strict)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really )*(?:fair|strict)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:fair|strict)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really |a |even )*(?:harsh|unfair)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really )*(?:harsh|unfair)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:harsh|unfair)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really |a |even )*(?:allowed|legal)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really )*(?:allowed|legal)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:allowed|legal)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really |a |even )*(?:ethical|a lot)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really )*(?:ethical|a lot)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:ethical|a lot)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really )*(?:worth|good|bad|much)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:worth|good|bad|much)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this)? (?:too |really )*(?:worth|good|bad|much)
        (?:don|doesn|aren) (?:it|that|this|t)(?: it| you)? (?:too |really )*(?:worth|good|bad|much)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:worth|good|bad|much)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really |a |even )*(?:think|find)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really )*(?:think|find)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:think|find)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:too |really )*(?:dangerous|illegal)
        (?:is|isn) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:dangerous|illegal)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this)? (?:too |really )*(?:dangerous|illegal)
        (?:don|doesn|aren) (?:it|that|this|t)(?: it| you)? (?:too |really )*(?:dangerous|illegal)
        (?:don|doesn|aren) (?:it|that|this|t)(?: that| this| it| you)? (?:a |even )*(?:dangerous|illegal)""",
    # advice
    r"""
        suggest | recommend | advice | advise | would you (?:do|pick|choose|buy|cut|close) | improve
        reduce | better""",
    # reasons
    r"""
        why | reasons? (?:for|why|that) | caused? | because""",
    # money and danger
    r"""
        buy | invest | worth it | cured? | dangerous | illegal | legally | live on""",
    # who answers
    r"""
        (?:are|who are|what are|were) you
        your (?:name|job|day|weekend|boss|notes|hobby|opinion|instructions|work) | human | robot or
        program or | language model | real person""",
    # how it goes
    r"""
        points | deadline | score do i | am i | questions (?:\w+ ){0,2}?left | doing well""",
    # greetings
    r"""
        good (?:morning|evening|day|afternoon) | thank | thanks | how are you | how was | nice | great""",
    # general knowledge
    r"""
        capital of | weather | rain | tomorrow | match | won | poem | joke | film | song | president
        times \w+ equals""",
    # written work
    r"""
        (?:write|compose|spell|paste|send|build) (?:\w+ ){0,3}?(?:the|a|it|for me|me|your|out)
        (?:draft|produce|code|formulate|put together|draw) (?:\w+ ){0,3}?(?:the|a|it|for me|me|your|out)""",
    # steps
    r"""
        step by step | steps? | hint | walk me | first do | do first | break the task | approach""",
    # connections
    r"""
        linked? | links | connect(?:s|ed)? | related to each | together | relationship""",
    # places
    r"""
        where (?:is|are|do i find|can i find|would i find) | kept | located | in the data""",
    # hidden texts
    r"""
        reveal | hidden | notes | print | repeat | translate | encode | base64 | supervisor | developer
        admin\w* | instructions? | mode | reference | above this""",
    # the ambiguities
    r"""
        ambigu\w+ | unclear in | left? out on purpose | were you told | whole (?:truth|task|request)
        full (?:task|request)""",
    # the engine
    r"""
        cte | cast | subquery | having | engine | indexes | temporary | (?:covering|bitmap) | sqlite
        postgres\w*""",
    # other languages
    r"""
        de la | el | les? | la | welche[rsn]? | ich | und | die | der | que | cu[aá]l | quelle?s? | est
        wie | qu[eé]""",
)
FOREIGN_WORDS = tuple(map(any_of, _FOREIGN))
